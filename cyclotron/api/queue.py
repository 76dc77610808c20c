"""The review queue: take the next item, answer or skip it, take the last answer back."""

from typing import Any

from rest_framework.request import Request
from rest_framework.response import Response

from cyclotron import queries
from cyclotron.actions.reviewing import MAX_EXPLANATION, MAX_REASON_CODE
from cyclotron.api.base import (
    DECISION_ID,
    LABEL_CHARACTERS,
    MADE_ID_CHARACTERS,
    NAME_CHARACTERS,
    ClassifierBody,
    ClassifierQuery,
    CyclotronView,
    identity_field,
)
from cyclotron.api.reviews import RecordedReview
from cyclotron.core.draws import REASONS
from kapsoweb.accounts.roles import Role
from kapsoweb.doors.access_rules import Access
from kapsoweb.doors.rest.fields import (
    FlagField,
    MapField,
    NumberField,
    ObjectField,
    TextField,
    TimeField,
    WholeNumberField,
    WordField,
)
from kapsoweb.doors.rest.operations import Operation, operation
from kapsoweb.doors.rest.serializers import StrictSerializer
from kapsoweb.foundation import clock

_TAG = "queue"
_ASSIGNMENT = {
    "id": "as_01jkm3x7e8r5v9z2q4t6w8y0ad",
    "itemKey": "17",
    "itemId": "record-17",
    "values": {"text": "A trial of methylphenidate."},
    "decisionId": DECISION_ID,
    "classifier": "screening",
    "reason": "program",
    "label": "include",
    "confidence": 0.83,
    "probabilities": {"include": 0.83, "exclude": 0.17},
    "expiresAt": "2026-03-01T12:30:00Z",
    "skippedBefore": False,
}


class QueueState(StrictSerializer):
    """How much of a classifier's queue waits, is held by somebody, and is done."""

    waiting = WholeNumberField()
    held = WholeNumberField()
    reviewed = WholeNumberField()


class AssignmentRow(StrictSerializer):
    """An item that one reviewer holds for a while, with what was decided of it."""

    id = TextField(max_length=MADE_ID_CHARACTERS)
    item_key = TextField(max_length=20)
    item_id = identity_field("The item's identity.")
    values = ObjectField()
    decision_id = TextField(max_length=MADE_ID_CHARACTERS)
    classifier = TextField(max_length=NAME_CHARACTERS)
    reason = WordField(REASONS)
    label: Any = TextField(max_length=LABEL_CHARACTERS, allow_null=True)
    confidence = NumberField(min_value=0, max_value=1)
    probabilities = MapField(child=NumberField(min_value=0, max_value=1), max_length=1000)
    expires_at = TimeField()
    skipped_before = FlagField()


class Taken(StrictSerializer):
    """The item to review, or null where nothing waits."""

    assignment = AssignmentRow(allow_null=True)


class AnswerInput(StrictSerializer):
    """What the reviewer says of the item."""

    label: Any = TextField(
        max_length=LABEL_CHARACTERS, allow_null=True, help_text="Null closes the item without a label."
    )
    explanation = TextField(max_length=MAX_EXPLANATION, allow_blank=True, default="")
    reason_code = TextField(max_length=MAX_REASON_CODE, allow_blank=True, default="")


class QueueView(CyclotronView):
    """`/cyclotrons/{id}/queue`."""

    @operation(
        Operation(
            id="getQueue",
            tag=_TAG,
            summary="Read how long the queue is",
            query=ClassifierQuery,
            answer=QueueState,
            gives={"waiting": 120, "held": 2, "reviewed": 31},
        )
    )
    def get(self, request: Request, cyclotron_id: str) -> Response:  # noqa: ARG002 - the framework passes it
        """Counts of one classifier's queue."""
        return self.answer(queries.queue_state(self.store(cyclotron_id), self.query.get("classifier"), now=clock.now()))


class _QueueAction(CyclotronView):
    access = Access(needs=Role.REVIEWER, record="cyclotron_id")


class TakeView(_QueueAction):
    """`/cyclotrons/{id}/queue/take`."""

    @operation(
        Operation(
            id="takeItem",
            tag=_TAG,
            summary="Take the next item to review, or the one already held",
            body=ClassifierBody,
            answer=Taken,
            sends={"classifier": "screening"},
            gives={"assignment": _ASSIGNMENT},
        )
    )
    def post(self, request: Request, cyclotron_id: str) -> Response:  # noqa: ARG002 - the framework passes it
        """Nobody else is given the item until it is answered, skipped or expires. Needs the role reviewer."""
        taken = self.workspace.take(cyclotron_id, self.body()["classifier"])
        return self.answer({"assignment": taken})


class UndoLastView(_QueueAction):
    """`/cyclotrons/{id}/queue/undo-last`."""

    @operation(
        Operation(
            id="undoLastAnswer",
            tag=_TAG,
            summary="Take back one's newest answer and get its item again",
            body=ClassifierBody,
            answer=Taken,
            sends={"classifier": "screening"},
            gives={"assignment": _ASSIGNMENT},
        )
    )
    def post(self, request: Request, cyclotron_id: str) -> Response:  # noqa: ARG002 - the framework passes it
        """Null where this reviewer has no answer to take back."""
        taken = self.workspace.undo_last(cyclotron_id, self.body()["classifier"])
        return self.answer({"assignment": taken})


class AnswerView(_QueueAction):
    """`/cyclotrons/{id}/assignments/{assignmentId}/answer`."""

    @operation(
        Operation(
            id="answerAssignment",
            tag=_TAG,
            summary="Say what the item is",
            body=AnswerInput,
            answer=RecordedReview,
            status=201,
            sends={"label": "include"},
            gives={
                "reviewId": "as_01jkm3x7e8r5v9z2q4t6w8y0ad",
                "itemId": "record-17",
                "label": "include",
                "selectedBy": "program",
                "isCorrection": False,
                "new": True,
            },
        )
    )
    def post(self, request: Request, cyclotron_id: str, assignment_id: str) -> Response:  # noqa: ARG002
        """Records a review by whoever carries the token, who must hold the item."""
        values: dict[str, Any] = self.body()
        return self.answer(self.workspace.answer(cyclotron_id, assignment_id, **values))


class SkipView(_QueueAction):
    """`/cyclotrons/{id}/assignments/{assignmentId}/skip`."""

    @operation(Operation(id="skipAssignment", tag=_TAG, summary="Give the item back unanswered", status=204))
    def post(self, request: Request, cyclotron_id: str, assignment_id: str) -> Response:  # noqa: ARG002
        """It comes to this reviewer again after all that they have not seen."""
        self.no_body()
        self.workspace.skip(cyclotron_id, assignment_id)
        return self.answer()
