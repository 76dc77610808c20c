"""Cells: items that share a key and a weight are interchangeable, so they are counted, not listed.

Source: spec held-out, section 5 ("cost follows the number of distinct cells"). A key is a small whole number that the
caller makes from labels and outcomes. Cells come in one canonical order, by key and then by weight, whatever the order
of the items.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from cyclotron.core.scored import Floats

Ints = npt.NDArray[np.int64]

# Items looked at together: arrays of this length stay in a processor's cache.
_BLOCK = 1 << 15
# Above this number of distinct weights a look-up table no longer beats a binary search.
_MOST_LOOKED_UP = 256
_TABLE_BITS = 12
# Odd constants for multiplicative hashing (the first is 2**64 over the golden ratio); one without a collision is used.
_MULTIPLIERS = (0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0xD6E8FEB86659FD93, 0xFF51AFD7ED558CCD)


@dataclass(frozen=True)
class Cells:
    """Cells that hold at least one item, by key and then weight: three arrays of one length."""

    key: Ints
    weight: Floats
    count: Ints


def count_cells(key_of: Callable[[slice], Ints], keys: int, weight: Floats) -> Cells:
    """Count the cells of n items. `key_of(block)` gives the keys, 0 to `keys` - 1, of the items in a slice.

    Memory is O(n). Time is O(n) while distinct weights are few, O(n log n) for any number of them.
    """
    distinct = np.unique(weight)
    code_of = _coder(distinct)
    width = len(distinct)
    blocks = [slice(start, start + _BLOCK) for start in range(0, len(weight), _BLOCK)]
    if keys * width <= max(_BLOCK, len(weight) // 4):
        table = np.zeros(keys * width, dtype=np.int64)
        for block in blocks:
            cell = key_of(block) * width
            cell += code_of(weight[block])
            found = np.bincount(cell)
            table[: len(found)] += found
        present = np.flatnonzero(table)
        count = table[present]
    else:
        cell = np.concatenate([key_of(block) * width + code_of(weight[block]) for block in blocks])
        present, count = np.unique(cell, return_counts=True)
    return Cells(key=present // width, weight=distinct[present % width], count=count.astype(np.int64))


def _coder(distinct: Floats) -> Callable[[Floats], Ints]:
    """A function from weights to their positions in `distinct`, which is sorted and holds each of them."""
    if len(distinct) <= _MOST_LOOKED_UP:
        bits = distinct.view(np.uint64)
        shift = np.uint64(64 - _TABLE_BITS)
        for number in _MULTIPLIERS:
            multiplier = np.uint64(number)
            slot = (bits * multiplier) >> shift
            if len(np.unique(slot)) == len(distinct):
                table = np.zeros(1 << _TABLE_BITS, dtype=np.int64)
                table[slot] = np.arange(len(distinct))
                return lambda weight: table.take(((weight.view(np.uint64) * multiplier) >> shift).view(np.int64))
    return lambda weight: np.searchsorted(distinct, weight).astype(np.int64, copy=False)


def exact_sum(cells: Cells, chosen: npt.NDArray[np.bool_]) -> float:
    """The sum of the weights of all items in the chosen cells, correctly rounded whatever their order.

    A weight has 53 bits. It is split into two halves of 26 and 27 bits, so that each half times a count below 2**26 is
    exact, and `math.fsum` rounds once.
    """
    weight, count = cells.weight[chosen], cells.count[chosen]
    high = (weight.view(np.uint64) & np.uint64(0xFFFFFFFFF8000000)).view(np.float64)
    return math.fsum(np.concatenate([high * count, (weight - high) * count]).tolist())
