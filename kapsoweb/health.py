"""Two questions a supervisor asks: is the process up, and can it do its work?"""

import logging
import os
from collections.abc import Callable
from dataclasses import dataclass

from celery import Celery
from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.db import connection
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils.module_loading import import_string
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from kapsoweb.foundation import clock
from kapsoweb.jobs.queries import live_workers

logger = logging.getLogger(__name__)

TRANSPORT_SECONDS = 2


class _NotReadyError(Exception):
    """A check failed, with a sentence that says what is missing; it never holds an address or a password."""


@dataclass(frozen=True)
class Check:
    """The outcome of one check: its name, whether it passed, and what is missing if it did not."""

    name: str
    ok: bool
    says: str


def _database() -> str:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
        cursor.fetchone()
    return "answers"


def _transport() -> str:
    app: Celery = import_string(settings.KAPSOWEB_CELERY_APP)
    folder = app.conf.broker_transport_options.get("data_folder_out")
    if folder is not None:
        if not os.access(folder, os.W_OK):
            raise _NotReadyError("the folder of the filesystem transport is not there or cannot be written")
        return "its folder can be written"
    with app.connection_for_write(connect_timeout=TRANSPORT_SECONDS) as transport:
        transport.ensure_connection(max_retries=1, interval_start=0, interval_step=0, timeout=TRANSPORT_SECONDS)
    return "answers"


def _worker() -> str:
    count = len(live_workers(clock.now()))
    if not count:
        raise _NotReadyError("no worker has been seen lately; start one")
    return f"{count} alive"


_CHECKS: dict[str, Callable[[], str]] = {"database": _database, "transport": _transport, "worker": _worker}


def _run(name: str, question: Callable[[], str]) -> Check:
    try:
        return Check(name, ok=True, says=question())
    except _NotReadyError as error:
        return Check(name, ok=False, says=str(error))
    except Exception:
        # A driver's message may hold an address or a user's name: it goes to the log and not to the caller.
        logger.warning("readiness check failed: %s", name, exc_info=True)
        return Check(name, ok=False, says=f"the {name} does not answer")


@login_not_required
@require_safe
@never_cache
def healthz(request: HttpRequest) -> HttpResponse:  # noqa: ARG001 - Django passes it
    """200 and `{"status": "up"}` while the process answers; looks at nothing else."""
    return JsonResponse({"status": "up"})


@login_not_required
@require_safe
@never_cache
def readyz(request: HttpRequest) -> HttpResponse:  # noqa: ARG001 - Django passes it
    """200 when database, transport and a worker are there, else 503.

    `{"status": "ready" | "not-ready", "checks": {name: {"ok": bool, "says": text}}}`
    """
    checks = [_run(name, question) for name, question in _CHECKS.items()]
    ready = all(check.ok for check in checks)
    body = {
        "status": "ready" if ready else "not-ready",
        "checks": {check.name: {"ok": check.ok, "says": check.says} for check in checks},
    }
    return JsonResponse(body, status=200 if ready else 503)
