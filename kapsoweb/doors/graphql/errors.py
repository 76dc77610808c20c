"""What the GraphQL door refuses by itself, and every error as `{"errors": [{"message", "path", "extensions"}]}`.

`extensions` holds the error's `id` and `detail`. A request that was refused before its operation began has no `data`
and a status from 400; a field that was refused has the status 200, a `path`, and null in `data`.
"""

import logging
import re
from collections.abc import Mapping, Sequence
from typing import Any

from django.http import HttpResponse
from graphql import GraphQLError

from kapsoweb.doors.errors import InternalError, RequestRefusedError, error_body, json_answer, status_of
from kapsoweb.foundation.errors import KapsoError, Kind

logger = logging.getLogger(__name__)

_MESSAGE_CHARACTERS = 300  # of a sentence of the library, which may name a long field
_TEXT = re.compile(r"\b(String|BlockString) ['\"].*['\"]", re.DOTALL)


class InvalidQueryError(RequestRefusedError):
    """A query that the schema does not have, or that breaks a rule of the language; one entry for each fault."""

    id = "invalid-query"

    def __init__(self, message: str, faults: Sequence[GraphQLError] = ()) -> None:
        super().__init__(message)
        self.faults = faults


class UnreadableQueryTextError(InvalidQueryError):
    """The text of a query is not GraphQL."""

    id = "query-syntax"


class QueryTooLargeError(RequestRefusedError):
    """A query asks for more than one request may: `detail` has the `measure` and the `most` that is allowed."""

    id = "query-too-large"


class InvalidPageSizeError(RequestRefusedError):
    """`first` is not within what a page may hold."""

    id = "invalid-page-size"


class UnknownOperationError(RequestRefusedError):
    """Which operation of the document to execute is not said, or there is none of that name."""

    id = "unknown-operation"


class InvalidVariablesError(RequestRefusedError):
    """Variables that are not of their types: `detail.variables` maps each place to its sentences."""

    id = "invalid-variables"


class VariablesTooLargeError(RequestRefusedError):
    """The variables hold more values than one request may."""

    id = "variables-too-large"


class CsrfRefusedError(RequestRefusedError):
    """A request with a session's cookie lacks the token against forged requests, or came from another site."""

    id = "csrf-refused"
    kind = Kind.REFUSED
    status = 403


class InvalidArgumentError(RequestRefusedError):
    """An argument of a field breaks a rule; found while the operation runs."""

    id = "invalid-argument"


def too_large(measure: str, most: int) -> QueryTooLargeError:
    """The refusal of a query that is beyond a limit."""
    return QueryTooLargeError(
        f"the query has more than the {most:,} {measure} that are allowed. Nothing was changed.",
        measure=measure,
        most=most,
    )


def refusal(error: KapsoError) -> HttpResponse:
    """The answer to a request whose operation did not begin."""
    return json_answer({"errors": _entries(error)}, status_of(error))


def answer(data: Mapping[str, Any] | None, errors: Sequence[GraphQLError] | None) -> HttpResponse:
    """The answer to an operation that was executed, whole or with fields that were refused."""
    body: dict[str, Any] = {"data": data}
    if errors:
        body["errors"] = [_field_entry(error) for error in errors]
    return json_answer(body, 200)


def library_sentence(error: GraphQLError) -> str:
    """What the library says of a fault, without the content of any text that was sent."""
    return _TEXT.sub(r"\1", error.message)[:_MESSAGE_CHARACTERS]


def _entries(error: KapsoError) -> list[dict[str, Any]]:
    if not isinstance(error, InvalidQueryError) or not error.faults:
        return [_entry(error)]
    entries = []
    for fault in error.faults:
        entry = _entry(type(error)(library_sentence(fault)))
        places = fault.locations or []
        entry["locations"] = [{"line": place.line, "column": place.column} for place in places]
        entries.append(entry)
    return entries


def _field_entry(error: GraphQLError) -> dict[str, Any]:
    path = list(error.path or [])
    original = _cause(error)
    if isinstance(original, KapsoError):
        return _entry(original, path)
    if isinstance(original, GraphQLError) and original.message.startswith("Argument "):
        return _entry(InvalidArgumentError("an argument of this field is not of the type that it needs."), path)
    logger.error("the field %s failed", ".".join(map(str, path)), exc_info=original)
    return _entry(InternalError("This is a fault of the lab. It is in the lab's log."), path)


def _cause(error: GraphQLError) -> Exception:
    """What went wrong at the bottom; the library wraps an error once for each place that it passes."""
    found: Exception = error
    while isinstance(found, GraphQLError) and found.original_error is not None:
        found = found.original_error
    return found


def _entry(error: KapsoError, path: Sequence[str | int] | None = None) -> dict[str, Any]:
    written = error_body(error)["error"]
    entry = {"message": written["message"]}
    if path is not None:
        entry["path"] = list(path)
    return {**entry, "extensions": {"id": written["id"], "detail": written["detail"]}}
