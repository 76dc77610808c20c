"""What was learned, in sentences for a person and a language model."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from cyclotron.core.text import PAIR, is_content

SIGNS = 12
"""Terms named for each label in the rubric and in a question."""


def leading_terms(leanings: NDArray[np.float64], terms: Sequence[str], count: int = SIGNS) -> tuple[str, ...]:
    """The terms with the largest positive leanings, largest first, that tell a reader something.

    Left out: stop words, numbers, and a term that shares a word with one already named.
    """
    named: list[str] = []
    spoken: set[str] = set()
    for place in np.lexsort((np.arange(len(terms)), -leanings)):
        if leanings[place] <= 0 or len(named) == count:
            break
        term = terms[place]
        parts = set(term.split(PAIR))
        if is_content(term) and not any(part.isnumeric() for part in parts) and not parts & spoken:
            named.append(term)
            spoken |= parts
    return tuple(named)


def revised_rubric(rubric: str, signs: Mapping[str, Sequence[str]]) -> str:
    """The seed rubric and, for each label, a line of what its reviews show."""
    lines = [
        f"{label}: reviewers chose this label when the text speaks of {', '.join(terms)}."
        for label, terms in signs.items()
        if terms
    ]
    return "\n".join([rubric.rstrip(), "", "What reviews show:", *lines]).lstrip("\n") if lines else rubric


def question_text(label: str, signs_for: Sequence[str], signs_against: Sequence[str]) -> str:
    """A question that a person or a language model can answer with a share in 0..1."""
    text = f"How much does this text resemble those that reviewers labelled {label}?"
    if signs_for:
        text += f" Signs for it: {', '.join(signs_for)}."
    if signs_against:
        text += f" Signs against it: {', '.join(signs_against)}."
    return text
