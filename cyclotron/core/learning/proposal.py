"""From training reviews to a proposed configuration.

Source: spec held-out, section 2 (only training reviews teach) and section 4 (learned term weights are part of the
configuration).
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from cyclotron.core.configuration import Configuration, SupportingQuestion
from cyclotron.core.definition import ClassifierDefinition
from cyclotron.core.learning.examples import choose_examples
from cyclotron.core.learning.labelled import LabelledText
from cyclotron.core.learning.logistic import fit_binary
from cyclotron.core.learning.questions import alike_id, leaning_id
from cyclotron.core.learning.vocabulary import Vocabulary, choose_vocabulary, rounded, rows_of
from cyclotron.core.learning.wording import leading_terms, question_text, revised_rubric

MIN_REVIEWS_PER_LABEL = 2
MAX_REVIEWS = 20_000
"""More training reviews than this are thinned by a draw on seed and identity: the vocabulary is capped anyway."""

PENALTY = 1.0
"""L2 penalty of the term weights on the scale of one review of mean weight (scikit-learn's `C = 1`)."""

CRITERIA_BUDGET = 6_000
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


def propose(
    definition: ClassifierDefinition, current: Configuration, reviews: Sequence[LabelledText], *, seed: str
) -> Configuration:
    """A configuration learned from training reviews: rubric, examples, supporting questions and term weights.

    The result depends on the set of reviews and the seed, not on the order of reviews. `current` is the seed
    configuration, and is returned unchanged while fewer than two labels have two reviews each.
    """
    known = [review for review in reviews if review.label in definition.labels and review.weight > 0]
    seen = {label: sum(review.label == label for review in known) for label in definition.labels}
    learned = [label for label in definition.labels if seen[label] >= MIN_REVIEWS_PER_LABEL]
    if len(learned) < 2:
        return current
    material = _material([review for review in _thinned(known, seed) if review.label in learned])
    if not material.vocabulary.terms:
        return current
    asked = _asked_labels(definition, learned)
    questions = [
        question for label in asked for question in _questions(material, label, CRITERIA_BUDGET // (2 * len(asked)))
    ]
    signs = {label: leading_terms(_leanings(material, label), material.vocabulary.terms) for label in learned}
    return Configuration(
        rubric=revised_rubric(current.rubric, signs),
        examples=choose_examples(material.reviews, material.rows, learned),
        questions=tuple(questions),
        term_weights=dict(zip(material.vocabulary.terms, material.vocabulary.weights.tolist(), strict=True)),
    )


def _thinned(reviews: Sequence[LabelledText], seed: str) -> list[LabelledText]:
    """The reviews in order of identity, at most `MAX_REVIEWS` of them."""
    ordered = sorted(reviews, key=lambda review: (review.item_id, review.label, review.text))
    if len(ordered) <= MAX_REVIEWS:
        return ordered
    drawn = sorted(
        range(len(ordered)),
        key=lambda place: hashlib.sha256(f"{seed}:thin:{ordered[place].item_id}".encode()).digest(),
    )
    return [ordered[place] for place in sorted(drawn[:MAX_REVIEWS])]


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
    """The labels asked about: of two labels one, as the other's question would be its mirror image."""
    if len(definition.labels) == 2:
        return [definition.positive_label or definition.labels[0]]
    return list(learned)


def _balanced(material: _Material, is_one: NDArray[np.float64]) -> NDArray[np.float64]:
    """Weights that sum to n, half of it on either side."""
    total = len(is_one) / 2.0
    ones = np.sum(material.weights * is_one)
    others = np.sum(material.weights * (1.0 - is_one))
    return np.asarray(material.weights * np.where(is_one > 0, total / ones, total / others))


def _leanings(material: _Material, label: str) -> NDArray[np.float64]:
    """How much more of each term's weight the label's reviews have than the others: a difference of weighted means."""
    is_one = material.is_label(label)
    shares = _balanced(material, is_one) * (2.0 * is_one - 1.0) * 2.0 / len(is_one)
    return np.asarray(material.rows.T @ shares)


def _questions(material: _Material, label: str, budget: int) -> list[SupportingQuestion]:
    """The supporting questions of one label."""
    is_one = material.is_label(label)
    weights = _balanced(material, is_one)
    fit = fit_binary(material.rows, is_one, weights, PENALTY)
    leaning = _question(
        material,
        identity=leaning_id(label),
        label=label,
        coefficients=fit.coefficients,
        bias=fit.bias,
        budget=budget,
    )
    ratios = _log_ratios(material, is_one, weights)
    middle = -0.5 * float(sum(np.mean((material.rows @ ratios)[is_one == side]) for side in (0.0, 1.0)))
    return [
        leaning,
        _question(material, identity=alike_id(label), label=label, coefficients=ratios, bias=middle, budget=budget),
    ]


def _log_ratios(material: _Material, is_one: NDArray[np.float64], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Naive Bayes: log ratio of each term's smoothed share of the weight in the label's reviews and in the others."""
    smoothing = 0.1
    inside = material.rows.T @ (weights * is_one) + smoothing
    outside = material.rows.T @ (weights * (1.0 - is_one)) + smoothing
    return np.asarray(np.log(inside / inside.sum()) - np.log(outside / outside.sum()))


def _question(
    material: _Material, *, identity: str, label: str, coefficients: NDArray[np.float64], bias: float, budget: int
) -> SupportingQuestion:
    """A question from term weights, of which the largest are kept."""
    terms = material.vocabulary.terms
    order = np.lexsort((np.arange(len(terms)), -np.abs(coefficients)))[:budget]
    kept = np.sort(order)
    values = rounded(coefficients[kept])
    return SupportingQuestion(
        id=identity,
        text=question_text(label, leading_terms(coefficients, terms), leading_terms(-coefficients, terms)),
        criteria={terms[place]: value for place, value in zip(kept.tolist(), values.tolist(), strict=True) if value},
        bias=float(rounded(np.array([bias]))[0]),
    )
