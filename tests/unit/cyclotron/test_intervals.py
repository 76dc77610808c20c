"""Bootstrap intervals: against a plain bootstrap of items, against full enumeration, in every order of the items."""

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare, ks_2samp

from cyclotron.core import intervals
from cyclotron.core.intervals import Interval, bootstrap_intervals, percentile_interval, resample, seed_of
from cyclotron.core.metrics import endpoint_metrics
from cyclotron.core.scored import ScoredColumns, ScoredItem, columns_of
from tests.support.held_out_reports import random_items

LABELS = ("a", "b", "c")


def item_by_item(columns: ScoredColumns, resamples: int, seed: int) -> np.ndarray:
    """Balanced accuracy before, after and the change on resamples drawn as indices of items: the plain definition."""
    draw = np.random.default_rng(seed)
    drawn = np.empty((3, resamples))
    for number in range(resamples):
        index = draw.integers(0, columns.size, columns.size)
        label, weight = columns.label[index], columns.weight[index]
        held = np.bincount(label, weight, minlength=len(columns.labels))
        for row, decided in enumerate((columns.before, columns.after)):
            right = np.bincount(label, weight * (decided[index] == label), minlength=len(columns.labels))
            drawn[row, number] = np.mean(right[held > 0] / held[held > 0])
    drawn[2] = drawn[1] - drawn[0]
    return drawn


def distinct_weights(size: int, seed: int) -> list[float]:
    draw = random.Random(seed)
    return [1 / draw.uniform(0.05, 1) for _ in range(size)]


CASES = {
    "few weights": (240, (1.0, 2.0, 4.0, 10.0, 20.0)),
    "one weight": (300, (1.0,)),
    "every weight its own": (240, distinct_weights(10_000, 1)),
    "few items of each label": (18, (1.0, 4.0)),
}


@pytest.mark.parametrize("case", CASES)
def test_resampling_cells_has_the_distribution_of_resampling_items(case: str) -> None:
    size, weights = CASES[case]
    columns = columns_of(random_items(size, labels=LABELS, weights=weights, seed=4), LABELS)
    ours = resample(columns, "distribution", resamples=20_000)
    theirs = item_by_item(columns, 20_000, seed=8)
    for one, other in zip((ours.before, ours.after, ours.change), theirs, strict=True):
        assert ks_2samp(one, other).pvalue > 0.001


@pytest.mark.parametrize("case", CASES)
def test_interval_ends_agree_with_a_plain_bootstrap_within_monte_carlo_error(case: str) -> None:
    """Tolerance by theory: the quantile q of R draws from a density f has standard deviation sqrt(q (1 - q) / R) / f.

    For a normal distribution of standard deviation s that is 0.0845 s at q = 0.025 and R = 1,000. The reference, with
    20,000 draws, adds a twentieth of that variance. Four and a half times this leaves room for distributions that are
    not quite normal (24 ends are compared), and for steps in the small case.
    """
    size, weights = CASES[case]
    columns = columns_of(random_items(size, labels=LABELS, weights=weights, seed=4), LABELS)
    found = bootstrap_intervals(columns, "monte-carlo")
    reference = item_by_item(columns, 20_000, seed=9)
    for ours, theirs, unit in zip((found.before, found.after, found.change), reference, (1, 1, 100), strict=True):
        error = 0.0845 * np.sqrt(1 + 1 / 20) * np.std(theirs) * unit
        low, high = np.quantile(theirs * unit, [0.025, 0.975])
        assert abs(ours.low - low) < 4.5 * error
        assert abs(ours.high - high) < 4.5 * error


@pytest.mark.parametrize(
    "weights",
    [(1.0, 1.0, 1.0, 1.0), (1.0, 2.0, 4.0, 8.0), (1.0, 1.5, 1.5, 3.0)],
    ids=["one weight", "every weight its own", "a shared weight"],
)
def test_every_possible_resample_of_a_tiny_set_is_as_likely_as_it_should_be(weights: Sequence[float]) -> None:
    items = [
        ScoredItem("1", "a", "a", "b", weights[0]),
        ScoredItem("2", "a", "a", "b", weights[1]),
        ScoredItem("3", "a", "b", "b", weights[2]),
        ScoredItem("4", "b", "b", "b", weights[3]),
    ]
    expected: Counter[float] = Counter()
    for chosen in product(items, repeat=4):
        columns = columns_of(chosen, ("a", "b"))
        expected[round(endpoint_metrics(columns, columns.before).balanced_accuracy, 9)] += 1
    drawn = 100_000
    found = Counter(np.round(resample(columns_of(items, ("a", "b")), "tiny", resamples=drawn).before, 9).tolist())
    assert found.keys() <= expected.keys()
    values = sorted(expected)
    scale = drawn / sum(expected.values())
    assert chisquare([found[value] for value in values], [scale * expected[value] for value in values]).pvalue > 0.001


item_strategy = st.builds(
    ScoredItem,
    item_id=st.just("x"),
    label=st.sampled_from(LABELS),
    before=st.sampled_from([*LABELS, "other", None]),
    after=st.sampled_from([*LABELS, "other", None]),
    weight=st.sampled_from([1.0, 2.0, 1 / 0.3, 1 / 0.07]) | st.floats(1.0, 1000.0),
)


@settings(max_examples=60)
@given(st.lists(item_strategy, min_size=1, max_size=30), st.randoms(use_true_random=False))
def test_the_order_of_items_and_of_labels_changes_no_digit(items: list[ScoredItem], order: random.Random) -> None:
    found = bootstrap_intervals(columns_of(items, LABELS), "order")
    shuffled, labels = list(items), list(LABELS)
    order.shuffle(shuffled)
    order.shuffle(labels)
    assert bootstrap_intervals(columns_of(shuffled, labels), "order") == found


@settings(max_examples=60)
@given(st.lists(item_strategy, min_size=1, max_size=30), st.text(max_size=20))
def test_intervals_stay_within_their_units(items: list[ScoredItem], set_id: str) -> None:
    found = bootstrap_intervals(columns_of(items, LABELS), set_id)
    assert 0 <= found.before.low <= found.before.high <= 1
    assert 0 <= found.after.low <= found.after.high <= 1
    assert -100 <= found.change.low <= found.change.high <= 100


@settings(max_examples=60)
@given(st.lists(item_strategy, min_size=1, max_size=30))
def test_two_endpoints_that_decide_alike_differ_by_exactly_nothing(items: list[ScoredItem]) -> None:
    alike = [replace(item, before=item.after) for item in items]
    found = bootstrap_intervals(columns_of(alike, LABELS), "alike")
    assert found.change == Interval(0.0, 0.0)
    assert found.before == found.after


def test_a_change_that_cancels_out_between_labels_is_exactly_zero() -> None:
    """The same shares added in another order differ in the last digit; that is no change."""
    labels = ("a", "b", "c")
    shares = {"a": (10, 1, 3), "b": (10, 2, 2), "c": (10, 3, 1)}  # items, right before, right after
    items = [
        ScoredItem(
            f"{label}{number}", label, label if number < before else None, label if number < after else None, 1.0
        )
        for label, (size, before, after) in shares.items()
        for number in range(size)
    ]
    columns = columns_of(items, labels)
    assert sum(before / 10 for _, before, _ in shares.values()) != sum(after / 10 for _, _, after in shares.values())
    drawn = resample(columns, "cancel", resamples=5000)
    tiny = np.abs(drawn.change) < 1e-9
    assert tiny.any()
    assert not drawn.change[tiny].any()


def test_a_label_absent_from_a_resample_is_left_out_of_its_mean() -> None:
    items = [ScoredItem("1", "a", "a", "a", 1.0), ScoredItem("2", "b", None, None, 1.0)]
    drawn = resample(columns_of(items, ("a", "b")), "absent", resamples=4000)
    shares = Counter(drawn.before.tolist())
    assert shares.keys() == {0.0, 0.5, 1.0}
    assert shares[1.0] == pytest.approx(1000, abs=5 * 27.4)  # sqrt(4000 * 1/4 * 3/4)


def test_one_set_gives_one_stream_and_another_set_another() -> None:
    columns = columns_of(random_items(60, labels=LABELS), LABELS)
    assert bootstrap_intervals(columns, "one") == bootstrap_intervals(columns, "one")
    assert bootstrap_intervals(columns, "one") != bootstrap_intervals(columns, "other")
    assert seed_of("") == 0xE3B0C44298FC1C149AFBF4C8996FB92427AE41E4649B934CA495991B7852B855


def test_the_quantile_rule_is_linear_interpolation_between_order_statistics() -> None:
    draw = np.random.default_rng(0)
    for size in (1, 2, 39, 1000, 1001):
        values = draw.normal(size=size)
        found = percentile_interval(values)
        assert [found.low, found.high] == pytest.approx(np.quantile(values, [0.025, 0.975], method="linear"), abs=1e-12)


def test_both_ways_to_draw_a_group_have_one_distribution(monkeypatch: pytest.MonkeyPatch) -> None:
    columns = columns_of(random_items(200, labels=LABELS, weights=(1.0, 2.0, 4.0, 8.0, 16.0, 32.0), seed=2), LABELS)
    monkeypatch.setattr(intervals, "_ITEMS_PER_WEIGHT", 0)
    counts = resample(columns, "ways", resamples=20_000)
    monkeypatch.setattr(intervals, "_ITEMS_PER_WEIGHT", 1000)
    monkeypatch.setattr(intervals, "_ITEMS_AT_ONCE", 64)
    drawn = resample(columns, "other stream", resamples=20_000)
    for one, other in ((counts.before, drawn.before), (counts.after, drawn.after), (counts.change, drawn.change)):
        assert ks_2samp(one, other).pvalue > 0.001
