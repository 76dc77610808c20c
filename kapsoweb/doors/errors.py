"""What the doors refuse by themselves, and every error as the one shape `{"error": {"id", "message", "detail"}}`."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from django.http import HttpRequest, HttpResponse

from kapsoweb.accounts.errors import UnknownTokenError
from kapsoweb.doors.statuses import ADDRESSES, STATUS_OF_KIND
from kapsoweb.foundation.errors import KapsoError, Kind

CHALLENGE = 'Bearer realm="kapsoweb"'


class RequestRefusedError(KapsoError):
    """Base of the doors' own refusals; each has the `status` that HTTP gives it."""

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


def broken_fields(fields: Mapping[str, Sequence[str]]) -> InvalidRequestError:
    """The refusal of a body or query by its fields; each of them has its sentences."""
    named = ", ".join(path or "the whole" for path in list(fields)[:5])
    return InvalidRequestError(f"the request breaks a rule in: {named}. Nothing was changed.", fields=fields)


def challenge_of(error: KapsoError) -> dict[str, str]:
    """The header that every 401 has; nothing for another error."""
    if status_of(error) != 401:
        return {}
    bad = isinstance(error, UnknownTokenError)
    return {"WWW-Authenticate": f'{CHALLENGE}, error="invalid_token"' if bad else CHALLENGE}


def is_of_the_api(request: HttpRequest) -> bool:
    """Whether a request is for a machine's door, so that whatever goes wrong is answered in the one error shape."""
    return request.path.startswith(ADDRESSES)


def error_answer(error: KapsoError) -> HttpResponse:
    """An error as an answer of its own, where no view of a framework is at work."""
    return json_answer(error_body(error), status_of(error))


def json_answer(body: Mapping[str, Any], status: int) -> HttpResponse:
    """JSON that nobody may store on the way."""
    text = json.dumps(body, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    answer = HttpResponse(text, status=status, content_type="application/json")
    answer.headers["Cache-Control"] = "no-store"
    return answer
