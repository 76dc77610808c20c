"""What the REST door refuses by itself, and every error as the one shape `{"error": {"id", "message", "detail"}}`."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from django.core.exceptions import BadRequest, PermissionDenied, RequestDataTooBig, SuspiciousOperation
from django.http import Http404, HttpRequest, HttpResponse
from rest_framework import exceptions
from rest_framework.response import Response

from kapsoweb.accounts.errors import UnknownTokenError
from kapsoweb.doors.statuses import ADDRESSES, STATUS_OF_KIND
from kapsoweb.foundation.errors import KapsoError, Kind

CHALLENGE = 'Bearer realm="kapsoweb"'


class RequestRefusedError(KapsoError):
    """Base of the door's own refusals; each has the `status` that HTTP gives it."""

    id = "bad-request"
    status = 400


class InvalidRequestError(RequestRefusedError):
    """Fields of a body or a query that break a rule: `detail.fields` maps each to its sentences."""

    id = "invalid-request"


class UnreadableQueryError(RequestRefusedError):
    """A query string that is no UTF-8 text, or that says something twice."""

    id = "unreadable-query"


class UnreadableFormError(RequestRefusedError):
    """A multipart body that is not of its form."""

    id = "unreadable-form"


class UnreadableBodyError(RequestRefusedError):
    """A body that ended before its announced length."""

    id = "unreadable-body"


class NotAuthenticatedError(RequestRefusedError):
    """No bearer token came with the request."""

    id = "not-authenticated"
    kind = Kind.UNAUTHENTICATED
    status = 401


class NoSuchAddressError(RequestRefusedError):
    """Nothing is at this address."""

    id = "not-found"
    kind = Kind.MISSING
    status = 404


class MethodNotAllowedError(RequestRefusedError):
    """The address does not take this method; the header `Allow` names those that it takes."""

    id = "method-not-allowed"
    status = 405


class NotAcceptableError(RequestRefusedError):
    """The header `Accept` asks for a form that the address does not have."""

    id = "not-acceptable"
    status = 406


class BodyTooLargeError(RequestRefusedError):
    """The body is larger than the address takes."""

    id = "body-too-large"
    status = 413


class QueryTooLongError(RequestRefusedError):
    """The query string is longer than any address takes."""

    id = "query-too-long"
    status = 414


class UnsupportedMediaTypeError(RequestRefusedError):
    """The body is not of a type that the address takes."""

    id = "unsupported-media-type"
    status = 415


class ForbiddenError(RequestRefusedError):
    """Something other than a role forbids the request."""

    id = "not-allowed"
    kind = Kind.REFUSED
    status = 403


class InternalError(RequestRefusedError):
    """A fault of the lab; the log has it, the answer has nothing of it."""

    id = "internal-error"
    kind = Kind.FAILED
    status = 500


def status_of(error: KapsoError) -> int:
    """The HTTP status of an error."""
    return error.status if isinstance(error, RequestRefusedError) else STATUS_OF_KIND[error.kind]


def error_body(error: KapsoError) -> dict[str, Any]:
    """The one error shape. What a detail holds beyond plain JSON is written as text."""
    return {"error": json.loads(json.dumps(error.as_json(), default=str))}


def invalid_fields(errors: Any) -> InvalidRequestError:
    """The refusal of a body or query by its fields, from what a serializer says of them."""
    fields: dict[str, list[str]] = {}
    for path, sentence in _sentences(errors, ""):
        fields.setdefault(path, []).append(sentence)
    named = ", ".join(path or "the whole" for path in list(fields)[:5])
    return InvalidRequestError(f"the request breaks a rule in: {named}. Nothing was changed.", fields=fields)


def _sentences(errors: Any, path: str) -> Iterator[tuple[str, str]]:
    """Each sentence with the path of its field: `classifiers[0].labels[2]`."""
    if isinstance(errors, Mapping):
        for key, inner in errors.items():
            if isinstance(key, int):
                place = f"{path}[{key}]"
            elif key == "non_field_errors":
                place = path
            else:
                place = f"{path}.{key}" if path else str(key)
            yield from _sentences(inner, place)
    elif isinstance(errors, Sequence) and not isinstance(errors, str):
        for position, inner in enumerate(errors):
            yield from _sentences(inner, path if isinstance(inner, str) else f"{path}[{position}]")
    else:
        yield path, str(errors)


_NOT_KNOWN = "this address needs an API token in the header Authorization: Bearer TOKEN."
# What the framework and Django raise, in the house's own words; the first that fits counts.
_IN_OWN_WORDS: tuple[tuple[tuple[type[Exception], ...], type[RequestRefusedError], str], ...] = (
    (
        (exceptions.MethodNotAllowed,),
        MethodNotAllowedError,
        "this address does not take the method; the header Allow names those that it takes.",
    ),
    (
        (exceptions.NotAcceptable,),
        NotAcceptableError,
        "this address has no answer in a form that the header Accept allows.",
    ),
    (
        (exceptions.UnsupportedMediaType,),
        UnsupportedMediaTypeError,
        "this address takes no body of that content type. Nothing was changed.",
    ),
    ((exceptions.NotAuthenticated, exceptions.AuthenticationFailed), NotAuthenticatedError, _NOT_KNOWN),
    ((Http404, exceptions.NotFound), NoSuchAddressError, "nothing is at this address; see /api/v1/schema."),
    ((PermissionDenied, exceptions.PermissionDenied), ForbiddenError, "you may not do this. Nothing was changed."),
    ((RequestDataTooBig,), BodyTooLargeError, "the body is larger than this address takes. Nothing was changed."),
    (
        (BadRequest, SuspiciousOperation, exceptions.ParseError),
        RequestRefusedError,
        "this request cannot be read. Nothing was changed.",
    ),
)


def as_kapso_error(error: Exception) -> KapsoError | None:
    """What a view raised as an error of the house; None for a fault, which Django logs and answers with 500."""
    if isinstance(error, KapsoError):
        return error
    if isinstance(error, exceptions.ValidationError):
        return invalid_fields(error.detail)
    for kinds, refusal, sentence in _IN_OWN_WORDS:
        if isinstance(error, kinds):
            return refusal(sentence)
    return None


def not_authenticated() -> NotAuthenticatedError:
    """The refusal of a request without a token."""
    return NotAuthenticatedError(_NOT_KNOWN)


def handle(error: Exception, context: Mapping[str, Any]) -> Response | None:  # noqa: ARG001 - the framework passes it
    """The framework's exception handler (`EXCEPTION_HANDLER`)."""
    found = as_kapso_error(error)
    if found is None:
        return None
    headers = {}
    if status_of(found) == 401:
        bad = isinstance(found, UnknownTokenError)
        headers["WWW-Authenticate"] = f'{CHALLENGE}, error="invalid_token"' if bad else CHALLENGE
    return Response(error_body(found), status=status_of(found), headers=headers)


def is_of_the_api(request: HttpRequest) -> bool:
    """Whether a request is for a machine's door, so that whatever goes wrong is answered in the one error shape."""
    return request.path.startswith(ADDRESSES)


def error_answer(error: KapsoError) -> HttpResponse:
    """An error as an answer of its own, where no view of the framework is at work."""
    text = json.dumps(error_body(error), ensure_ascii=False, separators=(",", ":"))
    answer = HttpResponse(text, status=status_of(error), content_type="application/json")
    answer.headers["Cache-Control"] = "no-store"
    return answer
