"""Bootstrap intervals of balanced accuracy before, after, and of the change. Source: spec held-out, section 5.

Resampling n items with replacement is drawing counts of cells (label, right before, right after, weight) from a
multinomial distribution, so its cost follows the cells and not the items. The counts come from binomials, each cell in
its turn from what the cells before it left over: in whole numbers, so they always add up to n. Why this is exact and
which number stream it uses: docs/decisions/resampling-counts-of-cells.md and docs/decisions/number-streams.md.
"""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from cyclotron.core.cells import Cells, Ints, count_cells
from cyclotron.core.scored import Floats, ScoredColumns

RESAMPLES = 1000
# Differences of two balanced accuracies below this are rounding: sums of the same shares in another order. Left alone
# they would put an interval that ends at zero above it. One item of ten million, in one of a hundred labels, is more.
_ROUNDING = 2.0**-36
# In a group with fewer items than this many times its distinct weights, drawing items is cheaper than drawing counts.
_ITEMS_PER_WEIGHT = 4
_ITEMS_AT_ONCE = 1 << 16


@dataclass(frozen=True)
class Interval:
    """A 95% percentile interval, both ends included."""

    low: float
    high: float

    def as_json(self) -> dict[str, float]:
        """`{"low", "high"}`."""
        return {"low": self.low, "high": self.high}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "Interval":
        """Read what `as_json` wrote."""
        return cls(float(value["low"]), float(value["high"]))


@dataclass(frozen=True)
class Intervals:
    """95% intervals from the same resamples: balanced accuracy before and after (shares), their change (points)."""

    before: Interval
    after: Interval
    change: Interval


@dataclass(frozen=True)
class Resamples:
    """Balanced accuracy of both columns on each resample, and after minus before: shares, arrays of one length."""

    before: Floats
    after: Floats
    change: Floats


def seed_of(set_id: str) -> int:
    """The seed of a set's number stream: SHA-256 of its id in UTF-8, read as a big-endian whole number of 256 bits."""
    return int.from_bytes(hashlib.sha256(set_id.encode("utf-8")).digest(), "big")


def bootstrap_intervals(columns: ScoredColumns, set_id: str) -> Intervals:
    """The three intervals of a report: 1,000 resamples, percentile 2.5 to 97.5.

    The same set id and decisions give the same digits whatever the order of the items or of the declared labels.
    """
    drawn = resample(columns, set_id)
    return Intervals(
        before=percentile_interval(drawn.before),
        after=percentile_interval(drawn.after),
        change=percentile_interval(drawn.change * 100.0),
    )


def change_points(before: float, after: float) -> float:
    """The change in percentage points from two shares, by the same rule as in the resamples."""
    change = after - before
    return change * 100.0 if abs(change) >= _ROUNDING else 0.0


def difference(after: Floats, before: Floats) -> Floats:
    """After minus before (shares), with differences that are only rounding set to exactly zero."""
    change = after - before
    change[np.abs(change) < _ROUNDING] = 0.0
    return change


def percentile_interval(values: Floats) -> Interval:
    """Percentile 2.5 to 97.5 of `values`, R of them, interpolated linearly between the order statistics.

    The rule is Hyndman and Fan's type 7: with the values sorted and counted from 0, the quantile q is at position
    (R - 1) q. For 1,000 values these are 24.975 and 974.025.
    """
    ordered = np.sort(values)
    return Interval(low=_at_thousandth(ordered, 25), high=_at_thousandth(ordered, 975))


def _at_thousandth(ordered: Floats, thousandths: int) -> float:
    whole, part = divmod((len(ordered) - 1) * thousandths, 1000)
    if part == 0:
        return float(ordered[whole])
    below, above = float(ordered[whole]), float(ordered[whole + 1])
    return below + (above - below) * (part / 1000)


def resample(columns: ScoredColumns, set_id: str, resamples: int = RESAMPLES) -> Resamples:
    """Balanced accuracy on `resamples` resamples of the items, in a stream seeded by `set_id`.

    A label that is absent from a resample is left out of that resample's mean. Memory is O(n + resamples).
    """
    sums = np.zeros((2, resamples))
    present = np.zeros(resamples, dtype=np.int64)
    label = -1
    weight_of_label = np.zeros(resamples)
    right = np.zeros((2, resamples))
    for group in _resampled_groups(_outcome_cells(columns), columns.size, seed_of(set_id), resamples):
        if group.label != label:
            _add_shares(sums, present, right, weight_of_label)
            label = group.label
            weight_of_label = np.zeros(resamples)
            right = np.zeros((2, resamples))
        weight_of_label += group.weight
        if group.before_right:
            right[0] += group.weight
        if group.after_right:
            right[1] += group.weight
    _add_shares(sums, present, right, weight_of_label)
    sums /= present
    return Resamples(before=sums[0], after=sums[1], change=difference(sums[1], sums[0]))


def _add_shares(sums: Floats, present: Ints, right: Floats, weight: Floats) -> None:
    """Add one label's shares, where the resample holds the label at all."""
    held = weight > 0
    sums += np.divide(right, weight, out=np.zeros_like(right), where=held)
    present += held


def _outcome_cells(columns: ScoredColumns) -> Cells:
    """Cells by label (in code-point order), right before, right after, weight."""
    rank = np.argsort(np.array(sorted(range(len(columns.labels)), key=columns.labels.__getitem__), dtype=np.int64))

    def key_of(block: slice) -> Ints:
        label = columns.label[block]
        key = rank.take(label)
        key <<= 1
        key += columns.before[block] == label
        key <<= 1
        key += columns.after[block] == label
        return key

    return count_cells(key_of, 4 * len(columns.labels), columns.weight)


@dataclass(frozen=True)
class _Group:
    """The items with one label and one pair of outcomes: their summed weight in each resample."""

    label: int
    before_right: bool
    after_right: bool
    weight: Floats


def _resampled_groups(cells: Cells, size: int, seed: int, resamples: int) -> Iterator[_Group]:
    """Each group's weight in every resample, in the order of the keys.

    `left` holds, for each resample, how many of its draws the cells so far did not take; `size` how many items are in
    the cells to come.
    """
    stream = np.random.RandomState(np.random.PCG64(seed))
    left = np.full(resamples, size, dtype=np.int64)
    edges = np.flatnonzero(np.diff(cells.key, prepend=-1, append=-1)).tolist()
    for start, end in pairwise(edges):
        key, weight, count = int(cells.key[start]), cells.weight[start:end], cells.count[start:end]
        items = int(count.sum())
        if end - start > 1 and items < _ITEMS_PER_WEIGHT * (end - start):
            drawn = _draw(stream, left, items, size)
            left -= drawn
            size -= items
            total = _weights_of_items(stream, drawn, np.repeat(weight, count))
        else:
            total = np.zeros(resamples)
            for one_weight, one_count in zip(weight.tolist(), count.tolist(), strict=True):
                drawn = _draw(stream, left, one_count, size)
                left -= drawn
                size -= one_count
                total += drawn * one_weight
        yield _Group(label=key >> 2, before_right=bool(key & 2), after_right=bool(key & 1), weight=total)


def _draw(stream: np.random.RandomState, left: Ints, items: int, size: int) -> Ints:
    """How many of each resample's `left` draws fall among `items` of the `size` items that are left."""
    if items == size:
        return left.copy()
    return stream.binomial(left, items / size).astype(np.int64, copy=False)


def _weights_of_items(stream: np.random.RandomState, drawn: Ints, weight: Floats) -> Floats:
    """The summed weight of `drawn` items for each resample, every one of the group's items as likely as any other."""
    items = len(weight)
    total = np.zeros(len(drawn))
    at_once = max(1, _ITEMS_AT_ONCE // items)
    for start in range(0, len(drawn), at_once):
        part = drawn[start : start + at_once]
        item = (stream.random_sample(int(part.sum())) * items).astype(np.int64)
        owner = np.repeat(np.arange(len(part)), part)
        # bincount adds in the order given, one by one: no library's own choice of summation order comes in.
        total[start : start + at_once] = np.bincount(owner, weights=weight.take(item), minlength=len(part))
    return total
