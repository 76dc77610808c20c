"""Deciding items: one request a classifier, one decision with its selection. Source: spec held-out, section 1."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from cyclotron.actions.asking import Asker
from cyclotron.actions.events import append_event
from cyclotron.actions.waiting import begin_waiting
from cyclotron.core.configuration import Answer, Decided
from cyclotron.core.draws import check_identity, partition_of, select, selection_draw
from cyclotron.core.errors import InvalidItemError, ItemChangedError
from cyclotron.core.items import check_values
from cyclotron.endpoints import Column, active_column
from cyclotron.models import Decision, DecisionOutput, Item
from cyclotron.store import Store
from kapsoweb.foundation.canonical import digest
from kapsoweb.foundation.identifiers import new_id


@dataclass(frozen=True)
class Output:
    """What one classifier decided, by which version and refit, and the fingerprint of the request it asked."""

    decided: Decided
    version: int
    refit: int
    fingerprint: str

    @property
    def declared_label(self) -> str | None:
        """The label when it is one of the declared ones; any other could quote the item and is kept nowhere."""
        return self.decided.label if self.decided.label in self.decided.probabilities else None


@dataclass(frozen=True)
class DecidedItem:
    """A decision over an item: its id, one output a classifier, and whether and why it goes to review."""

    decision_id: str
    item_id: str
    partition: str
    outputs: dict[str, Output]
    sent_to_review: bool
    reason: str
    propensity: float


def decide_item(
    asker: Asker,
    *,
    identity: str,
    values: dict[str, Any],
    now: datetime,
    review_rate: float = 1.0,
    audit_rate: float = 0.05,
    low_confidence: float | None = None,
    recording: Callable[[Item], None] | None = None,
) -> DecidedItem:
    """Decide one item with every classifier and draw whether it goes to review.

    `values` is a JSON object whose input fields hold text; it is kept with the item and may not change afterwards.
    Rates are shares 0..1 (not both 0); a decision whose lowest confidence is below `low_confidence` is always sent.
    `recording` is called with the item in the transaction that records the decision, before it does; it may raise.
    """
    store = asker.store
    values_digest = check_item(identity, values)
    _check_rates(review_rate, audit_rate, low_confidence)
    classifiers = list(store.classifiers())
    columns = {row.name: active_column(row) for row in classifiers}
    texts = {name: input_text(values, column.endpoint.definition.input_field) for name, column in columns.items()}
    known = store.all(Item).filter(identity=identity).first()
    if known is not None:
        _refuse_changed(known, values_digest)
    requests = {
        name: column.request(asker.model.identity, texts[name], now.isoformat()) for name, column in columns.items()
    }
    answers = asker.ask(list(requests.values())).answers
    outputs = {
        name: _output(column, answers[requests[name].fingerprint], requests[name].fingerprint)
        for name, column in columns.items()
    }
    with store.transaction():
        locked = store.lock()
        item = item_of(store, locked.seed, identity, values, values_digest, now)
        if recording is not None:
            recording(item)
        selection = select(
            number=item.selection_draw,
            confidence=min(output.decided.confidence for output in outputs.values()),
            review_rate=review_rate,
            audit_rate=audit_rate,
            low_confidence=low_confidence,
            propensity_so_far=item.propensity,
            reason_so_far=item.selected_because,
        )
        if selection.sent and not item.selected_because:
            begin_waiting(store, classifiers, item, sent_at=now)
        item.propensity = selection.propensity
        item.selected_because = selection.reason
        item.save(using=store.using, update_fields=["propensity", "selected_because"])
        decision = Decision.objects.using(store.using).create(
            id=new_id("dec"),
            cyclotron_id=store.cyclotron_id,
            item=item,
            sent=selection.sent,
            reason=selection.reason,
            propensity=selection.propensity,
            decided_at=now,
        )
        DecisionOutput.objects.using(store.using).bulk_create(
            DecisionOutput(
                decision=decision,
                classifier=row,
                label=outputs[row.name].declared_label or "",
                confidence=outputs[row.name].decided.confidence,
                probabilities=dict(outputs[row.name].decided.probabilities),
                version=outputs[row.name].version,
                refit=outputs[row.name].refit,
                fingerprint=outputs[row.name].fingerprint,
            )
            for row in classifiers
        )
        append_event(
            store,
            locked,
            kind="decided",
            detail={
                "decision": decision.id,
                "item": identity,
                "labels": {name: output.declared_label for name, output in outputs.items()},
                "sent": selection.sent,
                "reason": selection.reason,
                "propensity": selection.propensity,
            },
            now=now,
        )
    return DecidedItem(
        decision_id=decision.id,
        item_id=identity,
        partition=item.partition,
        outputs=outputs,
        sent_to_review=selection.sent,
        reason=selection.reason,
        propensity=selection.propensity,
    )


def input_text(values: dict[str, Any], field: str) -> str:
    """The text of an item's input field; raises `InvalidItemError` where it is absent, empty or no text."""
    text = values.get(field)
    if not isinstance(text, str) or not text.strip():
        raise InvalidItemError(f"an item's values need text in the field {field!r}.", field=field)
    return text


def check_item(identity: str, values: dict[str, Any]) -> str:
    """The digest of an item's values; raises `InvalidItemError` for an identity or values that no item may have."""
    check_identity(identity)
    check_values(values)
    return digest(values)


def _check_rates(review_rate: float, audit_rate: float, low_confidence: float | None) -> None:
    """Refuse bad rates before anything is asked; the draw itself is made again where it is recorded."""
    select(
        number=0.0,
        confidence=0.0,
        review_rate=review_rate,
        audit_rate=audit_rate,
        low_confidence=low_confidence,
        propensity_so_far=None,
        reason_so_far="",
    )


def _refuse_changed(item: Item, values_digest: str) -> None:
    if item.values_digest != values_digest:
        raise ItemChangedError(
            "an item of this identity is known with other values; give changed content an identity of its own.",
            item=item.identity,
        )


def item_of(store: Store, seed: str, identity: str, values: dict[str, Any], values_digest: str, now: datetime) -> Item:
    """The item of that identity, made when it is new; raises `ItemChangedError` when it has other values."""
    item, _ = Item.objects.using(store.using).get_or_create(
        cyclotron_id=store.cyclotron_id,
        identity=identity,
        defaults={
            "values": values,
            "values_digest": values_digest,
            "partition": partition_of(seed, identity),
            "selection_draw": selection_draw(seed, identity),
            "created_at": now,
        },
    )
    _refuse_changed(item, values_digest)
    return item


def _output(column: Column, answer: Answer, fingerprint: str) -> Output:
    return Output(column.decide(answer), column.version, column.refit, fingerprint)
