"""What was done in an account, by whom and by which door."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from kapsoweb.accounts import queries
from kapsoweb.accounts.access import access_all
from kapsoweb.accounts.caller import Caller, Door
from kapsoweb.accounts.models import AuditEntry
from kapsoweb.accounts.roles import Role
from kapsoweb.doors.access_rules import access
from kapsoweb.foundation.canonical import is_storable
from kapsoweb.pages.account.listing import listed
from kapsoweb.pages.addresses import with_parameters
from kapsoweb.pages.callers import caller_of

_FILTERS = {"door": "door", "actor": "actor", "action": "action", "record": "record_id"}  # parameter -> column


@access(needs=Role.OWNER, whole_account=True)
@require_safe
@never_cache
def audit(request: HttpRequest) -> HttpResponse:
    """Entries of what the address chooses (`door`, `actor`, `action`, `record`), newest first, after `after`."""
    caller = caller_of(request)
    chosen = _chosen(request)
    rows = queries.audit_entries(caller).filter(**{_FILTERS[name]: value for name, value in chosen.items()})
    page = listed(request, rows, reverse("pages:audit"), kept=chosen, newest_first=True)
    names = _names(caller, {entry.record_id for entry in page.rows} | {chosen.get("record", "")})
    context = {
        "section": "audit",
        "page": page,
        "rows": [_row(entry, names, chosen) for entry in page.rows],
        "doors": [
            {"name": name, "address": _address(chosen, door=value), "chosen": value == chosen.get("door", "")}
            for name, value in (("all", ""), *((one.value, one.value) for one in Door))
        ],
        "narrowed": [
            {
                "name": name,
                "value": names.get(value, value) if name == "record" else value,
                "all": _address(chosen, **{name: ""}),
            }
            for name, value in chosen.items()
            if name != "door"
        ],
    }
    return render(request, "account/audit.html", context)


def _chosen(request: HttpRequest) -> dict[str, str]:
    """What the address asks for. A door that is none and text that no database takes are left out."""
    given = {name: request.GET.get(name, "") for name in _FILTERS}
    if given["door"] not in set(Door):
        given["door"] = ""
    return {name: value for name, value in given.items() if value and is_storable(value)}


def _names(caller: Caller, record_ids: set[str]) -> dict[str, str]:
    """What the account calls its records of those ids."""
    held = access_all(caller).filter(record_id__in=record_ids - {""})
    return dict(held.values_list("record_id", "name"))


def _row(entry: AuditEntry, names: dict[str, str], chosen: dict[str, str]) -> dict[str, object]:
    return {
        "entry": entry,
        "record": names.get(entry.record_id, entry.record_id),
        "detail": [f"{name} {value}" for name, value in entry.detail.items() if value is not None],
        "by": _address(chosen, actor=entry.actor),
        "of": _address(chosen, action=entry.action),
        "about": _address(chosen, record=entry.record_id),
    }


def _address(chosen: dict[str, str], **changed: str) -> str:
    """The log with one choice changed, from its newest entry on."""
    return with_parameters(reverse("pages:audit"), chosen | changed)
