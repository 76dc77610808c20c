"""The account's jobs: the list, one job, and stopping it or starting it again."""

from collections.abc import Iterable
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from kapsoweb.accounts.access import access_records
from kapsoweb.accounts.caller import Caller
from kapsoweb.accounts.roles import Role
from kapsoweb.doors import account_jobs
from kapsoweb.doors.access_rules import access
from kapsoweb.doors.limits import PAGE_DEFAULT
from kapsoweb.doors.statuses import STATUS_OF_KIND
from kapsoweb.foundation import clock
from kapsoweb.foundation.canonical import is_storable
from kapsoweb.foundation.errors import KapsoError, Kind
from kapsoweb.jobs.models import Job, JobState
from kapsoweb.jobs.queries import live_workers, unfinished_count
from kapsoweb.pages.addresses import with_parameters
from kapsoweb.pages.callers import caller_of
from kapsoweb.pages.job_list import STATES, JobView, action_of, job_view
from kapsoweb.pages.job_words import words_of

_VIEWER = access(needs=Role.VIEWER)
_get_or_post = require_http_methods(["GET", "HEAD", "POST"])


@_VIEWER
@require_safe
@never_cache
def jobs(request: HttpRequest) -> HttpResponse:
    """The jobs in the state that the address chooses (`state`), newest first, after a job (`after`).

    htmx asks with `known`, the number of unfinished jobs that the page knows of, and hears when it has changed.
    """
    caller = caller_of(request)
    chosen = next((state for state in JobState if state == request.GET.get("state")), None)
    after = request.GET.get("after", "")
    page = account_jobs.jobs_of(
        caller, state=chosen, after=after if after and is_storable(after) else None, limit=PAGE_DEFAULT
    )
    rows = _views(caller, page.rows)
    unfinished = unfinished_count(caller.account.pk)
    context = {
        "rows": rows,
        "filters": [
            {"name": "all", "address": _address(), "chosen": chosen is None},
            *(
                {"name": words, "address": _address(state=state), "chosen": state == chosen}
                for state, words in STATES.items()
            ),
        ],
        "refresh": _address(state=chosen, after=after, known=str(unfinished)) if unfinished else "",
        "unfinished": unfinished,
        "announce": request.GET.get("known") not in {None, str(unfinished)},
        "no_worker": bool(unfinished) and not live_workers(clock.now()),
        "first": _address(state=chosen) if after else "",
        "next": _address(state=chosen, after=str(page.next)) if page.next else "",
    }
    part = request.htmx  # type: ignore[attr-defined]  # django-htmx puts it there
    return render(request, "jobs/list_part.html" if part else "jobs/list.html", context)


@_VIEWER
@require_safe
@never_cache
def job(request: HttpRequest, job_id: str) -> HttpResponse:
    """One job, with its error or its result."""
    return _job(request, caller_of(request), job_id)


@_VIEWER
@_get_or_post
def cancel(request: HttpRequest, job_id: str) -> HttpResponse:
    """Ask a job to stop, then show it."""
    caller = caller_of(request)
    account_jobs.job(caller, job_id)
    if request.method == "POST":
        try:
            account_jobs.cancel_job(caller, job_id, clock.now())
        except KapsoError as error:
            return _refused(request, caller, job_id, error)
    return redirect("pages:job", job_id)


@_VIEWER
@_get_or_post
def retry(request: HttpRequest, job_id: str) -> HttpResponse:
    """Start a job again that failed or was stopped, then show it."""
    caller = caller_of(request)
    account_jobs.job(caller, job_id)
    if request.method == "POST":
        try:
            account_jobs.retry_job(caller, job_id, clock.now())
        except KapsoError as error:
            return _refused(request, caller, job_id, error)
    return redirect("pages:job", job_id)


def _job(request: HttpRequest, caller: Caller, job_id: str, refusal: KapsoError | None = None) -> HttpResponse:
    found = account_jobs.job(caller, job_id)
    (view,) = _views(caller, [found])
    known = request.GET.get("known")
    context: dict[str, Any] = {
        "job": view,
        "action": action_of(caller, found),
        "announce": known not in {None, view.state},
        "no_worker": view.unfinished and not live_workers(clock.now()),
        "refusal": refusal,
    }
    part = request.htmx  # type: ignore[attr-defined]  # django-htmx puts it there
    status = 200 if refusal is None else STATUS_OF_KIND[refusal.kind]
    return render(request, "jobs/job_part.html" if part else "jobs/job.html", context, status=status)


def _refused(request: HttpRequest, caller: Caller, job_id: str, error: KapsoError) -> HttpResponse:
    if error.kind is Kind.MISSING:
        raise error
    return _job(request, caller, job_id, error)


def _views(caller: Caller, found: Iterable[Job]) -> list[JobView]:
    now = clock.now()
    rows = list(found)
    names: dict[str, str] = {}
    for room in {words.room for row in rows if (words := words_of(row.kind))}:
        held = access_records(caller, room).filter(record_id__in={row.record_id for row in rows})
        names |= dict(held.values_list("record_id", "name"))
    return [job_view(row, names, now) for row in rows]


def _address(**parameters: str | None) -> str:
    return with_parameters(reverse("pages:jobs"), parameters)
