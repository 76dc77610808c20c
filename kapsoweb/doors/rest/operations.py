"""What an operation of the REST door takes and gives, said once: read from requests, and shown in the schema."""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar, cast

from drf_spectacular.utils import OpenApiExample, extend_schema
from rest_framework.response import Response

from kapsoweb.doors.rest.bodies import SentFile
from kapsoweb.doors.rest.idempotency import HEADER, once
from kapsoweb.doors.rest.serializers import NoQuery, StrictSerializer
from kapsoweb.foundation.canonical import digest as digest_of_json
from kapsoweb.foundation.canonical import digest_of_parts

if TYPE_CHECKING:
    from kapsoweb.doors.rest.views import ApiView

Method = TypeVar("Method", bound=Callable[..., Any])

SAFE = frozenset({"get", "head"})


@dataclass(frozen=True)
class Operation:
    """One method at one address.

    `query` and `body` are the forms that are read (a body of None: none is read); `answer` describes a success of
    status `status` (None: it has no content). `statuses` are further refusals beyond those of every operation.
    `keeps_answer` is False where the answer holds a secret; `calls_a_model` where no transaction may be open.
    """

    id: str
    tag: str
    summary: str
    query: type[StrictSerializer] = NoQuery
    body: type[StrictSerializer] | None = None
    answer: Any = None
    status: int = 200
    statuses: tuple[int, ...] = ()
    sends: Any = None  # an example of the body
    gives: Any = None  # an example of the answer
    keeps_answer: bool = True
    calls_a_model: bool = False
    schema: Mapping[str, Any] = field(default_factory=dict)  # further arguments of `extend_schema`


def operation(rule: Operation) -> Callable[[Method], Method]:
    """Declare a view's method; one that writes is carried out once for each `Idempotency-Key`."""

    def declare(method: Method) -> Method:
        writes = method.__name__ not in SAFE

        @wraps(method)
        def carried_out(view: "ApiView", request: Any, **arguments: Any) -> Any:
            def work() -> Response:
                response: Response = method(view, request, **arguments)
                return response

            key = request.headers.get(HEADER)
            if not writes or key is None:
                return work()
            return once(
                view.caller,
                key,
                digest=_digest(request),
                work=work,
                keeps_answer=rule.keeps_answer,
                in_one_transaction=not rule.calls_a_model,
            )

        carried_out.operation = rule  # type: ignore[attr-defined]  # functions are open to attributes
        return cast("Method", extend_schema(**_schema(rule))(carried_out))

    return declare


def operation_of(method: object) -> Operation | None:
    """The operation that a view's method declares."""
    found = getattr(method, "operation", None)
    return found if isinstance(found, Operation) else None


def _digest(request: Any) -> str:
    data = request.data
    if isinstance(data, SentFile):
        content = digest_of_parts(
            data.filename, hashlib.sha256(data.data).hexdigest(), digest_of_json(dict(data.fields))
        )
    else:
        content = digest_of_json(data)
    return digest_of_parts(request.method, request.path.rstrip("/"), request.META.get("QUERY_STRING", ""), content)


def _schema(rule: Operation) -> dict[str, Any]:
    examples = []
    if rule.sends is not None:
        examples.append(OpenApiExample("request", value=rule.sends, request_only=True))
    if rule.gives is not None:
        examples.append(OpenApiExample("answer", value=rule.gives, response_only=True, status_codes=[str(rule.status)]))
    return {
        "operation_id": rule.id,
        "tags": [rule.tag],
        "summary": rule.summary,
        "parameters": [] if rule.query is NoQuery else [rule.query],
        "request": rule.body,
        "responses": {rule.status: rule.answer},
        **rule.schema,
        "examples": [*examples, *rule.schema.get("examples", ())],
    }
