"""What the framework and Django raise at the REST door, as the doors' own refusals."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from django.core.exceptions import BadRequest, PermissionDenied, RequestDataTooBig, SuspiciousOperation
from django.http import Http404
from rest_framework import exceptions
from rest_framework.response import Response

from kapsoweb.doors.errors import (
    BodyTooLargeError,
    ForbiddenError,
    InvalidRequestError,
    MethodNotAllowedError,
    NoSuchAddressError,
    NotAcceptableError,
    NotAuthenticatedError,
    RequestRefusedError,
    UnsupportedMediaTypeError,
    broken_fields,
    challenge_of,
    error_body,
    status_of,
)
from kapsoweb.foundation.errors import KapsoError


def invalid_fields(errors: Any) -> InvalidRequestError:
    """The refusal of a body or query by its fields, from what a serializer says of them."""
    fields: dict[str, list[str]] = {}
    for path, sentence in _sentences(errors, ""):
        fields.setdefault(path, []).append(sentence)
    return broken_fields(fields)


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
    return Response(error_body(found), status=status_of(found), headers=challenge_of(found))
