"""The draws that fix an item's partition and its selection, and the rules of propensities.

The expected digests were computed by `printf '%s' 'seed:identity' | sha256sum`, not by Python.
"""

import math
from collections import Counter
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cyclotron.core.draws import (
    MIN_PROPENSITY,
    Selection,
    check_identity,
    check_propensity,
    check_rate,
    draw,
    partition_of,
    select,
    selection_draw,
)
from cyclotron.core.errors import InvalidItemError, InvalidPropensityError
from kapsoweb.foundation.canonical import UnreadableValueError
from kapsoweb.foundation.errors import KapsoError

DIGESTS = [
    ("s", "a", "d4315d83a95dfaeb"),
    ("seed-1", "PMID-10051933", "28b34dd2ec0fbee0"),
    ("seed-1:development", "PMID-10051933", "2d961d317b45c597"),
    ("seed-1:selection", "PMID-10051933", "8648f12deccd9e3d"),
    ("é", "ü", "0270d764c088b1ae"),
    ("a", "b:c", "b0ee04f880c4ff42"),
]
MANY = [f"item-{number}" for number in range(40_000)]
NO_NUMBERS = [
    *(math.nan, math.inf, -math.inf, True, False, "0.5", None, Fraction(1, 2)),
    pytest.param(10**400, id="10**400"),
    pytest.param(-(10**400), id="-10**400"),
]


def chosen(**changed: Any) -> Selection:
    """A selection of an item whose draw is 0.5 and that was never decided before."""
    settings: dict[str, Any] = {
        "number": 0.5,
        "confidence": 0.9,
        "review_rate": 1.0,
        "audit_rate": 0.05,
        "low_confidence": None,
        "propensity_so_far": None,
        "reason_so_far": "",
    }
    return select(**settings | changed)


@pytest.mark.parametrize(("seed", "identity", "digits"), DIGESTS)
def test_a_draw_is_the_first_64_bits_of_sha_256_as_a_share(seed: str, identity: str, digits: str) -> None:
    assert draw(seed, identity) == float(Fraction(int(digits, 16), 2**64))


def test_the_three_draws_of_an_item_are_those_of_three_seeds() -> None:
    assert selection_draw("seed-1", "PMID-10051933") == float(Fraction(0x8648F12DECCD9E3D, 2**64))
    # 0x28b3... / 2**64 is 0.159, below 0.20: audit, whatever the development draw says (0x2d96... is 0.178).
    assert partition_of("seed-1", "PMID-10051933") == "audit"


@pytest.mark.parametrize(
    ("number", "partition"),
    [
        (0, "training"),  # 0x6463 0.39, development draw 0x42f3 0.2615
        (1, "development"),  # 0x63a6 0.39, development draw 0x06ca 0.03
        (9, "development"),  # 0xbc2a 0.73, development draw 0x352c 0.2077
        (12, "development"),  # 0xb540 0.71, development draw 0x2382 0.14
        (8, "training"),  # 0x39b8 0.2255, development draw 0xff87 0.998
    ],
)
def test_a_partition_follows_from_the_digests_computed_elsewhere(number: int, partition: str) -> None:
    assert partition_of("known", f"item-{number}") == partition


def test_a_fifth_is_audit_and_a_quarter_of_the_rest_is_development() -> None:
    counts = Counter(partition_of("shares", identity) for identity in MANY)
    for partition, share in (("audit", 0.2), ("development", 0.8 * 0.25), ("training", 0.8 * 0.75)):
        spread = math.sqrt(share * (1 - share) / len(MANY))
        assert abs(counts[partition] / len(MANY) - share) < 4 * spread, partition


def test_the_selection_draw_is_uniform_and_says_nothing_about_the_partition() -> None:
    within: dict[str, list[float]] = {"audit": [], "development": [], "training": []}
    for identity in MANY:
        number = selection_draw("shares", identity)
        assert 0 <= number < 1
        within[partition_of("shares", identity)].append(number)
    for numbers in within.values():
        for bound in (0.05, 0.3, 0.5, 0.9):
            share = sum(number < bound for number in numbers) / len(numbers)
            assert abs(share - bound) < 4 * math.sqrt(bound * (1 - bound) / len(numbers))


def test_two_seeds_draw_independently() -> None:
    both = sum(partition_of("one", identity) == partition_of("two", identity) == "audit" for identity in MANY)
    assert abs(both / len(MANY) - 0.04) < 4 * math.sqrt(0.04 * 0.96 / len(MANY))


@pytest.mark.parametrize(
    ("one", "other"), [("a", "A"), ("caf\u00e9", "cafe\u0301"), ("a", "a "), ("a", " a"), ("1", "01")]
)
def test_identities_that_differ_in_a_byte_draw_differently(one: str, other: str) -> None:
    assert draw("s", one) != draw("s", other)


@pytest.mark.parametrize("identity", ["a", " ", "0", "x" * 512, "\U0001f600" * 512, "a\nb", "\u200b"])
def test_any_text_of_1_to_512_characters_is_an_identity_and_is_left_as_it_is(identity: str) -> None:
    assert check_identity(identity) == identity


@pytest.mark.parametrize("identity", ["", "x" * 513, None, 7, b"a", True])
def test_what_is_no_text_of_1_to_512_characters_is_no_identity(identity: Any) -> None:
    with pytest.raises(InvalidItemError) as caught:
        check_identity(identity)
    assert caught.value.id == "invalid-item"


@pytest.mark.parametrize("identity", ["a\x00", "\x00", "\ud800", "a\udfffb"])
def test_an_identity_that_no_database_could_store_is_refused(identity: str) -> None:
    with pytest.raises(UnreadableValueError):
        check_identity(identity)


@pytest.mark.parametrize("value", [*NO_NUMBERS, 0, 0.0, -0.0, -0.1, 1.0000001, 2])
def test_a_propensity_outside_0_exclusive_to_1_or_no_number_is_refused(value: Any) -> None:
    with pytest.raises(InvalidPropensityError) as caught:
        check_propensity(value)
    assert caught.value.id == "invalid-propensity"


@pytest.mark.parametrize("value", [1, 1.0, 0.5, 2.0**-64])
def test_a_propensity_in_its_range_is_kept(value: float) -> None:
    assert check_propensity(value) == value


@pytest.mark.parametrize("rate", ["review_rate", "audit_rate", "low_confidence"])
@pytest.mark.parametrize("value", [*(value for value in NO_NUMBERS if value is not None), -0.1, 1.5])
def test_a_rate_outside_0_to_1_or_no_number_is_refused_by_name(rate: str, value: Any) -> None:
    with pytest.raises(InvalidPropensityError) as caught:
        chosen(**{rate: value})
    assert rate in caught.value.message
    with pytest.raises(InvalidPropensityError):
        check_rate(value, rate)


@pytest.mark.parametrize("rate", ["review_rate", "audit_rate"])
def test_a_rate_may_not_be_absent(rate: str) -> None:
    with pytest.raises(InvalidPropensityError):
        chosen(**{rate: None})


def test_two_rates_of_0_are_refused_even_where_low_confidence_would_send_the_item() -> None:
    for low_confidence in (None, 1.0):
        with pytest.raises(InvalidPropensityError, match="both"):
            chosen(review_rate=0, audit_rate=0.0, low_confidence=low_confidence)


def test_by_default_every_item_is_sent_with_propensity_1() -> None:
    assert chosen() == Selection(True, "program", 1.0)
    assert chosen(number=0.04) == Selection(True, "audit", 1.0)


@pytest.mark.parametrize(
    ("number", "expected"),
    [
        (0.0, Selection(True, "audit", 0.3)),
        (0.0999, Selection(True, "audit", 0.3)),
        (0.1, Selection(True, "program", 0.3)),
        (0.2999, Selection(True, "program", 0.3)),
        (0.3, Selection(False, "", 0.3)),
        (0.9, Selection(False, "", 0.3)),
    ],
)
def test_the_number_is_compared_with_the_larger_rate_and_the_audit_rate_gives_the_reason(
    number: float, expected: Selection
) -> None:
    assert chosen(number=number, review_rate=0.3, audit_rate=0.1) == expected


def test_an_audit_rate_above_the_review_rate_is_the_propensity() -> None:
    assert chosen(number=0.4, review_rate=0.1, audit_rate=0.5) == Selection(True, "audit", 0.5)
    assert chosen(number=0.6, review_rate=0, audit_rate=0.5) == Selection(False, "", 0.5)


def test_a_confidence_below_the_bar_is_sent_with_propensity_1_and_one_at_the_bar_is_not() -> None:
    assert chosen(number=0.9, review_rate=0.1, confidence=0.59, low_confidence=0.6) == Selection(
        True, "low-confidence", 1.0
    )
    assert chosen(number=0.9, review_rate=0.1, confidence=0.6, low_confidence=0.6) == Selection(False, "", 0.1)
    assert chosen(number=0.9, review_rate=0.1, confidence=0.0, low_confidence=0.0) == Selection(False, "", 0.1)


def test_low_confidence_is_the_reason_also_where_the_audit_draw_would_have_sent_the_item() -> None:
    assert chosen(number=0.01, confidence=0.1, low_confidence=0.6).reason == "low-confidence"


def test_a_rate_that_rises_sends_by_the_same_number_with_the_larger_propensity() -> None:
    assert chosen(review_rate=0.6, propensity_so_far=0.3) == Selection(True, "program", 0.6)


def test_a_rate_that_falls_leaves_the_propensity_and_what_was_sent() -> None:
    assert chosen(review_rate=0.1, propensity_so_far=0.6, reason_so_far="program") == Selection(True, "program", 0.6)
    assert chosen(review_rate=0.1, propensity_so_far=0.4) == Selection(False, "", 0.4)


RATES = st.floats(0, 1)


@given(
    number=st.floats(0, 1, exclude_max=True),
    steps=st.lists(
        st.tuples(RATES, RATES, RATES, st.none() | RATES).filter(lambda step: max(step[0], step[1]) >= MIN_PROPENSITY),
        min_size=1,
        max_size=8,
    ),
)
def test_over_any_history_the_propensity_never_falls_and_what_was_sent_stays_sent(
    number: float, steps: list[tuple[float, float, float, float | None]]
) -> None:
    """The oracle: `p` is the chance, over a fresh uniform number and these very confidences, of being sent by now."""
    so_far, reason = None, ""
    largest = 0.0
    for review_rate, audit_rate, confidence, low_confidence in steps:
        now = select(
            number=number,
            confidence=confidence,
            review_rate=review_rate,
            audit_rate=audit_rate,
            low_confidence=low_confidence,
            propensity_so_far=so_far,
            reason_so_far=reason,
        )
        low = low_confidence is not None and confidence < low_confidence
        largest = max(largest, 1.0 if low else max(review_rate, audit_rate))
        assert now.propensity == largest
        assert now.sent == (number < largest)
        assert now.reason == (reason or now.reason)
        assert bool(now.reason) == now.sent
        so_far, reason = now.propensity, now.reason


@given(st.one_of(st.floats(), st.integers(), st.booleans(), st.none(), st.text()))
def test_whatever_is_given_as_a_propensity_is_kept_or_refused_in_words(value: Any) -> None:
    try:
        kept = check_propensity(value)
    except KapsoError:
        return
    assert type(kept) is float
    assert 0 < kept <= 1
