"""The embedded decision model: offline, deterministic, a function of the request alone.

It compares an item's text with the rubric, the examples and the criteria of the supporting questions. Source: spec
held-out, section 4 (no corpus statistics on the side: learned term weights are read from the configuration).
"""

import math
import re
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from threading import Lock

import numpy as np
from numpy.typing import NDArray
from scipy import special

from cyclotron.core.configuration import Answer, Configuration, DecisionRequest, Endpoint
from cyclotron.core.definition import ClassifierDefinition
from cyclotron.core.learning.questions import leaning_id
from cyclotron.core.text import PAIR, is_content, term_counts, words

COVERAGE_SLOPE = 8.0
"""Log odds for a text that holds all of what a rubric names, against one that holds none of it."""

COVERAGE_MIDDLE = 0.3
"""Share of a rubric's terms above which a text speaks for its label when no other label's rubric stands against it."""

EXAMPLE_SLOPE = 4.0
"""Log odds for a full likeness to a label's examples."""

UNASKED = -3.0
"""Log odds of a label that no question asks about while others are asked about: reviews never showed it."""

_ENDPOINTS_KEPT = 16
_SENTENCE_END = re.compile(r"(?<=[.;!?。！？])\s*")


class LocalModel:
    """The embedded model. Safe to call from several threads; keeps the last endpoints it read."""

    identity = "local/1"
    concurrency = 1

    def __init__(self) -> None:
        self._lock = Lock()
        self._readings: OrderedDict[str, _Reading] = OrderedDict()

    def answer(self, request: DecisionRequest) -> Answer:
        """Answer from the request alone; never fails on text that a request may hold."""
        return self._reading(request.endpoint).answer(request.text)

    def _reading(self, endpoint: Endpoint) -> "_Reading":
        key = endpoint.digest
        with self._lock:
            known = self._readings.get(key)
            if known is not None:
                self._readings.move_to_end(key)
                return known
        reading = _Reading(endpoint)
        with self._lock:
            self._readings[key] = reading
            while len(self._readings) > _ENDPOINTS_KEPT:
                self._readings.popitem(last=False)
        return reading


@dataclass(frozen=True)
class _Row:
    """A text over a reading's terms: the places of its terms and its vector of unit length."""

    places: NDArray[np.intp]
    values: NDArray[np.float64]


class _Reading:
    """An endpoint's configuration, made ready for answering.

    While nothing is learned (no term weights) every content word weighs 1 and pairs of words weigh nothing.
    """

    def __init__(self, endpoint: Endpoint) -> None:
        configuration = endpoint.configuration
        self.labels = endpoint.definition.labels
        self.learned = bool(configuration.term_weights)
        rubrics = spoken_for(endpoint.definition, configuration.rubric)
        weights = dict(configuration.term_weights) if self.learned else _plain_weights(configuration, rubrics)
        # Sorted, so that sums over terms are taken in one order however a database returned the keys.
        terms = sorted(weights)
        self.positions = {term: place for place, term in enumerate(terms)}
        self.weights = np.array([weights[term] for term in terms], dtype=np.float64)
        self.questions = tuple(question.id for question in configuration.questions)
        self.biases = np.array([question.bias for question in configuration.questions], dtype=np.float64)
        self.criteria = self._criteria(configuration)
        self.examples = self._examples(configuration)
        self.rubrics, self.ruled = self._rubrics(rubrics)
        self.leanings = [
            self.questions.index(leaning_id(label)) if leaning_id(label) in self.questions else None
            for label in self.labels
        ]

    def answer(self, text: str) -> Answer:
        """Probabilities that sum to 1, the most probable label (ties: the first), and an answer to each question."""
        row = self._row(text)
        odds = row.values @ self.criteria[row.places] + self.biases
        logits = self._leaning_logits(odds) + self._rubric_logits(row) + EXAMPLE_SLOPE * self._likeness(row)
        shares = np.exp(logits - logits.max())
        shares /= shares.sum()
        return Answer(
            label=self.labels[int(np.argmax(shares))],
            probabilities=dict(zip(self.labels, shares.tolist(), strict=True)),
            answers=dict(zip(self.questions, special.expit(odds).tolist(), strict=True)),
        )

    def _row(self, text: str) -> _Row:
        counts = term_counts(text)
        found = [(self.positions[term], count) for term, count in counts.items() if term in self.positions]
        places = np.array([place for place, _ in found], dtype=np.intp)
        values = (1.0 + np.log([count for _, count in found])) * self.weights[places]
        if self.learned:
            length = math.sqrt(float(np.sum(values * values)))
        else:
            content = [count for term, count in counts.items() if PAIR not in term and is_content(term)]
            length = math.sqrt(float(np.sum((1.0 + np.log(content)) ** 2)))
        return _Row(places, values / (length or 1.0))

    def _leaning_logits(self, odds: NDArray[np.float64]) -> NDArray[np.float64]:
        """The leaning questions' log odds. Two labels share one question: the other label is its zero point."""
        missing = 0.0 if len(self.labels) == 2 or not any(place is not None for place in self.leanings) else UNASKED
        return np.array([missing if place is None else odds[place] for place in self.leanings])

    def _rubric_logits(self, row: _Row) -> NDArray[np.float64]:
        """How much of what the rubric says for each label the text holds; labels it is silent about get the middle."""
        if not self.ruled.any():
            return np.zeros(len(self.labels))
        covered = self.rubrics[row.places].sum(axis=0)
        return COVERAGE_SLOPE * np.where(self.ruled, covered, COVERAGE_MIDDLE)

    def _likeness(self, row: _Row) -> NDArray[np.float64]:
        """Mean cosine of the text and each label's examples. Shape (labels,)."""
        return np.asarray(row.values @ self.examples[row.places])

    def _criteria(self, configuration: Configuration) -> NDArray[np.float64]:
        """Shape (terms, questions)."""
        table = np.zeros((len(self.positions), len(self.questions)))
        for column, question in enumerate(configuration.questions):
            for term, weight in question.criteria.items():
                if term in self.positions:
                    table[self.positions[term], column] = weight
        return table

    def _examples(self, configuration: Configuration) -> NDArray[np.float64]:
        """Mean vector of each label's examples. Shape (terms, labels)."""
        table = np.zeros((len(self.positions), len(self.labels)))
        for column, label in enumerate(self.labels):
            own = [example.text for example in configuration.examples if example.label == label]
            for text in own:
                row = self._row(text)
                table[row.places, column] += row.values / len(own)
        return table

    def _rubrics(self, rubrics: Mapping[str, str]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Each label's share of weight for each term its rubric names, and for which labels the rubric speaks."""
        table = np.zeros((len(self.positions), len(self.labels)))
        for column, label in enumerate(self.labels):
            for word in set(words(rubrics.get(label, ""))):
                if word in self.positions and is_content(word):
                    table[self.positions[word], column] = self.weights[self.positions[word]]
        totals = table.sum(axis=0)
        return table / np.where(totals > 0, totals, 1.0), totals > 0


def spoken_for(definition: ClassifierDefinition, rubric: str) -> dict[str, str]:
    """The text of a rubric that speaks for each label.

    A line or sentence that begins with a label (`label: text`, or the label as its first words) speaks for that label;
    other text speaks for the positive label, or for none when there is none. With no text at all, a label's own name
    does.
    """
    spoken: dict[str, list[str]] = {label: [] for label in definition.labels}
    names = sorted(((tuple(words(label)), label) for label in definition.labels), key=lambda pair: -len(pair[0]))
    for line in rubric.splitlines():
        current = definition.positive_label
        for sentence in _SENTENCE_END.split(line):
            start = words(sentence)
            current = next((label for name, label in names if name and tuple(start[: len(name)]) == name), current)
            if current is not None:
                spoken[current].append(sentence)
    if not any(spoken.values()):
        return {label: label for label in definition.labels}
    return {label: "\n".join(sentences) for label, sentences in spoken.items()}


def _plain_weights(configuration: Configuration, rubrics: Mapping[str, str]) -> dict[str, float]:
    """Weight 1 for each content word of the rubric and the examples."""
    texts = [*rubrics.values(), *(example.text for example in configuration.examples)]
    return dict.fromkeys((word for text in texts for word in words(text) if is_content(word)), 1.0)
