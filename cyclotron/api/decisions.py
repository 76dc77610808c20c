"""Decisions: list them, decide an item, bring in decisions that were made elsewhere."""

from typing import Any

from rest_framework.request import Request
from rest_framework.response import Response

from cyclotron import queries
from cyclotron.actions.deciding import Output
from cyclotron.actions.importing import ForeignDecision, ForeignOutput
from cyclotron.api.base import (
    DECISION_ID,
    LABEL_CHARACTERS,
    MADE_ID_CHARACTERS,
    MOMENT,
    CyclotronView,
    DecidedOutput,
    identity_field,
)
from cyclotron.core.draws import PARTITIONS, REASONS
from kapsoweb.doors import limits
from kapsoweb.doors.rest.fields import (
    FlagField,
    ListField,
    MapField,
    NumberField,
    ObjectField,
    TextField,
    TimeField,
    WholeNumberField,
    WordField,
)
from kapsoweb.doors.rest.operations import Operation, operation
from kapsoweb.doors.rest.serializers import PageQuery, StrictSerializer, many, page_of

_TAG = "decisions"
_OUTPUT = {
    "label": "include",
    "confidence": 0.83,
    "probabilities": {"include": 0.83, "exclude": 0.17},
    "version": 2,
    "refit": 3,
    "fingerprint": "9c" * 32,
}
_DECIDED = {
    "decisionId": DECISION_ID,
    "itemId": "record-17",
    "partition": "training",
    "sent": True,
    "reason": "program",
    "propensity": 1.0,
    "outputs": {"screening": _OUTPUT},
}


class ItemToDecide(StrictSerializer):
    """An item, and at which rates decisions are sent to review."""

    item_id = identity_field("The application's own name for the item, compared byte for byte.")
    values = ObjectField(help_text="Kept with the item for ever; its input fields hold the text that is decided.")
    review_rate = NumberField(min_value=0, max_value=1, default=1.0)
    audit_rate = NumberField(min_value=0, max_value=1, default=0.05)
    low_confidence = NumberField(
        min_value=0,
        max_value=1,
        allow_null=True,
        default=None,
        help_text="A decision whose lowest confidence is below this is always sent.",
    )


class Decided(StrictSerializer):
    """A decision that was made now."""

    decision_id = TextField(max_length=MADE_ID_CHARACTERS)
    item_id = identity_field("The item's identity.")
    partition = WordField(PARTITIONS)
    sent = FlagField(source="sent_to_review")
    reason = TextField(max_length=LABEL_CHARACTERS, allow_blank=True, help_text="Why it was sent; empty when not.")
    propensity = NumberField(min_value=0, max_value=1)
    outputs = MapField(child=DecidedOutput(), max_length=1000, help_text="By the classifier's name.")


class DecisionRow(StrictSerializer):
    """A decision as it is stored."""

    decision_id = TextField(max_length=MADE_ID_CHARACTERS)
    item_key = TextField(max_length=20)
    item_id = identity_field("The item's identity.")
    sent = FlagField()
    reason = TextField(max_length=LABEL_CHARACTERS, allow_blank=True, help_text="Why it was sent; empty when not.")
    propensity = NumberField(min_value=0, max_value=1)
    decided_at = TimeField()
    foreign = FlagField(help_text="Whether it was made elsewhere and brought in.")
    outputs = MapField(child=DecidedOutput(), max_length=1000, help_text="By the classifier's name.")


DecisionPage = page_of(DecisionRow, "DecisionPage")


class DecisionsQuery(PageQuery):
    """Of the list of decisions."""

    item_key = WholeNumberField(
        from_text=True, max_value=2**63 - 1, required=False, help_text="Only those of the item with this key."
    )


class ForeignOutputInput(StrictSerializer):
    """What a classifier decided elsewhere."""

    label: Any = TextField(max_length=LABEL_CHARACTERS)
    confidence = NumberField(min_value=0, max_value=1)
    probabilities = MapField(
        child=NumberField(min_value=0, max_value=1), max_length=limits.LABELS_MOST, allow_null=True, default=None
    )
    version = WholeNumberField(default=0)


class ForeignDecisionInput(StrictSerializer):
    """A decision that was made elsewhere, with the propensity with which it was sent to review there."""

    item_id = identity_field("The application's own name for the item, compared byte for byte.")
    values = ObjectField()
    outputs = MapField(
        child=ForeignOutputInput(), max_length=limits.CLASSIFIERS_MOST, help_text="By the classifier's name."
    )
    sent = FlagField()
    reason = WordField(("", *REASONS), default="", help_text="Why it was sent; empty when it was not.")
    propensity = NumberField(min_value=0, max_value=1, help_text="Above 0: by it the item is weighted.")


class ForeignDecisions(StrictSerializer):
    """Decisions to bring in, all or none."""

    decisions = many(ForeignDecisionInput, at_least=1, at_most=limits.DECISIONS_MOST)


class ImportedDecisions(StrictSerializer):
    """What came of it: the ids in the order of the request, null where such a decision was known."""

    decision_ids = ListField(child=TextField(max_length=MADE_ID_CHARACTERS, allow_null=True))
    recorded = WholeNumberField()
    known = WholeNumberField()


class DecisionsView(CyclotronView):
    """`/cyclotrons/{id}/decisions`."""

    @operation(
        Operation(
            id="listDecisions",
            tag=_TAG,
            summary="List decisions",
            query=DecisionsQuery,
            answer=DecisionPage,
            gives={
                "items": [
                    {
                        "decisionId": DECISION_ID,
                        "itemKey": "17",
                        "itemId": "record-17",
                        "sent": True,
                        "reason": "program",
                        "propensity": 1.0,
                        "decidedAt": MOMENT,
                        "foreign": False,
                        "outputs": {"screening": _OUTPUT},
                    }
                ],
                "next": None,
            },
        )
    )
    def get(self, request: Request, cyclotron_id: str) -> Response:  # noqa: ARG002 - the framework passes it
        """Newest first."""
        page = queries.decisions(
            self.store(cyclotron_id),
            after=self.cursor("decisions"),
            limit=self.query["limit"],
            item_key=self.query.get("item_key"),
        )
        return self.page(page, "decisions")

    @operation(
        Operation(
            id="decide",
            tag=_TAG,
            summary="Decide an item",
            body=ItemToDecide,
            answer=Decided,
            status=201,
            statuses=(502,),
            sends={"itemId": "record-17", "values": {"text": "A trial of methylphenidate."}, "reviewRate": 1},
            gives=_DECIDED,
            calls_a_model=True,
        )
    )
    def post(self, request: Request, cyclotron_id: str) -> Response:  # noqa: ARG002 - the framework passes it
        """Asks the decision model once for each classifier, unless the answer is stored; needs the role operator.

        Refused with `live-off` where calls to a model are switched off.
        """
        values = self.body()
        identity = values.pop("item_id")
        decided = self.workspace.decide(cyclotron_id, identity=identity, **values)
        outputs = {name: _output(output) for name, output in decided.outputs.items()}
        return self.answer({**vars(decided), "outputs": outputs})


class DecisionsImportView(CyclotronView):
    """`/cyclotrons/{id}/decisions/import`."""

    body_bytes = limits.DECISIONS_BODY_BYTES

    @operation(
        Operation(
            id="importDecisions",
            tag=_TAG,
            summary="Bring in decisions that were made elsewhere, with their propensities",
            body=ForeignDecisions,
            answer=ImportedDecisions,
            status=201,
            sends={
                "decisions": [
                    {
                        "itemId": "record-18",
                        "values": {"text": "A survey of bridges."},
                        "outputs": {"screening": {"label": "exclude", "confidence": 0.97}},
                        "sent": True,
                        "reason": "audit",
                        "propensity": 0.05,
                    }
                ]
            },
            gives={"decisionIds": [DECISION_ID], "recorded": 1, "known": 0},
        )
    )
    def post(self, request: Request, cyclotron_id: str) -> Response:  # noqa: ARG002 - the framework passes it
        """All or none; no model is called. Needs the role operator."""
        given = [foreign_decision(values) for values in self.body()["decisions"]]
        return self.answer(self.workspace.import_decisions(cyclotron_id, given))


def _output(output: Output) -> dict[str, Any]:
    return {
        "label": output.declared_label,
        "confidence": output.decided.confidence,
        "probabilities": output.decided.probabilities,
        "version": output.version,
        "refit": output.refit,
        "fingerprint": output.fingerprint,
    }


def foreign_decision(values: dict[str, Any]) -> ForeignDecision:
    """What a `ForeignDecisionInput` has read."""
    outputs = {name: ForeignOutput(**output) for name, output in values["outputs"].items()}
    return ForeignDecision(
        identity=values["item_id"],
        values=values["values"],
        outputs=outputs,
        sent=values["sent"],
        reason=values["reason"],
        propensity=values["propensity"],
    )
