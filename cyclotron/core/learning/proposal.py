"""From training reviews to a proposed configuration.

Source: spec held-out, section 2 (only training reviews teach) and section 4 (learned term weights are part of the
configuration).
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from cyclotron.core.configuration import Configuration, SupportingQuestion
from cyclotron.core.definition import ClassifierDefinition
from cyclotron.core.learning.examples import choose_examples
from cyclotron.core.learning.labelled import LabelledText
from cyclotron.core.learning.logistic import fit_binary
from cyclotron.core.learning.questions import question_id, question_text
from cyclotron.core.learning.vocabulary import Vocabulary, choose_vocabulary, rounded, rows_of
from cyclotron.core.learning.wording import leading_terms, revised_rubric
from cyclotron.core.text import KINDS, WORD_KIND

MIN_REVIEWS_PER_LABEL = 2
MAX_REVIEWS = 10_000
"""More training reviews than this are thinned, each label for itself, by a draw on seed and identity."""

PENALTY = 1.0
"""L2 penalty of the term weights on the scale of one review of mean weight (scikit-learn's `C = 1`)."""

MAX_LABELS_ASKED_BY_KIND = 4
"""Up to so many labels each kind of term has its question for each label; beyond, each label has one, on words."""

CRITERIA_BUDGET = 10_000
"""Term weights kept over all questions, the largest of each."""


@dataclass(frozen=True)
class _Material:
    """The training reviews as the fits see them: rows (n, terms), labels and weights (n,), terms with their weights."""

    reviews: Sequence[LabelledText]
    vocabulary: Vocabulary
    rows: sparse.csr_matrix
    labels: NDArray[np.str_]
    weights: NDArray[np.float64]

    def is_label(self, label: str) -> NDArray[np.float64]:
        """1.0 where a review chose the label, else 0.0."""
        return np.asarray(self.labels == label, dtype=np.float64)

    def balanced(self, is_one: NDArray[np.float64]) -> NDArray[np.float64]:
        """Weights that sum to n, half of it on either side."""
        half = len(is_one) / 2.0
        ones = np.sum(self.weights * is_one)
        others = np.sum(self.weights * (1.0 - is_one))
        return np.asarray(self.weights * np.where(is_one > 0, half / ones, half / others))


def propose(
    definition: ClassifierDefinition, current: Configuration, reviews: Sequence[LabelledText], *, seed: str
) -> Configuration:
    """A configuration learned from training reviews: rubric, examples, supporting questions and term weights.

    The result depends on the set of reviews and the seed, not on the order of reviews. `current` is the seed
    configuration, and is returned unchanged while fewer than two labels have two reviews each. Reviews with an
    undeclared label or a weight that is not above zero teach nothing.
    """
    known = [review for review in reviews if review.label in definition.labels and review.weight > 0]
    counts = {label: sum(review.label == label for review in known) for label in definition.labels}
    learned = [label for label in definition.labels if counts[label] >= MIN_REVIEWS_PER_LABEL]
    if len(learned) < 2:
        return current
    each = MAX_REVIEWS // len(learned)
    thinned = [review for label in learned for review in _thinned([r for r in known if r.label == label], each, seed)]
    material = _material(sorted(thinned, key=_order))
    if not material.vocabulary.terms:
        return current
    asked = _asked_labels(definition, learned)
    kinds = KINDS if len(asked) <= MAX_LABELS_ASKED_BY_KIND else (WORD_KIND,)
    budget = max(1, CRITERIA_BUDGET // (len(asked) * len(kinds)))
    questions = [
        question
        for label in asked
        for kind in kinds
        if (question := _question(material, kind, label, budget)) is not None
    ]
    signs = {label: leading_terms(_leanings(material, label), material.vocabulary.terms) for label in learned}
    return Configuration(
        rubric=revised_rubric(current.rubric, signs),
        examples=choose_examples(material.reviews, material.rows, learned),
        questions=tuple(questions),
        term_weights=dict(zip(material.vocabulary.terms, material.vocabulary.weights.tolist(), strict=True)),
    )


def _order(review: LabelledText) -> tuple[str, str, str]:
    """Reviews are read in this order, so that the order in which they came changes nothing."""
    return review.item_id, review.label, review.text


def _thinned(reviews: Sequence[LabelledText], limit: int, seed: str) -> Sequence[LabelledText]:
    """At most `limit` of the reviews, whose weights stand for those left out."""
    if len(reviews) <= limit:
        return reviews
    drawn = sorted(
        reviews,
        key=lambda review: (hashlib.sha256(f"{seed}:thin:{review.item_id}".encode()).digest(), _order(review)),
    )[:limit]
    share = sum(review.weight for review in reviews) / sum(review.weight for review in drawn)
    return [replace(review, weight=review.weight * share) for review in drawn]


def _material(reviews: Sequence[LabelledText]) -> _Material:
    texts = [review.text for review in reviews]
    vocabulary = choose_vocabulary(texts)
    return _Material(
        reviews=reviews,
        vocabulary=vocabulary,
        rows=rows_of(texts, vocabulary),
        labels=np.array([review.label for review in reviews]),
        weights=np.array([review.weight for review in reviews], dtype=np.float64),
    )


def _asked_labels(definition: ClassifierDefinition, learned: Sequence[str]) -> list[str]:
    """The labels asked about: of two labels one, as the other's questions would be its mirror image."""
    if len(definition.labels) == 2:
        return [definition.positive_label or definition.labels[0]]
    return list(learned)


def _leanings(material: _Material, label: str) -> NDArray[np.float64]:
    """How much more of each term the label's reviews have than the others: a difference of weighted mean rows."""
    is_one = material.is_label(label)
    shares = material.balanced(is_one) * (2.0 * is_one - 1.0)
    return np.asarray(material.rows.T @ shares)


def _question(material: _Material, kind: int, label: str, budget: int) -> SupportingQuestion | None:
    """The question that reads terms of one kind, by the `budget` largest of its fitted weights.

    None when the reviews share no such term.
    """
    places = np.flatnonzero(material.vocabulary.kinds == kind)
    if not len(places):
        return None
    is_one = material.is_label(label)
    fit = fit_binary(sparse.csr_matrix(material.rows[:, places]), is_one, material.balanced(is_one), PENALTY)
    terms = [material.vocabulary.terms[place] for place in places]
    largest = np.lexsort((np.arange(len(terms)), -np.abs(fit.coefficients)))[:budget]
    weights = rounded(fit.coefficients)
    return SupportingQuestion(
        id=question_id(kind, label),
        text=question_text(
            kind, label, leading_terms(fit.coefficients, terms), leading_terms(-fit.coefficients, terms)
        ),
        criteria={terms[place]: float(weights[place]) for place in np.sort(largest) if weights[place]},
        bias=float(rounded(np.array([fit.bias]))[0]),
    )
