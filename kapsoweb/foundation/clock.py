"""The clock at the edge: doors and workers read it once and pass the moment on; nothing below them reads a clock."""

from datetime import UTC, datetime


def now() -> datetime:
    """This moment, aware, in UTC."""
    return datetime.now(UTC)
