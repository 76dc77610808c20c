"""Metrics of one endpoint, against scikit-learn and against fractions."""

import math
import random
import warnings
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import accumulate

import numpy as np
import pytest
import sklearn
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, balanced_accuracy_score, precision_recall_fscore_support

from cyclotron.core.cells import count_cells, exact_sum
from cyclotron.core.errors import InvalidScoredItemsError, NothingToScoreError
from cyclotron.core.metrics import EndpointMetrics, endpoint_metrics
from cyclotron.core.scored import MAX_WEIGHT, ScoredColumns, ScoredItem, columns_of
from tests.support.held_out_reports import random_items

Case = tuple[tuple[str, ...], list[ScoredItem]]

WEIGHTS = (1.0, 2.0, 4.0, 20.0, 1 / 0.3, 1 / 0.07)


def random_case(seed: int) -> Case:
    """2 to 6 labels of which some may have no item, some decisions undeclared, weights few or all distinct."""
    draw = random.Random(seed)
    labels = tuple("abcdef"[: draw.randint(2, 6)])
    held = draw.sample(labels, draw.randint(1, len(labels)))
    weights = WEIGHTS if draw.random() < 0.7 else [1 / draw.uniform(0.01, 1) for _ in range(50)]
    items = random_items(
        draw.randint(1, 60), labels=held, weights=weights, right=(draw.random(), draw.random()), seed=seed
    )
    return labels, items


def metrics_of(items: list[ScoredItem], labels: tuple[str, ...], positive: str | None = None) -> EndpointMetrics:
    columns = columns_of(items, labels)
    return endpoint_metrics(columns, columns.after, positive)


def assert_same(ours: float | None, theirs: float) -> None:
    if ours is None:
        assert math.isnan(theirs)
    else:
        assert ours == pytest.approx(theirs, rel=1e-12, abs=1e-15)


def scores_by_label(cases: Sequence[Case]) -> list[tuple[list[float], list[float]]]:
    """Each case's precisions and recalls by label, NaN where undefined, from scikit-learn.

    One call for all: with its number in front, a label of one case is none of another's.
    """
    numbered = [(number, item) for number, (_, items) in enumerate(cases) for item in items]
    precisions, recalls, *_ = precision_recall_fscore_support(
        [f"{number} {item.label}" for number, item in numbered],
        [f"{number} {item.after}" for number, item in numbered],
        labels=[f"{number} {label}" for number, (labels, _) in enumerate(cases) for label in labels],
        sample_weight=[item.weight for _, item in numbered],
        zero_division=np.nan,
    )
    ends = list(accumulate(len(labels) for labels, _ in cases))[:-1]
    split = zip(np.split(precisions, ends), np.split(recalls, ends), strict=True)
    return [(one.tolist(), other.tolist()) for one, other in split]


def mean_of_defined(values: Sequence[float]) -> float:
    defined = [value for value in values if not math.isnan(value)]
    return sum(defined) / len(defined) if defined else math.nan


def test_a_thousand_random_cases_agree_with_scikit_learn() -> None:
    cases = [random_case(seed) for seed in range(1000)]
    quick = sklearn.config_context(assume_finite=True, skip_parameter_validation=True)
    with quick, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it warns of labels without items, which is what is tested
        for seed, (precisions, recalls) in enumerate(scores_by_label(cases)):
            labels, items = cases[seed]
            macro, positive = metrics_of(items, labels), metrics_of(items, labels, labels[0])
            assert_same(macro.balanced_accuracy, mean_of_defined(recalls))
            assert_same(macro.precision, mean_of_defined(precisions))
            assert_same(macro.recall, mean_of_defined(recalls))
            assert_same(positive.precision, precisions[0])
            assert_same(positive.recall, recalls[0])
            for agreement, recall in zip(macro.per_label.values(), recalls, strict=True):
                assert_same(agreement.agreement, recall)
            if seed % 5 == 0:  # what takes a call for each case
                truth = [item.label for item in items]
                decided = [item.after or "none" for item in items]
                weight = [item.weight for item in items]
                assert_same(macro.balanced_accuracy, balanced_accuracy_score(truth, decided, sample_weight=weight))
                assert_same(macro.accuracy, accuracy_score(truth, decided, sample_weight=weight))


def test_every_metric_is_the_quotient_of_exact_sums_in_any_order() -> None:
    for seed in range(100):
        labels, items = random_case(seed)
        found = metrics_of(items, labels)
        assert metrics_of(items[::-1], labels) == found
        for label in labels:
            of_label = [item for item in items if item.label == label]
            whole = sum((Fraction(item.weight) for item in of_label), Fraction())
            right = sum((Fraction(item.weight) for item in of_label if item.after == label), Fraction())
            agreement = found.per_label[label]
            assert agreement.count == len(of_label)
            assert agreement.agreement == (float(right) / float(whole) if of_label else None)


def test_a_label_without_items_has_no_share_and_is_left_out_of_the_mean() -> None:
    items = [ScoredItem("1", "a", "a", "a", 1.0), ScoredItem("2", "a", "a", "b", 3.0)]
    found = metrics_of(items, ("a", "b", "c"))
    assert found.as_json() == {
        "balancedAccuracy": 0.25,
        "accuracy": 0.25,
        "precision": 0.5,  # a is right whenever it is decided, b never is, c never is decided
        "recall": 0.25,
        "perLabel": {
            "a": {"agreement": 0.25, "count": 2},
            "b": {"agreement": None, "count": 0},
            "c": {"agreement": None, "count": 0},
        },
    }


def test_undefined_precision_and_recall_are_none_and_not_zero() -> None:
    never_decided = metrics_of([ScoredItem("1", "a", "b", "b", 1.0)], ("a", "b"), "a")
    assert (never_decided.precision, never_decided.recall) == (None, 0.0)
    never_held = metrics_of([ScoredItem("1", "a", "b", "b", 1.0)], ("a", "b"), "b")
    assert (never_held.precision, never_held.recall) == (0.0, None)
    all_undeclared = metrics_of([ScoredItem("1", "a", None, "maybe", 1.0)], ("a", "b"))
    assert (all_undeclared.precision, all_undeclared.recall) == (None, 0.0)


def test_a_decision_that_is_no_declared_label_is_wrong() -> None:
    items = [ScoredItem("1", "a", "A", None, 1.0), ScoredItem("2", "b", "b", "b", 1.0)]
    columns = columns_of(items, ("a", "b"))
    assert endpoint_metrics(columns, columns.before).balanced_accuracy == 0.5
    assert endpoint_metrics(columns, columns.after).balanced_accuracy == 0.5


@pytest.mark.parametrize("weight", [0.0, 0.99, -1.0, math.nan, math.inf, True, "1", None, MAX_WEIGHT * 2])
def test_weights_that_are_no_inverse_propensities_are_refused(weight: object) -> None:
    item = ScoredItem("1", "a", "a", "a", weight)  # type: ignore[arg-type]
    with pytest.raises(InvalidScoredItemsError):
        columns_of([item, replace(item, weight=1.0)], ("a", "b"))


def test_nothing_can_be_computed_from_no_item_or_an_undeclared_frozen_label() -> None:
    with pytest.raises(NothingToScoreError):
        columns_of([], ("a", "b"))
    with pytest.raises(InvalidScoredItemsError) as caught:
        columns_of([ScoredItem("1", "a", "a", "a", 1.0), ScoredItem("2", "SECRET", "a", "a", 1.0)], ("a", "b"))
    assert caught.value.detail == {"position": 1}
    assert "SECRET" not in caught.value.message


@pytest.mark.parametrize(
    "change",
    [
        {"label": np.array([0, -1])},
        {"before": np.array([0, 2])},
        {"after": np.array([-2, 0])},
        {"after": np.array([0])},
        {"before": np.array([0.0, 1.0])},
        {"weight": np.array([1.0])},
        {"weight": np.array([1, 2])},
        {"labels": ("a", "a")},
    ],
)
def test_columns_that_do_not_fit_together_are_refused(change: dict[str, object]) -> None:
    whole = ScoredColumns(("a", "b"), np.array([0, 1]), np.array([0, 1]), np.array([0, -1]), np.array([1.0, 2.0]))
    with pytest.raises(InvalidScoredItemsError):
        replace(whole, **change)  # type: ignore[arg-type]


@given(
    st.lists(
        st.tuples(
            st.integers(0, 3),
            st.sampled_from(WEIGHTS) | st.floats(1.0, MAX_WEIGHT, allow_nan=False),
        ),
        min_size=1,
        max_size=40,
    )
)
def test_cells_hold_every_item_once_in_canonical_order(pairs: list[tuple[int, float]]) -> None:
    keys = np.array([key for key, _ in pairs])
    weights = np.array([weight for _, weight in pairs])
    cells = count_cells(lambda block: keys[block].copy(), 4, weights)
    listed = [
        cell
        for key, weight, count in zip(cells.key.tolist(), cells.weight.tolist(), cells.count.tolist(), strict=True)
        for cell in [(key, weight)] * count
    ]
    assert listed == sorted(pairs)
    assert exact_sum(cells, cells.key >= 0) == float(sum(Fraction(weight) for _, weight in pairs))


@pytest.mark.parametrize("distinct", [1, 5, 250, 300, 40_000])
def test_cells_are_the_same_whichever_way_the_weights_are_looked_up(distinct: int) -> None:
    draw = np.random.RandomState(3)
    weights = (1.0 + draw.permutation(distinct) / distinct)[draw.randint(0, distinct, 70_000)]
    keys = draw.randint(0, 12, 70_000)
    cells = count_cells(lambda block: keys[block].astype(np.int64), 12, weights)
    expected, counts = np.unique(np.stack([keys, weights], axis=1), axis=0, return_counts=True)
    assert np.array_equal(cells.key, expected[:, 0])
    assert np.array_equal(cells.weight, expected[:, 1])
    assert np.array_equal(cells.count, counts)
