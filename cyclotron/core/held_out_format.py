"""The JSON of the held-out service's two operations, and reading what comes in. Source: spec held-out, section 8."""

import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from jsonschema import Draft202012Validator, TypeChecker
from jsonschema.validators import extend

from cyclotron.core.errors import CyclotronError
from cyclotron.core.overview import Overview, SetSummary
from cyclotron.core.report import time_text
from kapsoweb.foundation.canonical import UnreadableValueError, check_json

OVERVIEW_SCHEMA_FILE = "cyclotron-held-out-overview.v1.schema.json"
COMMAND_SCHEMA_FILE = "cyclotron-held-out-command.v1.schema.json"
ACTIONS = ("freeze", "evaluate")
_LONGEST_PATH = 200


def _is_whole(_: TypeChecker, value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


# The draft calls 3.0 an integer; a number of requests that somebody confirms is written without a point.
_Strict: type[Draft202012Validator] = extend(  # type: ignore[no-untyped-call]  # the stubs leave it open
    Draft202012Validator, type_checker=Draft202012Validator.TYPE_CHECKER.redefine("integer", _is_whole)
)


class InvalidPayloadError(CyclotronError):
    """A command's action or payload breaks its schema; `detail` has the `path` and the `rule`, and repeats no value."""

    id = "invalid-payload"


@cache
def schema_of(file: str) -> Mapping[str, Any]:
    """One of the schemas that ship with the product; do not change what is returned."""
    schema: Mapping[str, Any] = json.loads(files("cyclotron.schemas").joinpath(file).read_bytes())
    return schema


@cache
def _payload_validator(action: str) -> Draft202012Validator:
    schema = schema_of(COMMAND_SCHEMA_FILE)
    Draft202012Validator.check_schema(schema)
    return _Strict({"$ref": f"#/$defs/{action}Payload", "$defs": schema["$defs"]})


def check_payload(action: str, payload: object) -> Mapping[str, Any]:
    """Return the payload of a command when it conforms to its schema; raises `InvalidPayloadError`."""
    if action not in ACTIONS:
        raise InvalidPayloadError(f"the action must be one of {', '.join(ACTIONS)}.", path="action", rule="enum")
    try:
        check_json(payload, "the payload")
    except UnreadableValueError as error:
        raise InvalidPayloadError(error.message, path="$", rule="storable") from None
    for fault in _payload_validator(action).iter_errors(payload):
        path = fault.json_path[:_LONGEST_PATH]
        raise InvalidPayloadError(
            f"the payload of {action} breaks its schema at {path}: the rule is `{fault.validator}`; "
            f"see {COMMAND_SCHEMA_FILE}.",
            path=path,
            rule=str(fault.validator),
        )
    given: Mapping[str, Any] = payload  # type: ignore[assignment]  # the schema asks for an object
    return given


def overview_json(found: Overview) -> dict[str, Any]:
    """An overview as the operation answers it."""
    running, interrupted = found.running, found.interrupted
    return {
        "cyclotronId": found.cyclotron_id,
        "name": found.name,
        "classifier": {
            "id": found.classifier,
            "question": found.question,
            "labels": list(found.labels),
            "positiveLabel": found.positive_label,
        },
        "capabilities": {"liveEnabled": found.live_enabled},
        "heldOutSet": None if found.current_set is None else set_json(found.current_set),
        "newLabels": found.new_labels,
        "requestBound": found.request_bound,
        "planDigest": found.plan_digest,
        "minimumPerLabel": found.minimum_per_label,
        "running": None
        if running is None
        else {
            "id": running.id,
            "state": running.state,
            "done": running.done,
            "total": running.total,
            "requestsUsed": running.requests_used,
            "requestBound": running.bound,
            "startedAt": time_text(running.started_at),
        },
        "interrupted": None
        if interrupted is None
        else {
            "id": interrupted.id,
            "reason": interrupted.reason,
            "message": interrupted.message,
            "endedAt": time_text(interrupted.ended_at),
            "requestsUsed": interrupted.requests_used,
            "answersKept": interrupted.answers_kept,
            "unanswered": interrupted.unanswered,
        },
        "disabledReason": found.disabled_reason,
        "reports": [{"id": report.id, "report": dict(report.document)} for report in found.reports],
    }


def set_json(frozen: SetSummary) -> dict[str, Any]:
    """A held-out set as the operations answer it."""
    return {
        "id": frozen.id,
        "frozenAt": time_text(frozen.frozen_at),
        "size": frozen.size,
        "labelCounts": dict(frozen.label_counts),
    }
