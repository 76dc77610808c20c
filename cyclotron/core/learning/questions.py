"""Supporting questions: their identities, and how they are worded.

The same label keeps the same questions in every version, so the ML model's features line up between versions.
"""

from collections.abc import Mapping, Sequence

from cyclotron.core.text import OPENING_KIND, PAIR_KIND, WORD_KIND

_NAMES: Mapping[int, str] = {WORD_KIND: "words", PAIR_KIND: "phrases", OPENING_KIND: "opening"}
_ASKED: Mapping[int, str] = {
    WORD_KIND: "Does the text speak of the things that texts labelled {label} speak of?",
    PAIR_KIND: "Is the text worded like the texts labelled {label}?",
    OPENING_KIND: "Does the opening line read like that of a text labelled {label}?",
}


def question_id(kind: int, label: str) -> str:
    """The identity of the question that reads terms of one kind for one label."""
    return f"{_NAMES[kind]}:{label}"


def question_text(kind: int, label: str, signs_for: Sequence[str], signs_against: Sequence[str]) -> str:
    """A question that a person or a language model can answer with a share from 0 (no) to 1 (yes)."""
    text = _ASKED[kind].format(label=label)
    if signs_for:
        text += f" Signs for it: {', '.join(signs_for)}."
    if signs_against:
        text += f" Signs against it: {', '.join(signs_against)}."
    return text
