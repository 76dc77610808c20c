"""Response headers that neither Django nor django-csp sets."""

from collections.abc import Awaitable, Callable
from typing import Any

from asgiref.sync import iscoroutinefunction
from django.http import HttpRequest, HttpResponseBase
from django.utils.decorators import sync_and_async_middleware

_LIMITS = {
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
    "Cross-Origin-Resource-Policy": "same-origin",
}


def _limit(response: HttpResponseBase) -> HttpResponseBase:
    for name, value in _LIMITS.items():
        response.headers.setdefault(name, value)
    return response


@sync_and_async_middleware
def browser_limits_middleware(get_response: Callable[[HttpRequest], Any]) -> Callable[[HttpRequest], Any]:
    """Deny devices no page here uses, and keep other sites from embedding what is served."""
    if iscoroutinefunction(get_response):

        async def ahandle(request: HttpRequest) -> HttpResponseBase:
            waiting: Awaitable[HttpResponseBase] = get_response(request)
            return _limit(await waiting)

        return ahandle

    def handle(request: HttpRequest) -> HttpResponseBase:
        return _limit(get_response(request))

    return handle
