"""Evaluations: how one stands, and stopping it."""

from typing import Any

from rest_framework.request import Request
from rest_framework.response import Response

from cyclotron import queries
from cyclotron.api.base import (
    DIGEST_CHARACTERS,
    LABEL_CHARACTERS,
    MADE_ID_CHARACTERS,
    MOMENT,
    NAME_CHARACTERS,
    CyclotronView,
)
from cyclotron.models.held_out import EVALUATION_STATES
from cyclotron.store import Store
from kapsoweb.accounts.roles import Role
from kapsoweb.doors.access_rules import Access
from kapsoweb.doors.limits import ID_CHARACTERS
from kapsoweb.doors.rest.fields import FlagField, TextField, TimeField, WholeNumberField, WordField
from kapsoweb.doors.rest.operations import Operation, operation
from kapsoweb.doors.rest.serializers import StrictSerializer

_TAG = "evaluations"
_EVALUATION = {
    "id": "ev_01jkm3x7e8r5v9z2q4t6w8y0af",
    "classifier": "screening",
    "heldOutSet": "ab" * 32,
    "model": "local/1",
    "minimumPerLabel": 10,
    "state": "done",
    "cancelRequested": False,
    "reason": None,
    "requestBound": 320,
    "requestsUsed": 320,
    "requestsTotal": 320,
    "unanswered": 0,
    "jobId": "job_01jkm3x7e8r5v9z2q4t6w8y0ag",
    "reportId": "rep_01jkm3x7e8r5v9z2q4t6w8y0ae",
    "startedAt": MOMENT,
    "endedAt": "2026-03-01T12:00:09Z",
}


class EvaluationState(StrictSerializer):
    """An evaluation: what it may spend, what it has spent, and how it ended."""

    id = TextField(max_length=MADE_ID_CHARACTERS)
    classifier = TextField(max_length=NAME_CHARACTERS)
    held_out_set = TextField(max_length=DIGEST_CHARACTERS)
    model = TextField(max_length=ID_CHARACTERS)
    minimum_per_label = WholeNumberField()
    state = WordField(EVALUATION_STATES)
    cancel_requested = FlagField()
    reason = TextField(
        max_length=LABEL_CHARACTERS, allow_null=True, help_text="Why it was interrupted; null where it was not."
    )
    request_bound = WholeNumberField(help_text="The most new requests that were confirmed.")
    requests_used = WholeNumberField(help_text="Permits taken; none is ever given back.")
    requests_total = WholeNumberField(help_text="Distinct requests of the comparison, stored answers included.")
    unanswered = WholeNumberField()
    job_id = TextField(max_length=MADE_ID_CHARACTERS, allow_null=True)
    report_id = TextField(max_length=MADE_ID_CHARACTERS, allow_null=True)
    started_at = TimeField()
    ended_at = TimeField(allow_null=True)


class EvaluationView(CyclotronView):
    """`/cyclotrons/{id}/evaluations/{evaluationId}`."""

    @operation(
        Operation(
            id="getEvaluation",
            tag=_TAG,
            summary="Read how an evaluation stands",
            answer=EvaluationState,
            gives=_EVALUATION,
        )
    )
    def get(self, request: Request, cyclotron_id: str, evaluation_id: str) -> Response:  # noqa: ARG002
        """Running, done with a report, or interrupted without one."""
        return self.answer(evaluation_shown(self.store(cyclotron_id), evaluation_id))


class CancelEvaluationView(CyclotronView):
    """`/cyclotrons/{id}/evaluations/{evaluationId}/cancel`."""

    access = Access(needs=Role.OPERATOR, record="cyclotron_id")

    @operation(
        Operation(
            id="cancelEvaluation",
            tag=_TAG,
            summary="Ask an evaluation to stop",
            answer=EvaluationState,
            gives={**_EVALUATION, "state": "running", "cancelRequested": True, "reportId": None, "endedAt": None},
        )
    )
    def post(self, request: Request, cyclotron_id: str, evaluation_id: str) -> Response:  # noqa: ARG002
        """Every answer it got is kept; one that has ended stays as it is. Needs the role operator."""
        self.no_body()
        self.workspace.cancel_evaluation(cyclotron_id, evaluation_id)
        return self.answer(evaluation_shown(self.store(cyclotron_id), evaluation_id))


def evaluation_shown(store: Store, evaluation_id: str) -> dict[str, Any]:
    """An evaluation as the doors for programs show it; raises `NoSuchEvaluationError`."""
    found = queries.evaluation_record(store, evaluation_id)
    return {
        "id": found.id,
        "classifier": found.classifier.name,
        "held_out_set": found.held_out_set_id,
        "model": found.model,
        "minimum_per_label": found.minimum_per_label,
        "state": found.state,
        "cancel_requested": found.cancel_requested,
        "reason": found.reason or None,
        "request_bound": found.bound,
        "requests_used": found.permits_taken,
        "requests_total": found.total,
        "unanswered": found.unanswered,
        "job_id": found.job_id or None,
        "report_id": queries.report_id_of_evaluation(store, found),
        "started_at": found.started_at,
        "ended_at": found.ended_at,
    }
