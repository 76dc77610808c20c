"""The account's cyclotrons."""

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from cyclotron import queries
from cyclotron.presentation.cyclotron_list import CyclotronRow, cyclotron_row, headline_of
from cyclotron.store import store_of
from cyclotron.workspace import Workspace
from kapsoweb.accounts.models import Holding
from kapsoweb.accounts.roles import Role
from kapsoweb.doors.access_rules import access
from kapsoweb.pages.callers import caller_of
from kapsoweb.pages.permissions import why_not

PAGE_OF_CYCLOTRONS = 50


@access(needs=Role.VIEWER)
@require_safe
def cyclotron_list(request: HttpRequest) -> HttpResponse:
    """The account's cyclotrons, each with the headline of its newest report."""
    caller = caller_of(request)
    page = Paginator(Workspace(caller).cyclotrons(), PAGE_OF_CYCLOTRONS).get_page(request.GET.get("page"))
    context = {
        "page": page,
        "rows": [_row(holding) for holding in page.object_list],
        "count": page.paginator.count,
        "create_off": why_not(caller, Role.OPERATOR, "creating a cyclotron"),
    }
    return render(request, "cyclotron/list.html", context)


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
