"""A window on the event log for somebody who reads it: the newest first, by kinds, and the way to what is around it."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import Q, QuerySet

from cyclotron.core.errors import InvalidPageError
from cyclotron.models import Event, Item
from cyclotron.store import Store


@dataclass(frozen=True)
class EventWindow:
    """Events in order. `earlier` and `later` are the cursors of the windows around it, None where nothing lies."""

    events: tuple[Event, ...]
    earlier: int | None
    later: int | None


def event_window(
    store: Store, *, prefixes: Sequence[str] = (), after: int | None = None, limit: int = 100
) -> EventWindow:
    """Up to `limit` events whose kind begins with one of `prefixes` (of all kinds without any).

    Those after the cursor `after`, or the last ones when it is None. Raises `InvalidPageError` for a limit below 1.
    """
    if limit < 1:
        raise InvalidPageError("the limit of a page of events must be 1 or more.", limit=limit)
    rows = _of_kinds(store, prefixes)
    if after is None:
        shown = tuple(rows.order_by("-sequence")[:limit])[::-1]
    else:
        shown = tuple(rows.filter(sequence__gt=after).order_by("sequence")[:limit])
    first = shown[0].sequence if shown else (after or 0) + 1
    last = shown[-1].sequence if shown else after or 0
    before = list(rows.filter(sequence__lt=first).order_by("-sequence").values_list("sequence", flat=True)[: limit + 1])
    earlier = None if not before else before[limit] if len(before) > limit else 0
    return EventWindow(shown, earlier, last if rows.filter(sequence__gt=last).exists() else None)


def item_keys(store: Store, identities: Sequence[str]) -> dict[str, int]:
    """The keys of those of the items that there are, by identity."""
    return dict(store.all(Item).filter(identity__in=identities).values_list("identity", "id"))


def _of_kinds(store: Store, prefixes: Sequence[str]) -> "QuerySet[Event]":
    wanted = Q()
    for prefix in prefixes:
        wanted |= Q(kind__begins=prefix)
    return store.all(Event).filter(wanted)
