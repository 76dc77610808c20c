"""The lists of an account's pages, read by key. Where a list goes on stands in the address."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

from django.db.models import IntegerField, Model, QuerySet
from django.http import HttpRequest

from kapsoweb.doors.key_pages import page_by_key
from kapsoweb.doors.limits import PAGE_DEFAULT
from kapsoweb.foundation.canonical import is_storable
from kapsoweb.foundation.whole_numbers import whole_number
from kapsoweb.pages.addresses import with_parameters

Row = TypeVar("Row", bound=Model)


@dataclass(frozen=True)
class Listed(Generic[Row]):
    """Rows of one page, and the addresses of the first and the next one; empty where that is this one, or none."""

    rows: tuple[Row, ...]
    first: str
    next: str


def listed(
    request: HttpRequest,
    rows: "QuerySet[Row]",
    address: str,
    *,
    after: str = "after",
    kept: Mapping[str, str] | None = None,
    newest_first: bool = False,
) -> Listed[Row]:
    """The rows after the one that the address names (parameter `after`); all pages keep the parameters `kept`."""
    kept = kept or {}
    key = _key(rows, request.GET.get(after, ""))
    page = page_by_key(rows, "pk", after=key, limit=PAGE_DEFAULT, newest_first=newest_first)
    return Listed(
        page.rows,
        with_parameters(address, kept) if key is not None else "",
        with_parameters(address, {**kept, after: str(page.next)}) if page.next is not None else "",
    )


def _key(rows: "QuerySet[Row]", text: str) -> int | str | None:
    """A key of the rows' table; None for what is none."""
    if isinstance(rows.model._meta.pk, IntegerField):
        return whole_number(text)
    return text if text and is_storable(text) else None
