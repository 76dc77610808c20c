"""Which label of an item counts now, and for what. Source: spec held-out, sections 1 and 2."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Exists, Max, OuterRef

from cyclotron.core.draws import AUDIT, DEVELOPMENT, REVIEWER, TRAINING
from cyclotron.models import Classifier, Review
from cyclotron.store import Store


@dataclass(frozen=True)
class LabelInUse:
    """An item's latest label that is not undone, and what its review may be used for.

    `use` is `training`, `development` or `audit`: the item's partition, but `training` wherever a person chose a
    review of it.
    """

    item_id: str
    label: str
    use: str


@dataclass(frozen=True)
class CurrentLabel(LabelInUse):
    """The same with the item. `propensity` is the item's, and 1 where a person chose it (a choice has none)."""

    item_key: int
    propensity: float
    values: dict[str, Any]
    values_digest: str

    @property
    def weight(self) -> float:
        """Inverse propensity."""
        return 1.0 / self.propensity


def labels_in_use(store: Store, classifier: Classifier, *, use: str | None = None) -> Iterator[LabelInUse]:
    """The labels that count, one an item, in the order in which the items came; `use` narrows them.

    An item whose latest active review carries no label, or all of whose reviews are undone, has none.
    """
    for row, found in _latest(store, classifier, use, ()):
        yield LabelInUse(item_id=row["item__identity"], label=row["label"], use=found)


def current_labels(store: Store, classifier: Classifier, *, use: str | None = None) -> Iterator[CurrentLabel]:
    """The same labels with their items' values."""
    columns = ("item__propensity", "item__values", "item__values_digest")
    for row, found in _latest(store, classifier, use, columns):
        yield CurrentLabel(
            item_id=row["item__identity"],
            label=row["label"],
            use=found,
            item_key=row["item_id"],
            propensity=1.0 if row["chosen"] else row["item__propensity"],
            values=row["item__values"],
            values_digest=row["item__values_digest"],
        )


def _latest(
    store: Store, classifier: Classifier, use: str | None, columns: Sequence[str]
) -> Iterator[tuple[dict[str, Any], str]]:
    """The newest active review of each item where it carries a label, as a row, with what it may be used for."""
    active = store.all(Review).filter(classifier=classifier, undone_at=None)
    latest = active.values("item_id").annotate(latest=Max("id")).values("latest")
    by_person = active.filter(item_id=OuterRef("item_id"), selected_by=REVIEWER)
    rows = store.all(Review).filter(id__in=latest).annotate(chosen=Exists(by_person)).order_by("item_id")
    if use in (AUDIT, DEVELOPMENT):
        rows = rows.filter(item__partition=use, chosen=False)
    wanted = ("item_id", "item__identity", "label", "item__partition", "chosen", *columns)
    for row in rows.values(*wanted).iterator(chunk_size=2000):
        found = TRAINING if row["chosen"] else row["item__partition"]
        if row["label"] is not None and use in (None, found):
            yield row, found


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
