"""A page of rows by key, for lists that the doors read from a table themselves."""

from typing import TypeVar

from django.db.models import Model, QuerySet

from kapsoweb.foundation.paging import Page

Row = TypeVar("Row", bound=Model)


def page_by_key(
    rows: "QuerySet[Row]", key: str, *, after: int | str | None, limit: int, newest_first: bool = False
) -> Page[Row]:
    """Up to `limit` rows in the order of the unique column `key`, after the row that has `after` there."""
    if after is not None:
        rows = rows.filter(**{f"{key}__{'lt' if newest_first else 'gt'}": after})
    return Page.of(list(rows.order_by(f"-{key}" if newest_first else key)[: limit + 1]), limit, key)
