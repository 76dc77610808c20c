"""Reads of a cyclotron: labels, status, events, the held-out overview and its reports."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Count

from cyclotron.core.draws import PARTITIONS
from cyclotron.core.errors import (
    InvalidPageError,
    NoHeldOutSetError,
    NoSuchEvaluationError,
    NoSuchReportError,
    NoSuchReviewError,
    NothingToScoreError,
)
from cyclotron.core.interruption import Interruption
from cyclotron.core.live_calls import WHY_OFF
from cyclotron.core.overview import (
    InterruptedEvaluation,
    Overview,
    RunningEvaluation,
    SetSummary,
    Status,
    StoredReport,
)
from cyclotron.core.verdict import DEFAULT_MINIMUM_PER_LABEL
from cyclotron.endpoints import definition_of
from cyclotron.labels import CurrentLabel, current_labels, label_counts, new_label_count, reviews_until_due
from cyclotron.models import Classifier, Decision, Evaluation, Event, HeldOutSet, Item, Permit, Report, Review, Version
from cyclotron.plan import Plan, make_plan
from cyclotron.store import Store
from kapsoweb.foundation.canonical import is_storable

REPORTS_KEPT_IN_VIEW = 10
EVENTS_AT_ONCE = 500


@dataclass(frozen=True)
class EventPage:
    """Events after a cursor, in order, and the cursor to go on from (the same one when there are none)."""

    events: tuple[Event, ...]
    cursor: int


def labels(store: Store, classifier: str | None = None) -> list[CurrentLabel]:
    """The label of each item that counts now, in identity order, and what it may be used for."""
    return sorted(current_labels(store, store.classifier(classifier)), key=lambda label: label.item_id)


def events(store: Store, *, after: int = 0, limit: int = EVENTS_AT_ONCE) -> EventPage:
    """Events with a sequence above the cursor `after`, at most `limit` and never more than `EVENTS_AT_ONCE`.

    A cursor stays good across restarts of any process. Raises `InvalidPageError` for a limit below 1.
    """
    if limit < 1:
        raise InvalidPageError("the limit of a page of events must be 1 or more.", limit=limit)
    rows = tuple(store.all(Event).filter(sequence__gt=after).order_by("sequence")[: min(limit, EVENTS_AT_ONCE)])
    return EventPage(rows, rows[-1].sequence if rows else after)


def status(store: Store, classifier: str | None = None) -> Status:
    """Counts of items, decisions and reviews, the active version, and when learning is due."""
    row = store.classifier(classifier)
    partitions = dict(store.all(Item).values_list("partition").annotate(Count("id")))
    version = row.active_version
    ml_model = row.active_ml_model
    counts = label_counts(store, row)
    return Status(
        items={partition: partitions.get(partition, 0) for partition in PARTITIONS},
        decisions=store.all(Decision).count(),
        reviews={label: counts.get(label, 0) for label in definition_of(row).labels},
        version=version.number if version else 1,
        refits=ml_model.refit if ml_model else 0,
        versions=store.rows(Version).filter(classifier=row).count(),
        training_reviews=row.training_reviews,
        next_learning_in=reviews_until_due(store, row, store.cyclotron().learn_every),
    )


def reviewer_of(store: Store, identity: str) -> str:
    """Who gave the review of that identity; raises `NoSuchReviewError`."""
    rows = store.all(Review).filter(identity=identity) if is_storable(identity) else store.all(Review).none()
    reviewer = rows.values_list("reviewer", flat=True).first()
    if reviewer is None:
        raise NoSuchReviewError("there is no such review.", review=identity)
    return reviewer


def item_count(store: Store) -> int:
    """The cyclotron's items."""
    return store.all(Item).count()


def active_version(store: Store, classifier: str | None = None) -> int:
    """The number of a classifier's active version."""
    version = store.classifier(classifier).active_version
    return version.number if version else 1


def overview(
    store: Store,
    classifier: str | None = None,
    *,
    model: str,
    allow_live: bool,
    minimum_per_label: int = DEFAULT_MINIMUM_PER_LABEL,
) -> Overview:
    """What the held-out panel shows. `model` is the identity of the model that an evaluation would ask."""
    row = store.classifier(classifier)
    definition = definition_of(row)
    running = running_evaluation(store, row)
    plan = _plan_or_none(store, row, model, minimum_per_label)
    reason = _why_disabled(row, running, plan, allow_live=allow_live)
    return Overview(
        cyclotron_id=store.cyclotron_id,
        name=store.cyclotron().name,
        classifier=row.name,
        question=definition.question,
        labels=definition.labels,
        positive_label=definition.positive_label,
        live_enabled=allow_live,
        minimum_per_label=minimum_per_label,
        current_set=summary_of(store.all(HeldOutSet).get(id=row.current_set_id)) if row.current_set_id else None,
        new_labels=new_label_count(store, row),
        request_bound=plan.bound if plan else None,
        plan_digest=plan.digest if plan else None,
        running=_running(store, running) if running else None,
        interrupted=None if running else _interrupted(store, row),
        disabled_reason=reason,
        reports=report_bodies(store, row.name),
    )


def report_bodies(
    store: Store, classifier: str | None = None, limit: int = REPORTS_KEPT_IN_VIEW
) -> Sequence[StoredReport]:
    """The last reports (ten unless asked otherwise) without their items, oldest first."""
    rows = store.all(Report).filter(classifier=store.classifier(classifier)).order_by("-id")
    return [StoredReport(*row) for row in rows.values_list("id", "body")[:limit]][::-1]


def report_records(store: Store, classifier: str | None = None, limit: int | None = None) -> list[Report]:
    """Stored reports of a classifier, oldest first; the newest `limit` of them when given."""
    rows = store.all(Report).filter(classifier=store.classifier(classifier)).order_by("-id")
    return list(rows[:limit] if limit else rows)[::-1]


def report_record(store: Store, report_id: str) -> Report:
    """The stored report of that id; raises `NoSuchReportError`."""
    reports = store.all(Report).select_related("classifier")
    found = reports.filter(id=report_id).first() if is_storable(report_id) else None
    if found is None:
        raise NoSuchReportError("there is no such report.", report=report_id)
    return found


def evaluation_record(store: Store, evaluation_id: str) -> Evaluation:
    """The evaluation of that id; raises `NoSuchEvaluationError`."""
    found = store.all(Evaluation).filter(id=evaluation_id).first() if is_storable(evaluation_id) else None
    if found is None:
        raise NoSuchEvaluationError("there is no such evaluation.", evaluation=evaluation_id)
    return found


def report_of_evaluation(store: Store, evaluation: Evaluation) -> dict[str, Any] | None:
    """The report that an evaluation ended with, if it did."""
    found = store.all(Report).filter(evaluation=evaluation).first()
    return found.document if found else None


def report_id_of_evaluation(store: Store, evaluation: Evaluation) -> str | None:
    """The id of the report that an evaluation wrote, if it did."""
    return store.all(Report).filter(evaluation=evaluation).values_list("id", flat=True).first()


def summary_of(frozen: HeldOutSet) -> SetSummary:
    """A stored set as the panel shows it."""
    return SetSummary(frozen.id, frozen.frozen_at, frozen.size, frozen.label_counts)


def classifier_names(store: Store) -> list[str]:
    """The cyclotron's classifiers, in their declared order."""
    return list(store.all(Classifier).order_by("position").values_list("name", flat=True))


def running_evaluation(store: Store, classifier: Classifier) -> Evaluation | None:
    """The evaluation of a classifier that is not known to have ended."""
    return store.all(Evaluation).filter(classifier=classifier, state="running").first()


def evaluation_progress(store: Store, classifier: str | None = None, *, evaluation_id: str) -> RunningEvaluation | None:
    """How far the evaluation of that id is, or None once it does not run: what a page asks for every second."""
    running = running_evaluation(store, store.classifier(classifier))
    return _running(store, running) if running is not None and running.id == evaluation_id else None


def held_out_reports(
    store: Store, classifier: str | None = None, limit: int = REPORTS_KEPT_IN_VIEW
) -> Sequence[dict[str, Any]]:
    """The last reports (ten unless asked otherwise), oldest first."""
    return [record.document for record in report_records(store, classifier, limit)]


def _plan_or_none(store: Store, row: Classifier, model: str, minimum_per_label: int) -> Plan | None:
    try:
        return make_plan(store, row, model=model, minimum_per_label=minimum_per_label)
    except (NoHeldOutSetError, NothingToScoreError):
        return None


def _why_disabled(row: Classifier, running: Evaluation | None, plan: Plan | None, *, allow_live: bool) -> str | None:
    if not allow_live:
        return WHY_OFF
    if running is not None:
        return "An evaluation is running."
    if row.current_set_id is None:
        return "No held-out set is frozen yet."
    if plan is None:
        return "Every item of the held-out set trains now; review more of what is sent, then freeze."
    return None


def _running(store: Store, evaluation: Evaluation) -> RunningEvaluation:
    answered = store.rows(Permit).filter(evaluation=evaluation, answered_at__isnull=False).count()
    return RunningEvaluation(
        id=evaluation.id,
        state="cancelling" if evaluation.cancel_requested else evaluation.state,
        done=evaluation.total - evaluation.bound + answered,
        total=evaluation.total,
        requests_used=evaluation.permits_taken,
        bound=evaluation.bound,
        started_at=evaluation.started_at,
    )


def _interrupted(store: Store, row: Classifier) -> InterruptedEvaluation | None:
    newest = store.all(Evaluation).filter(classifier=row).order_by("-id").first()
    if newest is None or newest.state != "interrupted" or newest.ended_at is None:
        return None
    return InterruptedEvaluation(
        id=newest.id,
        reason=newest.reason,
        message=Interruption(newest.reason).sentence,
        ended_at=newest.ended_at,
        requests_used=newest.permits_taken,
        answers_kept=newest.total - newest.unanswered,
        unanswered=newest.unanswered,
    )
