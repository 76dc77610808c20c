"""The event log: one sequence without gaps per cyclotron, so that a reader's cursor survives restarts."""

from datetime import datetime
from typing import Any

from cyclotron.models import Event, StoredCyclotron
from cyclotron.store import Store


def append_event(store: Store, locked: StoredCyclotron, *, kind: str, detail: dict[str, Any], now: datetime) -> Event:
    """Append an event inside the caller's transaction; `locked` is the row that `Store.lock` returned.

    The lock makes sequence numbers commit in order, so a reader that has seen number n will never find a new one
    below it. `detail` holds ids, labels and numbers, never item text.
    """
    locked.event_count += 1
    locked.save(using=store.using, update_fields=["event_count"])
    return Event.objects.using(store.using).create(
        cyclotron_id=store.cyclotron_id, sequence=locked.event_count, kind=kind, detail=detail, at=now
    )
