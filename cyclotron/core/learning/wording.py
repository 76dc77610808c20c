"""What was learned, in sentences for a person and a language model."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from cyclotron.core.text import OPENING, PAIR, is_content

SIGNS = 12
"""Terms named for each label in the rubric and in a question."""

REVIEWS_SHOW = "What reviews show:"
"""The line of a rubric under which learned lines stand. The embedded model has the same in its term weights."""


def leading_terms(leanings: NDArray[np.float64], terms: Sequence[str], count: int = SIGNS) -> tuple[str, ...]:
    """The terms with the largest positive leanings, largest first, as far as they tell a reader something.

    Left out: stop words, numbers, and a term that shares a word with one already named.
    """
    named: list[str] = []
    spoken: set[str] = set()
    for place in np.lexsort((np.arange(len(terms)), -leanings)):
        if leanings[place] <= 0 or len(named) == count:
            break
        shown = terms[place].removeprefix(OPENING)
        parts = set(shown.split(PAIR))
        if is_content(shown) and not any(part.isnumeric() for part in parts) and not parts & spoken:
            named.append(shown)
            spoken |= parts
    return tuple(named)


def revised_rubric(rubric: str, signs: Mapping[str, Sequence[str]]) -> str:
    """The seed rubric and, for each label, a line of what its reviews show."""
    lines = [
        f"{label}: reviewers chose this label when the text speaks of {', '.join(terms)}."
        for label, terms in signs.items()
        if terms
    ]
    if not lines:
        return rubric
    return "\n".join([*([rubric.rstrip(), ""] if rubric.strip() else []), REVIEWS_SHOW, *lines])
