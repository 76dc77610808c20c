"""The ML model: reads a decision model's answer and decides.

Multinomial logistic regression on the answer's label probabilities and supporting answers, fitted with
inverse-propensity weights on out-of-fold answers, so that its probabilities hold for items that taught nothing. It
decides for balanced accuracy. Source: spec held-out, sections 4 and 5; house decision 8 (plain numbers, no pickle).
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from cyclotron.core.configuration import Answer, Configuration, Decided
from cyclotron.core.definition import ClassifierDefinition
from cyclotron.core.errors import CyclotronError
from cyclotron.core.learning.logistic import fit_multinomial, rescaled
from kapsoweb.foundation.canonical import digest

MIN_EXAMPLES_PER_LABEL = 5
PENALTY = 10.0
"""L2 penalty on the scale of one example of mean weight. It is strong: features that say the same share the credit
evenly; how sure the whole is to be is fitted afterwards without it."""

FORMAT = "multinomial-logistic/1"
_FLOOR = 1e-4
"""Shares are read as at least this far from 0 and 1: beyond it a model's numbers say nothing."""


class InvalidMlModelError(CyclotronError):
    """A stored ML model does not have the shape or the numbers that one must have."""

    id = "invalid-ml-model"


@dataclass(frozen=True)
class FitExample:
    """An out-of-fold answer to a training item, its reviewed label, and its weight `1 / p`."""

    answer: Answer
    label: str
    weight: float = 1.0


@dataclass(frozen=True)
class MlModel:
    """A fitted model of plain numbers.

    Features are the log probability of each label but the last, relative to the last, then the log odds of each
    question's answer; they are centred by `means` and divided by `scales`. `coefficients` has one row for each label.
    `priors` are the weighted label shares among the fitted examples.
    """

    labels: tuple[str, ...]
    questions: tuple[str, ...]
    means: tuple[float, ...]
    scales: tuple[float, ...]
    coefficients: tuple[tuple[float, ...], ...]
    biases: tuple[float, ...]
    priors: tuple[float, ...]

    def decide(self, definition: ClassifierDefinition, answer: Answer) -> Decided:
        """Decide for the label whose probability exceeds its prior share by the largest factor (ties: first label).

        That rule has the best expected balanced accuracy when probabilities are calibrated. Confidence is the decided
        label's probability. An answer to a question that is missing counts as the mean answer.
        """
        if definition.labels != self.labels:
            raise InvalidMlModelError(
                "the ML model was fitted for other labels; fit it again.",
                fitted=list(self.labels),
                declared=list(definition.labels),
            )
        features = (_features(self.labels, self.questions, answer) - self._means) / self._scales
        logits = self._coefficients @ np.where(np.isnan(features), 0.0, features) + self._biases
        shares = np.exp(logits - special.logsumexp(logits))
        place = int(np.argmax(shares / self._priors))
        probabilities = dict(zip(self.labels, shares.tolist(), strict=True))
        return Decided(self.labels[place], probabilities[self.labels[place]], probabilities)

    def as_json(self) -> dict[str, Any]:
        """Plain numbers with camelCase keys."""
        return {
            "format": FORMAT,
            "labels": list(self.labels),
            "questions": list(self.questions),
            "means": list(self.means),
            "scales": list(self.scales),
            "coefficients": [list(row) for row in self.coefficients],
            "biases": list(self.biases),
            "priors": list(self.priors),
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "MlModel":
        """Read what `as_json` wrote; raises `InvalidMlModelError` for anything else."""
        if not isinstance(value, Mapping) or value.get("format") != FORMAT:
            raise InvalidMlModelError(f"a stored ML model must have the format {FORMAT}.")
        labels, questions = _texts(value, "labels"), _texts(value, "questions")
        features = len(labels) - 1 + len(questions)
        table = value.get("coefficients")
        if len(labels) < 2 or not isinstance(table, list) or len(table) != len(labels):
            raise InvalidMlModelError("a stored ML model must have two labels or more and a row for each of them.")
        model = cls(
            labels=labels,
            questions=questions,
            means=_numbers(value.get("means"), "means", features),
            scales=_numbers(value.get("scales"), "scales", features),
            coefficients=tuple(_numbers(row, "coefficients", features) for row in table),
            biases=_numbers(value.get("biases"), "biases", len(labels)),
            priors=_numbers(value.get("priors"), "priors", len(labels)),
        )
        if min(model.priors) <= 0 or min(model.scales) <= 0:
            raise InvalidMlModelError("priors and scales of a stored ML model must be above zero.")
        return model

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the model's canonical JSON."""
        return digest(self.as_json())

    @cached_property
    def _means(self) -> NDArray[np.float64]:
        return np.array(self.means)

    @cached_property
    def _scales(self) -> NDArray[np.float64]:
        return np.array(self.scales)

    @cached_property
    def _coefficients(self) -> NDArray[np.float64]:
        return np.array(self.coefficients)

    @cached_property
    def _biases(self) -> NDArray[np.float64]:
        return np.array(self.biases)

    @cached_property
    def _priors(self) -> NDArray[np.float64]:
        return np.array(self.priors)


def fit_ml_model(
    definition: ClassifierDefinition, configuration: Configuration, examples: Sequence[FitExample], *, seed: str
) -> MlModel | None:
    """Fit on out-of-fold answers, or None while any label has fewer than `MIN_EXAMPLES_PER_LABEL` examples.

    `configuration` names the questions that are features. The fit is a convex problem with one solution, so `seed`
    changes nothing; it is part of the signature that every learner has. Examples with an undeclared label are left out.
    """
    del seed
    known = [example for example in examples if example.label in definition.labels and example.weight > 0]
    places = np.array([definition.labels.index(example.label) for example in known], dtype=np.intp)
    counts = np.bincount(places, minlength=len(definition.labels))
    if counts.min() < MIN_EXAMPLES_PER_LABEL:
        return None
    questions = tuple(question.id for question in configuration.questions)
    rows = np.array([_features(definition.labels, questions, example.answer) for example in known])
    weights = np.array([example.weight for example in known], dtype=np.float64)
    weights = weights * (len(weights) / weights.sum())
    means, scales = _centre(rows, weights)
    scaled = (rows - means) / scales
    filled = np.where(np.isnan(scaled), 0.0, scaled)
    fit = rescaled(fit_multinomial(filled, places, len(definition.labels), weights, PENALTY), filled, places, weights)
    shares = np.bincount(places, weights=weights, minlength=len(definition.labels)) / weights.sum()
    return MlModel(
        labels=definition.labels,
        questions=questions,
        means=tuple(means.tolist()),
        scales=tuple(scales.tolist()),
        coefficients=tuple(tuple(row) for row in fit.coefficients.tolist()),
        biases=tuple(fit.bias.tolist()),
        priors=tuple(shares.tolist()),
    )


def decide_without_ml(definition: ClassifierDefinition, answer: Answer) -> Decided:
    """The model's own label, with its probability as confidence: 0.0 when the label is none of the declared ones."""
    probabilities = {label: float(answer.probabilities.get(label, 0.0)) for label in definition.labels}
    return Decided(answer.label, probabilities.get(answer.label, 0.0), probabilities)


def _features(labels: Sequence[str], questions: Sequence[str], answer: Answer) -> NDArray[np.float64]:
    """Features of an answer, NaN where it says nothing. Shape (labels - 1 + questions,)."""
    logs = [_log_share(answer.probabilities.get(label)) for label in labels]
    odds = [_log_odds(answer.answers.get(question)) for question in questions]
    return np.array([value - logs[-1] for value in logs[:-1]] + odds)


def _log_share(share: float | None) -> float:
    return math.nan if share is None or math.isnan(share) else math.log(min(max(share, _FLOOR), 1.0))


def _log_odds(share: float | None) -> float:
    if share is None or math.isnan(share):
        return math.nan
    inside = min(max(share, _FLOOR), 1.0 - _FLOOR)
    return math.log(inside / (1.0 - inside))


def _centre(rows: NDArray[np.float64], weights: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Weighted mean and standard deviation of each feature over the answers that have it (1 where nothing varies)."""
    there = ~np.isnan(rows)
    filled = np.where(there, rows, 0.0)
    shares = weights[:, None] * there
    totals = np.maximum(shares.sum(axis=0), 1e-12)
    means = (shares * filled).sum(axis=0) / totals
    spread = np.sqrt((shares * (filled - means) ** 2).sum(axis=0) / totals)
    return means, np.where(spread > 1e-9, spread, 1.0)


def _texts(value: Mapping[str, Any], name: str) -> tuple[str, ...]:
    items = value.get(name)
    if not isinstance(items, list) or not all(isinstance(item, str) for item in items) or len(set(items)) != len(items):
        raise InvalidMlModelError(f"{name} of a stored ML model must be a list of different texts.")
    return tuple(items)


def _numbers(items: Any, name: str, length: int) -> tuple[float, ...]:
    if not isinstance(items, list) or len(items) != length:
        raise InvalidMlModelError(f"{name} of a stored ML model must have {length} numbers.")
    if not all(isinstance(item, int | float) and not isinstance(item, bool) and math.isfinite(item) for item in items):
        raise InvalidMlModelError(f"{name} of a stored ML model must be finite numbers.")
    return tuple(float(item) for item in items)
