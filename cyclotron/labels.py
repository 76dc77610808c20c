"""Which label of an item counts now, and for what. Source: spec held-out, sections 1 and 2."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, OuterRef, Q, QuerySet, Subquery

from cyclotron.core.draws import AUDIT, REVIEWER, TRAINING
from cyclotron.looking_up import there_is, there_is_no
from cyclotron.models import Classifier, HeldOutItem, Item, LearningStep, Review
from cyclotron.store import Store


@dataclass(frozen=True)
class CurrentLabel:
    """An item's latest label that is not undone, and what its review may be used for.

    `use` is `training`, `development` or `audit`: the item's partition, but `training` wherever a person chose it (see
    `chosen_by_a_person`, and `chosen`). `propensity` is the item's, and 1 where a person chose it (a choice has none).
    """

    item_key: int
    item_id: str
    label: str
    use: str
    chosen: bool
    propensity: float
    values: dict[str, Any]
    values_digest: str

    @property
    def weight(self) -> float:
        """Inverse propensity."""
        return 1.0 / self.propensity


def chosen_by_a_person(store: Store, classifier: Classifier) -> QuerySet[Review]:
    """The reviews that a person chose: their items train, whatever their partition.

    An undone one counts no more, unless something was learned from it: what has taught must never be scored.
    """
    chosen = store.all(Review).filter(classifier=classifier, selected_by=REVIEWER)
    return chosen.filter(Q(undone_at=None) | Q(taught=True))


def labels_that_count(store: Store, classifier: Classifier, *, use: str | None = None) -> QuerySet[Review]:
    """The newest active review of each item that has one, where it carries a label and may be used for `use`.

    An item whose newest active review carries no label, or all of whose reviews are undone, has none.
    """
    active = store.all(Review).filter(classifier=classifier, undone_at=None)
    newest = active.filter(item_id=OuterRef("item_id")).order_by("-id").values("id")[:1]
    rows = active.filter(label__isnull=False)
    chosen = _chosen(store, classifier)
    # Said by the item's partition and not by a computed use, so that a database can begin with the items.
    if use == TRAINING:
        rows = rows.filter(Q(item__partition=use) | Q(there_is(chosen)))
    elif use is not None:
        rows = rows.filter(there_is_no(chosen), item__partition=use)
    return rows.filter(id=Subquery(newest))


def current_labels(
    store: Store, classifier: Classifier, *, use: str | None = None, item_key: int | None = None
) -> Iterator[CurrentLabel]:
    """The labels that count (of one item if asked) with their items' values, in the order in which the items came."""
    rows = labels_that_count(store, classifier, use=use).order_by("item_id")
    if item_key is not None:
        rows = rows.filter(item_id=item_key)
    columns = ("item_id", "item__identity", "label", "by_person")
    of_the_item = ("item__partition", "item__propensity", "item__values", "item__values_digest")
    chosen = rows.annotate(by_person=there_is(_chosen(store, classifier)))
    for row in chosen.values(*columns, *of_the_item).iterator(chunk_size=2000):
        yield CurrentLabel(
            item_key=row["item_id"],
            item_id=row["item__identity"],
            label=str(row["label"]),
            use=TRAINING if row["by_person"] else row["item__partition"],
            chosen=row["by_person"],
            propensity=1.0 if row["by_person"] else row["item__propensity"],
            values=row["item__values"],
            values_digest=row["item__values_digest"],
        )


def label_counts(store: Store, classifier: Classifier) -> dict[str, int]:
    """How many items have each label now."""
    rows = labels_that_count(store, classifier).values_list("label").annotate(Count("id"))
    return {str(label): count for label, count in rows}


def new_label_count(store: Store, classifier: Classifier) -> int:
    """How many eligible (item, label) pairs the newest held-out set does not hold: what a freeze would add.

    Counted from the items of the audit partition, which are the fewer: one look at each for its label that counts
    (`labels_that_count` says which), for a choice of a person, and for its copy in the set.
    """
    active = store.all(Review).filter(classifier=classifier, undone_at=None, item_id=OuterRef("id"))
    chosen = chosen_by_a_person(store, classifier).filter(item_id=OuterRef("id"))
    held = store.rows(HeldOutItem).filter(
        held_out_set_id=classifier.current_set_id, identity=OuterRef("identity"), label=OuterRef("that_counts")
    )
    items = store.all(Item).filter(partition=AUDIT)
    labelled = items.annotate(that_counts=Subquery(active.order_by("-id").values("label")[:1]))
    return labelled.filter(there_is_no(held), there_is_no(chosen), that_counts__isnull=False).count()


def last_learning_step(store: Store, classifier: Classifier) -> LearningStep | None:
    """The newest learning step of a classifier."""
    return store.rows(LearningStep).filter(classifier=classifier).order_by("-number").first()


def reviews_until_due(store: Store, classifier: Classifier, learn_every: int) -> int:
    """How many more training reviews until learning is due; 0 when it is."""
    last = last_learning_step(store, classifier)
    learned_from = last.training_reviews if last else 0
    return max(0, learned_from + learn_every - classifier.training_reviews)


def teaches(store: Store, classifier: Classifier, item: Item) -> bool:
    """Whether an item's labels teach: it is in the training partition, or a person chose it."""
    return item.partition == TRAINING or chosen_by_a_person(store, classifier).filter(item=item).exists()


def _chosen(store: Store, classifier: Classifier) -> QuerySet[Review]:
    """The reviews that a person chose of the item that a query's review is about."""
    return chosen_by_a_person(store, classifier).filter(item_id=OuterRef("item_id"))
