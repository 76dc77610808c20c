"""What happened to a cyclotron."""

from functools import partial

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from cyclotron import queries
from cyclotron.presentation.event_list import GROUPS, event_row
from cyclotron.views.frame import EVENTS, frame_of
from cyclotron.views.parameters import address, classifier_name
from cyclotron.workspace import Workspace
from kapsoweb.accounts.roles import Role
from kapsoweb.doors.access_rules import access
from kapsoweb.doors.limits import PAGE_DEFAULT
from kapsoweb.foundation.whole_numbers import whole_number
from kapsoweb.pages.callers import caller_of


@access(needs=Role.VIEWER, record="cyclotron_id")
@require_safe
@never_cache
def events(request: HttpRequest, cyclotron_id: str) -> HttpResponse:
    """Events of the kinds that the address chooses (`kind`), after a cursor (`after`) or else the newest ones."""
    held = Workspace(caller_of(request)).open(cyclotron_id)
    chosen = next((group for group in GROUPS if group.key == request.GET.get("kind")), None)
    window = queries.event_window(
        held.store,
        prefixes=chosen.prefixes if chosen else (),
        after=whole_number(request.GET.get("after", "")),
        limit=PAGE_DEFAULT,
    )
    classifier = classifier_name(request.GET.get("classifier"))
    where = partial(address, "cyclotron:events", held.id, classifier=classifier)
    here = partial(where, kind=chosen.key if chosen else None)
    identities = {event.detail["item"] for event in window.events if "item" in event.detail}
    keys = queries.item_keys(held.store, sorted(identities))
    context = {
        **frame_of(held, EVENTS, classifier=classifier),
        "rows": [
            event_row(sequence=event.sequence, kind=event.kind, detail=event.detail, at=event.at, keys=keys)
            for event in reversed(window.events)
        ],
        "groups": [
            {"name": "all", "address": where(), "chosen": chosen is None},
            *({"name": each.name, "address": where(kind=each.key), "chosen": each is chosen} for each in GROUPS),
        ],
        "newest": "" if window.later is None else here(),
        "later": "" if window.later is None else here(after=str(window.later)),
        "earlier": "" if window.earlier is None else here(after=str(window.earlier)),
    }
    return render(request, "cyclotron/events.html", context)
