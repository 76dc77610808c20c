"""The cyclotron's pages: translate in, one call, translate out. Source: spec held-out, section 9."""

from dataclasses import replace
from datetime import datetime
from typing import Any

from django.conf import settings
from django.core.exceptions import BadRequest
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import content_disposition_header, urlencode
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe
from django_htmx.http import reswap, retarget

from cyclotron import queries
from cyclotron.actions import freeze_held_out_set
from cyclotron.actions.evaluating import cancel_evaluation, close_lost_evaluation, confirm_evaluation
from cyclotron.adapters.configured import ModelNotConfiguredError, decision_model
from cyclotron.core.report_text import report_csv, report_json
from cyclotron.demonstration import NAME as DEMONSTRATION
from cyclotron.presentation.confusion import confusion_of
from cyclotron.presentation.cyclotron_list import CyclotronRow, cyclotron_row, headline_of
from cyclotron.presentation.history import history_of
from cyclotron.presentation.item_list import ItemFilter, item_page
from cyclotron.presentation.panel import panel_view, progress_of, refusal_of, status_facts
from cyclotron.presentation.report_page import report_view
from cyclotron.store import ROOM, store_of
from kapsoweb.accounts.access import access_record, access_records
from kapsoweb.accounts.models import Holding
from kapsoweb.doors.statuses import STATUS_OF_KIND
from kapsoweb.foundation import clock
from kapsoweb.foundation.canonical import check_text
from kapsoweb.foundation.errors import KapsoError, Kind
from kapsoweb.foundation.identifiers import new_id
from kapsoweb.jobs.queries import live_workers
from kapsoweb.pages.callers import caller_of

PAGE_OF_CYCLOTRONS = 50
_MAX_DIGITS = 10  # no bound has more; a longer text would not fit the database

get_or_post = require_http_methods(["GET", "HEAD", "POST"])


@require_safe
def cyclotron_list(request: HttpRequest) -> HttpResponse:
    """The account's cyclotrons, each with the headline of its newest report."""
    holdings = access_records(caller_of(request), ROOM)
    page = Paginator(holdings, PAGE_OF_CYCLOTRONS).get_page(request.GET.get("page"))
    context = {"page": page, "rows": [_row(holding) for holding in page.object_list], "count": page.paginator.count}
    return render(request, "cyclotron/list.html", context)


@require_safe
@never_cache
def detail(request: HttpRequest, cyclotron_id: str) -> HttpResponse:
    """One cyclotron with the panel of one of its classifiers (`?classifier=`, else the first)."""
    return _detail(request, _holding(request, cyclotron_id), _classifier(request.GET.get("classifier")))


@get_or_post
def freeze(request: HttpRequest, cyclotron_id: str) -> HttpResponse:
    """Freeze the new labels, then show the panel."""
    holding = _holding(request, cyclotron_id)
    classifier = _classifier(request.POST.get("classifier"))
    if request.method == "POST":
        try:
            freeze_held_out_set(store_of(holding), classifier, now=clock.now())
        except KapsoError as error:
            return _refused(request, holding, classifier, error)
    return _to_panel(cyclotron_id, classifier)


@get_or_post
def evaluate(request: HttpRequest, cyclotron_id: str) -> HttpResponse:
    """Confirm an evaluation by the bound and plan that the button carried; a refusal is shown in the panel."""
    holding = _holding(request, cyclotron_id)
    classifier = _classifier(request.POST.get("classifier"))
    if request.method == "POST":
        try:
            confirm_evaluation(
                store_of(holding),
                classifier,
                model=decision_model(),
                account_id=holding.account_id,
                clock=clock.now,
                confirmed_bound=_whole_number(request.POST.get("confirmedRequestBound", "")),
                confirmed_plan=request.POST.get("confirmedPlan") or None,
                request_id=request.POST.get("requestId") or None,
                allow_live=settings.KAPSOWEB_ALLOW_LIVE,
            )
        except KapsoError as error:
            return _refused(request, holding, classifier, error)
    return _to_panel(cyclotron_id, classifier)


@get_or_post
def cancel(request: HttpRequest, cyclotron_id: str, evaluation_id: str) -> HttpResponse:
    """Ask an evaluation to stop, then show the panel."""
    holding = _holding(request, cyclotron_id)
    if request.method == "POST":
        cancel_evaluation(store_of(holding), evaluation_id, now=clock.now())
    return _to_panel(cyclotron_id, _classifier(request.POST.get("classifier")))


@require_safe
@never_cache
def progress(request: HttpRequest, cyclotron_id: str, evaluation_id: str) -> HttpResponse:
    """What a page asks for while an evaluation runs: its progress, or the whole panel once it has ended."""
    holding = _holding(request, cyclotron_id)
    classifier = _classifier(request.GET.get("classifier"))
    if not request.htmx:  # type: ignore[attr-defined]  # django-htmx puts it there
        return _to_panel(cyclotron_id, classifier)
    now = clock.now()
    close_lost_evaluation(store_of(holding), classifier, now=now)
    running = queries.evaluation_progress(store_of(holding), classifier, evaluation_id=evaluation_id)
    if running is None:
        context = {**_panel_context(holding, classifier, now), "announce": True}
        response = render(request, "cyclotron/panel_ended.html", context)
        return reswap(retarget(response, "#held-out"), "outerHTML")
    view = progress_of(running, now, worker_alive=bool(live_workers(now)))
    context = {
        "cyclotron_id": cyclotron_id,
        "classifier": classifier or "",
        "progress": view,
        "announce": str(view.quarter) != request.GET.get("announced"),
    }
    return render(request, "cyclotron/progress.html", context)


@require_safe
def report(request: HttpRequest, cyclotron_id: str, report_id: str) -> HttpResponse:
    """A report with its items, filtered by the address (`outcome`, `label`, `before`, `after`, `page`).

    `?format=json` and `?format=csv` give it as a file.
    """
    holding = _holding(request, cyclotron_id)
    document = queries.report_record(store_of(holding), report_id).document
    if request.GET.get("format"):
        return _download(document, request.GET["format"], f"{holding.name}-{report_id}")
    chosen = ItemFilter(**{key: request.GET.get(key, "") for key in ("outcome", "label", "before", "after")})
    page = request.GET.get("page", "")
    context = {
        "name": holding.name,
        "cyclotron_id": cyclotron_id,
        "report_id": report_id,
        "report": report_view(document),
        "confusions": [confusion_of(document, "before"), confusion_of(document, "after")],
        "items": item_page(document, chosen, int(page) if _is_number(page) else 1),
    }
    return render(request, "cyclotron/report.html", context)


def _holding(request: HttpRequest, cyclotron_id: str) -> Holding:
    return access_record(caller_of(request), ROOM, cyclotron_id)


def _row(holding: Holding) -> CyclotronRow:
    store = store_of(holding)
    newest = queries.report_bodies(store, limit=1)
    headline = headline_of(newest[-1].id, newest[-1].document) if newest else None
    return cyclotron_row(
        holding.record_id,
        holding.name,
        items=queries.item_count(store),
        version=queries.active_version(store),
        headline=headline,
    )


def _detail(
    request: HttpRequest,
    holding: Holding,
    classifier: str | None,
    *,
    refusal: KapsoError | None = None,
) -> HttpResponse:
    context = _panel_context(holding, classifier, clock.now())
    context["facts"] = status_facts(queries.status(store_of(holding), classifier))
    context["classifiers"] = queries.classifier_names(store_of(holding))
    if refusal is not None:
        context["refusal"] = refusal_of(refusal)
    status = 200 if refusal is None else STATUS_OF_KIND[refusal.kind]
    return render(request, "cyclotron/detail.html", context, status=status)


def _panel_context(holding: Holding, classifier: str | None, now: datetime) -> dict[str, Any]:
    store = store_of(holding)
    try:
        model, unconfigured = decision_model().identity, None
    except ModelNotConfiguredError as error:
        model, unconfigured = "", error.message
    close_lost_evaluation(store, classifier, now=now)
    overview = queries.overview(store, classifier, model=model, allow_live=settings.KAPSOWEB_ALLOW_LIVE)
    if unconfigured is not None:
        overview = replace(overview, disabled_reason=unconfigured)
    reports = overview.reports
    return {
        "name": holding.name,
        "question": overview.question,
        "is_demonstration": holding.name == DEMONSTRATION,
        "cyclotron_id": holding.record_id,
        "classifier": overview.classifier,
        "panel": panel_view(overview, now, worker_alive=bool(live_workers(now))),
        "report": report_view(reports[-1].document) if reports else None,
        "report_id": reports[-1].id if reports else "",
        "history": history_of(reports),
        "request_id": new_id("rq"),
    }


def _refused(request: HttpRequest, holding: Holding, classifier: str | None, error: KapsoError) -> HttpResponse:
    if error.kind is Kind.MISSING:
        raise error
    return _detail(request, holding, classifier, refusal=error)


def _download(document: dict[str, Any], form: str, name: str) -> HttpResponse:
    if form == "json":
        text, kind = report_json(document), "application/json"
    elif form == "csv":
        text, kind = report_csv(document), "text/csv"
    else:
        raise BadRequest("format must be json or csv")
    response = HttpResponse(text, content_type=f"{kind}; charset=utf-8")
    response.headers["Content-Disposition"] = content_disposition_header(as_attachment=True, filename=f"{name}.{form}")
    return response


def _to_panel(cyclotron_id: str, classifier: str | None) -> HttpResponse:
    query = f"?{urlencode({'classifier': classifier})}" if classifier else ""
    return redirect(reverse("cyclotron:detail", args=[cyclotron_id]) + query)


def _classifier(name: str | None) -> str | None:
    return check_text(name, "the classifier") if name else None


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= _MAX_DIGITS


def _whole_number(text: str) -> int:
    return int(text) if _is_number(text) else -1  # below every bound: the evaluation says what it takes
