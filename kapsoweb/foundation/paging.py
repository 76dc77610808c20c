"""One page of a list that is read by key: rows, and the key to go on after."""

from dataclasses import dataclass
from typing import Generic, TypeVar

Row = TypeVar("Row")


@dataclass(frozen=True)
class Page(Generic[Row]):
    """Rows in order; `next` is the key of the last of them when more follow, else None."""

    rows: tuple[Row, ...]
    next: int | str | None
