"""How texts become words and terms."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cyclotron.core.text import (
    MAX_READ,
    OPENING_KIND,
    OPENING_WORDS,
    PAIR_KIND,
    WORD_KIND,
    is_content,
    kind_of,
    term_counts,
    words,
)


def test_words_are_letters_and_digits_in_lower_case() -> None:
    assert words("A double-blind, placebo_controlled trial (n = 36).") == [
        "a", "double", "blind", "placebo", "controlled", "trial", "n", "36",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("one", "other"),
    [("Straße", "STRASSE"), ("ﬁbrosis", "fibrosis"), ("ＡＤＨＤ", "adhd"), ("naïve", "nai\u0308ve"), ("x²", "x2")],
)
def test_writings_of_one_word_are_one_word(one: str, other: str) -> None:
    assert words(one) == words(other)
    assert len(words(one)) == 1


@pytest.mark.parametrize("word", ["हिन्दी", "תַּלְמוּד", "العَرَبِيَّة", "வணக்கம்"])
def test_vowel_marks_do_not_break_a_word(word: str) -> None:
    assert len(words(word)) == 1


def test_scripts_without_spaces_become_pairs_of_characters() -> None:
    assert words("注意欠如多動症の治療") == [
        "注意", "意欠", "欠如", "如多", "多動", "動症", "症の", "の治", "治療",
    ]  # fmt: skip
    assert words("薬") == ["薬"]
    assert set(words("ยาสำหรับเด็ก")) & set(words("สำหรับ"))


def test_a_run_of_such_a_script_ends_where_another_begins() -> None:
    assert words("ADHDの薬 30mg錠") == ["adhd", "の薬", "30mg", "錠"]


@given(st.text(alphabet=st.characters(codec="ascii"), max_size=80))
def test_the_quick_way_for_ascii_gives_the_words_of_the_general_way(text: str) -> None:
    marker = " é"
    assert words(text + marker) == [*words(text), "é"]


@given(st.text(max_size=80))
def test_any_text_has_words_of_letters_digits_and_marks_only(text: str) -> None:
    for word in words(text):
        assert word
        assert all(character.isalnum() or unicodedata.category(character)[0] == "M" for character in word)


@given(st.text(max_size=80))
def test_case_and_composition_change_no_term(text: str) -> None:
    assert words(unicodedata.normalize("NFD", text)) == words(text)


def test_terms_are_words_pairs_and_words_of_the_opening() -> None:
    counts = term_counts("\n Trial of x\n\nx of x")
    assert counts == {
        "trial": 1, "of": 2, "x": 3, "trial of": 1, "of x": 2, "x x": 1, "x of": 1, "^trial": 1, "^of": 1, "^x": 1,
    }  # fmt: skip


def test_every_term_tells_its_kind() -> None:
    kinds = {kind: [term for term in term_counts("one two") if kind_of(term) == kind] for kind in range(3)}
    assert kinds == {WORD_KIND: ["one", "two"], PAIR_KIND: ["one two"], OPENING_KIND: ["^one", "^two"]}


def test_the_opening_ends_after_so_many_words() -> None:
    long_line = " ".join(f"w{place}" for place in range(OPENING_WORDS + 5))
    opening = [term for term in term_counts(long_line) if kind_of(term) == OPENING_KIND]
    assert len(opening) == OPENING_WORDS


def test_a_text_without_an_end_is_read_to_a_bound() -> None:
    assert len(words("ab " * MAX_READ)) <= MAX_READ / 3 + 1


def test_text_without_letters_has_no_terms() -> None:
    assert term_counts(" \n… — !") == {}


def test_stop_words_numbers_of_one_digit_and_single_letters_carry_no_content() -> None:
    assert [term for term in ("the", "of the", "x", "the trial", "^with") if is_content(term)] == []
    assert all(is_content(term) for term in ("trial", "controlled trial", "^trial", "薬"))
