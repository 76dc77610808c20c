"""What was done in an account, by whom and by which door."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from kapsoweb.accounts import queries
from kapsoweb.accounts.access import access_all
from kapsoweb.accounts.caller import Door
from kapsoweb.accounts.roles import Role
from kapsoweb.doors.access_rules import access
from kapsoweb.doors.key_pages import page_by_key
from kapsoweb.doors.limits import PAGE_DEFAULT
from kapsoweb.foundation.canonical import is_storable
from kapsoweb.pages.callers import caller_of

_MAX_DIGITS = 18


@access(needs=Role.OWNER, whole_account=True)
@require_safe
@never_cache
def audit(request: HttpRequest) -> HttpResponse:
    """Entries of the actor and the door that the address chooses (`actor`, `door`), newest first, after `after`."""
    caller = caller_of(request)
    rows = queries.audit_entries(caller)
    actor, door, after = (request.GET.get(name, "") for name in ("actor", "door", "after"))
    if actor and is_storable(actor):
        rows = rows.filter(actor=actor)
    chosen = door if door in set(Door) else ""
    if chosen:
        rows = rows.filter(door=chosen)
    key = int(after) if after.isascii() and after.isdigit() and len(after) <= _MAX_DIGITS else None
    page = page_by_key(rows, "id", after=key, limit=PAGE_DEFAULT, newest_first=True)
    names = {held.record_id: held.name for held in access_all(caller)}
    context = {
        "section": "audit",
        "rows": [
            {
                "entry": entry,
                "record": names.get(entry.record_id, entry.record_id),
                "detail": [f"{name} {value}" for name, value in entry.detail.items() if value is not None],
            }
            for entry in page.rows
        ],
        "actor": actor,
        "doors": [
            {"name": name, "address": _address(actor=actor, door=value), "chosen": value == chosen}
            for name, value in (("all", ""), *((one.value, one.value) for one in Door))
        ],
        "first": _address(actor=actor, door=chosen) if key is not None else "",
        "everybody": _address(door=chosen) if actor else "",
        "next": _address(actor=actor, door=chosen, after=str(page.next)) if page.next else "",
    }
    return render(request, "account/audit.html", context)


def _address(**chosen: str) -> str:
    query = urlencode({name: value for name, value in chosen.items() if value})
    return reverse("pages:audit") + (f"?{query}" if query else "")
