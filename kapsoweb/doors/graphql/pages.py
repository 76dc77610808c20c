"""Lists by pages: `nodes`, and `nextCursor` to go on with, null on the last."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import graphene

from kapsoweb.accounts.caller import Caller
from kapsoweb.doors.cursors import make_cursor, read_cursor
from kapsoweb.doors.graphql.errors import InvalidPageSizeError
from kapsoweb.doors.graphql.fields import many
from kapsoweb.doors.limits import PAGE_DEFAULT, PAGE_MOST
from kapsoweb.foundation.canonical import digest
from kapsoweb.foundation.paging import Page


@dataclass(frozen=True)
class Listed:
    """A page as the schema shows it."""

    nodes: Sequence[Any]
    next_cursor: str | None


def page_type(row: type[graphene.ObjectType]) -> type[graphene.ObjectType]:
    """The type of a page of such rows, named after them."""

    class PageOfRows(graphene.ObjectType):
        class Meta:
            name = f"{row._meta.name}Page"
            description = "A page of a list; `nextCursor` is null on the last."

        nodes = many(row)
        next_cursor = graphene.String()

    return PageOfRows


def page_arguments(**filters: Any) -> dict[str, Any]:
    """The arguments of a field that is a list by pages."""
    return {
        "first": graphene.Int(default_value=PAGE_DEFAULT, description=f"The most rows, 1 to {PAGE_MOST}."),
        "after": graphene.String(description="`nextCursor` of the page before, of the same list and filters."),
        **filters,
    }


@dataclass(frozen=True)
class PageWanted:
    """Which page of which list: `of` names the list and all that decides which rows it has."""

    of: str
    after: Any
    limit: int

    def read(self, page: Page[Any], shown: Callable[[Any], Any] | None = None) -> Listed:
        """The page as the schema shows it, each row through `shown` where that is given."""
        rows = page.rows if shown is None else tuple(shown(row) for row in page.rows)
        return Listed(rows, None if page.next is None else make_cursor(self.of, page.next))


def page_wanted(caller: Caller, of: Sequence[Any], first: int | None, after: str | None) -> PageWanted:
    """Read a page's arguments. Raises `InvalidPageSizeError` or `InvalidCursorError`."""
    limit = PAGE_DEFAULT if first is None else first
    if not 1 <= limit <= PAGE_MOST:
        raise InvalidPageSizeError(f"`first` must be a whole number from 1 to {PAGE_MOST}.", least=1, most=PAGE_MOST)
    name = digest(["graphql", caller.account.pk, *of])
    return PageWanted(name, None if after is None else read_cursor(name, after), limit)
