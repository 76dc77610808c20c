"""Freezing a held-out set: copying what reviewers said of the audit partition. Source: spec held-out, section 2."""

from collections import Counter
from datetime import datetime

from cyclotron.actions.events import append_event
from cyclotron.core.configuration import input_digest
from cyclotron.core.draws import AUDIT
from cyclotron.core.errors import NothingToFreezeError
from cyclotron.core.overview import SetSummary
from cyclotron.endpoints import definition_of
from cyclotron.labels import CurrentLabel, current_labels, new_label_count
from cyclotron.models import Classifier, HeldOutItem, HeldOutSet
from cyclotron.queries import summary_of
from cyclotron.store import Store
from kapsoweb.foundation.canonical import digest


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
        eligible = sorted(current_labels(store, row, use=AUDIT), key=lambda label: label.item_id)
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


def _set_id(store: Store, classifier: Classifier, eligible: list[CurrentLabel]) -> str:
    return digest(
        {
            "cyclotron": store.cyclotron_id,
            "classifier": classifier.name,
            "items": [[label.item_id, label.values_digest, label.label, label.propensity] for label in eligible],
        }
    )


def _copy(store: Store, classifier: Classifier, set_id: str, eligible: list[CurrentLabel], now: datetime) -> HeldOutSet:
    definition = definition_of(classifier)
    counts = Counter(label.label for label in eligible)
    frozen = HeldOutSet.objects.using(store.using).create(
        id=set_id,
        cyclotron_id=store.cyclotron_id,
        classifier=classifier,
        frozen_at=now,
        size=len(eligible),
        label_counts={label: counts[label] for label in definition.labels},
    )
    HeldOutItem.objects.using(store.using).bulk_create(
        (
            HeldOutItem(
                held_out_set=frozen,
                position=position,
                identity=label.item_id,
                values=label.values,
                values_digest=label.values_digest,
                input_digest=input_digest(label.values[definition.input_field]),
                label=label.label,
                propensity=label.propensity,
            )
            for position, label in enumerate(eligible)
        ),
        batch_size=500,
    )
    return frozen
