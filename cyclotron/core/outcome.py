"""What became of a scored item from before to after. Source: spec held-out, sections 5 and 6."""

from enum import StrEnum

import numpy as np

from cyclotron.core.scored import ScoredColumns, ScoredItem


class Outcome(StrEnum):
    """Which column of the comparison decided an item right, by the names and in the order of the report."""

    GAINED = "gained"
    LOST = "lost"
    BOTH_RIGHT = "bothRight"
    BOTH_WRONG = "bothWrong"

    @property
    def meaning(self) -> str:
        """The outcome in words: `newly right`."""
        return _MEANINGS[self]


_MEANINGS = {
    Outcome.GAINED: "newly right",
    Outcome.LOST: "newly wrong",
    Outcome.BOTH_RIGHT: "right before and after",
    Outcome.BOTH_WRONG: "wrong before and after",
}


def outcome_of(item: ScoredItem) -> Outcome:
    """The outcome of one item."""
    if item.before == item.label:
        return Outcome.BOTH_RIGHT if item.after == item.label else Outcome.LOST
    return Outcome.GAINED if item.after == item.label else Outcome.BOTH_WRONG


def count_outcomes(columns: ScoredColumns) -> dict[Outcome, int]:
    """The number of items of each outcome, unweighted, in the order of the report."""
    before, after = columns.before == columns.label, columns.after == columns.label
    both, first, second = (int(np.count_nonzero(which)) for which in (before & after, before, after))
    return {
        Outcome.GAINED: second - both,
        Outcome.LOST: first - both,
        Outcome.BOTH_RIGHT: both,
        Outcome.BOTH_WRONG: columns.size - first - second + both,
    }
