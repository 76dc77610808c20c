"""A report, its items, and its files."""

from typing import Any

from django.core.exceptions import BadRequest
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.http import content_disposition_header
from django.views.decorators.http import require_safe

from cyclotron import queries
from cyclotron.core.report_text import report_csv, report_json
from cyclotron.presentation.confusion import confusion_of
from cyclotron.presentation.item_list import ItemFilter, item_page
from cyclotron.presentation.report_page import report_view
from cyclotron.workspace import Workspace
from kapsoweb.accounts.roles import Role
from kapsoweb.doors.access_rules import access
from kapsoweb.foundation.whole_numbers import whole_number
from kapsoweb.pages.callers import caller_of


@access(needs=Role.VIEWER, record="cyclotron_id")
@require_safe
def report(request: HttpRequest, cyclotron_id: str, report_id: str) -> HttpResponse:
    """A report with its items, filtered by the address (`outcome`, `label`, `before`, `after`, `page`).

    `?format=json` and `?format=csv` give it as a file.
    """
    held = Workspace(caller_of(request)).open(cyclotron_id)
    document = queries.report_record(held.store, report_id).document
    if request.GET.get("format"):
        return _download(document, request.GET["format"], f"{held.name}-{report_id}")
    chosen = ItemFilter(**{key: request.GET.get(key, "") for key in ("outcome", "label", "before", "after")})
    page = whole_number(request.GET.get("page", ""))
    context = {
        "name": held.name,
        "cyclotron_id": cyclotron_id,
        "report_id": report_id,
        "report": report_view(document),
        "confusions": [confusion_of(document, "before"), confusion_of(document, "after")],
        "items": item_page(document, chosen, 1 if page is None else page),
    }
    return render(request, "cyclotron/report.html", context)


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
