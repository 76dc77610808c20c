"""What a person would say aloud about a report. Only `improved` is worded as a claim. Source: spec, section 5."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from cyclotron.core.verdict import Verdict, rarest_label
from cyclotron.presentation.figures import counted, interval_of, percent, points_figure, points_interval


@dataclass(frozen=True)
class VerdictWords:
    """A verdict as a page shows it: a word, its tone (good, bad, unclear), a sign, and a sentence that says why."""

    word: str
    tone: str
    sign: str
    sentence: str


_WORDS = {
    Verdict.IMPROVED: VerdictWords("Better", "good", "▲", "Better: the whole interval of the change lies above zero."),
    Verdict.WORSE: VerdictWords("Worse", "bad", "▼", "Worse: the whole interval of the change lies below zero."),
    Verdict.NO_CLEAR_CHANGE: VerdictWords(
        "No clear change", "unclear", "≈", "No clear change: the interval of the change includes zero."
    ),
    Verdict.NOTHING_LEARNED_YET: VerdictWords(
        "Nothing learned yet",
        "unclear",
        "=",
        "Nothing learned yet: the active classifier is still version 1 without an ML model.",
    ),
}


def verdict_of(report: Mapping[str, Any]) -> VerdictWords:
    """The verdict of a report in words; colour never speaks alone."""
    verdict = Verdict(report["change"]["verdict"])
    if verdict == Verdict.TOO_FEW_LABELS:
        return VerdictWords("Too few labels", "unclear", "?", _too_few(report))
    return _WORDS[verdict]


def _too_few(report: Mapping[str, Any]) -> str:
    counts = Counter(item["label"] for item in report["items"])
    rarest = rarest_label({label: counts[label] for label in report["classifier"]["labels"]})
    return (
        f"Too few labels for a claim: “{rarest.label}” has {counted(rarest.count, 'held-out item')}, "
        f"and at least {report['minimumPerLabel']} are needed."
    )


def headline_sentence(report: Mapping[str, Any]) -> str:
    """The report in one breath: after, before, change with interval, and the number of items that were scored."""
    headline = report["headline"]
    scored = counted(report["heldOutSet"]["scored"], "held-out item")
    before, after = headline["before"], headline["after"]
    if before is None or after is None:
        return f"No label has a scored item, so there is nothing to compare. {scored}."
    change = points_figure(headline["changePoints"]).text
    interval = interval_of(headline.get("changeInterval"))
    within = f" (95% interval {points_interval(interval).text})" if interval else " (no interval was computed)"
    if report["change"]["verdict"] == Verdict.IMPROVED:
        return (
            f"Agrees with reviewers on {percent(after).text} of decisions, up from {percent(before).text}: "
            f"{change}{within}. {scored}."
        )
    return (
        f"Agrees with reviewers on {percent(after).text} of decisions; version 1 did on {percent(before).text}: "
        f"{change}{within}. {scored}."
    )
