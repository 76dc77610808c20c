"""Recording reviews, corrections, no-label closes and undoes. Source: spec held-out, section 1."""

from dataclasses import dataclass
from datetime import datetime

from django.db.models import F, OuterRef

from cyclotron.actions.events import append_event
from cyclotron.actions.waiting import end_waiting, wait_again
from cyclotron.core.draws import MAX_IDENTITY, REVIEWER, check_identity
from cyclotron.core.errors import (
    InvalidReviewError,
    NoSuchDecisionError,
    NoSuchReviewError,
    ReviewChangedError,
)
from cyclotron.endpoints import definition_of
from cyclotron.labels import teaches
from cyclotron.looking_up import there_is
from cyclotron.models import Assignment, Classifier, Decision, Review
from cyclotron.queries.review_queue import ASSIGNMENT, waiting_items
from cyclotron.store import Store
from kapsoweb.foundation.canonical import check_text, digest

MAX_REASON_CODE = 64
MAX_EXPLANATION = 20_000


@dataclass(frozen=True)
class RecordedReview:
    """A review as it stands in the store. `new` is False when the same identity had been recorded before."""

    identity: str
    item_id: str
    label: str | None
    selected_by: str
    is_correction: bool
    new: bool


def record_review(
    store: Store,
    *,
    identity: str,
    decision_id: str,
    label: str | None,
    reviewer: str,
    now: datetime,
    classifier: str | None = None,
    explanation: str = "",
    reason_code: str = "",
    selected_by: str | None = None,
) -> RecordedReview:
    """Record what a reviewer said of a decision; `label` None closes it without a label.

    Who selected it is derived: the decision's reason when the cyclotron sent the item, `reviewer` when a person chose
    it. A caller may say `reviewer` of an item that was sent; saying anything else is refused unless it is what the
    engine derives. A label that follows another is a correction and inherits the selection of the review it corrects,
    unless the caller says that the reviewer chose it. The same identity again records nothing; with other content it is
    an error. An identity that begins as those of assignments do is for whoever holds the item by it, and for nobody
    else.
    """
    check_identity(identity)
    if not reviewer:
        raise InvalidReviewError("a review needs the name of its reviewer.")
    for what, text, limit in (
        ("the reviewer", reviewer, MAX_IDENTITY),
        ("the explanation", explanation, MAX_EXPLANATION),
        ("the reason code", reason_code, MAX_REASON_CODE),
    ):
        if len(check_text(text, what)) > limit:
            raise InvalidReviewError(f"{what} may have {limit} characters at most.")
    classifier_row = store.classifier(classifier)
    _check_label(classifier_row, label)
    content = digest([classifier_row.name, decision_id, label, explanation, reason_code, reviewer, selected_by])
    with store.transaction():
        locked = store.lock()
        known = store.all(Review).filter(identity=identity).select_related("item").first()
        if known is not None:
            if known.content_digest != content:
                raise ReviewChangedError(
                    "a review of this identity is recorded with other content; use another identity to correct it.",
                    review=identity,
                )
            return _recorded(known, new=False)
        decision = store.all(Decision).filter(id=decision_id).select_related("item").first()
        if decision is None:
            raise NoSuchDecisionError("there is no such decision.", decision=decision_id)
        assignment = _assignment(store, identity, classifier_row, decision.item_id, reviewer)
        corrected = _latest_label(store, classifier_row, decision.item_id) if label is not None else None
        review = Review.objects.using(store.using).create(
            cyclotron_id=store.cyclotron_id,
            identity=identity,
            classifier=classifier_row,
            item=decision.item,
            decision=decision,
            label=label,
            explanation=explanation,
            reason_code=reason_code,
            reviewer=reviewer,
            selected_by=_selection(decision, corrected, selected_by),
            corrects=corrected,
            content_digest=content,
            recorded_at=now,
        )
        if assignment is not None:
            assignment.delete()
        end_waiting(store, review)
        if label is not None and teaches(store, classifier_row, decision.item):
            store.all(Classifier).filter(pk=classifier_row.pk).update(training_reviews=F("training_reviews") + 1)
        append_event(
            store,
            locked,
            kind="review-closed" if label is None else "review-corrected" if corrected else "review-recorded",
            detail={
                "review": identity,
                "item": decision.item.identity,
                "classifier": classifier_row.name,
                "label": label,
                "selectedBy": review.selected_by,
            },
            now=now,
        )
    return _recorded(review, new=True)


def undo_review(store: Store, *, identity: str, actor: str, now: datetime) -> bool:
    """Retract a review; the one before it, if any, counts again. False when it had been undone already."""
    check_text(identity, "a review's identity")
    if not actor or len(check_text(actor, "the actor")) > MAX_IDENTITY:
        raise InvalidReviewError(f"an undo needs the name of who does it, of {MAX_IDENTITY} characters at most.")
    with store.transaction():
        locked = store.lock()
        review = store.all(Review).filter(identity=identity).select_related("item", "classifier").first()
        if review is None:
            raise NoSuchReviewError("there is no such review.", review=identity)
        if review.undone_at is not None:
            return False
        review.undone_at = now
        review.undone_by = actor
        review.save(using=store.using, update_fields=["undone_at", "undone_by"])
        wait_again(store, review)
        append_event(
            store,
            locked,
            kind="review-undone",
            detail={"review": identity, "item": review.item.identity, "classifier": review.classifier.name},
            now=now,
        )
    return True


def _assignment(store: Store, identity: str, classifier: Classifier, item_id: int, reviewer: str) -> Assignment | None:
    """The assignment by which the reviewer holds the item, None for an identity of another form; refused otherwise."""
    prefix = f"{ASSIGNMENT}_"
    if identity[: len(prefix)].lower() != prefix:  # in any case, so that nobody takes one for the other
        return None
    waiting = there_is(waiting_items(store, classifier).filter(item_id=OuterRef("item_id")))
    rows = store.all(Assignment).filter(waiting, id=identity, reviewer=reviewer)
    held = rows.filter(classifier=classifier, item_id=item_id).first()
    if held is None:
        raise InvalidReviewError(
            f"a review's identity may begin with {prefix} only where it is that of the item in the reviewer's hands; "
            "choose another. Nothing was recorded.",
            review=identity,
        )
    return held


def _check_label(classifier: Classifier, label: str | None) -> None:
    labels = definition_of(classifier).labels
    if label is not None and label not in labels:
        raise InvalidReviewError(
            f"the label is not one of the classifier's: {', '.join(labels)}.",
            classifier=classifier.name,
            labels=list(labels),
        )


def _latest_label(store: Store, classifier: Classifier, item_id: int) -> Review | None:
    """The newest labelled review of an item that is not undone."""
    return (
        store.all(Review)
        .filter(classifier=classifier, item_id=item_id, undone_at=None, label__isnull=False)
        .order_by("-id")
        .first()
    )


def _selection(decision: Decision, corrected: Review | None, said: str | None) -> str:
    derived = corrected.selected_by if corrected else decision.reason or REVIEWER
    if said is None or said == derived:
        return derived
    if said == REVIEWER:
        return REVIEWER
    raise InvalidReviewError(
        f"who selected a review is derived from its decision ({derived!r} here); a caller may only say 'reviewer'.",
        selectedBy=derived,
    )


def _recorded(review: Review, *, new: bool) -> RecordedReview:
    return RecordedReview(
        identity=review.identity,
        item_id=review.item.identity,
        label=review.label,
        selected_by=review.selected_by,
        is_correction=review.corrects_id is not None,
        new=new,
    )
