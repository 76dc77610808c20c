"""The embedded decision model: offline, deterministic, a function of the request alone.

It compares an item's text with the rubric, the examples and the criteria of the supporting questions. Source: spec
held-out, section 4 (no corpus statistics on the side: learned term weights are read from the configuration).
"""

import re
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from threading import Lock

import numpy as np
from numpy.typing import NDArray
from scipy import special

from cyclotron.core.configuration import Answer, Configuration, DecisionRequest, Endpoint
from cyclotron.core.definition import ClassifierDefinition
from cyclotron.core.learning.questions import question_id
from cyclotron.core.learning.wording import REVIEWS_SHOW
from cyclotron.core.text import KINDS, WORD_KIND, is_content, kind_of, term_counts, words

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
    """The embedded model. Safe to call from several threads; keeps the last endpoints it read.

    Whoever changes what it answers changes `identity`: answers are stored under it.
    """

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
    """A text over a reading's terms: the places of its terms, and their values, of unit length within each kind."""

    places: NDArray[np.intp]
    values: NDArray[np.float64]


class _Reading:
    """An endpoint's configuration, made ready for answering.

    While nothing is learned (no term weights) every content word of the rubric and the examples weighs 1, and pairs
    and openings weigh nothing.
    """

    def __init__(self, endpoint: Endpoint) -> None:
        configuration = endpoint.configuration
        self.labels = endpoint.definition.labels
        rubrics = {
            label: _content(text) for label, text in spoken_for(endpoint.definition, configuration.rubric).items()
        }
        weights = dict(configuration.term_weights) or _plain_weights(configuration, rubrics)
        self.positions = {term: place for place, term in enumerate(weights)}
        self.weights = np.array(list(weights.values()), dtype=np.float64)
        self.kinds = np.array([kind_of(term) for term in weights], dtype=np.intp)
        self.rubrics = [rubrics[label] for label in self.labels]
        self.questions = tuple(question.id for question in configuration.questions)
        self.biases = np.array([question.bias for question in configuration.questions], dtype=np.float64)
        self.criteria = self._criteria(configuration)
        self.examples = self._examples(configuration)
        self.leanings = self._leanings()
        self.silent = self._silent()

    def answer(self, text: str) -> Answer:
        """Probabilities that sum to 1, the most probable label (ties: the first), and an answer to each question."""
        row = self._row(text)
        odds = _sums(row.values, self.criteria[row.places]) + self.biases
        logits = _sums(odds, self.leanings) + self.silent + self._rubric_logits(text)
        logits += EXAMPLE_SLOPE * _sums(row.values, self.examples[row.places])
        shares = np.exp(logits - logits.max())
        shares /= shares.sum()
        return Answer(
            label=self.labels[int(np.argmax(shares))],
            probabilities=dict(zip(self.labels, shares.tolist(), strict=True)),
            answers=dict(zip(self.questions, special.expit(odds).tolist(), strict=True)),
        )

    def _row(self, text: str) -> _Row:
        positions = self.positions
        found = [(positions[term], count) for term, count in term_counts(text).items() if term in positions]
        places = np.array([place for place, _ in found], dtype=np.intp)
        values = (1.0 + np.log([count for _, count in found])) * self.weights[places]
        kinds = self.kinds[places]
        lengths = np.sqrt(np.bincount(kinds, weights=values * values, minlength=len(KINDS)))
        return _Row(places, values / np.where(lengths > 0, lengths, 1.0)[kinds])

    def _rubric_logits(self, text: str) -> NDArray[np.float64]:
        """How much of what the rubric says for each label the text holds; labels it is silent about get the middle."""
        if not any(self.rubrics):
            return np.zeros(len(self.labels))
        counts = term_counts(text)
        return COVERAGE_SLOPE * np.array(
            [
                sum(word in counts for word in rubric) / len(rubric) if rubric else COVERAGE_MIDDLE
                for rubric in self.rubrics
            ]
        )

    def _criteria(self, configuration: Configuration) -> NDArray[np.float64]:
        """Shape (terms, questions)."""
        table = np.zeros((len(self.positions), len(self.questions)))
        for column, question in enumerate(configuration.questions):
            for term, weight in question.criteria.items():
                if term in self.positions:
                    table[self.positions[term], column] = weight
        return table

    def _examples(self, configuration: Configuration) -> NDArray[np.float64]:
        """Mean vector of the words of each label's examples. Shape (terms, labels)."""
        table = np.zeros((len(self.positions), len(self.labels)))
        for column, label in enumerate(self.labels):
            own = [example.text for example in configuration.examples if example.label == label]
            for text in own:
                row = self._row(text)
                words_only = self.kinds[row.places] == WORD_KIND
                table[row.places[words_only], column] += row.values[words_only] / len(own)
        return table

    def _leanings(self) -> NDArray[np.float64]:
        """1 where a question is about a label. Shape (questions, labels)."""
        table = np.zeros((len(self.questions), len(self.labels)))
        for column, label in enumerate(self.labels):
            for kind in KINDS:
                if question_id(kind, label) in self.questions:
                    table[self.questions.index(question_id(kind, label)), column] = 1.0
        return table

    def _silent(self) -> NDArray[np.float64]:
        """Log odds of labels without a question. Two labels share theirs: the other label is the zero point."""
        asked = self.leanings.any(axis=0)
        if len(self.labels) == 2 or not asked.any():
            return np.zeros(len(self.labels))
        return np.where(asked, 0.0, UNASKED)


def spoken_for(definition: ClassifierDefinition, rubric: str) -> dict[str, str]:
    """The text of a rubric that speaks for each label.

    A line or sentence that begins with a label (`label: text`, or the label as its first words) speaks for that label;
    other text speaks for the positive label, or for none when there is none. With no text at all, a label's own name
    does. Learned lines are left out: they say in words what the term weights say in numbers.
    """
    spoken: dict[str, list[str]] = {label: [] for label in definition.labels}
    names = sorted(((tuple(words(label)), label) for label in definition.labels), key=lambda pair: -len(pair[0]))
    for line in rubric.partition(REVIEWS_SHOW)[0].splitlines():
        current = definition.positive_label
        for sentence in _SENTENCE_END.split(line):
            start = words(sentence)
            current = next((label for name, label in names if name and tuple(start[: len(name)]) == name), current)
            if current is not None and start:
                spoken[current].append(sentence.strip())
    if not any(spoken.values()):
        return {label: label for label in definition.labels}
    return {label: "\n".join(sentences) for label, sentences in spoken.items()}


def _sums(values: NDArray[np.float64], table: NDArray[np.float64]) -> NDArray[np.float64]:
    """`values @ table`, in an order of summation that depends on no library of linear algebra and its threads."""
    return np.asarray(np.einsum("t,tc->c", values, table), dtype=np.float64)


def _content(text: str) -> tuple[str, ...]:
    """The different content words of a text, in order."""
    return tuple(dict.fromkeys(word for word in words(text) if is_content(word)))


def _plain_weights(configuration: Configuration, rubrics: Mapping[str, Sequence[str]]) -> dict[str, float]:
    """Weight 1 for each content word of the rubric and the examples."""
    named = [*rubrics.values(), *(_content(example.text) for example in configuration.examples)]
    return dict.fromkeys((word for found in named for word in found), 1.0)
