"""Decisions, reviews and the review queue as the schema shows them, and as decisions and items are given."""

from collections.abc import Mapping, Sequence
from typing import Any

from graphene import ID, Boolean, Field, Float, InputObjectType, Int, List, NonNull, ObjectType, String

from cyclotron import queries
from cyclotron.actions.deciding import DecidedItem
from cyclotron.actions.importing import ForeignDecision, ForeignOutput
from cyclotron.core.draws import REASONS
from cyclotron.queries.history import DecisionRow
from kapsoweb.doors.graphql.errors import InvalidArgumentError
from kapsoweb.doors.graphql.fields import many, many_given
from kapsoweb.doors.graphql.pages import page_type
from kapsoweb.doors.graphql.scalars import JSON, Time

_REASON = f"Why it was sent to review: {', '.join(REASONS)}; empty when it was not."


class LabelShare(ObjectType):
    """A label and its probability."""

    label = String(required=True)
    share = Float(required=True)


class DecidedOutput(ObjectType):
    """What one classifier decided, and by which version and refit."""

    classifier = String(required=True)
    label = String(description="Null where the model gave no declared label.")
    confidence = Float(required=True)
    probabilities = many(LabelShare)
    version = Int(required=True)
    refit = Int(required=True, description="The number of the ML model's fit; 0 without one.")
    fingerprint = String(required=True, description="Of the request; empty where it was decided elsewhere.")


class Decided(ObjectType):
    """A decision that was made now."""

    decision_id = ID(required=True)
    item_id = String(required=True)
    partition = String(required=True)
    sent = Boolean(required=True)
    reason = String(required=True, description=_REASON)
    propensity = Float(required=True)
    outputs = many(DecidedOutput)


class Decision(ObjectType):
    """A decision as it is stored."""

    decision_id = ID(required=True)
    item_key = ID(required=True)
    item_id = String(required=True)
    sent = Boolean(required=True)
    reason = String(required=True, description=_REASON)
    propensity = Float(required=True)
    decided_at = Time(required=True)
    foreign = Boolean(required=True, description="Whether it was made elsewhere and brought in.")
    outputs = many(DecidedOutput)


class Review(ObjectType):
    """A review as it is stored, undone or not."""

    review_id = ID(required=True)
    decision_id = ID(required=True)
    item_key = ID(required=True)
    item_id = String(required=True)
    classifier = String(required=True)
    label = String(description="Null where the item was closed without one.")
    explanation = String(required=True)
    reason_code = String(required=True)
    reviewer = String(required=True)
    selected_by = String(required=True)
    corrects = ID(description="The review that this one follows.")
    recorded_at = Time(required=True)
    undone_at = Time()
    undone_by = String(required=True, description="Empty unless it was undone.")


DecisionPage = page_type(Decision)
ReviewPage = page_type(Review)


class RecordedReview(ObjectType):
    """A review that was recorded; `new` is false where the same one had been before."""

    identity = ID(required=True, name="reviewId")
    item_id = String(required=True)
    label = String()
    selected_by = String(required=True)
    is_correction = Boolean(required=True)
    new = Boolean(required=True)


class QueueState(ObjectType):
    """How much of a classifier's queue waits, is held by somebody, and is done."""

    waiting = Int(required=True)
    held = Int(required=True)
    reviewed = Int(required=True)


class Assignment(ObjectType):
    """An item that one reviewer holds for a while, with what was decided of it."""

    id = ID(required=True)
    item_key = ID(required=True)
    item_id = String(required=True)
    values = Field(JSON, required=True)
    decision_id = ID(required=True)
    classifier = String(required=True)
    reason = String(required=True, description=_REASON)
    label = String(description="Null where the model gave no declared label.")
    confidence = Float(required=True)
    probabilities = many(LabelShare)
    expires_at = Time(required=True)
    skipped_before = Boolean(required=True)


class ItemInput(InputObjectType):
    """An item to decide, and at which rates decisions are sent to review."""

    item_id = String(required=True, description="The application's own name for it, compared byte for byte.")
    values = JSON(required=True, description="An object; it is kept with the item for ever.")
    review_rate = Float(description="From 0 to 1; 1 without.")
    audit_rate = Float(description="From 0 to 1; 0.05 without.")
    low_confidence = Float(description="A decision whose lowest confidence is below this is always sent.")


class LabelShareInput(InputObjectType):
    """A label and its probability."""

    label = String(required=True)
    share = Float(required=True)


class ForeignOutputInput(InputObjectType):
    """What one classifier decided elsewhere."""

    classifier = String(required=True)
    label = String(required=True)
    confidence = Float(required=True)
    probabilities = many_given(LabelShareInput, description="Each label once; made from the confidence without.")
    version = Int(description="The caller's own number for what decided; 0 without.")


class ForeignDecisionInput(InputObjectType):
    """A decision that was made elsewhere, with the propensity with which it was sent to review there."""

    item_id = String(required=True, description="The application's own name for it, compared byte for byte.")
    values = JSON(required=True, description="An object.")
    outputs = many_given(ForeignOutputInput, required=True)
    sent = Boolean(required=True)
    reason = String(description=_REASON)
    propensity = Float(required=True, description="Above 0 and at most 1: by it the item is weighted.")


class ImportedDecisions(ObjectType):
    """What came of it: the ids in the order given, null where such a decision was known."""

    decision_ids = Field(NonNull(List(ID)))
    recorded = Int(required=True)
    known = Int(required=True)


class ReviewInput(InputObjectType):
    """What a reviewer says of a decision. The reviewer is the caller."""

    review_id = ID(required=True, description="The caller's own name for it: the same one again records nothing new.")
    decision_id = ID(required=True)
    label = String(description="Null closes the item without a label.")
    classifier = String()
    explanation = String()
    reason_code = String()
    selected_by = String(description="`reviewer` where a person chose the item; it is derived otherwise.")


def rates_in(given: Mapping[str, Any]) -> dict[str, Any]:
    """The rates that were said; null is as good as nothing."""
    names = ("review_rate", "audit_rate", "low_confidence")
    return {name: given[name] for name in names if given.get(name) is not None}


def foreign_decision(given: Mapping[str, Any]) -> ForeignDecision:
    """A decision made elsewhere, for the engine to check."""
    outputs: dict[str, ForeignOutput] = {}
    for output in given["outputs"]:
        if output["classifier"] in outputs:
            raise InvalidArgumentError("a decision may have one output of each classifier.")
        outputs[output["classifier"]] = ForeignOutput(
            label=output["label"],
            confidence=output["confidence"],
            probabilities=_shares_in(output.get("probabilities")),
            version=output.get("version") or 0,
        )
    return ForeignDecision(
        identity=given["item_id"],
        values=given["values"],
        outputs=outputs,
        sent=given["sent"],
        reason=given.get("reason") or "",
        propensity=given["propensity"],
    )


def decided_shown(decided: DecidedItem) -> dict[str, Any]:
    """A decision that was made now, as the schema shows it."""
    outputs = [
        {
            "classifier": name,
            "label": output.declared_label,
            "confidence": output.decided.confidence,
            "probabilities": _shares_shown(output.decided.probabilities),
            "version": output.version,
            "refit": output.refit,
            "fingerprint": output.fingerprint,
        }
        for name, output in decided.outputs.items()
    ]
    return {**vars(decided), "sent": decided.sent_to_review, "outputs": outputs}


def decision_shown(row: DecisionRow) -> dict[str, Any]:
    """A stored decision as the schema shows it."""
    outputs = [
        {"classifier": name, **vars(output), "probabilities": _shares_shown(output.probabilities)}
        for name, output in row.outputs.items()
    ]
    return {**vars(row), "outputs": outputs}


def assignment_shown(found: queries.AssignmentShown | None) -> dict[str, Any] | None:
    """An assignment as the schema shows it."""
    return None if found is None else {**vars(found), "probabilities": _shares_shown(found.probabilities)}


def _shares_in(given: Sequence[Mapping[str, Any]] | None) -> dict[str, float] | None:
    if given is None:
        return None
    shares = {each["label"]: each["share"] for each in given}
    if len(shares) != len(given):
        raise InvalidArgumentError("`probabilities` may have each label once.")
    return shares


def _shares_shown(probabilities: Mapping[str, float]) -> list[dict[str, Any]]:
    return [{"label": label, "share": share} for label, share in probabilities.items()]
