"""Scored items: the frozen label, both columns' decisions and the weight. All of a report's numbers follow from them.

Source: spec held-out, section 5.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from cyclotron.core.errors import InvalidScoredItemsError, NothingToScoreError

# A weight is one over a probability, so never below 1. Draws have 64 bits (spec, section 1): a probability below 2**-64
# is as good as none, and a bound keeps every sum far from overflow.
MIN_WEIGHT = 1.0
MAX_WEIGHT = 2.0**64
UNDECLARED = -1

Codes = npt.NDArray[np.signedinteger[Any]]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class ScoredItem:
    """One item of a held-out set: its frozen `label`, the labels decided `before` and `after`, and its weight.

    `before` and `after` may be text that is no declared label, or None when there was no label at all: both are wrong
    decisions. `weight` is the inverse of the item's selection propensity, 1 or more.
    """

    item_id: str
    label: str
    before: str | None
    after: str | None
    weight: float


@dataclass(frozen=True)
class ScoredColumns:
    """Scored items as arrays of one length n: what metrics and intervals read, whatever the order of the items.

    `labels` are the declared labels in their declared order. `label`, `before` and `after` are integer codes: positions
    in `labels`, or `UNDECLARED` (-1) in `before` and `after` for a decision that is not a declared label. `weight` is
    finite, 1 to 2**64. Raises `NothingToScoreError` for n = 0 and `InvalidScoredItemsError` for all that is not so.
    """

    labels: tuple[str, ...]
    label: Codes
    before: Codes
    after: Codes
    weight: Floats

    def __post_init__(self) -> None:
        size = len(self.label)
        if size == 0:
            raise NothingToScoreError(
                "the held-out set has no item left to score; freeze a new set once more audit items are reviewed."
            )
        if len(set(self.labels)) != len(self.labels):
            raise InvalidScoredItemsError("the declared labels must differ from one another.")
        for name, lowest in (("label", 0), ("before", UNDECLARED), ("after", UNDECLARED)):
            codes: Codes = getattr(self, name)
            if codes.shape != (size,) or codes.dtype.kind != "i":
                raise InvalidScoredItemsError(f"the column {name} must hold {size} whole numbers.", column=name)
            if codes.min() < lowest or codes.max() >= len(self.labels):
                raise InvalidScoredItemsError(f"the column {name} holds a code that names no label.", column=name)
        if self.weight.shape != (size,) or self.weight.dtype != np.float64:
            raise InvalidScoredItemsError(f"the column weight must hold {size} numbers.", column="weight")
        # Written so that NaN, for which every comparison is false, is refused as well.
        if not (self.weight.min() >= MIN_WEIGHT and self.weight.max() <= MAX_WEIGHT):
            raise InvalidScoredItemsError(
                "every weight must be a finite number from 1 to 2**64: one over a propensity in (0, 1].",
                column="weight",
            )

    @property
    def size(self) -> int:
        """The number of scored items, n."""
        return len(self.label)


def columns_of(items: Sequence[ScoredItem], labels: Sequence[str]) -> ScoredColumns:
    """The columns of `items` under the declared `labels`.

    Raises `InvalidScoredItemsError` when an item's frozen label is not declared or a weight is no number, and
    `NothingToScoreError` when there is no item.
    """
    code = {label: position for position, label in enumerate(labels)}
    size = len(items)
    try:
        label = np.fromiter((code[item.label] for item in items), np.int64, size)
    except KeyError:
        position = next(index for index, item in enumerate(items) if item.label not in code)
        raise InvalidScoredItemsError(
            f"the frozen label of scored item {position} (counted from 0) is not a declared label.", position=position
        ) from None
    for position, item in enumerate(items):
        if isinstance(item.weight, bool) or not isinstance(item.weight, int | float):
            raise InvalidScoredItemsError(f"the weight of scored item {position} is not a number.", position=position)
    return ScoredColumns(
        labels=tuple(labels),
        label=label,
        before=np.fromiter((code.get(item.before, UNDECLARED) for item in items), np.int64, size),  # type: ignore[arg-type]
        after=np.fromiter((code.get(item.after, UNDECLARED) for item in items), np.int64, size),  # type: ignore[arg-type]
        weight=np.fromiter((item.weight for item in items), np.float64, size),
    )
