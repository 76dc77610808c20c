"""Confusion tables: how many items of each label got which decision, before and after. Unweighted counts of items."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cyclotron.presentation.item_list import ItemFilter

OTHER = "anything else"  # a decision that is none of the declared labels; it is always wrong


@dataclass(frozen=True)
class Cell:
    """Items with the row's label and the column's decision; `address` shows them (empty where no filter names them)."""

    count: int
    right: bool
    address: str


@dataclass(frozen=True)
class ConfusionRow:
    """One label's items, spread over the decisions."""

    number: int
    label: str
    total: int
    cells: Sequence[Cell]


@dataclass(frozen=True)
class Column:
    """A decision: its number as the tables' heads show it, and its name."""

    number: str
    name: str


@dataclass(frozen=True)
class Confusion:
    """One table. `side` is `before` or `after`; `numbered` says that columns are headed by number to stay narrow."""

    side: str
    columns: Sequence[Column]
    rows: Sequence[ConfusionRow]
    numbered: bool


def confusion_of(report: Mapping[str, Any], side: str) -> Confusion:
    """The table of one side of a report; a column for undeclared decisions only where there are any."""
    labels: list[str] = list(report["classifier"]["labels"])
    counts: Counter[tuple[str, str | None]] = Counter(
        (item["label"], item[side] if item[side] in labels else None) for item in report["items"]
    )
    decided: list[str | None] = [*labels]
    if any(decision is None for _, decision in counts):
        decided.append(None)
    columns = [
        Column(str(number) if name is not None else "other", name if name is not None else OTHER)
        for number, name in enumerate(decided, 1)
    ]
    rows = [
        ConfusionRow(
            number=number,
            label=label,
            total=sum(counts[label, decision] for decision in decided),
            cells=[
                Cell(
                    counts[label, decision],
                    right=decision == label,
                    address=ItemFilter(label=label, **{side: decision}).address() if decision else "",
                )
                for decision in decided
            ],
        )
        for number, label in enumerate(labels, 1)
    ]
    longest = max(len(column.name) for column in columns)
    return Confusion(side, columns, rows, numbered=len(columns) > 3 or longest > 14)
