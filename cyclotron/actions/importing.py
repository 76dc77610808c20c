"""Decisions that were made elsewhere, brought in with their propensities. Source: spec held-out, section 1.

What is brought in is as if it had been decided here: its item has the partition that the seed gives it, and its
propensity is the largest that it has been exposed to, there or here. The propensity is taken to be of the one draw.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from cyclotron.actions.deciding import check_item, input_text, item_of
from cyclotron.actions.events import append_event
from cyclotron.actions.waiting import begin_waiting
from cyclotron.core.draws import REASONS, check_propensity
from cyclotron.core.errors import CyclotronError
from cyclotron.endpoints import definition_of
from cyclotron.models import Classifier, Decision, DecisionOutput, Item
from cyclotron.store import Store
from kapsoweb.foundation.canonical import digest
from kapsoweb.foundation.errors import KapsoError
from kapsoweb.foundation.identifiers import new_id

MOST_AT_ONCE = 500
_ROUNDING = 1e-6  # how far shares that were rounded on their way here may be from a sum of 1


class InvalidForeignDecisionError(CyclotronError):
    """A decision made elsewhere breaks a rule; `detail` has its place in the list, from 0, and the field."""

    id = "invalid-decision"


@dataclass(frozen=True)
class ForeignOutput:
    """What a classifier decided elsewhere. Without `probabilities` the other labels share what `confidence` leaves.

    `version` is the caller's own number for what decided, 0 where there is none.
    """

    label: str
    confidence: float
    probabilities: Mapping[str, float] | None = None
    version: int = 0


@dataclass(frozen=True)
class ForeignDecision:
    """An item and what was decided of it elsewhere; `outputs` has each classifier of the cyclotron by name.

    `sent` to review for `reason` (one of the engine's, or empty when not sent), with the `propensity` that it had.
    """

    identity: str
    values: dict[str, Any]
    outputs: Mapping[str, ForeignOutput]
    sent: bool
    reason: str
    propensity: float


@dataclass(frozen=True)
class ImportedDecisions:
    """The new decisions' ids in the order given, None where the very same was known; and the counts of both."""

    decision_ids: tuple[str | None, ...]
    recorded: int
    known: int


def import_decisions(store: Store, decisions: Sequence[ForeignDecision], *, now: datetime) -> ImportedDecisions:
    """Record decisions made elsewhere, all or none, 500 at most. No model is called.

    The same decision again records nothing. Raises `InvalidForeignDecisionError`, `InvalidItemError`,
    `InvalidPropensityError`, or `ItemChangedError` for an item that is known with other values; the `detail` of each
    has the `place` in the list, from 0.
    """
    if not 1 <= len(decisions) <= MOST_AT_ONCE:
        raise InvalidForeignDecisionError(
            f"1 to {MOST_AT_ONCE} decisions may be brought in at once, not {len(decisions)}.", count=len(decisions)
        )
    with store.transaction():
        locked = store.lock()
        classifiers = list(store.classifiers())
        for place, decision in enumerate(decisions):
            with _at(place):
                _check(decision, classifiers, place)
        ids = []
        for place, decision in enumerate(decisions):
            content = digest(asdict(decision))
            with _at(place):
                item = item_of(store, locked.seed, decision.identity, decision.values, digest(decision.values), now)
            known = store.all(Decision).filter(item=item, foreign_digest=content).exists()
            ids.append(None if known else _record(store, classifiers, item, decision, content, now))
        recorded = [decision_id for decision_id in ids if decision_id is not None]
        if recorded:
            append_event(
                store,
                locked,
                kind="decisions-imported",
                detail={"recorded": len(recorded), "known": len(ids) - len(recorded), "first": recorded[0]},
                now=now,
            )
    return ImportedDecisions(tuple(ids), recorded=len(recorded), known=len(ids) - len(recorded))


@contextmanager
def _at(place: int) -> Iterator[None]:
    """Add the place in the list to what is refused without one."""
    try:
        yield
    except KapsoError as error:
        raise type(error)(error.message, **{**error.detail, "place": place}) from error


def _record(
    store: Store, classifiers: Sequence[Classifier], item: Item, given: ForeignDecision, content: str, now: datetime
) -> str:
    if given.sent and not item.selected_because:
        begin_waiting(store, classifiers, item, sent_at=now)
    item.propensity = max(float(given.propensity), item.propensity or 0.0)
    item.selected_because = item.selected_because or given.reason
    item.save(using=store.using, update_fields=["propensity", "selected_because"])
    decision = store.rows(Decision).create(
        id=new_id("dec"),
        cyclotron_id=store.cyclotron_id,
        item=item,
        sent=given.sent,
        reason=given.reason,
        propensity=float(given.propensity),
        decided_at=now,
        foreign_digest=content,
    )
    store.rows(DecisionOutput).bulk_create(
        DecisionOutput(
            decision=decision,
            classifier=row,
            label=given.outputs[row.name].label,
            confidence=float(given.outputs[row.name].confidence),
            probabilities=_shares(given.outputs[row.name], definition_of(row).labels),
            version=given.outputs[row.name].version,
            refit=0,
            fingerprint="",
        )
        for row in classifiers
    )
    return decision.id


def _check(given: ForeignDecision, classifiers: Sequence[Classifier], place: int) -> None:
    """Refuse what no decision may be, naming its place in the list and repeating nothing of the item."""

    def refuse(field: str, sentence: str) -> None:
        raise InvalidForeignDecisionError(f"decision {place + 1}: {sentence}", place=place, field=field)

    check_item(given.identity, given.values)
    check_propensity(given.propensity, f"decision {place + 1}: its propensity")
    names = [row.name for row in classifiers]
    if not isinstance(given.sent, bool):
        refuse("sent", "`sent` must be true or false.")
    if given.sent and given.reason not in REASONS:
        refuse("reason", f"one that was sent needs a reason: {', '.join(REASONS)}.")
    if not given.sent and given.reason:
        refuse("reason", "one that was not sent has no reason.")
    if set(given.outputs) != set(names):
        refuse("outputs", f"it needs an output of each classifier and no other: {', '.join(names)}.")
    for row in classifiers:
        definition, output = definition_of(row), given.outputs[row.name]
        input_text(given.values, definition.input_field)
        if output.label not in definition.labels:
            refuse("label", f"its label is none of {row.name}'s: {', '.join(definition.labels)}.")
        if not _is_share(output.confidence):
            refuse("confidence", "a confidence must be a number from 0 to 1.")
        if isinstance(output.version, bool) or not isinstance(output.version, int) or not 0 <= output.version < 2**31:
            refuse("version", "a version must be a whole number, 0 or more.")
        shares = output.probabilities
        if shares is not None and (
            set(shares) != set(definition.labels)
            or not all(_is_share(share) for share in shares.values())
            or abs(sum(shares.values()) - 1.0) > _ROUNDING
        ):
            refuse("probabilities", "probabilities need each label once, from 0 to 1, with a sum of 1.")


def _is_share(value: object) -> bool:
    return not isinstance(value, bool) and isinstance(value, int | float) and 0 <= value <= 1


def _shares(output: ForeignOutput, labels: Sequence[str]) -> dict[str, float]:
    if output.probabilities is not None:
        return {label: float(output.probabilities[label]) for label in labels}
    rest = (1.0 - output.confidence) / (len(labels) - 1)
    return {label: float(output.confidence) if label == output.label else rest for label in labels}
