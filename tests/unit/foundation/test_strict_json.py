"""The strict reader of JSON."""

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kapsoweb.foundation.canonical import MAX_DIGITS, check_json
from kapsoweb.foundation.strict_json import UnreadableJsonError, read_json

REFUSED = [
    (b'{"a": 1,\n "a": 2}', "duplicate-key", 2),
    (b'{"a": 1,\n\n "\\u0061": 2}', "duplicate-key", 3),
    (b'[{"a": 1}, {"b": {"c": 1,\n"c": 1}}]', "duplicate-key", 2),
    (b"[1,\nNaN]", "not-finite", 2),
    (b"[-Infinity]", "not-finite", 1),
    (b"[1,\n1e999]", "not-finite", 2),
    (b"[" + b"9" * (MAX_DIGITS + 1) + b"]", "long-number", 1),
    (b'["ok",\n\n"a\\u0000b"]', "nul", 3),
    (b'["\\ud83d"]', "surrogate", 1),
    (b'{"\\uDE00": 1}', "surrogate", 1),
    (b'["a\x00"]', "syntax", 1),
    (b'{"a": 1,}', "syntax", 1),
    (b"[1]\n[2]", "syntax", 2),
    (b"[01]", "syntax", 1),
    (b"['a']", "syntax", 1),
    (b"", "syntax", 1),
    (b"\xef\xbb\xbf[1]", "encoding", 1),
    (b'[1,\n"\xff"]', "encoding", 2),
    (b'["\xed\xa0\x80"]', "encoding", 1),
    ("[1]".encode("utf-16"), "encoding", 1),
]


@pytest.mark.parametrize(("data", "rule", "line"), REFUSED)
def test_a_broken_rule_is_refused_with_the_document_the_line_and_the_rule(data: bytes, rule: str, line: int) -> None:
    with pytest.raises(UnreadableJsonError) as caught:
        read_json(data, where="a.json")
    assert caught.value.as_json()["id"] == "unreadable-json"
    assert caught.value.detail == {"where": "a.json", "line": line, "rule": rule}
    assert caught.value.message.startswith(f"a.json, line {line}: ")


def test_a_document_may_be_as_long_as_the_limit_and_no_longer() -> None:
    assert read_json(b"[1]", where="x", max_bytes=3) == [1]
    with pytest.raises(UnreadableJsonError) as caught:
        read_json(b"[1] ", where="x", max_bytes=3)
    assert (caught.value.detail["rule"], caught.value.detail["line"]) == ("size", None)


@pytest.mark.parametrize("opening", [b"[", b'{"a":'])
def test_nesting_may_reach_the_limit_and_no_deeper(opening: bytes) -> None:
    closing = b"]" if opening == b"[" else b"}"
    read_json(opening * 5 + b"1" + closing * 5, where="x", max_depth=5)
    for levels in (6, 200_000):
        with pytest.raises(UnreadableJsonError) as caught:
            read_json(opening * levels + b"1" + closing * levels, where="x", max_depth=5)
        assert caught.value.detail["rule"] == "depth"


def test_nothing_of_the_content_is_repeated() -> None:
    for data in (b'{"SECRET": 1, "SECRET": 2}', b'["SECRET\\u0000"]', b'["SECRET"', b"[SECRET]", b'{"SECRET": NaN}'):
        with pytest.raises(UnreadableJsonError) as caught:
            read_json(data, where="x")
        assert "SECRET" not in json.dumps(caught.value.as_json())
        assert caught.value.__cause__ is None
        assert caught.value.__suppress_context__


def test_escapes_that_only_look_like_refused_ones_are_read() -> None:
    harmless = b'["\\ud83d\\ude00", "\\\\u0000", "\\\\ud800", "\\u00e9"]'
    assert read_json(harmless, where="x") == ["😀", "\\u0000", "\\ud800", "é"]


def test_the_same_key_may_stand_in_different_objects() -> None:
    value = {"a": {"a": [{"a": 1}, {"a": "\\ud800"}]}, "b": {"a": 2}}
    assert read_json(json.dumps(value).encode(), where="x") == value


TEXT = st.text(st.characters(exclude_characters="\x00", exclude_categories=["Cs"]), max_size=8)
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**20), 10**20)
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=12,
)


@pytest.mark.parametrize("sign", ["", "-"])
def test_the_longest_whole_number_is_read_can_be_stored_and_is_a_finite_float(sign: str) -> None:
    text = sign + "9" * MAX_DIGITS
    value = read_json(text.encode(), where="x")
    assert check_json(value) == int(text)
    assert math.isfinite(float(value))
    with pytest.raises(UnreadableJsonError):
        read_json(text.encode() + b"9", where="x")


@given(JSON, st.booleans())
def test_every_storable_value_comes_back_as_it_was(value: object, ascii_only: bool) -> None:
    assert read_json(json.dumps(value, ensure_ascii=ascii_only).encode(), where="x") == value


@given(st.binary(max_size=60) | TEXT.map(str.encode) | st.text('[]{}",:\\u0aN-1e9 \n', max_size=30).map(str.encode))
def test_any_bytes_are_either_read_as_finite_json_or_refused_by_rule(data: bytes) -> None:
    try:
        value = read_json(data, where="x")
    except UnreadableJsonError as error:
        rule = error.detail["rule"]
    else:
        rule = None
    assert rule is not None or json.loads(data) == value
