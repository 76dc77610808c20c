"""Everything that the report page and the panel show of one report. Sources: spec held-out, sections 5, 6 and 9."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from cyclotron.core.wording import counted, grouped, p_value
from cyclotron.presentation.charts import Dumbbell, Plot, change_plot, dumbbell, share_row, share_ticks
from cyclotron.presentation.figures import (
    Figure,
    interval_of,
    percent,
    quoted,
    share_change,
    short_digest,
)
from cyclotron.presentation.sentences import (
    OUTCOME_WORDS,
    VerdictWords,
    headline_sentence,
    remark_of,
    scored_sentence,
    verdict_of,
)
from kapsoweb.foundation.wording import sentence_case


@dataclass(frozen=True)
class MetricRow:
    """One metric of both columns, all shares in 0..1 written as percentages."""

    name: str
    before: Figure
    after: Figure
    change: Figure


@dataclass(frozen=True)
class LabelRow:
    """Weighted agreement on one label, with the unweighted number of its scored items."""

    label: str
    positive: bool
    count: str
    before: Figure
    after: Figure
    change: Figure
    plot: Dumbbell


@dataclass(frozen=True)
class OutcomeRow:
    """How many items had one outcome; `value` is the filter that shows them."""

    value: str
    name: str
    count: str
    tone: str
    meaning: str


@dataclass(frozen=True)
class Fact:
    """A name and what is to be said under it; `parts` are what the number is made of."""

    name: str
    text: str
    parts: Sequence["Fact"] = ()
    note: str = ""


@dataclass(frozen=True)
class ReportView:
    """A report, ready for the templates."""

    created_at: datetime
    classifier: str
    sentence: str
    scored: str
    verdict: VerdictWords
    definition: str
    remark: str
    before_after: Plot
    change: Plot
    labels: Sequence[LabelRow]
    outcomes: Sequence[OutcomeRow]
    p_value: str
    metrics: Sequence[MetricRow]
    set_id: str
    set_digest: str
    frozen_at: datetime
    set_facts: Sequence[Fact]
    left_out: Sequence[str]
    scoring_note: str
    cost: Sequence[Fact]
    cost_sentence: str
    fingerprints: Sequence[Fact]


def report_view(report: Mapping[str, Any]) -> ReportView:
    """Translate a report, of now or from before the intervals existed."""
    held_out = report["heldOutSet"]
    headline = report["headline"]
    return ReportView(
        created_at=datetime.fromisoformat(report["createdAt"]),
        classifier=report["classifier"]["id"],
        sentence=headline_sentence(report),
        scored=scored_sentence(report),
        verdict=verdict_of(report),
        definition=headline["definition"],
        remark=remark_of(report),
        before_after=_before_after(report),
        change=change_plot(headline["changePoints"], interval_of(headline.get("changeInterval"))),
        labels=_labels(report),
        outcomes=_outcomes(report["change"]),
        p_value=p_value(report["change"]["pValue"]),
        metrics=_metrics(report),
        set_id=held_out["id"],
        set_digest=short_digest(held_out["id"]),
        frozen_at=datetime.fromisoformat(held_out["frozenAt"]),
        set_facts=_set_facts(held_out),
        left_out=_left_out(held_out),
        scoring_note=held_out.get("scoringNote") or "",
        cost=_cost(report["cost"]),
        cost_sentence=_cost_sentence(report["cost"]),
        fingerprints=[
            Fact(
                f"{side.capitalize()} (version {report[side]['version']})",
                report[side]["fingerprint"],
            )
            for side in ("before", "after")
        ],
    )


def column_note(column: Mapping[str, Any]) -> str:
    """Which version and ML model a column is: `version 4, refit 12`."""
    refits = column["refits"]
    return f"version {column['version']}, " + (f"refit {grouped(refits)}" if refits else "no ML model")


def _before_after(report: Mapping[str, Any]) -> Plot:
    headline = report["headline"]
    return Plot(
        rows=(
            share_row(
                "before",
                "Before",
                column_note(report["before"]),
                headline["before"],
                interval_of(headline.get("beforeInterval")),
            ),
            share_row(
                "after",
                "After",
                column_note(report["after"]),
                headline["after"],
                interval_of(headline.get("afterInterval")),
            ),
        ),
        ticks=share_ticks(),
    )


def _labels(report: Mapping[str, Any]) -> list[LabelRow]:
    rows = []
    for label in report["classifier"]["labels"]:
        before, after = (report[side]["metrics"]["perLabel"][label] for side in ("before", "after"))
        shares = before["agreement"], after["agreement"]
        nothing = "no scored item has this label"
        rows.append(
            LabelRow(
                label=label,
                positive=label == report["classifier"]["positiveLabel"],
                count=grouped(after["count"]),
                before=percent(shares[0], nothing),
                after=percent(shares[1], nothing),
                change=share_change(*shares, nothing),
                plot=dumbbell(*shares),
            )
        )
    return rows


def _outcomes(change: Mapping[str, Any]) -> list[OutcomeRow]:
    return [
        OutcomeRow(outcome.value, sentence_case(words.name), grouped(change[outcome]), words.tone, outcome.meaning)
        for outcome, words in OUTCOME_WORDS.items()
    ]


def _metrics(report: Mapping[str, Any]) -> list[MetricRow]:
    positive = report["classifier"]["positiveLabel"]
    of = f"of {quoted(positive)}" if positive else "mean over labels"
    undefined = "undefined: nothing to divide by"
    rows = []
    for key, name in (
        ("balancedAccuracy", "Balanced accuracy"),
        ("accuracy", "Accuracy"),
        ("precision", f"Precision, {of}"),
        ("recall", f"Recall, {of}"),
    ):
        before, after = report["before"]["metrics"][key], report["after"]["metrics"][key]
        rows.append(
            MetricRow(
                name, percent(before, undefined), percent(after, undefined), share_change(before, after, undefined)
            )
        )
    return rows


def _set_facts(held_out: Mapping[str, Any]) -> list[Fact]:
    return [
        Fact("Items frozen", grouped(held_out["size"])),
        Fact("Items scored", grouped(held_out["scored"])),
    ] + [Fact(f"Frozen as {quoted(label)}", grouped(count)) for label, count in held_out["labelCounts"].items()]


def _left_out(held_out: Mapping[str, Any]) -> list[str]:
    excluded, changed = held_out["excludedSinceFrozen"], held_out["labelsChangedSinceFrozen"]
    sentences = []
    if excluded:
        verb = "was" if excluded == 1 else "were"
        sentences.append(
            f"{counted(excluded, 'item')} {verb} left out: a reviewer has since chosen to review "
            f"{'it' if excluded == 1 else 'them'}, so {'it trains' if excluded == 1 else 'they train'} now."
        )
    else:
        sentences.append("Nothing was left out since freezing.")
    if changed:
        verb = "has" if changed == 1 else "have"
        sentences.append(
            f"{counted(changed, 'item')} {verb} another label by now; scoring used the frozen "
            f"{'one' if changed == 1 else 'ones'}."
        )
    return sentences


def _cost(cost: Mapping[str, Any]) -> list[Fact]:
    return [
        Fact("New requests", grouped(cost["newRequests"])),
        Fact("From the cache", grouped(cost["cachedRequests"])),
        Fact("Tokens in", grouped(cost["tokensIn"])),
        Fact("Tokens out", grouped(cost["tokensOut"])),
    ]


def _cost_sentence(cost: Mapping[str, Any]) -> str:
    return (
        f"{counted(cost['newRequests'], 'new request')}, {grouped(cost['cachedRequests'])} from the cache; "
        f"{counted(cost['tokensIn'], 'token')} in, {grouped(cost['tokensOut'])} out."
    )
