"""The exact sign test, against SciPy and against fractions."""

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from cyclotron.core.errors import InvalidScoredItemsError
from cyclotron.core.significance import sign_test


def exact(gained: int, lost: int) -> Fraction:
    pairs = gained + lost
    tail = sum(math.comb(pairs, heads) for heads in range(min(gained, lost) + 1))
    return min(Fraction(1), Fraction(2 * tail, 2**pairs))


def test_every_small_case_is_the_exact_fraction_rounded_once() -> None:
    for gained in range(40):
        for lost in range(40):
            assert sign_test(gained, lost) == float(exact(gained, lost))


@pytest.mark.parametrize(
    ("gained", "lost"),
    [(31, 12), (0, 7), (180, 240), (2000, 2090), (2049, 2048), (2100, 2000), (6000, 6300), (7, 9000)],
)
def test_larger_cases_agree_with_scipy(gained: int, lost: int) -> None:
    assert sign_test(gained, lost) == pytest.approx(binomtest(gained, gained + lost).pvalue, rel=1e-12)


@given(st.integers(0, 6000), st.integers(0, 6000))
def test_it_is_a_probability_and_the_same_both_ways_round(gained: int, lost: int) -> None:
    found = sign_test(gained, lost)
    assert 0 <= found <= 1
    assert sign_test(lost, gained) == found


@pytest.mark.parametrize(("gained", "lost"), [(2048, 2049), (2100, 2250), (300, 5000)])
def test_the_long_way_gives_the_exact_fraction_as_well(gained: int, lost: int) -> None:
    assert sign_test(gained, lost) == float(exact(gained, lost))


def test_without_a_discordant_pair_nothing_speaks_against_even_odds() -> None:
    assert sign_test(0, 0) == 1.0
    assert sign_test(5, 5) == 1.0
    assert sign_test(1, 0) == 1.0


def test_a_million_pairs_are_no_trouble() -> None:
    assert sign_test(500_000, 501_500) == pytest.approx(binomtest(500_000, 1_001_500).pvalue, rel=1e-9)
    assert sign_test(499_999, 500_000) == 1.0
    assert sign_test(1, 1_000_000) == 0.0  # far below the smallest float


@pytest.mark.parametrize("wrong", [-1, 1.0, True, "1", None])
def test_counts_that_are_no_whole_numbers_are_refused(wrong: object) -> None:
    with pytest.raises(InvalidScoredItemsError):
        sign_test(wrong, 3)  # type: ignore[arg-type]
    with pytest.raises(InvalidScoredItemsError):
        sign_test(3, wrong)  # type: ignore[arg-type]
