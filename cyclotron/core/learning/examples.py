"""Which training reviews are shown as examples: typical of their label, and different from one another."""

from collections.abc import Sequence

import numpy as np
from scipy import sparse

from cyclotron.core.configuration import Example
from cyclotron.core.learning.labelled import LabelledText
from cyclotron.core.text import KINDS

MAX_EXAMPLES = 12
PER_LABEL = 3
MAX_CHARACTERS = 600
SAME = 0.95
"""Likeness beyond which two texts are one example."""


def choose_examples(
    reviews: Sequence[LabelledText], rows: sparse.csr_matrix, labels: Sequence[str]
) -> tuple[Example, ...]:
    """Up to `PER_LABEL` reviews for each label (fewer, but one, where labels are many), most typical first.

    Typical: near the mean of its label's rows and far from the mean of the others, and no stub of less than half the
    usual number of terms. Different: its likeness to those already chosen counts against it. `rows` has shape
    (reviews, terms), of unit length within each kind of term. Ties go to the earlier review.
    """
    chosen: list[Example] = []
    own = np.array([review.label for review in reviews])
    terms = np.diff(rows.indptr)
    each = min(PER_LABEL, max(1, MAX_EXAMPLES // len(labels)))
    for label in labels:
        inside = np.flatnonzero(own == label)
        inside = inside[terms[inside] >= np.median(terms[inside]) / 2]
        lean = np.asarray(rows[inside].mean(axis=0)).ravel() - np.asarray(rows[own != label].mean(axis=0)).ravel()
        members = rows[inside]
        typical = np.asarray(members @ lean) / max(float(np.linalg.norm(lean)), 1e-12)
        likeness = np.zeros(len(inside))
        for _ in range(min(each, len(inside))):
            best = int(np.argmax(typical - likeness))
            review = reviews[int(inside[best])]
            chosen.append(Example(shortened(review.text), label))
            near = np.asarray((members @ members[best].T).todense()).ravel() / len(KINDS)
            likeness = np.maximum(likeness, np.where(near > SAME, np.inf, near))
            likeness[best] = np.inf
            if np.isinf(likeness).all():
                break
    return tuple(chosen)


def shortened(text: str, limit: int = MAX_CHARACTERS) -> str:
    """The text, or its beginning cut at white space (or anywhere, when that would lose half of it) and an ellipsis."""
    text = text.strip()
    if len(text) <= limit:
        return text
    cut = text[:limit]
    space = max(cut.rfind(mark) for mark in (" ", "\n", "\t"))
    return cut[: space if space > limit // 2 else limit].rstrip() + " …"
