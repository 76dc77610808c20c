"""The verdict of a report. Source: spec held-out, section 5."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from cyclotron.core.errors import InvalidEvaluationError, InvalidScoredItemsError
from cyclotron.core.intervals import Interval

DEFAULT_MINIMUM_PER_LABEL = 10
MAX_MINIMUM_PER_LABEL = 2**31 - 1  # what every database stores as an integer


class Verdict(StrEnum):
    """What a report says of the change; only `improved` is worded as a claim."""

    NOTHING_LEARNED_YET = "nothing-learned-yet"
    TOO_FEW_LABELS = "too-few-labels"
    IMPROVED = "improved"
    WORSE = "worse"
    NO_CLEAR_CHANGE = "no-clear-change"


@dataclass(frozen=True)
class RarestLabel:
    """The declared label with the fewest scored items (the first declared one among equals), and how many these are."""

    label: str
    count: int


def check_minimum(minimum_per_label: object) -> int:
    """Return `minimum_per_label` unless it is not a whole number of items that a database stores, 1 or more.

    A bool is none, and with 0 a label that nobody has seen would pass. Raises `InvalidEvaluationError`.
    """
    if (
        not isinstance(minimum_per_label, int)
        or isinstance(minimum_per_label, bool)
        or not 1 <= minimum_per_label <= MAX_MINIMUM_PER_LABEL
    ):
        raise InvalidEvaluationError(
            f"minimumPerLabel must be a whole number of held-out items, 1 to {MAX_MINIMUM_PER_LABEL:,}.",
            argument="minimumPerLabel",
        )
    return minimum_per_label


def rarest_label(counts: Mapping[str, int]) -> RarestLabel:
    """The rarest of all declared labels among the scored items; a label without any counts 0."""
    if not counts:
        raise InvalidScoredItemsError("there is no declared label.")
    label = min(counts, key=counts.__getitem__)
    return RarestLabel(label, counts[label])


def verdict_of(*, nothing_learned: bool, rarest: RarestLabel, minimum_per_label: int, change: Interval) -> Verdict:
    """The first verdict that applies.

    `nothing_learned`: the active version is version 1 and has no ML model. `change` is the weighted interval of the
    change in percentage points; an end that is exactly zero makes no change clear.
    """
    if nothing_learned:
        return Verdict.NOTHING_LEARNED_YET
    if rarest.count < minimum_per_label:
        return Verdict.TOO_FEW_LABELS
    if change.low > 0:
        return Verdict.IMPROVED
    if change.high < 0:
        return Verdict.WORSE
    return Verdict.NO_CLEAR_CHANGE
