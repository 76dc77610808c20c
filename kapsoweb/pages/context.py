"""What the frame of every page needs."""

from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest
from django.urls import reverse

from kapsoweb.accounts.caller import Caller
from kapsoweb.accounts.errors import RecordNotFound
from kapsoweb.accounts.roles import Role
from kapsoweb.jobs.queries import unfinished_count
from kapsoweb.pages.callers import caller_of


@dataclass(frozen=True)
class Room:
    """A room in the top bar. `current` is the value of `aria-current`, or empty.

    `counts` says that the room shows how much is under way in it, and `count` how much that is.
    """

    name: str
    address: str
    current: str
    counts: bool = False
    count: int = 0


@dataclass(frozen=True)
class Visit:
    """On whose behalf somebody looks at pages: the account's name, who they are, and what they may do in it.

    `current` is the value of `aria-current` of the way to the account's pages, or empty. `operates`: the admin shows
    them the account's tables.
    """

    account: str
    actor: str
    role: str
    current: str
    operates: bool


def frame(request: HttpRequest) -> dict[str, Any]:
    """The rooms that exist and the account that they belong to, for a visitor who has signed in."""
    if not request.user.is_authenticated:
        return {"rooms": [], "visit": None}
    try:
        caller = caller_of(request)
    except RecordNotFound:  # a user whom every account has let go: there is nothing to show but the way out
        return {"rooms": [], "visit": None}
    current = "page" if request.path == reverse("pages:account") else ""
    if not current and request.path.startswith(reverse("pages:account")):
        current = "true"
    visit = Visit(
        account=caller.account.name,
        actor=caller.actor,
        role=caller.role.value,
        current=current,
        operates=caller.role.allows(Role.OPERATOR),
    )
    return {"rooms": _rooms(request, caller), "visit": visit}


def _rooms(request: HttpRequest, caller: Caller) -> list[Room]:
    match = request.resolver_match
    view = match.view_name if match is not None else ""

    def room(name: str, address: str, *, within: str, count: int | None = None) -> Room:
        current = "page" if view == address else "true" if view.startswith(within) else ""
        return Room(name, reverse(address), current, counts=count is not None, count=count or 0)

    return [
        room("Cyclotrons", "cyclotron:list", within="cyclotron:"),
        room("Jobs", "pages:jobs", within="pages:job", count=unfinished_count(caller.account.pk)),
    ]
