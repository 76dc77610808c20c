"""Errors of the rooms become pages."""

from collections.abc import Awaitable, Callable
from typing import Any

from asgiref.sync import iscoroutinefunction, markcoroutinefunction
from django.http import HttpRequest, HttpResponse, HttpResponseBase

from kapsoweb.foundation.errors import KapsoError
from kapsoweb.pages import errors


class RefusalMiddleware:
    """Answers a `KapsoError` that left a view with the page for its kind; other exceptions go on to Django."""

    sync_capable = True
    async_capable = True

    def __init__(self, get_response: Callable[[HttpRequest], Any]) -> None:
        self.get_response = get_response
        if iscoroutinefunction(get_response):
            markcoroutinefunction(self)

    def __call__(self, request: HttpRequest) -> HttpResponseBase | Awaitable[HttpResponseBase]:
        response: HttpResponseBase | Awaitable[HttpResponseBase] = self.get_response(request)
        return response

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        """Django calls this with whatever a view raised."""
        return errors.refused(request, exception) if isinstance(exception, KapsoError) else None
