"""Reads of the review queue: what waits, what is held, and an item as its reviewer sees it."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Min, OuterRef, QuerySet

from cyclotron.looking_up import there_is
from cyclotron.models import Assignment, Classifier, DecisionOutput, Item, Review, SkippedItem, WaitingItem
from cyclotron.store import Store

ASSIGNMENT = "as"  # begins the id of every assignment, and so of every review that answers one
_CODES = 50


@dataclass(frozen=True)
class AssignmentShown:
    """An item that one reviewer holds until `expires_at`, with the decision that sent it to review.

    `reason` says why it was sent; `label` (None for one that was not declared), `confidence` and `probabilities` are
    the classifier's. `skipped_before` when this reviewer has put it off once.
    """

    id: str
    item_key: int
    item_id: str
    values: Mapping[str, Any]
    decision_id: str
    classifier: str
    reason: str
    label: str | None
    confidence: float
    probabilities: Mapping[str, float]
    expires_at: datetime
    skipped_before: bool


@dataclass(frozen=True)
class QueueState:
    """A classifier's queue: items that wait for a review, how many of these somebody holds, and reviewed ones."""

    waiting: int
    held: int
    reviewed: int


@dataclass(frozen=True)
class LastAnswer:
    """The newest answer of a reviewer that counts; undoing takes this one back. `review` is its identity."""

    item_id: str
    label: str | None
    review: str


def waiting_items(store: Store, classifier: Classifier) -> QuerySet[WaitingItem]:
    """The items that were sent to review and have no active review of this classifier, with a label or without one."""
    return store.rows(WaitingItem).filter(classifier=classifier)


def queue_state(store: Store, classifier: str | None = None, *, now: datetime) -> QueueState:
    """The lengths of a classifier's queue at the moment `now`."""
    row = store.classifier(classifier)
    sent = store.all(Item).exclude(selected_because="").count()
    waiting = waiting_items(store, row).count()
    return QueueState(waiting=waiting, held=_held(store, row, now).count(), reviewed=sent - waiting)


def answers_of(store: Store, classifier: Classifier, *, reviewer: str) -> QuerySet[Review]:
    """The answers from the queue that the reviewer has given and that are not undone, newest first."""
    return given_answers(store, reviewer=reviewer).filter(classifier=classifier, undone_at=None).order_by("-id")


def given_answers(store: Store, *, reviewer: str) -> QuerySet[Review]:
    """The answers from any queue of the cyclotron that the reviewer has given, taken back or not."""
    return store.all(Review).filter(reviewer=reviewer, identity__begins=f"{ASSIGNMENT}_")


def answers_since(store: Store, classifier: str | None = None, *, reviewer: str, since: datetime) -> int:
    """How many answers the reviewer has given from the moment `since` on that are not undone."""
    return answers_of(store, store.classifier(classifier), reviewer=reviewer).filter(recorded_at__gte=since).count()


def last_answer(store: Store, classifier: str | None = None, *, reviewer: str) -> LastAnswer | None:
    """What the reviewer would take back by undoing."""
    answers = answers_of(store, store.classifier(classifier), reviewer=reviewer)
    found = answers.values_list("item__identity", "label", "identity").first()
    return None if found is None else LastAnswer(*found)


def next_return(store: Store, classifier: str | None = None, *, now: datetime) -> datetime | None:
    """When the first of the items that are held now comes back to the queue, if it is not answered before."""
    row = store.classifier(classifier)
    soonest: datetime | None = _held(store, row, now).aggregate(soonest=Min("expires_at"))["soonest"]
    return soonest


def reason_codes(store: Store, classifier: str | None = None) -> list[str]:
    """The reason codes that were given before, the first fifty in order."""
    row = store.classifier(classifier)
    given = store.all(Review).filter(classifier=row).exclude(reason_code="")
    return list(given.values_list("reason_code", flat=True).distinct().order_by("reason_code")[:_CODES])


def assignment_of(store: Store, classifier: str | None = None, *, reviewer: str) -> AssignmentShown | None:
    """The item that the reviewer holds, if it still waits; its time may have run out as long as nobody took it."""
    row = store.classifier(classifier)
    held = _still_waiting(store, row).filter(reviewer=reviewer)
    found = held.select_related("item", "classifier").first()
    return None if found is None else shown(store, found)


def shown(store: Store, held: Assignment) -> AssignmentShown:
    """An assignment as its reviewer sees it."""
    outputs = store.rows(DecisionOutput).filter(decision_id=held.decision_id, classifier_id=held.classifier_id)
    output = outputs.get()
    skips = store.all(SkippedItem).filter(
        classifier_id=held.classifier_id, item_id=held.item_id, reviewer=held.reviewer
    )
    return AssignmentShown(
        id=held.id,
        item_key=held.item_id,
        item_id=held.item.identity,
        values=held.item.values,
        decision_id=held.decision_id,
        classifier=held.classifier.name,
        reason=held.item.selected_because,
        label=output.label or None,
        confidence=output.confidence,
        probabilities=output.probabilities,
        expires_at=held.expires_at,
        skipped_before=skips.exists(),
    )


def _still_waiting(store: Store, classifier: Classifier) -> QuerySet[Assignment]:
    """What was handed out and has not been reviewed, whether its time is over or not."""
    waiting = waiting_items(store, classifier).filter(item_id=OuterRef("item_id"))
    return store.rows(Assignment).filter(there_is(waiting), classifier=classifier)


def _held(store: Store, classifier: Classifier, now: datetime) -> QuerySet[Assignment]:
    """What somebody holds at the moment `now`."""
    return _still_waiting(store, classifier).filter(expires_at__gt=now)
