"""Building a held-out report: everything in it is either given or follows from the scored items.

Source: spec held-out, sections 5 and 6. The format is described by `schemas/cyclotron-held-out-report.v1.schema.json`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any

from cyclotron.core.definition import ClassifierDefinition
from cyclotron.core.errors import InvalidReportError, InvalidScoredItemsError
from cyclotron.core.intervals import Intervals, bootstrap_intervals, change_points
from cyclotron.core.metrics import EndpointMetrics, endpoint_metrics
from cyclotron.core.outcome import Outcome, count_outcomes, outcome_of
from cyclotron.core.report_format import SCHEMA, read_report
from cyclotron.core.scored import ScoredItem, columns_of
from cyclotron.core.significance import sign_test
from cyclotron.core.summary import SummaryFacts, change_summary
from cyclotron.core.verdict import RarestLabel, Verdict, check_minimum, rarest_label, verdict_of

METRIC = "balancedAccuracy"
METRIC_DEFINITION = (
    "Balanced accuracy: for each label, the share of the held-out items with that label that were decided as the "
    "reviewers did, averaged over the labels that have a scored item. An item counts with its weight, one over the "
    "probability with which it was sent to review."
)
SCORING_NOTE = (
    "Every item is scored by the label that it had when the set was frozen. Labels corrected since then are counted in "
    "labelsChangedSinceFrozen, for information only. Items that a reviewer has since chosen to review moved to "
    "training: they are left out and counted in excludedSinceFrozen."
)


@dataclass(frozen=True)
class EndpointFacts:
    """A column that was evaluated: its version's number (from 1), its ML model's refit (0 without one), its digest."""

    version: int
    refits: int
    fingerprint: str


@dataclass(frozen=True)
class SetFacts:
    """The frozen set: `size` and `label_counts` are those of the set as frozen, `frozen_at` is an aware time."""

    id: str
    frozen_at: datetime
    size: int
    label_counts: Mapping[str, int]
    excluded_since_frozen: int
    labels_changed_since_frozen: int


@dataclass(frozen=True)
class CostFacts:
    """Requests made and requests answered from the cache (distinct ones), and the tokens of those made."""

    new_requests: int
    cached_requests: int
    tokens_in: int
    tokens_out: int


@dataclass(frozen=True)
class ReportInputs:
    """All that a report is built from. `items` are the scored ones in any order; `created_at` is an aware time."""

    cyclotron_id: str
    definition: ClassifierDefinition
    created_at: datetime
    minimum_per_label: int
    before: EndpointFacts
    after: EndpointFacts
    held_out_set: SetFacts
    cost: CostFacts
    items: Sequence[ScoredItem]


@dataclass(frozen=True)
class Findings:
    """What follows from the scored items, the set's id, the minimum per label and whether anything was learned."""

    before: EndpointMetrics
    after: EndpointMetrics
    change_points: float
    intervals: Intervals
    outcomes: Mapping[Outcome, int]
    p_value: float
    rarest: RarestLabel
    verdict: Verdict
    summary: str
    unmeasured_summary: str
    """The summary as it was written before the interval's own error had been measured."""


def findings_of(
    items: Sequence[ScoredItem],
    *,
    labels: Sequence[str],
    positive_label: str | None,
    set_id: str,
    minimum_per_label: int,
    nothing_learned: bool,
) -> Findings:
    """Compute a report's numbers, verdict and summary. Raises what `columns_of` raises."""
    columns = columns_of(items, labels)
    before = endpoint_metrics(columns, columns.before, positive_label)
    after = endpoint_metrics(columns, columns.after, positive_label)
    intervals = bootstrap_intervals(columns, set_id)
    outcomes = count_outcomes(columns)
    p_value = sign_test(outcomes[Outcome.GAINED], outcomes[Outcome.LOST])
    rarest = rarest_label({label: agreement.count for label, agreement in after.per_label.items()})
    verdict = verdict_of(
        nothing_learned=nothing_learned,
        rarest=rarest,
        minimum_per_label=minimum_per_label,
        change=intervals.change,
    )
    change = change_points(before.balanced_accuracy, after.balanced_accuracy)
    facts = SummaryFacts(
        verdict=verdict,
        before=before.balanced_accuracy,
        after=after.balanced_accuracy,
        change_points=change,
        interval=intervals.change,
        scored=columns.size,
        rarest=rarest,
        minimum_per_label=minimum_per_label,
        outcomes=outcomes,
        p_value=p_value,
    )
    return Findings(
        before=before,
        after=after,
        change_points=change,
        intervals=intervals,
        outcomes=outcomes,
        p_value=p_value,
        rarest=rarest,
        verdict=verdict,
        summary=change_summary(facts),
        unmeasured_summary=change_summary(facts, with_measured=False),
    )


def learned_nothing(version: int, refits: int) -> bool:
    """Whether a column is version 1 with no ML model: what `before` always is."""
    return version == 1 and refits == 0


def build_report(inputs: ReportInputs) -> dict[str, Any]:
    """The report as plain JSON, valid under its schema, with its items in the order of their identities.

    Raises `NothingToScoreError` without items, `InvalidScoredItemsError`, `InvalidEvaluationError`, and
    `InvalidReportError` when the facts contradict one another or the format.
    """
    check_minimum(inputs.minimum_per_label)
    items = sorted(inputs.items, key=lambda item: item.item_id)
    _check_facts(inputs, items)
    labels = inputs.definition.labels
    held_out = inputs.held_out_set
    found = findings_of(
        items,
        labels=labels,
        positive_label=inputs.definition.positive_label,
        set_id=held_out.id,
        minimum_per_label=inputs.minimum_per_label,
        nothing_learned=learned_nothing(inputs.after.version, inputs.after.refits),
    )
    _check_label_counts(held_out, found.after, len(items))
    report = {
        "schema": SCHEMA,
        "cyclotronId": inputs.cyclotron_id,
        "classifier": {
            "id": inputs.definition.name,
            "labels": list(labels),
            "positiveLabel": inputs.definition.positive_label,
        },
        "createdAt": time_text(inputs.created_at),
        "minimumPerLabel": inputs.minimum_per_label,
        "headline": headline_json(found),
        "before": _endpoint_json(inputs.before, found.before),
        "after": _endpoint_json(inputs.after, found.after),
        "change": change_json(found),
        "heldOutSet": {
            "id": held_out.id,
            "frozenAt": time_text(held_out.frozen_at),
            "size": held_out.size,
            "scored": len(items),
            "labelCounts": {label: held_out.label_counts.get(label, 0) for label in labels},
            "excludedSinceFrozen": held_out.excluded_since_frozen,
            "labelsChangedSinceFrozen": held_out.labels_changed_since_frozen,
            "scoringNote": SCORING_NOTE,
        },
        "cost": {
            "newRequests": inputs.cost.new_requests,
            "cachedRequests": inputs.cost.cached_requests,
            "tokensIn": inputs.cost.tokens_in,
            "tokensOut": inputs.cost.tokens_out,
        },
        "items": [item_json(item, frozenset(labels)) for item in items],
    }
    return read_report(report)


def headline_json(found: Findings) -> dict[str, Any]:
    """The report's `headline`."""
    return {
        "metric": METRIC,
        "definition": METRIC_DEFINITION,
        "before": found.before.balanced_accuracy,
        "after": found.after.balanced_accuracy,
        "changePoints": found.change_points,
        "beforeInterval": found.intervals.before.as_json(),
        "afterInterval": found.intervals.after.as_json(),
        "changeInterval": found.intervals.change.as_json(),
    }


def change_json(found: Findings) -> dict[str, Any]:
    """The report's `change`."""
    return {
        **{outcome.value: found.outcomes[outcome] for outcome in Outcome},
        "pValue": found.p_value,
        "verdict": str(found.verdict),
        "summary": found.summary,
    }


def item_json(item: ScoredItem, labels: frozenset[str]) -> dict[str, Any]:
    """One of the report's `items`. A decision that is not a declared label becomes null: it could quote the item."""
    return {
        "itemId": item.item_id,
        "label": item.label,
        "before": item.before if item.before in labels else None,
        "after": item.after if item.after in labels else None,
        "weight": float(item.weight),
        "outcome": outcome_of(item).value,
    }


def time_text(time: datetime) -> str:
    """ISO 8601 in UTC with Z. Raises `InvalidReportError` for a time without a zone."""
    if time.tzinfo is None:
        raise InvalidReportError("a report's times need a time zone.", path="$.createdAt", rule="date-time")
    return time.astimezone(UTC).replace(tzinfo=None).isoformat() + "Z"


def _endpoint_json(facts: EndpointFacts, metrics: EndpointMetrics) -> dict[str, Any]:
    return {
        "version": facts.version,
        "refits": facts.refits,
        "fingerprint": facts.fingerprint,
        "metrics": metrics.as_json(),
    }


def _check_facts(inputs: ReportInputs, items: Sequence[ScoredItem]) -> None:
    """Refuse facts that no evaluation can have, before anything is computed from them."""
    for position, (one, other) in enumerate(pairwise(items)):
        if one.item_id == other.item_id:
            raise InvalidScoredItemsError("two scored items have the same identity.", position=position)
    if not learned_nothing(inputs.before.version, inputs.before.refits):
        raise InvalidReportError(
            "before must be version 1 without an ML model.", path="$.before", rule="before-is-version-1"
        )


def _check_label_counts(held_out: SetFacts, metrics: EndpointMetrics, scored: int) -> None:
    counts = held_out.label_counts
    if held_out.size != scored + held_out.excluded_since_frozen or held_out.size != sum(counts.values()):
        raise InvalidReportError(
            "the set's size must be its scored and its excluded items together, and the sum of its label counts.",
            path="$.heldOutSet.size",
            rule="size",
        )
    if counts.keys() - metrics.per_label.keys():
        raise InvalidReportError(
            "the set counts a label that is not declared.", path="$.heldOutSet.labelCounts", rule="declared"
        )
    if any(agreement.count > counts.get(label, 0) for label, agreement in metrics.per_label.items()):
        raise InvalidReportError(
            "more items of a label were scored than the set holds.", path="$.heldOutSet.labelCounts", rule="scored"
        )
