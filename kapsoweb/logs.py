"""Structured logs: one JSON object a line on standard error, with the ids of the request and the job they belong to.

Identities, counts and states are logged; item text never is.
"""

import logging
import re
import secrets
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from asgiref.sync import iscoroutinefunction
from django.http import HttpRequest, HttpResponseBase
from django.utils.decorators import sync_and_async_middleware

_request_id: ContextVar[str] = ContextVar("request_id", default="")
_job_id: ContextVar[str] = ContextVar("job_id", default="")

HEADER = "X-Request-ID"
_WELL_FORMED = re.compile(r"[A-Za-z0-9._-]{8,64}")


@contextmanager
def job_context(job_id: str) -> Iterator[None]:
    """Every line logged inside, in this thread or task, carries the job's id."""
    token = _job_id.set(job_id)
    try:
        yield
    finally:
        _job_id.reset(token)


class ContextFilter(logging.Filter):
    """Puts the ids of the current request and job on each record ("" where there is none)."""

    def filter(self, record: logging.LogRecord) -> bool:
        # Django hangs the request itself on what it logs of a bad answer, after the middleware is through: its id is
        # wanted, but not its text, whose query may hold a secret.
        request = record.__dict__.pop("request", None)
        record.request_id = getattr(request, "kapsoweb_request_id", "") or _request_id.get()
        record.job_id = _job_id.get()
        return True


def _name(request: HttpRequest) -> str:
    # An id from outside ends in logs and in a header, so anything but a plain token is replaced.
    offered = request.headers.get(HEADER, "")
    name = offered if _WELL_FORMED.fullmatch(offered) else secrets.token_hex(16)
    request.kapsoweb_request_id = name  # type: ignore[attr-defined]  # Django's class is open to middleware
    return name


@sync_and_async_middleware
def request_id_middleware(get_response: Callable[[HttpRequest], Any]) -> Callable[[HttpRequest], Any]:
    """Give each request an id, or keep the well-formed one it came with, and echo it as `X-Request-ID`."""
    if iscoroutinefunction(get_response):

        async def ahandle(request: HttpRequest) -> HttpResponseBase:
            token = _request_id.set(_name(request))
            try:
                waiting: Awaitable[HttpResponseBase] = get_response(request)
                response = await waiting
                response.headers[HEADER] = _request_id.get()
                return response
            finally:
                _request_id.reset(token)

        return ahandle

    def handle(request: HttpRequest) -> HttpResponseBase:
        token = _request_id.set(_name(request))
        try:
            response: HttpResponseBase = get_response(request)
            response.headers[HEADER] = _request_id.get()
            return response
        finally:
            _request_id.reset(token)

    return handle


LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")
FORMS = ("json", "plain")


def logging_configuration(level: str, form: str) -> dict[str, Any]:
    """Django's `LOGGING`: `form` is "json" (services) or "plain" (a person at a terminal). Raises `ValueError`."""
    if level not in LEVELS or form not in FORMS:
        raise ValueError(
            f"KAPSOWEB_LOG_LEVEL must be one of {', '.join(LEVELS)}, and KAPSOWEB_LOG_FORMAT one of {', '.join(FORMS)}"
        )
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "filters": {"context": {"()": "kapsoweb.logs.ContextFilter"}},
        "formatters": {
            "json": {
                "()": "pythonjsonlogger.json.JsonFormatter",
                "format": "%(asctime)s %(levelname)s %(name)s %(message)s %(request_id)s %(job_id)s",
                "rename_fields": {"asctime": "time", "levelname": "level", "name": "logger"},
            },
            "plain": {"format": "%(levelname)s: %(message)s"},
        },
        "handlers": {
            "stderr": {
                "class": "logging.StreamHandler",
                "filters": ["context"],
                "formatter": "plain" if form == "plain" else "json",
            },
        },
        "root": {"handlers": ["stderr"], "level": level},
        "loggers": {
            "django": {"handlers": [], "level": level, "propagate": True},
            "django.server": {"handlers": [], "level": "WARNING", "propagate": True},
            "httpx": {"level": "WARNING"},
        },
    }
