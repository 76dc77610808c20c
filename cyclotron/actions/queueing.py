"""The review queue: handing out items, one reviewer each, and taking their answers. Source: spec held-out, section 1.

The queue of a classifier is every item that was sent to review and has no active review of it, in the order in which
they were first sent. All four verbs take the cyclotron's lock, as every write of a cyclotron does, so that no two
reviewers are given one item.
"""

from datetime import datetime, timedelta

from django.db.models import OuterRef

from cyclotron.actions.reviewing import RecordedReview, record_review, undo_review
from cyclotron.core.draws import MAX_IDENTITY
from cyclotron.core.errors import (
    AssignmentLostError,
    InvalidReviewError,
    NoSuchReviewError,
    ReviewFollowedError,
    ReviewUndoneError,
)
from cyclotron.looking_up import there_is, there_is_no
from cyclotron.models import Assignment, Classifier, Decision, Item, Review, SkippedItem, WaitingItem
from cyclotron.queries.review_queue import ASSIGNMENT, AssignmentShown, answers_of, given_answers, shown, waiting_items
from cyclotron.store import Store
from kapsoweb.foundation.canonical import check_text, is_storable
from kapsoweb.foundation.identifiers import new_id

HOLD = timedelta(minutes=15)  # long enough to read an item, short enough that an abandoned one comes back the same day


def take_item(store: Store, classifier: str | None = None, *, reviewer: str, now: datetime) -> AssignmentShown | None:
    """The item that the reviewer holds, for another 15 minutes, or the next of the queue; None when there is none.

    Items come in the order in which they were first sent; those that this reviewer has skipped come after all others.
    """
    _check_reviewer(reviewer)
    with store.transaction():
        store.lock()
        row = store.classifier(classifier)
        waiting = waiting_items(store, row)
        mine = store.all(Assignment).filter(classifier=row, reviewer=reviewer).first()
        if mine is not None and waiting.filter(item_id=mine.item_id).exists():
            mine.expires_at = now + HOLD
            mine.save(using=store.using, update_fields=["expires_at"])
            return shown(store, mine)
        held = store.rows(Assignment).filter(classifier=row, item_id=OuterRef("item_id"), expires_at__gt=now)
        free = waiting.filter(there_is_no(held.exclude(reviewer=reviewer)))
        skips = store.rows(SkippedItem).filter(classifier=row, reviewer=reviewer)
        unskipped = free.filter(there_is_no(skips.filter(item_id=OuterRef("item_id"))))
        found: WaitingItem | SkippedItem | None
        found = unskipped.order_by("sent_at", "item_id").select_related("item").first()
        if found is None:
            skipped = skips.filter(there_is(free.filter(item_id=OuterRef("item_id"))))
            found = skipped.order_by("skipped_at", "id").select_related("item").first()
        return None if found is None else _hand_out(store, row, found.item, reviewer, now)


def answer_assignment(
    store: Store,
    assignment_id: str,
    *,
    reviewer: str,
    label: str | None,
    now: datetime,
    explanation: str = "",
    reason_code: str = "",
) -> RecordedReview:
    """Record what the reviewer says of the item they hold, under the assignment's id; the same answer again is one.

    An answer after its time counts as long as nobody else was given or reviewed the item; otherwise
    `AssignmentLostError`, and nothing is recorded. One that was taken back is `ReviewUndoneError`.
    """
    with store.transaction():
        store.lock()
        given = store.all(Review).filter(identity=assignment_id) if is_storable(assignment_id) else None
        known = given.select_related("classifier").first() if given is not None else None
        if known is not None and known.reviewer == reviewer and known.undone_at is not None:
            raise ReviewUndoneError(
                "you have taken this answer back; answer the item where it is shown to you now. Nothing was recorded.",
                review=assignment_id,
            )
        if known is not None and known.reviewer == reviewer:
            classifier, decision_id = known.classifier.name, known.decision_id
        else:
            held = _held(store, assignment_id, reviewer)
            classifier, decision_id = held.classifier.name, held.decision_id
        return record_review(
            store,
            identity=assignment_id,
            decision_id=decision_id,
            label=label,
            reviewer=reviewer,
            classifier=classifier,
            explanation=explanation,
            reason_code=reason_code,
            now=now,
        )


def skip_assignment(store: Store, assignment_id: str, *, reviewer: str, now: datetime) -> None:
    """Give the item back unanswered; this reviewer sees it again after all that they have not skipped."""
    with store.transaction():
        store.lock()
        held = _held(store, assignment_id, reviewer)
        store.rows(SkippedItem).update_or_create(
            classifier_id=held.classifier_id,
            item_id=held.item_id,
            reviewer=reviewer,
            defaults={"cyclotron_id": store.cyclotron_id, "skipped_at": now},
        )
        store.all(Assignment).filter(id=assignment_id).delete()


def undo_last(store: Store, classifier: str | None = None, *, reviewer: str, now: datetime) -> AssignmentShown | None:
    """Retract the reviewer's newest active answer and hand its item back to them; None when there is no such answer.

    What they held meanwhile goes back to the queue. Raises `ReviewFollowedError` when the item was reviewed again
    since: undoing would then not bring it back.
    """
    _check_reviewer(reviewer)
    with store.transaction():
        store.lock()
        row = store.classifier(classifier)
        last = answers_of(store, row, reviewer=reviewer).select_related("item", "classifier").first()
        return None if last is None else _take_back(store, last, now)


def undo_answer(store: Store, review: str, *, reviewer: str, now: datetime) -> AssignmentShown:
    """Retract the reviewer's answer of the identity `review`, as `undo_last` does with the newest; one is one, however
    often it is asked for.

    Raises `ReviewUndoneError` when it has been taken back, `NoSuchReviewError` for what is no answer of this reviewer,
    and `ReviewFollowedError`.
    """
    _check_reviewer(reviewer)
    with store.transaction():
        store.lock()
        given = given_answers(store, reviewer=reviewer) if is_storable(review) else Review.objects.none()
        answer = given.filter(identity=review).select_related("item", "classifier").first()
        if answer is None:
            raise NoSuchReviewError("you have given no such answer.", review=review[:MAX_IDENTITY])
        if answer.undone_at is not None:
            raise ReviewUndoneError("this answer is taken back already. Nothing was changed.", review=review)
        return _take_back(store, answer, now)


def _take_back(store: Store, answer: Review, now: datetime) -> AssignmentShown:
    reviews = store.all(Review).filter(classifier=answer.classifier, item_id=answer.item_id, undone_at=None)
    if reviews.exclude(id=answer.id).exists():
        raise ReviewFollowedError(
            "this item was reviewed again since; undo on the item's own page. Nothing was changed.",
            review=answer.identity,
        )
    undo_review(store, identity=answer.identity, actor=answer.reviewer, now=now)
    return _hand_out(store, answer.classifier, answer.item, answer.reviewer, now)


def _hand_out(store: Store, classifier: Classifier, item: Item, reviewer: str, now: datetime) -> AssignmentShown:
    """Give the item to the reviewer; what they held, and whoever held the item too long, let go."""
    rows = store.all(Assignment).filter(classifier=classifier)
    rows.filter(item=item).delete()
    rows.filter(reviewer=reviewer).delete()
    decision = store.all(Decision).filter(item=item, sent=True).order_by("-id").first()
    held = Assignment(
        id=new_id(ASSIGNMENT),
        cyclotron_id=store.cyclotron_id,
        classifier=classifier,
        item=item,
        decision=decision,
        reviewer=reviewer,
        held_since=now,
        expires_at=now + HOLD,
    )
    held.save(using=store.using, force_insert=True)
    return shown(store, held)


def _held(store: Store, assignment_id: str, reviewer: str) -> Assignment:
    """The reviewer's assignment, while its item still waits; raises `AssignmentLostError`."""
    rows = store.all(Assignment).filter(id=assignment_id, reviewer=reviewer) if is_storable(assignment_id) else None
    held = rows.select_related("classifier").first() if rows is not None else None
    if held is None or not waiting_items(store, held.classifier).filter(item_id=held.item_id).exists():
        raise AssignmentLostError(
            "this item is no longer yours to answer: your time ran out, and somebody else was given it or has reviewed "
            "it. Nothing was recorded; go on with the next one.",
            assignment=assignment_id[:MAX_IDENTITY],
        )
    return held


def _check_reviewer(reviewer: str) -> None:
    if not reviewer or len(check_text(reviewer, "the reviewer")) > MAX_IDENTITY:
        raise InvalidReviewError(f"the reviewer must be text of 1 to {MAX_IDENTITY} characters.")
