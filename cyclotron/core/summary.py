"""The paragraph of a report that a person reads first. Source: spec held-out, sections 5 and 6.

Only `improved` is worded as a claim. The paragraph follows from the report's numbers alone, so it can be checked.
"""

from dataclasses import dataclass

from cyclotron.core.intervals import Interval
from cyclotron.core.metrics import Outcomes
from cyclotron.core.verdict import RarestLabel, Verdict

# From here on down the interval is known to be too narrow (spec, section 5).
FEW_ITEMS = 30
SIGNIFICANT = 0.05


@dataclass(frozen=True)
class SummaryFacts:
    """What the paragraph is written from.

    `before` and `after` are balanced accuracies (shares); `change_points` and its `interval` are percentage points.
    `measured_coverage` is the share of intervals that held the true change in a coverage study of sets like this one;
    None as long as no study has measured it.
    """

    verdict: Verdict
    before: float
    after: float
    change_points: float
    interval: Interval
    scored: int
    rarest: RarestLabel
    minimum_per_label: int
    outcomes: Outcomes
    p_value: float
    measured_coverage: float | None = None


def change_summary(facts: SummaryFacts) -> str:
    """The report's `change.summary`."""
    return " ".join(
        sentence
        for sentence in (_headline(facts), _claim(facts), _counts(facts), _basis(facts), _too_narrow(facts))
        if sentence
    )


def _headline(facts: SummaryFacts) -> str:
    compared = "up from" if facts.verdict is Verdict.IMPROVED else "against"
    earlier = "" if facts.verdict is Verdict.IMPROVED else " before"
    return (
        f"Agrees with reviewers on {percent(facts.after)} of decisions, averaged over the labels, {compared} "
        f"{percent(facts.before)}{earlier}: {points(facts.change_points)} points "
        f"(95% interval {points(facts.interval.low)} to {points(facts.interval.high)})."
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
                f"and {facts.minimum_per_label} are needed."
            )
        case Verdict.NOTHING_LEARNED_YET:
            return (
                "Nothing has been learned yet: the active version is still version 1 without an ML model, "
                "so both numbers are the same classifier's."
            )


def _counts(facts: SummaryFacts) -> str:
    return (
        f"{counted(facts.scored, 'held-out item')}; the rarest label, “{facts.rarest.label}”, has {facts.rarest.count}."
    )


def _basis(facts: SummaryFacts) -> str:
    return (
        "The verdict follows the weighted interval, not the unweighted counts: "
        f"{counted(facts.outcomes.gained, 'item')} newly right, {facts.outcomes.lost} newly wrong "
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
    sentence = f"The interval is known to be too narrow where, as here, {' and '.join(reasons)}"
    if facts.measured_coverage is None:
        return f"{sentence}."
    return (
        f"{sentence}: in a coverage study of such sets it held the true change in {percent(facts.measured_coverage)}."
    )


def percent(share: float) -> str:
    """A share in 0..1 as `81.5%`."""
    return f"{100 * share:.1f}%"


def points(value: float) -> str:
    """Percentage points with their sign: `+24.7`, `-3.0`, `0.0`; a change below 0.05 keeps the digit that it has."""
    if value == 0:
        return "0.0"
    text = f"{value:+.1f}"
    return text if float(text) else f"{value:+.1g}"


def p_value(value: float) -> str:
    """`p = 0.031`, or `p < 0.0001`."""
    return "p < 0.0001" if value < 0.0001 else f"p = {value:.2g}"


def counted(number: int, noun: str) -> str:
    """`1 item`, `181 items`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
