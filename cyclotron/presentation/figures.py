"""Numbers as a page shows them: in the words of every report, with a wide minus, and a null as a dash with a reason."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from cyclotron.core import wording
from cyclotron.core.intervals import Interval, change_points

NO_INTERVAL = "not computed: the report was written before intervals existed"


@dataclass(frozen=True)
class Figure:
    """Text of a number, or a dash together with the `reason` why there is none."""

    text: str
    reason: str = ""


def interval_of(value: Mapping[str, Any] | None) -> Interval | None:
    """Read a report's `{"low", "high"}`; None for a missing interval (a report from before they existed)."""
    return None if value is None else Interval.from_json(value)


def missing(reason: str) -> Figure:
    """A dash that says why there is no number."""
    return Figure(wording.NONE, reason)


def percent(share: float | None, reason: str = "") -> Figure:
    """A share in 0..1 as `81.5%`."""
    return missing(reason) if share is None else Figure(wording.percent(share))


def percent_interval(interval: Interval | None) -> Figure:
    """An interval of shares in 0..1 as `74.1% to 88.0%`."""
    return _interval(interval, wording.percent)


def signed(points: float) -> str:
    """Percentage points with their sign, the minus as wide as the plus: `−3.0`."""
    return wording.points(points, wording.MINUS)


def points_figure(points: float | None, reason: str = "") -> Figure:
    """A change in percentage points as `+24.7 points`."""
    return missing(reason) if points is None else Figure(f"{signed(points)} points")


def points_interval(interval: Interval | None) -> Figure:
    """An interval of percentage points as `+10.1 to +38.9`."""
    return _interval(interval, signed)


def share_change(before: float | None, after: float | None, reason: str = "") -> Figure:
    """The change between two shares in 0..1, in points; a dash when either is missing."""
    if before is None or after is None:
        return missing(reason)
    return points_figure(change_points(before, after))


def _interval(interval: Interval | None, write: Callable[[float], str]) -> Figure:
    return missing(NO_INTERVAL) if interval is None else Figure(wording.interval_words(interval, write))


def quoted(label: str) -> str:
    """A label inside a sentence: in quotes, and isolated so that text from right to left keeps to its own."""
    return f"“\u2068{label}\u2069”"


def weight_text(weight: float) -> str:
    """An item's weight with two decimals, as scores have."""
    return f"{weight:,.2f}"


def short_digest(value: str) -> str:
    """The first eight hexadecimal digits of a digest, enough to tell two sets apart by eye."""
    return value.rpartition("_")[2].rpartition(":")[2][:8]


def elapsed(since: datetime, now: datetime) -> str:
    """Time gone by as `4 s`, `2 min 5 s` or `1 h 3 min`; never negative."""
    seconds = max(0, int((now - since) / timedelta(seconds=1)))
    if seconds < 60:
        return f"{seconds} s"
    if seconds < 3600:
        return f"{seconds // 60} min {seconds % 60} s"
    return f"{seconds // 3600} h {seconds % 3600 // 60} min"
