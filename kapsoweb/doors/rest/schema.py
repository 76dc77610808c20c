"""The OpenAPI schema of the REST door: what each operation declares, completed with what all have in common."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, cast

from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.utils import OpenApiParameter

from kapsoweb.doors.rest.idempotency import HEADER, KEY_PATTERN, REPLAYED
from kapsoweb.doors.rest.operations import operation_of
from kapsoweb.doors.statuses import ADDRESSES

_BEARER = "bearer"
_ENUM_MARK = "x-spec-enum-id"
_WRITING = frozenset({"POST", "PATCH", "DELETE"})


@dataclass(frozen=True)
class _Refusal:
    """A status that operations refuse with: its component's name, when it is given, and an error as an example."""

    name: str
    when: str
    id: str
    message: str
    detail: Mapping[str, Any] = field(default_factory=dict)


_REFUSALS = {
    400: _Refusal(
        "BadRequest",
        "The query, the body or a header breaks a rule, or the record's own rules refuse it. Nothing was changed.",
        "invalid-request",
        "the request breaks a rule in: name. Nothing was changed.",
        {"fields": {"name": ["must be text."]}},
    ),
    401: _Refusal(
        "Unauthorized",
        "No API token came with the request, or it is unknown, revoked or too old.",
        "token-refused",
        "This API token is unknown, revoked or too old; make another one.",
    ),
    403: _Refusal(
        "Forbidden",
        "The token's role does not allow this, its scope does not reach it, or a guard said no. Nothing was changed.",
        "not-allowed",
        "this needs the role operator in the account, and yours is viewer. Nothing was changed.",
        {"needed": "operator", "role": "viewer"},
    ),
    404: _Refusal(
        "NotFound",
        "There is no such record, or it is another account's: the two answers are the same.",
        "record-not-found",
        "There is no cyclotron with the id 'cy_1' here.",
        {"room": "cyclotron", "recordId": "cy_1"},
    ),
    405: _Refusal(
        "MethodNotAllowed",
        "The address does not take this method; `Allow` names those that it takes.",
        "method-not-allowed",
        "this address does not take the method; the header Allow names those that it takes.",
    ),
    406: _Refusal(
        "NotAcceptable",
        "The header `Accept` asks for a form that this address does not have.",
        "not-acceptable",
        "this address has no answer in a form that the header Accept allows.",
    ),
    409: _Refusal(
        "Conflict",
        "The world has moved, a name is taken, or the `Idempotency-Key` is in use. Nothing was changed.",
        "idempotency-key-reused",
        "this Idempotency-Key belongs to another request; use a new one. Nothing was changed.",
    ),
    413: _Refusal(
        "BodyTooLarge",
        "The body is larger than this address takes.",
        "body-too-large",
        "the body is larger than the 2,097,152 bytes that this address takes. Nothing was changed.",
        {"limit": 2_097_152},
    ),
    414: _Refusal(
        "QueryTooLong",
        "The query string is longer than is read.",
        "query-too-long",
        "the query string has more than the 8,192 characters that are read.",
        {"limit": 8192},
    ),
    415: _Refusal(
        "UnsupportedMediaType",
        "The body is not of a type that the address takes.",
        "unsupported-media-type",
        "this address takes no body of that content type. Nothing was changed.",
    ),
    500: _Refusal(
        "InternalError",
        "A fault of the lab; its log has it.",
        "internal-error",
        "This is a fault of the lab and not of yours. It is in the lab's log.",
    ),
    502: _Refusal(
        "ModelFailed",
        "A call to a model brought no usable answer.",
        "model-error",
        "the model's endpoint gave no usable answer.",
    ),
}
_ERROR = {
    "type": "object",
    "description": "The one shape of every refusal and fault.",
    "required": ["error"],
    "properties": {
        "error": {
            "type": "object",
            "required": ["id", "message", "detail"],
            "properties": {
                "id": {"type": "string", "description": "Stable, in kebab-case: what a program looks at."},
                "message": {"type": "string", "description": "What is wrong, where, and what to do, for a person."},
                "detail": {"type": "object", "description": "Ids, labels and numbers; which, depends on the id."},
            },
        }
    },
}

_documents: dict[str, Callable[[], Mapping[str, Any]]] = {}


class ApiSchema(AutoSchema):
    """One operation: its bodies are closed, its security follows its access rule, and it lists every refusal."""

    def get_auth(self) -> list[dict[str, Any]]:
        """A bearer token, unless the address is public."""
        return [] if self._is_public() else [{_BEARER: []}]

    def get_override_parameters(self) -> list[Any]:
        """The header that makes a request safe to send twice."""
        if self.method not in _WRITING:
            return []
        return [
            OpenApiParameter(
                HEADER,
                str,
                OpenApiParameter.HEADER,
                pattern=f"^{KEY_PATTERN}$",
                description=(
                    "Chosen by the sender. The same key with the same request has one effect and the same answer, for "
                    f"24 hours; `{REPLAYED}: true` marks an answer that is given again."
                ),
            )
        ]

    def _map_basic_serializer(self, serializer: Any, direction: Any) -> Any:
        mapped = super()._map_basic_serializer(serializer, direction)  # type: ignore[no-untyped-call]
        if direction == "request":
            mapped["additionalProperties"] = False
        return mapped

    def _get_response_bodies(self, direction: Any = "response") -> Any:
        bodies = super()._get_response_bodies(direction)
        for status in sorted(self._refusals()):
            bodies.setdefault(str(status), {"$ref": f"#/components/responses/{_REFUSALS[status].name}"})
        return dict(sorted(bodies.items()))

    def _refusals(self) -> set[int]:
        rule = operation_of(getattr(self.view, str(self.method).lower()))
        found = {400, 405, 406, 414, 500, *(rule.statuses if rule else ())}
        if not self._is_public():
            found |= {401, 403}
        if "{" in self.path:
            found.add(404)
        if self.method in _WRITING:
            found |= {409, 413, 415}
        return found

    def _is_public(self) -> bool:
        view: Any = self.view
        return bool(view.access.needs is None)


def one_address_each(endpoints: Iterable[tuple[str, str, str, Any]]) -> list[tuple[str, str, str, Any]]:
    """Of each address's two spellings, the one without a slash at its end."""
    return [endpoint for endpoint in endpoints if endpoint[0].startswith(ADDRESSES) and not endpoint[0].endswith("/")]


def complete(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    """Add what every operation refers to: the error's shape, the answers of refusals, and the bearer token."""
    components = result.setdefault("components", {})
    components.setdefault("schemas", {})["Error"] = _ERROR
    components["schemas"].update({name: _embedded(name, schema()) for name, schema in sorted(_documents.items())})
    components["responses"] = {refusal.name: _response(status, refusal) for status, refusal in _REFUSALS.items()}
    components["securitySchemes"] = {
        _BEARER: {"type": "http", "scheme": "bearer", "description": "An API token, which begins with `kapso_`."}
    }
    return cast("dict[str, Any]", _without_marks(result))


def component(name: str, schema: Callable[[], Mapping[str, Any]]) -> dict[str, Any]:
    """Add a document's own JSON Schema (draft 2020-12) to the components as `name`; what operations refer to it by."""
    _documents[name] = schema
    return {"$ref": f"#/components/schemas/{name}"}


@cache
def schema_document() -> dict[str, Any]:
    """The whole schema as plain JSON; do not change what is returned."""
    generator: Any = SchemaGenerator
    document: dict[str, Any] = generator().get_schema(request=None, public=True)
    return document


def _embedded(name: str, value: Any) -> Any:
    """A document's schema whose references are within the component that it has become."""
    if isinstance(value, dict | Mapping):
        return {
            key: inner.replace("#/$defs/", f"#/components/schemas/{name}/$defs/")
            if key == "$ref"
            else _embedded(name, inner)
            for key, inner in value.items()
            if key not in ("$schema", "$id")
        }
    return [_embedded(name, inner) for inner in value] if isinstance(value, list) else value


def _response(status: int, refusal: _Refusal) -> dict[str, Any]:
    error = {"id": refusal.id, "message": refusal.message, "detail": dict(refusal.detail)}
    content = {"schema": {"$ref": "#/components/schemas/Error"}, "example": {"error": error}}
    response: dict[str, Any] = {"description": refusal.when, "content": {"application/json": content}}
    header = {401: "WWW-Authenticate", 405: "Allow"}.get(status)
    if header is not None:
        response["headers"] = {header: {"schema": {"type": "string"}}}
    return response


def _without_marks(value: Any) -> Any:
    """The document without the marks that the generator leaves for a hook of its own, which is not used here."""
    if isinstance(value, dict):
        return {key: _without_marks(inner) for key, inner in value.items() if key != _ENUM_MARK}
    return [_without_marks(inner) for inner in value] if isinstance(value, list) else value
