"""One cyclotron and its held-out panel: freeze, evaluate, watch, cancel."""

from dataclasses import replace
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from django_htmx.http import reswap, retarget

from cyclotron import queries
from cyclotron.actions.evaluating import close_lost_evaluation
from cyclotron.demonstration import NAME as DEMONSTRATION
from cyclotron.presentation.history import history_of
from cyclotron.presentation.panel import panel_view, progress_of, refusal_of, status_facts
from cyclotron.presentation.report_page import report_view
from cyclotron.views.frame import HELD_OUT, frame_of
from cyclotron.views.job_words import when_due
from cyclotron.views.parameters import address, classifier_name, get_or_post
from cyclotron.workspace import HeldCyclotron, Workspace
from kapsoweb.accounts.roles import Role
from kapsoweb.doors.access_rules import access
from kapsoweb.doors.statuses import STATUS_OF_KIND
from kapsoweb.foundation import clock
from kapsoweb.foundation.errors import KapsoError, Kind
from kapsoweb.foundation.identifiers import new_id
from kapsoweb.foundation.whole_numbers import whole_number
from kapsoweb.jobs.queries import live_workers
from kapsoweb.pages.callers import caller_of
from kapsoweb.pages.permissions import why_not

_VIEWER = access(needs=Role.VIEWER, record="cyclotron_id")


@_VIEWER
@require_safe
@never_cache
def detail(request: HttpRequest, cyclotron_id: str) -> HttpResponse:
    """One cyclotron with the panel of one of its classifiers (`?classifier=`, else the first)."""
    return _detail(request, cyclotron_id, classifier_name(request.GET.get("classifier")))


@_VIEWER
@get_or_post
def freeze(request: HttpRequest, cyclotron_id: str) -> HttpResponse:
    """Freeze the new labels, then show the panel."""
    workspace = Workspace(caller_of(request))
    workspace.open(cyclotron_id)
    classifier = classifier_name(request.POST.get("classifier"))
    if request.method == "POST":
        try:
            workspace.freeze(cyclotron_id, classifier)
        except KapsoError as error:
            return _refused(request, cyclotron_id, classifier, error)
    return _to_panel(cyclotron_id, classifier)


@_VIEWER
@get_or_post
def evaluate(request: HttpRequest, cyclotron_id: str) -> HttpResponse:
    """Confirm an evaluation by the bound and plan that the button carried; a refusal is shown in the panel."""
    workspace = Workspace(caller_of(request))
    workspace.open(cyclotron_id)
    classifier = classifier_name(request.POST.get("classifier"))
    if request.method == "POST":
        bound = whole_number(request.POST.get("confirmedRequestBound", ""))
        try:
            workspace.evaluate(
                cyclotron_id,
                classifier,
                confirmed_bound=-1 if bound is None else bound,  # below every bound: the evaluation says what it takes
                confirmed_plan=request.POST.get("confirmedPlan") or None,
                request_id=request.POST.get("requestId") or None,
            )
        except KapsoError as error:
            return _refused(request, cyclotron_id, classifier, error)
    return _to_panel(cyclotron_id, classifier)


@_VIEWER
@get_or_post
def cancel(request: HttpRequest, cyclotron_id: str, evaluation_id: str) -> HttpResponse:
    """Ask an evaluation to stop, then show the panel."""
    workspace = Workspace(caller_of(request))
    workspace.open(cyclotron_id)
    classifier = classifier_name(request.POST.get("classifier"))
    if request.method == "POST":
        try:
            workspace.cancel_evaluation(cyclotron_id, evaluation_id)
        except KapsoError as error:
            return _refused(request, cyclotron_id, classifier, error)
    return _to_panel(cyclotron_id, classifier)


@_VIEWER
@require_safe
@never_cache
def progress(request: HttpRequest, cyclotron_id: str, evaluation_id: str) -> HttpResponse:
    """What a page asks for while an evaluation runs: its progress, or the whole panel once it has ended."""
    workspace = Workspace(caller_of(request))
    held = workspace.open(cyclotron_id)
    classifier = classifier_name(request.GET.get("classifier"))
    if not request.htmx:  # type: ignore[attr-defined]  # django-htmx puts it there
        return _to_panel(cyclotron_id, classifier)
    now = clock.now()
    close_lost_evaluation(held.store, classifier, now=now)
    running = queries.evaluation_progress(held.store, classifier, evaluation_id=evaluation_id)
    if running is None:
        context = {**_panel_context(workspace, held, classifier), "announce": True}
        response = render(request, "cyclotron/panel_ended.html", context)
        return reswap(retarget(response, "#held-out"), "outerHTML")
    view = progress_of(running, now, worker_alive=bool(live_workers(now)))
    context = {
        "cyclotron_id": cyclotron_id,
        "classifier": classifier or "",
        "progress": view,
        "cancel_off": why_not(workspace.caller, Role.OPERATOR, "cancelling"),
        "announce": str(view.quarter) != request.GET.get("announced"),
    }
    return render(request, "cyclotron/progress.html", context)


def _detail(
    request: HttpRequest,
    cyclotron_id: str,
    classifier: str | None,
    *,
    refusal: KapsoError | None = None,
) -> HttpResponse:
    workspace = Workspace(caller_of(request))
    held = workspace.open(cyclotron_id)
    context = _panel_context(workspace, held, classifier)
    counts = queries.status(held.store, classifier)
    context["facts"] = status_facts(counts, when_due="" if counts.next_learning_in else when_due(held.store))
    context["classifiers"] = queries.classifier_names(held.store)
    context |= frame_of(held, HELD_OUT, classifier=classifier)
    if refusal is not None:
        context["refusal"] = refusal_of(refusal)
    status = 200 if refusal is None else STATUS_OF_KIND[refusal.kind]
    return render(request, "cyclotron/detail.html", context, status=status)


def _panel_context(workspace: Workspace, held: HeldCyclotron, classifier: str | None) -> dict[str, Any]:
    caller, now = workspace.caller, clock.now()
    overview = workspace.held_out.panel(held.id, classifier)
    off = why_not(caller, Role.OPERATOR, "evaluating")
    if off:
        overview = replace(overview, disabled_reason=off)
    reports = overview.reports
    return {
        "question": overview.question,
        "is_demonstration": held.name == DEMONSTRATION,
        "cyclotron_id": held.id,
        "classifier": overview.classifier,
        "panel": panel_view(overview, now, worker_alive=bool(live_workers(now))),
        "freeze_off": why_not(caller, Role.OPERATOR, "freezing"),
        "cancel_off": why_not(caller, Role.OPERATOR, "cancelling"),
        "report": report_view(reports[-1].document) if reports else None,
        "report_id": reports[-1].id if reports else "",
        "history": history_of(reports),
        "request_id": new_id("rq"),
    }


def _refused(request: HttpRequest, cyclotron_id: str, classifier: str | None, error: KapsoError) -> HttpResponse:
    if error.kind is Kind.MISSING:
        raise error
    return _detail(request, cyclotron_id, classifier, refusal=error)


def _to_panel(cyclotron_id: str, classifier: str | None) -> HttpResponse:
    return redirect(address("cyclotron:detail", cyclotron_id, classifier=classifier))
