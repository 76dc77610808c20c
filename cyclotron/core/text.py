"""Text as counted terms: words, pairs of neighbouring words, and words of the opening.

Where a script writes no spaces, overlapping pairs of characters stand for words.
"""

import re
import sys
import unicodedata
from collections import Counter
from collections.abc import Mapping
from functools import lru_cache
from itertools import pairwise

MAX_READ = 200_000
"""Characters of a text that are read; what follows is not looked at, so that one text cannot stall a worker."""

PAIR = " "
"""Joins the two words of a pair."""

OPENING = "^"
"""Stands before a word of the opening."""

OPENING_WORDS = 30
"""The opening is the first line of a text that is not blank (a title, a subject), up to this many words."""

WORD_KIND, PAIR_KIND, OPENING_KIND = 0, 1, 2
KINDS = (WORD_KIND, PAIR_KIND, OPENING_KIND)

_CACHED_TEXTS = 2_048
_UNSPACED = (
    "\u0e00-\u0eff"  # Thai, Lao
    "\u1000-\u109f"  # Myanmar
    "\u1780-\u17ff"  # Khmer
    "\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff"  # Japanese kana
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # Han
)
_ASCII_WORD = re.compile(r"[a-z0-9]+")


def _marks() -> str:
    """Character ranges of the combining marks: vowels of many scripts, which `\\w` would take for the end of a word."""
    ranges: list[str] = []
    start: int | None = None
    for code in range(0x300, 0x10000):
        if unicodedata.category(chr(code))[0] == "M":
            start = code if start is None else start
        elif start is not None:
            ranges.append(f"{chr(start)}-{chr(code - 1)}")
            start = None
    return "".join(ranges)


@lru_cache(maxsize=1)
def _word_pattern() -> re.Pattern[str]:
    """Either a run of a script without spaces, or letters and digits of other scripts with their marks."""
    marks = _marks()
    unspaced = rf"(?=[^\W_])[{_UNSPACED}]"  # the ranges hold signs and free places too
    return re.compile(rf"(?P<run>{unspaced}(?:{unspaced}|[{marks}])*)|(?:(?![{_UNSPACED}])[^\W_][{marks}]*)+")


def words(text: str) -> list[str]:
    """The words of a text in order: letters and digits, NFKC case-folded.

    A run of a script without spaces becomes its overlapping pairs of characters (a single character stays itself), so
    that such texts share terms although nothing separates their words.
    """
    text = text[:MAX_READ]
    if text.isascii():
        return _ASCII_WORD.findall(text.lower())
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    found: list[str] = []
    for match in _word_pattern().finditer(folded):
        word = match.group()
        if match.group("run") and len(word) > 2:
            found.extend(word[start : start + 2] for start in range(len(word) - 1))
        else:
            found.append(word)
    return found


@lru_cache(maxsize=_CACHED_TEXTS)
def term_counts(text: str) -> Mapping[str, int]:
    """How often each term occurs: each word, each pair of neighbouring words, each word of the opening.

    Cached by text: treat it as read only.
    """
    found = [sys.intern(word) for word in words(text)]
    counts = Counter(found)
    counts.update([f"{first}{PAIR}{second}" for first, second in pairwise(found)])
    opening = text[:MAX_READ].lstrip().partition("\n")[0]
    counts.update([f"{OPENING}{word}" for word in words(opening)[:OPENING_WORDS]])
    return counts


def kind_of(term: str) -> int:
    """Which of `KINDS` a term is. Words hold neither mark, so a term is of one kind."""
    if term.startswith(OPENING):
        return OPENING_KIND
    return PAIR_KIND if PAIR in term else WORD_KIND


_GRAMMAR = """
a about after all also am an and any are as at be because been before being between both but by can could did do
does during each either else every few for from further had has have having he her here him his how i if in into is
it its itself just may me might more most must my no nor not of off on once one only or other our out over own same
she should so some such than that the their them then there these they this those through to too under until up upon
us very was we were what when where which while who whom whose why will with within without would you your
"""
STOP_WORDS = frozenset(_GRAMMAR.split())
"""English words that carry grammar rather than a topic; other languages rely on learned term weights."""


def is_content(term: str) -> bool:
    """Whether a term is worth weighing before anything is learned: no word of it is a stop word or a single letter."""
    return all(
        word not in STOP_WORDS and (len(word) > 1 or not word.isascii())
        for word in term.removeprefix(OPENING).split(PAIR)
    )
