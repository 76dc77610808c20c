"""The history of a classifier's reports as a plot and a table. Source: spec held-out, section 9.

Only reports on one held-out set are comparable without reservation, so only those are joined by a line.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from cyclotron.core.overview import StoredReport
from cyclotron.core.wording import grouped
from cyclotron.presentation.figures import (
    Figure,
    interval_of,
    percent,
    percent_interval,
    points_figure,
    points_interval,
    short_digest,
)
from cyclotron.presentation.sentences import VerdictWords, verdict_of

PLOT_HEIGHT = 160  # CSS pixels


@dataclass(frozen=True)
class HistoryPoint:
    """One report in the plot: x in percent of the width, y in pixels from the top; None where there is no number."""

    x: str
    before_y: float | None
    after_y: float | None
    low_y: float | None
    high_y: float | None
    number: int


@dataclass(frozen=True)
class Segment:
    """A line between the after markers of two neighbouring reports on one held-out set."""

    x1: str
    y1: float
    x2: str
    y2: float


@dataclass(frozen=True)
class HistoryRow:
    """One report in the table; `report_id` is what its page is found by."""

    number: int
    report_id: str
    created_at: datetime
    set_id: str
    scored: str
    version: str
    before: Figure
    after: Figure
    after_interval: Figure
    change: Figure
    change_interval: Figure
    verdict: VerdictWords


@dataclass(frozen=True)
class History:
    """Plot and table, oldest first in the plot and newest first in the table."""

    points: Sequence[HistoryPoint]
    segments: Sequence[Segment]
    rows: Sequence[HistoryRow]
    height: int = PLOT_HEIGHT


def _y(share: float | None) -> float | None:
    return None if share is None else round((1 - min(1.0, max(0.0, share))) * PLOT_HEIGHT, 1)


def history_of(reports: Sequence[StoredReport]) -> History:
    """Plot and table of `reports`, which come oldest first."""
    points: list[HistoryPoint] = []
    segments: list[Segment] = []
    rows: list[HistoryRow] = []
    previous_set = ""
    for index, report in enumerate(reports):
        headline = report.document["headline"]
        held_out = report.document["heldOutSet"]
        interval = interval_of(headline.get("afterInterval"))
        point = HistoryPoint(
            x=f"{(index + 0.5) / len(reports) * 100:.2f}%",
            before_y=_y(headline["before"]),
            after_y=_y(headline["after"]),
            low_y=None if interval is None else _y(interval.low),
            high_y=None if interval is None else _y(interval.high),
            number=index + 1,
        )
        if points and held_out["id"] == previous_set and points[-1].after_y is not None and point.after_y is not None:
            segments.append(Segment(points[-1].x, points[-1].after_y, point.x, point.after_y))
        previous_set = held_out["id"]
        points.append(point)
        rows.append(_row(index + 1, report))
    return History(points, segments, rows[::-1])


def _row(number: int, report: StoredReport) -> HistoryRow:
    document = report.document
    headline = document["headline"]
    nothing = "no label has a scored item"
    return HistoryRow(
        number=number,
        report_id=report.id,
        created_at=datetime.fromisoformat(document["createdAt"]),
        set_id=short_digest(document["heldOutSet"]["id"]),
        scored=grouped(document["heldOutSet"]["scored"]),
        version=f"{document['after']['version']}",
        before=percent(headline["before"], nothing),
        after=percent(headline["after"], nothing),
        after_interval=percent_interval(interval_of(headline.get("afterInterval"))),
        change=points_figure(headline["changePoints"], nothing),
        change_interval=points_interval(interval_of(headline.get("changeInterval"))),
        verdict=verdict_of(document),
    )
