"""Whole numbers as people write them in addresses, forms and settings."""

import pytest

from kapsoweb.foundation.whole_numbers import whole_number


@pytest.mark.parametrize(("text", "number"), [("0", 0), ("8000", 8000), ("007", 7), ("9" * 18, 10**18 - 1)])
def test_digits_are_a_number(text: str, number: int) -> None:
    assert whole_number(text) == number


@pytest.mark.parametrize("text", ["", " ", "-1", "+1", " 1", "1 ", "1_0", "1.0", "1e3", "٣", "²", "9" * 19, "9" * 5000])
def test_anything_else_is_none(text: str) -> None:
    assert whole_number(text) is None
