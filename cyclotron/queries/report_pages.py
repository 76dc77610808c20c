"""Reports page by page, newest first and without their items; and what reports say of one item."""

from dataclasses import dataclass
from datetime import datetime

from cyclotron.core.outcome import Outcome
from cyclotron.core.overview import StoredReport
from cyclotron.models import HeldOutItem, Report
from cyclotron.store import Store
from kapsoweb.foundation.paging import Page

_REPORTS_MOST = 10  # each is read whole to find the item in it


@dataclass(frozen=True)
class ItemInReport:
    """What a report says of one item of its set; `outcome` is None when the item was left out, and so is the rest."""

    report_id: str
    set_id: str
    created_at: datetime
    outcome: Outcome | None
    before: str | None = None
    after: str | None = None


def reports(
    store: Store, classifier: str | None = None, *, after: str | None = None, limit: int = 50
) -> Page[StoredReport]:
    """Up to `limit` reports of a classifier, after the one with the id `after`."""
    rows = store.all(Report).filter(classifier=store.classifier(classifier)).order_by("-id")
    if after is not None:
        rows = rows.filter(id__lt=after)
    return Page.of([StoredReport(*row) for row in rows.values_list("id", "body")[: limit + 1]], limit)


def item_in_reports(store: Store, classifier: str | None = None, *, identity: str) -> tuple[ItemInReport, ...]:
    """What the newest ten reports over a set that holds the item say of it, newest first."""
    row = store.classifier(classifier)
    sets = store.rows(HeldOutItem).filter(held_out_set__classifier=row, identity=identity).values("held_out_set")
    newest = store.all(Report).filter(classifier=row, held_out_set__in=sets).order_by("-id")[:_REPORTS_MOST]
    return tuple(_in_report(report, identity) for report in newest.defer("body").iterator(chunk_size=1))


def _in_report(report: Report, identity: str) -> ItemInReport:
    entry = next((each for each in report.items if each["itemId"] == identity), None)
    where = (report.id, report.held_out_set_id, report.created_at)
    if entry is None:
        return ItemInReport(*where, outcome=None)
    return ItemInReport(*where, Outcome(entry["outcome"]), entry["before"], entry["after"])
