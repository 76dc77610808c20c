"""What a person would say aloud about a report. Only `improved` is worded as a claim. Source: spec, section 5."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from cyclotron.core.outcome import Outcome
from cyclotron.core.summary import headline
from cyclotron.core.verdict import Verdict, rarest_label
from cyclotron.core.wording import HYPHEN, MINUS, counted, grouped
from cyclotron.presentation.figures import interval_of, quoted


@dataclass(frozen=True)
class VerdictWords:
    """A verdict as a page shows it: a word, its tone (good, bad, unclear), a sign, and a sentence that says why.

    The sign is empty where no direction is meant.
    """

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
        "",
        "Nothing learned yet: the active classifier is still version 1 without an ML model.",
    ),
}


@dataclass(frozen=True)
class OutcomeWords:
    """An outcome as a page shows it: a name, and its tone (good, bad, plain). What it means is the outcome's own."""

    name: str
    tone: str


OUTCOME_WORDS = {
    Outcome.GAINED: OutcomeWords("gained", "good"),
    Outcome.LOST: OutcomeWords("lost", "bad"),
    Outcome.BOTH_RIGHT: OutcomeWords("both right", "plain"),
    Outcome.BOTH_WRONG: OutcomeWords("both wrong", "plain"),
}


def verdict_of(report: Mapping[str, Any]) -> VerdictWords:
    """The verdict of a report in words; colour never speaks alone."""
    verdict = Verdict(report["change"]["verdict"])
    if verdict == Verdict.TOO_FEW_LABELS:
        return VerdictWords("Too few labels", "unclear", "", _too_few(report))
    return _WORDS[verdict]


def _too_few(report: Mapping[str, Any]) -> str:
    scored = report["after"]["metrics"]["perLabel"]
    rarest = rarest_label({label: scored[label]["count"] for label in report["classifier"]["labels"]})
    return (
        f"Too few labels for a claim: {quoted(rarest.label)} has {counted(rarest.count, 'held-out item')}, "
        f"and at least {grouped(report['minimumPerLabel'])} are needed."
    )


def headline_sentence(report: Mapping[str, Any], minus: str = MINUS) -> str:
    """The report in one breath: after, before, and the change with its interval."""
    numbers = report["headline"]
    return headline(
        verdict=Verdict(report["change"]["verdict"]),
        before=numbers["before"],
        after=numbers["after"],
        change_points=numbers["changePoints"],
        interval=interval_of(numbers.get("changeInterval")),
        minus=minus,
    )


def remark_of(report: Mapping[str, Any]) -> str:
    """The report's own summary after its first sentence, which is the headline; a summary of other words is kept whole.

    It holds what the headline cannot: what the verdict follows, and where the interval is known to be too narrow.
    """
    summary: str = report["change"]["summary"]
    return summary.removeprefix(headline_sentence(report, HYPHEN)).strip()


def scored_sentence(report: Mapping[str, Any]) -> str:
    """How many items the headline rests on."""
    return f"{counted(report['heldOutSet']['scored'], 'held-out item')}."
