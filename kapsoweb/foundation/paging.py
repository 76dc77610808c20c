"""One page of a list that is read by key: rows, and the key to go on after."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

Row = TypeVar("Row")
Shown = TypeVar("Shown")


@dataclass(frozen=True)
class Page(Generic[Row]):
    """Rows in order; `next` is the key of the last of them when more follow, else None."""

    rows: tuple[Row, ...]
    next: int | str | None

    @classmethod
    def of(cls, found: Sequence[Row], limit: int, key: str = "id") -> "Page[Row]":
        """The page of what was found by asking for one row more than the `limit`; `key` names the rows' attribute."""
        rows = tuple(found[:limit])
        return cls(rows, getattr(rows[-1], key) if len(found) > limit else None)

    def shown_as(self, rows: Iterable[Shown]) -> "Page[Shown]":
        """The same page with each row as it is shown."""
        return Page(tuple(rows), self.next)
