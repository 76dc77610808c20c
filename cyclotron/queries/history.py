"""Reads of decisions and reviews as they were recorded, page by page, newest first."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from cyclotron.models import Decision, DecisionOutput, Review
from cyclotron.store import Store
from kapsoweb.foundation.paging import Page


@dataclass(frozen=True)
class OutputShown:
    """What one classifier decided (`label` None for one that was not declared), by which version and refit."""

    label: str | None
    confidence: float
    probabilities: Mapping[str, float]
    version: int
    refit: int
    fingerprint: str


@dataclass(frozen=True)
class DecisionRow:
    """A decision, with an output for each classifier by name; `foreign` when it was made elsewhere."""

    decision_id: str
    item_key: int
    item_id: str
    sent: bool
    reason: str
    propensity: float
    decided_at: datetime
    foreign: bool
    outputs: Mapping[str, OutputShown]


@dataclass(frozen=True)
class ReviewRow:
    """A review, undone or not; `corrects` is the identity of the one that it follows."""

    review_id: str
    decision_id: str
    item_key: int
    item_id: str
    classifier: str
    label: str | None
    explanation: str
    reason_code: str
    reviewer: str
    selected_by: str
    corrects: str | None
    recorded_at: datetime
    undone_at: datetime | None
    undone_by: str


def decisions(
    store: Store, *, after: str | None = None, limit: int = 50, item_key: int | None = None
) -> Page[DecisionRow]:
    """Decisions, newest first, older than the one with the id `after`; of one item if asked."""
    rows = store.all(Decision).select_related("item").defer("item__values")
    if item_key is not None:
        rows = rows.filter(item_id=item_key)
    if after is not None:
        rows = rows.filter(id__lt=after)
    page = Page.of(list(rows.order_by("-id")[: limit + 1]), limit)
    return page.shown_as(shown_decisions(store, page.rows))


def reviews(
    store: Store,
    classifier: str | None = None,
    *,
    after: int | None = None,
    limit: int = 50,
    item_key: int | None = None,
) -> Page[ReviewRow]:
    """Reviews, undone ones too, newest first, older than the one with the key `after`; of all classifiers or one."""
    rows = store.all(Review)
    if classifier is not None:
        rows = rows.filter(classifier=store.classifier(classifier))
    if item_key is not None:
        rows = rows.filter(item_id=item_key)
    if after is not None:
        rows = rows.filter(id__lt=after)
    rows = rows.select_related("item", "classifier", "corrects").defer("item__values", "classifier__definition")
    page = Page.of(list(rows.order_by("-id")[: limit + 1]), limit)
    return page.shown_as(map(_review, page.rows))


def shown_decisions(store: Store, found: Iterable[Decision]) -> Iterable[DecisionRow]:
    """Decisions (with their items at hand) with their outputs, read in one query."""
    found = list(found)
    outputs: dict[str, dict[str, OutputShown]] = defaultdict(dict)
    rows = store.rows(DecisionOutput).filter(decision__in=found).select_related("classifier")
    for output in rows.order_by("classifier__position"):
        outputs[output.decision_id][output.classifier.name] = shown_output(output)
    for row in found:
        yield DecisionRow(
            decision_id=row.id,
            item_key=row.item_id,
            item_id=row.item.identity,
            sent=row.sent,
            reason=row.reason,
            propensity=row.propensity,
            decided_at=row.decided_at,
            foreign=bool(row.foreign_digest),
            outputs=outputs[row.id],
        )


def shown_output(output: DecisionOutput) -> OutputShown:
    """An output as it is shown."""
    return OutputShown(
        label=output.label or None,
        confidence=output.confidence,
        probabilities=output.probabilities,
        version=output.version,
        refit=output.refit,
        fingerprint=output.fingerprint,
    )


def _review(row: Review) -> ReviewRow:
    return ReviewRow(
        review_id=row.identity,
        decision_id=row.decision_id,
        item_key=row.item_id,
        item_id=row.item.identity,
        classifier=row.classifier.name,
        label=row.label,
        explanation=row.explanation,
        reason_code=row.reason_code,
        reviewer=row.reviewer,
        selected_by=row.selected_by,
        corrects=row.corrects.identity if row.corrects else None,
        recorded_at=row.recorded_at,
        undone_at=row.undone_at,
        undone_by=row.undone_by,
    )
