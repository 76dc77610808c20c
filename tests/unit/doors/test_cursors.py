"""Opaque cursors."""

import base64
import contextlib
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kapsoweb.doors.cursors import InvalidCursorError, make_cursor, read_cursor
from kapsoweb.doors.limits import CURSOR_CHARACTERS

KEYS = st.integers(min_value=0, max_value=2**63) | st.text(st.characters(codec="ascii", min_codepoint=32), max_size=40)


@given(of=st.text(max_size=80), key=KEYS)
def test_a_cursor_gives_back_the_key_to_the_list_that_made_it(of: str, key: int | str) -> None:
    cursor = make_cursor(of, key)
    assert read_cursor(of, cursor) == key
    assert cursor.isascii()
    assert len(cursor) <= CURSOR_CHARACTERS


@given(of=st.text(max_size=20), other=st.text(max_size=20), key=KEYS)
def test_a_cursor_is_refused_by_every_other_list(of: str, other: str, key: int | str) -> None:
    if of != other:
        with pytest.raises(InvalidCursorError):
            read_cursor(other, make_cursor(of, key))


@given(position=st.integers(min_value=0, max_value=200), bit=st.integers(min_value=0, max_value=7))
def test_a_cursor_with_one_bit_changed_is_refused(position: int, bit: int) -> None:
    raw = bytearray(base64.urlsafe_b64decode(make_cursor("items", 12345) + "=="))
    raw[position % len(raw)] ^= 1 << bit
    with pytest.raises(InvalidCursorError):
        read_cursor("items", base64.urlsafe_b64encode(bytes(raw)).decode().rstrip("="))


@given(key=KEYS, position=st.integers(min_value=0, max_value=200), other=st.characters(codec="ascii"))
def test_a_cursor_with_one_character_changed_or_one_more_is_refused(key: int | str, position: int, other: str) -> None:
    cursor = make_cursor("items", key)
    place = -1 - position % len(cursor)
    changed = [cursor + other, cursor + "=", cursor + "=="]
    if other != cursor[place]:
        changed.append(cursor[:place] + other + cursor[len(cursor) + place + 1 :])
    for each in changed:
        with pytest.raises(InvalidCursorError):
            read_cursor("items", each)


@pytest.mark.parametrize("key", [1, 12, 123])  # each leaves another number of spare bits in the last character
def test_no_other_last_character_makes_the_same_cursor(key: int) -> None:
    cursor = make_cursor("items", key)
    alphabet = string.ascii_letters + string.digits + "-_"
    taken = []
    for last in alphabet:
        with contextlib.suppress(InvalidCursorError):
            taken.append((read_cursor("items", cursor[:-1] + last), last))
    assert taken == [(key, cursor[-1])]


@given(st.text(max_size=100))
def test_text_that_somebody_made_up_is_no_cursor(text: str) -> None:
    with pytest.raises(InvalidCursorError):
        read_cursor("items", text)


@pytest.mark.parametrize("cursor", ["", "a", "=", "====", "é", "\x00", "A" * 10_000, "!!!!", "MTIz\nMTIz"])
def test_text_of_no_cursors_form_is_refused(cursor: str) -> None:
    with pytest.raises(InvalidCursorError):
        read_cursor("items", cursor)
