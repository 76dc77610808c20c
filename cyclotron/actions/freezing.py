"""Freezing a held-out set: copying what reviewers said of the audit partition. Source: spec held-out, section 2."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from cyclotron.actions.events import append_event
from cyclotron.core.configuration import input_digest
from cyclotron.core.draws import AUDIT
from cyclotron.core.errors import NothingToFreezeError
from cyclotron.core.overview import SetSummary
from cyclotron.endpoints import definition_of
from cyclotron.labels import labels_that_count, new_label_count
from cyclotron.models import Classifier, HeldOutItem, HeldOutSet, Item
from cyclotron.queries import summary_of
from cyclotron.store import Store
from kapsoweb.foundation.canonical import digest

COPIED_AT_ONCE = 500  # items whose values are in memory together


@dataclass(frozen=True, slots=True)
class _Eligible:
    """A label that can be frozen, with all of its item but the values."""

    item_key: int
    identity: str
    values_digest: str
    label: str
    propensity: float


def freeze_held_out_set(store: Store, classifier: str | None = None, *, now: datetime) -> SetSummary:
    """Freeze the eligible labels into a set, or return the newest set when it holds all of them. No model call.

    The set's id is a digest of its content, so two callers who race freeze one set. Raises `NothingToFreezeError`
    with a sentence about what is missing, and creates nothing, when no label is eligible.
    """
    with store.transaction():
        locked = store.lock()
        row = store.classifier(classifier)
        if row.current_set_id is not None and new_label_count(store, row) == 0:
            return summary_of(store.all(HeldOutSet).get(id=row.current_set_id))
        eligible = _eligible(store, row)
        if not eligible:
            raise NothingToFreezeError(
                "there is nothing to freeze yet: no item of the audit share (about one in five) has a label from a "
                "review that the cyclotron selected. Review more of what it sends.",
                classifier=row.name,
            )
        set_id = _set_id(store, row, eligible)
        frozen = store.all(HeldOutSet).filter(id=set_id).first()
        if frozen is None:
            frozen = _copy(store, row, set_id, eligible, now)
            append_event(
                store,
                locked,
                kind="held-out-set-frozen",
                detail={"set": set_id, "classifier": row.name, "size": frozen.size, "labels": frozen.label_counts},
                now=now,
            )
        row.current_set = frozen
        row.save(using=store.using, update_fields=["current_set"])
    return summary_of(frozen)


def _eligible(store: Store, classifier: Classifier) -> list[_Eligible]:
    """What can be frozen, in identity order (by code points, whatever the database's collation)."""
    of_the_item = ("item_id", "item__identity", "item__values_digest", "label", "item__propensity")
    rows = labels_that_count(store, classifier, use=AUDIT).values_list(*of_the_item)
    return sorted((_Eligible(*row) for row in rows.iterator(chunk_size=2000)), key=lambda label: label.identity)


def _set_id(store: Store, classifier: Classifier, eligible: Sequence[_Eligible]) -> str:
    return digest(
        {
            "cyclotron": store.cyclotron_id,
            "classifier": classifier.name,
            "items": [[label.identity, label.values_digest, label.label, label.propensity] for label in eligible],
        }
    )


def _copy(
    store: Store, classifier: Classifier, set_id: str, eligible: Sequence[_Eligible], now: datetime
) -> HeldOutSet:
    counts = Counter(label.label for label in eligible)
    definition = definition_of(classifier)
    frozen = HeldOutSet.objects.using(store.using).create(
        id=set_id,
        cyclotron_id=store.cyclotron_id,
        classifier=classifier,
        frozen_at=now,
        size=len(eligible),
        label_counts={label: counts[label] for label in definition.labels},
    )
    for start in range(0, len(eligible), COPIED_AT_ONCE):
        some = eligible[start : start + COPIED_AT_ONCE]
        copies = _copies(store, set_id, definition.input_field, start, some)
        HeldOutItem.objects.using(store.using).bulk_create(copies)
    return frozen


def _copies(
    store: Store, set_id: str, input_field: str, start: int, some: Sequence[_Eligible]
) -> Iterator[HeldOutItem]:
    """Copies of some items in order, the first at the position `start`."""
    values = dict(store.all(Item).filter(id__in=[label.item_key for label in some]).values_list("id", "values"))
    for position, label in enumerate(some, start):
        yield HeldOutItem(
            held_out_set_id=set_id,
            position=position,
            identity=label.identity,
            values=values[label.item_key],
            values_digest=label.values_digest,
            input_digest=input_digest(values[label.item_key][input_field]),
            label=label.label,
            propensity=label.propensity,
        )
