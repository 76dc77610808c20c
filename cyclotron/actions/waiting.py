"""The table of what waits for a review, kept in step with items and reviews. Source: spec held-out, section 1.

Each of these is called in the transaction that sends, reviews or undoes, under the cyclotron's lock.
"""

from collections.abc import Iterable
from datetime import datetime

from django.db.models import Min

from cyclotron.models import Classifier, Decision, Item, Review, WaitingItem
from cyclotron.store import Store


def begin_waiting(store: Store, classifiers: Iterable[Classifier], item: Item, *, sent_at: datetime) -> None:
    """Queue an item that is sent for the first time, for each classifier that has no active review of it."""
    reviews = store.all(Review).filter(item=item, undone_at=None)
    reviewed = set(reviews.values_list("classifier_id", flat=True))
    store.rows(WaitingItem).bulk_create(
        WaitingItem(cyclotron_id=store.cyclotron_id, classifier=row, item=item, sent_at=sent_at)
        for row in classifiers
        if row.id not in reviewed
    )


def end_waiting(store: Store, review: Review) -> None:
    """Take the item that was reviewed out of its classifier's queue."""
    store.all(WaitingItem).filter(classifier_id=review.classifier_id, item_id=review.item_id).delete()


def wait_again(store: Store, undone: Review) -> None:
    """Put the item of an undone review back in its place, if it was sent and no other review of it is active."""
    active = store.all(Review).filter(classifier_id=undone.classifier_id, item_id=undone.item_id, undone_at=None)
    if active.exists():
        return
    sent = store.rows(Decision).filter(item_id=undone.item_id, sent=True)
    sent_at = sent.aggregate(first=Min("decided_at"))["first"]
    if sent_at is not None:
        store.rows(WaitingItem).create(
            cyclotron_id=store.cyclotron_id,
            classifier_id=undone.classifier_id,
            item_id=undone.item_id,
            sent_at=sent_at,
        )
