"""The verdict is the first rule that applies."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cyclotron.core.errors import InvalidEvaluationError, InvalidScoredItemsError
from cyclotron.core.intervals import Interval
from cyclotron.core.verdict import RarestLabel, Verdict, check_minimum, rarest_label, verdict_of

ABOVE, BELOW, AROUND = Interval(0.1, 9.0), Interval(-9.0, -0.1), Interval(-1.0, 9.0)


def verdict(change: Interval, count: int = 10, *, nothing_learned: bool = False, minimum: int = 10) -> Verdict:
    return verdict_of(
        nothing_learned=nothing_learned, rarest=RarestLabel("a", count), minimum_per_label=minimum, change=change
    )


@pytest.mark.parametrize("change", [ABOVE, BELOW, AROUND])
@pytest.mark.parametrize("count", [0, 10])
def test_where_nothing_was_learned_that_is_said_first(change: Interval, count: int) -> None:
    assert verdict(change, count, nothing_learned=True) == "nothing-learned-yet"


@pytest.mark.parametrize("change", [ABOVE, BELOW, AROUND])
def test_too_few_of_one_label_come_before_any_word_on_the_change(change: Interval) -> None:
    assert verdict(change, 9) == "too-few-labels"
    assert verdict(change, 10) != "too-few-labels"
    assert verdict(change, 10, minimum=11) == "too-few-labels"


def test_the_interval_decides_and_an_end_at_zero_makes_nothing_clear() -> None:
    assert verdict(ABOVE) == "improved"
    assert verdict(BELOW) == "worse"
    assert verdict(AROUND) == "no-clear-change"
    for change in (Interval(0.0, 5.0), Interval(-5.0, 0.0), Interval(0.0, 0.0), Interval(-0.0, 5.0)):
        assert verdict(change) == "no-clear-change"


@given(st.floats(-100, 100), st.floats(-100, 100), st.integers(0, 50), st.integers(1, 50), st.booleans())
def test_a_claim_needs_learning_enough_labels_and_an_interval_above_zero(
    one: float, other: float, count: int, minimum: int, nothing_learned: bool
) -> None:
    change = Interval(min(one, other), max(one, other))
    claimed = verdict(change, count, nothing_learned=nothing_learned, minimum=minimum) is Verdict.IMPROVED
    assert claimed == (not nothing_learned and count >= minimum and change.low > 0)


def test_a_declared_label_that_no_item_has_is_the_rarest() -> None:
    assert rarest_label({"a": 12, "b": 0, "c": 3}) == RarestLabel("b", 0)
    assert rarest_label({"a": 3, "b": 3}) == RarestLabel("a", 3)
    with pytest.raises(InvalidScoredItemsError):
        rarest_label({})


@pytest.mark.parametrize("minimum", [0, -1, 10.0, True, "10", None, 2**31])
def test_a_minimum_that_is_no_whole_number_from_one_is_refused(minimum: object) -> None:
    with pytest.raises(InvalidEvaluationError) as caught:
        check_minimum(minimum)
    assert caught.value.detail == {"argument": "minimumPerLabel"}


def test_a_minimum_from_one_is_taken() -> None:
    assert check_minimum(1) == 1
    assert check_minimum(2**31 - 1) == 2**31 - 1
