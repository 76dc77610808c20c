"""Chart geometry as data for a template. Positions are percentages of a plot's width: SVG scales without script.

A plot is drawn in rows that share one axis. Heights are fixed in CSS pixels; x runs from "0%" to "100%".
"""

from collections.abc import Sequence
from dataclasses import dataclass

from cyclotron.core.intervals import Interval
from cyclotron.presentation.figures import (
    Figure,
    percent,
    percent_interval,
    points_figure,
    points_interval,
    signed,
)

_CHANGE_HALF_WIDTHS = (5, 10, 20, 30, 50, 100)


@dataclass(frozen=True)
class Tick:
    """A mark on an axis: its position, its text, and how the text is anchored (start, middle, end)."""

    x: str
    text: str
    anchor: str = "middle"


@dataclass(frozen=True)
class Bar:
    """An interval as a line from x1 to x2."""

    x1: str
    x2: str


@dataclass(frozen=True)
class Row:
    """One marker with its interval. `kind` (before, after, change) chooses the marker; `note` stands under the name."""

    kind: str
    name: str
    note: str
    x: str | None
    bar: Bar | None
    value: Figure
    interval: Figure


@dataclass(frozen=True)
class Plot:
    """Rows over one axis. `zero` is the position of the zero line where the axis has one inside."""

    rows: Sequence[Row]
    ticks: Sequence[Tick]
    zero: str | None = None


@dataclass(frozen=True)
class Dumbbell:
    """Before and after of one label on 0 to 100%: positions, None where there is no share."""

    before: str | None
    after: str | None


def position(value: float, low: float, high: float) -> str:
    """Where `value` lies between `low` and `high`, as a percentage that stays inside the plot."""
    share = (value - low) / (high - low)
    return f"{min(1.0, max(0.0, share)) * 100:.2f}%"


def share_ticks() -> tuple[Tick, ...]:
    """The axis of shares: 0%, 25%, 50%, 75%, 100%."""
    anchors = {0: "start", 100: "end"}
    return tuple(Tick(f"{value}%", f"{value}%", anchors.get(value, "middle")) for value in (0, 25, 50, 75, 100))


def share_row(kind: str, name: str, note: str, share: float | None, interval: Interval | None) -> Row:
    """A share in 0..1 with its interval, on the axis of shares."""
    return Row(
        kind=kind,
        name=name,
        note=note,
        x=None if share is None else position(share, 0, 1),
        bar=None if interval is None else Bar(position(interval.low, 0, 1), position(interval.high, 0, 1)),
        value=percent(share, "no label has a scored item"),
        interval=percent_interval(interval),
    )


def change_plot(points: float | None, interval: Interval | None) -> Plot:
    """The change around zero, in percentage points, on the narrowest symmetric axis that holds it and its interval."""
    reach = max([abs(points or 0.0), *([] if interval is None else [abs(interval.low), abs(interval.high)])])
    half = next((width for width in _CHANGE_HALF_WIDTHS if reach <= width), _CHANGE_HALF_WIDTHS[-1])
    marks = (-half, -half / 2, 0, half / 2, half)
    anchors: dict[float, str] = {-half: "start", half: "end"}
    ticks = tuple(Tick(position(mark, -half, half), _tick_text(mark), anchors.get(mark, "middle")) for mark in marks)
    row = Row(
        kind="change",
        name="Change",
        note="percentage points",
        x=None if points is None else position(points, -half, half),
        bar=None
        if interval is None
        else Bar(position(interval.low, -half, half), position(interval.high, -half, half)),
        value=points_figure(points, "no label has a scored item"),
        interval=points_interval(interval),
    )
    return Plot(rows=(row,), ticks=ticks, zero="50.00%")


def _tick_text(mark: float) -> str:
    return signed(mark).removesuffix(".0")


def dumbbell(before: float | None, after: float | None) -> Dumbbell:
    """Before and after of one label, shares in 0..1."""
    return Dumbbell(
        None if before is None else position(before, 0, 1),
        None if after is None else position(after, 0, 1),
    )
