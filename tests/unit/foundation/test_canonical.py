"""The same value has the same bytes, and what cannot be stored everywhere is refused."""

import hashlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kapsoweb.foundation.canonical import (
    MAX_DEPTH,
    MAX_DIGITS,
    UnreadableValueError,
    canonical_json,
    check_text,
    digest,
    digest_of_parts,
)

TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"))
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=20,
)


@given(VALUES)
def test_canonical_bytes_read_back_as_the_value(value: Any) -> None:
    assert json.loads(canonical_json(value)) == value


@given(st.dictionaries(TEXT, st.integers(), min_size=2))
def test_the_order_of_keys_changes_nothing(value: dict[str, int]) -> None:
    assert canonical_json(dict(reversed(value.items()))) == canonical_json(value)


def test_canonical_bytes_are_those_of_the_modules_rule() -> None:
    assert canonical_json({"b": [1, 2.5, None, True], "a": 'é"\n'}) == '{"a":"é\\"\\n","b":[1,2.5,null,true]}'.encode()


def test_a_digest_is_the_sha_256_of_the_canonical_bytes() -> None:
    assert digest({"a": 1}) == hashlib.sha256(b'{"a":1}').hexdigest()


@pytest.mark.parametrize(
    "value",
    [
        float("nan"),
        float("inf"),
        -float("inf"),
        "a\x00b",
        "\ud800",
        {"\udfff": 1},
        {1: "a"},
        {"a": {None: 1}},
        b"bytes",
        {1, 2},
        object(),
        [[["\x00"]]],
        10**MAX_DIGITS,
        -(10**MAX_DIGITS),
    ],
)
def test_what_json_or_a_database_lacks_is_refused(value: Any) -> None:
    with pytest.raises(UnreadableValueError):
        canonical_json(value)


def test_nesting_is_accepted_up_to_the_limit_and_refused_beyond_it() -> None:
    value: list[Any] = []
    for _ in range(MAX_DEPTH):
        value = [value]
    canonical_json(value)
    with pytest.raises(UnreadableValueError, match="nested deeper"):
        canonical_json([value])


def test_a_refusal_names_the_place_and_not_the_text() -> None:
    with pytest.raises(UnreadableValueError) as refused:
        check_text("hidden words \x00", "the column 'title' of line 7")
    assert "line 7" in refused.value.message
    assert "hidden words" not in json.dumps(refused.value.as_json())


@given(st.lists(st.text("ab1:", max_size=4), max_size=4), st.lists(st.text("ab1:", max_size=4), max_size=4))
def test_lists_of_parts_share_a_digest_only_when_they_are_equal(one: list[str], other: list[str]) -> None:
    assert (digest_of_parts(*one) == digest_of_parts(*other)) == (one == other)
