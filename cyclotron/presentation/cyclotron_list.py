"""A row of the list of cyclotrons: its size, its version and the headline of its newest report."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from cyclotron.core.wording import grouped
from cyclotron.presentation.figures import Figure, percent, points_figure
from cyclotron.presentation.sentences import VerdictWords, verdict_of


@dataclass(frozen=True)
class Headline:
    """What the newest report says, and where it is."""

    report_id: str
    evaluated_at: datetime
    before: Figure
    after: Figure
    change: Figure
    verdict: VerdictWords


@dataclass(frozen=True)
class CyclotronRow:
    """One cyclotron; `headline` is None before its first report."""

    cyclotron_id: str
    name: str
    items: str
    version: str
    headline: Headline | None


def headline_of(report_id: str, report: Mapping[str, Any]) -> Headline:
    """The headline of a stored report."""
    headline = report["headline"]
    return Headline(
        report_id=report_id,
        evaluated_at=datetime.fromisoformat(report["createdAt"]),
        before=percent(headline["before"]),
        after=percent(headline["after"]),
        change=points_figure(headline["changePoints"]),
        verdict=verdict_of(report),
    )


def cyclotron_row(cyclotron_id: str, name: str, *, items: int, version: int, headline: Headline | None) -> CyclotronRow:
    """A cyclotron with the number of its items and its active version."""
    return CyclotronRow(cyclotron_id, name, grouped(items), grouped(version), headline)
