"""Reports page by page, newest first and without their items."""

from cyclotron.core.overview import StoredReport
from cyclotron.models import Report
from cyclotron.store import Store
from kapsoweb.foundation.paging import Page


def reports(
    store: Store, classifier: str | None = None, *, after: str | None = None, limit: int = 50
) -> Page[StoredReport]:
    """Up to `limit` reports of a classifier, after the one with the id `after`."""
    rows = store.all(Report).filter(classifier=store.classifier(classifier)).order_by("-id")
    if after is not None:
        rows = rows.filter(id__lt=after)
    found = [StoredReport(*row) for row in rows.values_list("id", "body")[: limit + 1]]
    return Page(tuple(found[:limit]), found[limit - 1].id if len(found) > limit else None)
