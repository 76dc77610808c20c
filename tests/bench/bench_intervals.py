"""The three intervals of a report (1,000 resamples, 10 labels, weights 1, 2, 4, 10, 20), and rival ways to them."""

from collections.abc import Callable
from functools import cache

import numpy as np
from scipy.stats import bootstrap

from cyclotron.core.intervals import RESAMPLES, bootstrap_intervals
from cyclotron.core.scored import ScoredColumns
from tests.bench.measuring import Bench

SIZES = (1_000, 100_000, 1_000_000)
LABELS = tuple(f"label {number}" for number in range(10))
WEIGHTS = np.array([1.0, 2.0, 4.0, 10.0, 20.0])


@cache
def columns(size: int) -> ScoredColumns:
    """Columns with 70% of decisions right before and 80% after."""
    draw = np.random.default_rng(size)
    label = draw.integers(0, len(LABELS), size)
    decided = [np.where(draw.random(size) < right, label, (label + 1) % len(LABELS)) for right in (0.7, 0.8)]
    return ScoredColumns(LABELS, label, *decided, WEIGHTS[draw.integers(0, len(WEIGHTS), size)])


@cache
def own_weights(size: int) -> ScoredColumns:
    """The same decisions, each item with a weight of its own: the most cells that there can be."""
    found = columns(size)
    weight = 1 / (0.01 + 0.99 * np.random.default_rng(1).random(size))
    return ScoredColumns(LABELS, found.label, found.before, found.after, weight)


class ItemBootstrap:
    """The statistic of the rivals at its quickest: one count of weights by label and outcomes for each resample."""

    def __init__(self, found: ScoredColumns) -> None:
        self.key = (found.label * 2 + (found.before == found.label)) * 2 + (found.after == found.label)
        self.weight = found.weight
        self.size = found.size

    def statistic(self, index: np.ndarray) -> np.ndarray:
        """Balanced accuracy before, after, and the change, of one resample."""
        held = np.bincount(self.key[index], self.weight[index], minlength=4 * len(LABELS)).reshape(-1, 2, 2)
        whole = held.sum(axis=(1, 2))
        present = whole > 0
        before = np.mean(held[present, 1].sum(axis=1) / whole[present])
        after = np.mean(held[present, :, 1].sum(axis=1) / whole[present])
        return np.array([before, after, after - before])


def from_cells(size: int) -> Callable[[], object]:
    found = columns(size)
    return lambda: bootstrap_intervals(found, "bench")


def from_own_weights(size: int) -> Callable[[], object]:
    found = own_weights(size)
    return lambda: bootstrap_intervals(found, "bench")


def from_indices(size: int) -> Callable[[], object]:
    rival = ItemBootstrap(columns(size))

    def work() -> object:
        draw = np.random.default_rng(0)
        drawn = [rival.statistic(draw.integers(0, rival.size, rival.size)) for _ in range(RESAMPLES)]
        return np.quantile(np.array(drawn), [0.025, 0.975], axis=0)

    return work


def from_scipy(size: int) -> Callable[[], object]:
    rival = ItemBootstrap(columns(size))
    index = np.arange(size)
    return lambda: (
        bootstrap(
            (index,),
            rival.statistic,
            n_resamples=RESAMPLES,
            vectorized=False,
            method="percentile",
            batch=1,
            rng=np.random.default_rng(0),
        ).confidence_interval
    )


def one_pass(size: int) -> Callable[[], object]:
    found = columns(size)
    return lambda: (found.label.sum(), found.before.sum(), found.after.sum(), found.weight.sum())


def benches_of(size: int) -> list[Bench]:
    """Ours against one pass over the inputs, which nothing can beat; the rivals against ours."""
    ours, floor = f"three intervals from cells, n = {size:,}", f"one pass over the columns, n = {size:,}"
    slow = size >= SIZES[-1]
    own = f"three intervals, every weight its own, n = {size:,}"
    rival_repeats = 5 if size == SIZES[0] else 1
    return [
        Bench(floor, lambda: one_pass(size), against=ours),
        Bench(ours, lambda: from_cells(size), against=floor),
        Bench(own, lambda: from_own_weights(size), against=ours, repeats=3, slow=slow),
        Bench(
            f"index bootstrap, n = {size:,}", lambda: from_indices(size), against=ours, repeats=rival_repeats, slow=slow
        ),
        Bench(
            f"scipy.stats.bootstrap, n = {size:,}",
            lambda: from_scipy(size),
            against=ours,
            repeats=rival_repeats,
            slow=slow,
        ),
    ]


BENCHES = [bench for size in SIZES for bench in benches_of(size)]
