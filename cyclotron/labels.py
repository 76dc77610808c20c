"""Which label of an item counts now, and for what. Source: spec held-out, sections 1 and 2."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.db.models import Max

from cyclotron.core.draws import AUDIT, DEVELOPMENT, REVIEWER, TRAINING
from cyclotron.models import Classifier, Item, Review
from cyclotron.store import Store


@dataclass(frozen=True)
class CurrentLabel:
    """An item's latest label that is not undone, and what its review may be used for.

    `use` is `training`, `development` or `audit`: the item's partition, but `training` wherever a person chose a
    review of it. `propensity` is the item's selection propensity, 1 where a person chose it (a choice has none).
    """

    item_key: int
    item_id: str
    label: str
    use: str
    propensity: float
    values: dict[str, Any]
    values_digest: str

    @property
    def weight(self) -> float:
        """Inverse propensity."""
        return 1.0 / self.propensity


def current_labels(store: Store, classifier: Classifier, *, use: str | None = None) -> Iterator[CurrentLabel]:
    """The labels that count, one an item, in the order in which the items came; `use` narrows them.

    An item whose latest active review carries no label, or all of whose reviews are undone, has none.
    """
    active = store.all(Review).filter(classifier=classifier, undone_at=None)
    chosen = set(active.filter(selected_by=REVIEWER).values_list("item_id", flat=True))
    latest = active.values("item_id").annotate(latest=Max("id")).values("latest")
    rows = (
        store.all(Review)
        .filter(id__in=latest)
        .order_by("item_id")
        .values_list(
            "item_id", "item__identity", "label", "item__partition", "item__propensity", "item__values",
            "item__values_digest",
        )
    )  # fmt: skip
    if use in (AUDIT, DEVELOPMENT):
        rows = rows.filter(item__partition=use)
    for key, identity, label, partition, propensity, values, values_digest in rows.iterator(chunk_size=2000):
        by_person = key in chosen
        found = TRAINING if by_person else partition
        if label is not None and use in (None, found):
            weighed = 1.0 if by_person or propensity is None else propensity
            yield CurrentLabel(key, identity, label, found, weighed, values, values_digest)


def training_review_count(store: Store, classifier: Classifier) -> int:
    """How many labels have been recorded that may teach, corrections included and undoes not taken off.

    It never falls, so that learning which is due stays due after an undo. A label may teach when its item is in the
    training partition or a person chose the item.
    """
    labels = store.all(Review).filter(classifier=classifier, label__isnull=False)
    in_training = labels.filter(item__partition=TRAINING).count()
    by_person = labels.exclude(item__partition=TRAINING).filter(selected_by=REVIEWER).count()
    return in_training + by_person


def items_chosen_by_reviewers(store: Store, classifier: Classifier) -> set[str]:
    """Identities of the items with an active review that a person chose."""
    rows = store.all(Review).filter(classifier=classifier, undone_at=None, selected_by=REVIEWER)
    return set(rows.values_list("item__identity", flat=True))


def items_of(store: Store, keys: list[int]) -> dict[int, Item]:
    """Items by their key."""
    return store.all(Item).in_bulk(keys)
