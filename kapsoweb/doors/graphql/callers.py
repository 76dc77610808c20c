"""Who is at the GraphQL door: whoever carries an API token, or a user of the pages with their session's cookie.

A request with an `Authorization` header is judged by that header alone. One without is judged by its cookie, and needs
the token against forged requests (`X-CSRFToken`), as any form of the pages does.
"""

from collections.abc import Callable
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.middleware.csrf import CsrfViewMiddleware

from kapsoweb.accounts.access import caller_of_token
from kapsoweb.accounts.caller import Caller, Door
from kapsoweb.accounts.errors import UnknownTokenError
from kapsoweb.doors.errors import NotAuthenticatedError
from kapsoweb.doors.graphql.errors import CsrfRefusedError
from kapsoweb.foundation import clock

SessionCaller = Callable[[HttpRequest, Door], Caller]


class _ForgeryCheck(CsrfViewMiddleware):
    """Django's own check, which tells the reason instead of answering with a page."""

    def _reject(self, request: HttpRequest, reason: str) -> Any:  # noqa: ARG002 - Django's own form
        return reason


def caller_by(session_caller: SessionCaller) -> Callable[[HttpRequest], Caller]:
    """A function from a request to its caller; `session_caller` knows who is behind a session.

    It raises `UnknownTokenError`, `NotAuthenticatedError`, `CsrfRefusedError`, or what `session_caller` raises.
    """

    def caller_of(request: HttpRequest) -> Caller:
        if "HTTP_AUTHORIZATION" in request.META:
            return _bearer(request)
        if not request.user.is_authenticated:
            raise NotAuthenticatedError(
                "this address needs an API token in the header Authorization: Bearer TOKEN, or a session of the pages."
            )
        refuse_forgeries(request)
        return session_caller(request, Door.GRAPHQL)

    return caller_of


def refuse_forgeries(request: HttpRequest) -> None:
    """Raise `CsrfRefusedError` unless the request proves that a page of this site sent it."""
    check = _ForgeryCheck(_no_view)
    check.process_request(request)
    if check.process_view(request, _no_view, (), {}) is not None:
        raise CsrfRefusedError(
            "a request with a session's cookie needs the header X-CSRFToken with the cookie's token. "
            "Nothing was changed."
        )


def _no_view(_: HttpRequest) -> HttpResponse:
    raise AssertionError("the check calls no view")


def _bearer(request: HttpRequest) -> Caller:
    scheme, _, secret = request.META["HTTP_AUTHORIZATION"].partition(" ")
    if scheme.lower() != "bearer":
        raise UnknownTokenError("The header Authorization holds no bearer token; send Bearer TOKEN, or leave it out.")
    return caller_of_token(secret.strip(), Door.GRAPHQL, clock.now())
