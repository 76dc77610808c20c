"""What the frame of every page needs."""

from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest
from django.urls import reverse


@dataclass(frozen=True)
class Room:
    """A room in the top bar; `current` is the value of `aria-current`, empty elsewhere."""

    name: str
    address: str
    current: str


_ROOMS = (("Cyclotrons", "cyclotron:list"),)


def rooms(request: HttpRequest) -> dict[str, Any]:
    """The rooms that exist, for a visitor who has signed in."""
    if not request.user.is_authenticated:
        return {"rooms": []}
    match = request.resolver_match
    shown = []
    for name, view in _ROOMS:
        current = ""
        if match is not None and match.app_name == view.partition(":")[0]:
            current = "page" if match.view_name == view else "true"
        shown.append(Room(name, reverse(view), current))
    return {"rooms": shown}
