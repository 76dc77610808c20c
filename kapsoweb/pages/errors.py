"""Error pages. They hold nothing of the request: a missing record and one of another account look the same.

Below `/api/` the same errors are answered in the machines' one shape, whichever part of the lab they come from.
"""

from dataclasses import asdict, dataclass

from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string

from kapsoweb.doors.errors import (
    ForbiddenError,
    InternalError,
    NoSuchAddressError,
    RequestRefusedError,
    error_answer,
    is_of_the_api,
)
from kapsoweb.doors.limits import ANY_BODY_BYTES
from kapsoweb.doors.statuses import STATUS_OF_KIND
from kapsoweb.foundation.errors import KapsoError, Kind
from kapsoweb.foundation.wording import sentence_case


@dataclass(frozen=True)
class ErrorPage:
    """An error's id, title, what happened and what to do about it."""

    error_id: str
    title: str
    what: str
    todo: str


_BAD_REQUEST = ErrorPage(
    "bad-request",
    "This request cannot be read",
    "Something in it is not of the form that this address takes. Nothing was changed.",
    "Go back, reload the page and try again.",
)
_FORBIDDEN = ErrorPage(
    "not-allowed",
    "You may not do this",
    "Your account lacks the right to it. Nothing was changed.",
    "Sign in as somebody who has the right, or ask whoever runs the lab.",
)
_STALE_FORM = ErrorPage(
    "stale-form",
    "This form is too old",
    "You have signed in or out since it was opened, or the browser keeps no cookies. Nothing was changed.",
    "Go back, reload the page and send it again.",
)
_NOT_FOUND = ErrorPage(
    "not-found",
    "There is no such page",
    "Nothing is at this address, or it is not yours to see.",
    "Check the address, or find the record from the list.",
)
_TOO_LARGE = ErrorPage(
    "body-too-large",
    "This is too large",
    f"More was sent than the {ANY_BODY_BYTES // 2**20} MiB that any page takes. Nothing was changed.",
    "Go back and send less: a file can be split.",
)
_FAULT = ErrorPage(
    "internal-error",
    "Something went wrong here",
    "This is a fault of the lab and not of yours. It is in the lab's log.",
    "Try again; if it happens once more, tell whoever runs the lab.",
)


def _respond(request: HttpRequest, page: ErrorPage, refusal: type[RequestRefusedError]) -> HttpResponse:
    if is_of_the_api(request):
        return error_answer(refusal(page.what))
    return _page(page, refusal.status)


def _page(page: ErrorPage, status: int) -> HttpResponse:
    # Without the request: no context processor runs, so the page works when the session or the database does not.
    response = HttpResponse(render_to_string("errors/error.html", asdict(page)), status=status)
    response.headers["Cache-Control"] = "no-store"
    return response


def too_large_page() -> str:
    """The page for a body that is too large, which no view has seen."""
    return render_to_string("errors/error.html", asdict(_TOO_LARGE))


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:  # noqa: ARG001 - Django passes it
    """400."""
    return _respond(request, _BAD_REQUEST, RequestRefusedError)


def forbidden(request: HttpRequest, exception: Exception) -> HttpResponse:  # noqa: ARG001 - Django passes it
    """403."""
    return _respond(request, _FORBIDDEN, ForbiddenError)


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:  # noqa: ARG001 - Django passes it
    """404, also for a record of another account."""
    return _respond(request, _NOT_FOUND, NoSuchAddressError)


def server_error(request: HttpRequest) -> HttpResponse:
    """500."""
    return _respond(request, _FAULT, InternalError)


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:  # noqa: ARG001 - Django passes it
    """403 for a form without its token (`CSRF_FAILURE_VIEW`)."""
    return _respond(request, _STALE_FORM, ForbiddenError)


def refused(request: HttpRequest, error: KapsoError) -> HttpResponse:
    """An error of any room that no page of its own shows: status by its kind, and a missing record as any 404."""
    if is_of_the_api(request):
        return error_answer(error)
    if error.kind is Kind.MISSING:
        return _page(_NOT_FOUND, 404)
    title = "This did not work" if error.kind is Kind.FAILED else "This is not possible"
    what = sentence_case(error.message)
    return _page(ErrorPage(error.id, title, what, "Go back and look again."), STATUS_OF_KIND[error.kind])
