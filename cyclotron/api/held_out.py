"""The held-out set: the overview, freezing, and confirming an evaluation, with the payloads of the two operations that
every door serves (see `cyclotron.service`)."""

import json
from collections.abc import Mapping
from functools import partial
from importlib.resources import files
from typing import Any

from drf_spectacular.utils import OpenApiResponse
from rest_framework.request import Request
from rest_framework.response import Response

from cyclotron.api.base import (
    DIGEST_CHARACTERS,
    MADE_ID_CHARACTERS,
    NAME_CHARACTERS,
    ClassifierQuery,
    CyclotronView,
)
from cyclotron.core.held_out_format import COMMAND_SCHEMA_FILE, OVERVIEW_SCHEMA_FILE, schema_of
from cyclotron.core.verdict import DEFAULT_MINIMUM_PER_LABEL, MAX_MINIMUM_PER_LABEL
from cyclotron.service import EVALUATE, FREEZE
from kapsoweb.accounts.roles import Role
from kapsoweb.doors.access_rules import Access
from kapsoweb.doors.limits import ID_CHARACTERS
from kapsoweb.doors.rest.errors import invalid_fields
from kapsoweb.doors.rest.fields import TextField, WholeNumberField
from kapsoweb.doors.rest.operations import Operation, operation
from kapsoweb.doors.rest.schema import component
from kapsoweb.doors.rest.serializers import StrictSerializer

_TAG = "held-out"


def _example(schema_file: str) -> Any:
    name = schema_file.replace(".schema.json", ".example.json")
    return json.loads(files("cyclotron.schemas").joinpath(name).read_bytes())


def _answer_of(action: str) -> Mapping[str, Any]:
    """The command's schema for the answer of one action."""
    schema = schema_of(COMMAND_SCHEMA_FILE)
    answer: Mapping[str, Any] = schema["$defs"][f"{action}Answer"]
    return answer


OVERVIEW = component("HeldOutOverview", partial(schema_of, OVERVIEW_SCHEMA_FILE))
FROZEN = component("HeldOutFrozen", partial(_answer_of, FREEZE))
EVALUATED = component("HeldOutEvaluated", partial(_answer_of, EVALUATE))


class _Payload(StrictSerializer):
    """What both commands have in common."""

    cyclotron_id = TextField(
        max_length=MADE_ID_CHARACTERS, required=False, help_text="Where it is said, the id that the address has."
    )
    classifier = TextField(max_length=NAME_CHARACTERS, required=False, allow_null=True)


class FreezePayload(_Payload):
    """Which classifier's labels to freeze; the first of the cyclotron without."""


class EvaluatePayload(_Payload):
    """What a person confirms."""

    confirmed_request_bound = WholeNumberField(help_text="The overview's `requestBound`, as a person saw it.")
    confirmed_plan = TextField(
        max_length=ID_CHARACTERS, required=False, help_text="The overview's `planDigest`: any drift is refused."
    )
    request_id = TextField(
        max_length=ID_CHARACTERS, required=False, help_text="The caller's own: the same again is the same evaluation."
    )
    set_id = TextField(
        max_length=DIGEST_CHARACTERS, required=False, help_text="An earlier held-out set; the newest without."
    )
    minimum_per_label = WholeNumberField(
        min_value=1,
        max_value=MAX_MINIMUM_PER_LABEL,
        required=False,
        help_text=f"{DEFAULT_MINIMUM_PER_LABEL} without.",
    )


class HeldOutView(CyclotronView):
    """`/cyclotrons/{id}/held-out`."""

    @operation(
        Operation(
            id="getHeldOut",
            tag=_TAG,
            summary="Read what could be frozen and evaluated",
            query=ClassifierQuery,
            answer=OpenApiResponse(OVERVIEW),
            gives=_example(OVERVIEW_SCHEMA_FILE),
        )
    )
    def get(self, request: Request, cyclotron_id: str) -> Response:  # noqa: ARG002 - the framework passes it
        """The current set, the request bound and plan to confirm, a running evaluation, and the last ten reports."""
        return self.answer(self.workspace.held_out.overview(cyclotron_id, self.query.get("classifier")))


class _Command(CyclotronView):
    access = Access(needs=Role.OPERATOR, record="cyclotron_id")

    def command(self, action: str, cyclotron_id: str) -> Response:
        """Carry the command out on the cyclotron of the address."""
        self.workspace.open(cyclotron_id, needs=Role.OPERATOR)
        self.body()  # names every bad field; the service reads the payload by its own schema again
        payload = dict(self.request.data)
        if payload.setdefault("cyclotronId", cyclotron_id) != cyclotron_id:
            raise invalid_fields({"cyclotronId": ["must be the id that the address has."]})
        return self.answer(self.workspace.held_out.command(action, payload))


class FreezeView(_Command):
    """`/cyclotrons/{id}/held-out/freeze`."""

    @operation(
        Operation(
            id="freezeHeldOutSet",
            tag=_TAG,
            summary="Freeze the eligible labels",
            body=FreezePayload,
            answer=OpenApiResponse(FROZEN),
            sends={"classifier": "screening"},
            gives={
                "action": FREEZE,
                "heldOutSet": {
                    "id": "ab" * 32,
                    "frozenAt": "2026-03-01T12:00:00Z",
                    "size": 160,
                    "labelCounts": {"include": 20, "exclude": 140},
                },
            },
        )
    )
    def post(self, request: Request, cyclotron_id: str) -> Response:  # noqa: ARG002 - the framework passes it
        """Calls no model. Without new labels it answers with the newest set. Needs the role operator."""
        return self.command(FREEZE, cyclotron_id)


class EvaluateView(_Command):
    """`/cyclotrons/{id}/held-out/evaluate`."""

    @operation(
        Operation(
            id="evaluateHeldOut",
            tag=_TAG,
            summary="Confirm an evaluation by its request bound",
            body=EvaluatePayload,
            answer=OpenApiResponse(EVALUATED),
            statuses=(502,),
            sends={"classifier": "screening", "confirmedRequestBound": 320},
            gives=_example(COMMAND_SCHEMA_FILE),
            calls_a_model=True,
        )
    )
    def post(self, request: Request, cyclotron_id: str) -> Response:  # noqa: ARG002 - the framework passes it
        """A job evaluates; with every answer stored the report is in this answer. Refused with the present bound where
        it is not the confirmed one. Needs the role operator."""
        return self.command(EVALUATE, cyclotron_id)
