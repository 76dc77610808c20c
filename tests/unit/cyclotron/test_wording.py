"""Numbers are written one way, in reports and on pages."""

import pytest

from cyclotron.core.intervals import Interval
from cyclotron.core.wording import MINUS, counted, interval_words, p_value, percent, points


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (24.69, "+24.7"),
        (-3.0, "-3.0"),
        (0.0, "0.0"),
        (-0.0, "0.0"),
        (0.04, "+0.04"),
        (-0.0012, "-0.001"),
        (100.0, "+100.0"),
    ],
)
def test_points_carry_their_sign_and_never_round_to_nothing(value: float, text: str) -> None:
    assert points(value) == text


def test_a_page_has_its_own_minus_sign() -> None:
    assert [points(value, MINUS) for value in (24.69, -3.0, 0.0, -0.04)] == ["+24.7", "−3.0", "0.0", "−0.04"]


def test_counts_have_their_thousands_apart_and_one_has_no_plural() -> None:
    assert [counted(number, "item") for number in (0, 1, 2, 999, 10_000)] == [
        "0 items",
        "1 item",
        "2 items",
        "999 items",
        "10,000 items",
    ]


def test_an_interval_is_both_its_ends_as_the_number_is_written() -> None:
    assert interval_words(Interval(0.7412, 0.88), percent) == "74.1% to 88.0%"
    assert interval_words(Interval(-3.04, 11.0), points) == "-3.0 to +11.0"


@pytest.mark.parametrize(("value", "text"), [(1.0, "p = 1"), (0.0312, "p = 0.031"), (0.00009, "p < 0.0001")])
def test_a_p_value_has_two_digits_down_to_where_it_no_longer_matters(value: float, text: str) -> None:
    assert p_value(value) == text
