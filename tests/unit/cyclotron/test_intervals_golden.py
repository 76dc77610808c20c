"""Golden digits: the same set and decisions give these digits on every supported Python and NumPy.

Needs NumPy and pytest only, so that it can be run against versions that the rest of the product does not install:
`python -m pytest --noconftest -p no:cacheprovider tests/unit/cyclotron/test_intervals_golden.py`.
"""

import hashlib
from dataclasses import dataclass

import numpy as np
import pytest

from cyclotron.core.intervals import bootstrap_intervals, resample
from cyclotron.core.metrics import endpoint_metrics
from cyclotron.core.outcome import Outcome, count_outcomes
from cyclotron.core.scored import ScoredItem, columns_of
from cyclotron.core.significance import sign_test


@dataclass(frozen=True)
class Golden:
    """A set made by whole-number arithmetic alone, and its digits."""

    set_id: str
    size: int
    labels: tuple[str, ...]
    weights: tuple[float, ...]
    before: tuple[float, float, float]
    after: tuple[float, float, float]
    change: tuple[float, float]
    p_value: float
    resamples: str


def items_of(golden: Golden) -> list[ScoredItem]:
    """Items from a linear congruential generator; without `weights` each item has its own."""
    state = 20260302

    def below(limit: int) -> int:
        nonlocal state
        state = (6364136223846793005 * state + 1442695040888963407) % 2**64
        return (state >> 33) % limit

    items = []
    for number in range(golden.size):
        label = golden.labels[min(below(len(golden.labels)), below(len(golden.labels)))]
        before = label if below(100) < 55 else golden.labels[below(len(golden.labels))]
        after = label if below(100) < 65 else golden.labels[below(len(golden.labels))]
        weight = golden.weights[below(len(golden.weights))] if golden.weights else 1 + below(10**6) / 7
        items.append(ScoredItem(str(number), label, before, after, weight))
    return items


GOLDEN = [
    Golden(
        set_id="few weights",
        size=181,
        labels=("a", "b", "c"),
        weights=(1.0, 2.0, 1 / 0.3),
        before=(0.5530523022667966, 0.6606765783236371, 0.7623911729741095),
        after=(0.7052714909481196, 0.7910142145436264, 0.8718099277966802),
        change=(-1.2440369685812744, 28.209551367773575),
        p_value=0.14053828626952244,
        resamples="bd5c58417cf54a4125e9beee096e42382dea321ea26a3ea1a15b552f94d64a12",
    ),
    Golden(
        set_id="ten labels",
        size=20000,
        labels=tuple("abcdefghij"),
        weights=(1.0, 2.0, 4.0, 10.0, 20.0),
        before=(0.5771689038705445, 0.5921043346121915, 0.606318859945373),
        after=(0.6727832874171573, 0.6870590012239361, 0.7007135841217609),
        change=(7.525537055089406, 11.29544806645489),
        p_value=2.666657682832258e-86,
        resamples="e2fd5bc9856802720f45e02db0fe37901be44e82748590e8d2dd61fe06857f3e",
    ),
    Golden(
        set_id="every weight its own",
        size=500,
        labels=("no", "yes"),
        weights=(),
        before=(0.7166138219801029, 0.7667021554960258, 0.8195450213747548),
        after=(0.78614373151102, 0.8298238164085576, 0.869617555547339),
        change=(-1.2095578897132442, 13.272219864681917),
        p_value=0.3100385628034409,
        resamples="4e711fbd893f8124e05545e87c16c0724e832a95c804c4deedcd0489b3c51369",
    ),
    Golden(
        set_id="handful",
        size=13,
        labels=("no", "yes", "Ä"),
        weights=(1.0, 20.0),
        before=(0.23066666666666666, 0.446236559139785, 1.0),
        after=(0.5090685543964232, 0.782258064516129, 0.9067599067599068),
        change=(-36.05998298355076, 57.344276094276104),
        p_value=0.6875,
        resamples="5d9501cd4379e71193c69d3364f33b9d9bae3221d5a54ac38736e09c88b02b1e",
    ),
]


@pytest.mark.parametrize("golden", GOLDEN, ids=lambda golden: golden.set_id)
def test_the_digits_are_those_that_were_pinned(golden: Golden) -> None:
    items = items_of(golden)
    columns = columns_of(items, golden.labels)
    found = bootstrap_intervals(columns, golden.set_id)
    first = endpoint_metrics(columns, columns.before).balanced_accuracy
    second = endpoint_metrics(columns, columns.after).balanced_accuracy
    assert (found.before.low, first, found.before.high) == golden.before
    assert (found.after.low, second, found.after.high) == golden.after
    assert (found.change.low, found.change.high) == golden.change
    counts = count_outcomes(columns)
    assert sign_test(counts[Outcome.GAINED], counts[Outcome.LOST]) == golden.p_value


@pytest.mark.parametrize("golden", GOLDEN, ids=lambda golden: golden.set_id)
def test_every_resample_is_the_one_that_was_pinned(golden: Golden) -> None:
    drawn = resample(columns_of(items_of(golden), golden.labels), golden.set_id)
    columns = np.concatenate([drawn.before, drawn.after, drawn.change]).astype("<f8")
    assert hashlib.sha256(columns.tobytes()).hexdigest() == golden.resamples
