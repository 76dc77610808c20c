"""The paragraph of a report that a person reads first. Source: spec held-out, sections 5 and 6.

Only `improved` is worded as a claim. The paragraph follows from the report's numbers alone, so it can be checked.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from cyclotron.core.coverage import measured_coverage
from cyclotron.core.intervals import Interval
from cyclotron.core.outcome import Outcome
from cyclotron.core.verdict import RarestLabel, Verdict
from cyclotron.core.wording import HYPHEN, counted, grouped, interval_words, p_value, percent, points

# From here on down the interval is known to be too narrow (spec, section 5).
FEW_ITEMS = 30
SIGNIFICANT = 0.05


@dataclass(frozen=True)
class SummaryFacts:
    """What the paragraph is written from.

    `before` and `after` are balanced accuracies (shares); `change_points` and its `interval` are percentage points.
    """

    verdict: Verdict
    before: float
    after: float
    change_points: float
    interval: Interval
    scored: int
    rarest: RarestLabel
    minimum_per_label: int
    outcomes: Mapping[Outcome, int]
    p_value: float


def change_summary(facts: SummaryFacts, *, with_measured: bool = True) -> str:
    """The report's `change.summary`. Without what was measured of the interval it is as older reports have it."""
    summary = " ".join((_first(facts), _claim(facts), _counts(facts), _basis(facts)))
    too_narrow = _too_narrow(facts)
    if not too_narrow:
        return summary
    return f"{summary} {too_narrow}{_measured(facts) if with_measured else ''}."


def _first(facts: SummaryFacts) -> str:
    return headline(
        verdict=facts.verdict,
        before=facts.before,
        after=facts.after,
        change_points=facts.change_points,
        interval=facts.interval,
    )


def headline(
    *,
    verdict: Verdict,
    before: float,
    after: float,
    change_points: float,
    interval: Interval | None,
    minus: str = HYPHEN,
) -> str:
    """The summary's first sentence: after, before (shares), and the change with its interval, in percentage points.

    `interval` is None for a report from before intervals existed. `minus` is the sign that a page or a text uses.
    """

    def signed(value: float) -> str:
        return points(value, minus)

    compared, earlier = ("up from", "") if verdict is Verdict.IMPROVED else ("against", " before")
    within = "no interval was computed" if interval is None else f"95% interval {interval_words(interval, signed)}"
    return (
        f"Agrees with reviewers on {percent(after)} of decisions, averaged over the labels, {compared} "
        f"{percent(before)}{earlier}: {signed(change_points)} points ({within})."
    )


def _claim(facts: SummaryFacts) -> str:
    match facts.verdict:
        case Verdict.IMPROVED:
            return "The whole interval is above zero: what was learned helps on decisions that it has not seen."
        case Verdict.WORSE:
            return "The whole interval is below zero, so there is no improvement to claim."
        case Verdict.NO_CLEAR_CHANGE:
            return "The interval includes zero, so no claim is made."
        case Verdict.TOO_FEW_LABELS:
            return (
                f"No claim is made: label “{facts.rarest.label}” has {counted(facts.rarest.count, 'held-out item')}, "
                f"and {grouped(facts.minimum_per_label)} are needed."
            )
        case Verdict.NOTHING_LEARNED_YET:
            return (
                "Nothing has been learned yet: the active version is still version 1 without an ML model, "
                "so both numbers are the same classifier's."
            )


def _counts(facts: SummaryFacts) -> str:
    return (
        f"{counted(facts.scored, 'held-out item')}; the rarest label, “{facts.rarest.label}”, "
        f"has {grouped(facts.rarest.count)}."
    )


def _basis(facts: SummaryFacts) -> str:
    return (
        "The verdict follows the weighted interval, not the unweighted counts: "
        f"{counted(facts.outcomes[Outcome.GAINED], 'item')} {Outcome.GAINED.meaning}, "
        f"{grouped(facts.outcomes[Outcome.LOST])} {Outcome.LOST.meaning} "
        f"(exact sign test, {p_value(facts.p_value)})."
    )


def _too_narrow(facts: SummaryFacts) -> str:
    reasons = []
    if facts.verdict in (Verdict.IMPROVED, Verdict.WORSE) and facts.p_value > SIGNIFICANT:
        reasons.append(f"the sign test does not agree with it (p is above {SIGNIFICANT})")
    if facts.rarest.count < FEW_ITEMS:
        reasons.append(f"the rarest label has fewer than {FEW_ITEMS} items")
    if not reasons:
        return ""
    return f"The interval is known to be too narrow where, as here, {' and '.join(reasons)}"


def _measured(facts: SummaryFacts) -> str:
    measured = measured_coverage(facts.rarest.count)
    if measured is None:
        return ""
    return (
        f": in simulated sets with {grouped(measured.rarest)} items of the rarest label {percent(measured.held)} of "
        f"intervals held the true change, and {percent(measured.false_improved)} of sets without one would have been "
        "called improved"
    )
