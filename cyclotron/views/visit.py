"""A reviewer's visit to a queue: what they do there without a long pause, so that a page can count it."""

from datetime import datetime, timedelta

from django.contrib.sessions.backends.base import SessionBase

PAUSE = timedelta(hours=2)  # longer, and the next answer begins another visit
_KEPT = "review_visit"


def go_on(session: SessionBase, queue: str, now: datetime) -> None:
    """The visitor does something in the queue (any text that names it): their visit goes on, or begins."""
    session[_KEPT] = {"queue": queue, "since": (since(session, queue, now) or now).isoformat(), "last": now.isoformat()}


def since(session: SessionBase, queue: str, now: datetime) -> datetime | None:
    """When the visit to this queue began; None when there is none, or its last sign of life is long ago."""
    kept = session.get(_KEPT)
    if kept is None or kept["queue"] != queue or now - datetime.fromisoformat(kept["last"]) > PAUSE:
        return None
    return datetime.fromisoformat(kept["since"])
