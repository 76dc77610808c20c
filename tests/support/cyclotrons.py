"""Cyclotrons for tests: definitions, models that count their calls, and a decision's life in one call each."""

import hashlib
import itertools
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from cyclotron.actions import create_cyclotron, freeze_held_out_set, record_review, undo_review
from cyclotron.actions.asking import Asker, Ceiling, Guard
from cyclotron.actions.deciding import DecidedItem, decide_item
from cyclotron.actions.learning import Learned, learn_if_due
from cyclotron.actions.reviewing import RecordedReview
from cyclotron.adapters.decision_model import DecisionModel
from cyclotron.core.configuration import Answer, DecisionRequest
from cyclotron.core.definition import ClassifierDefinition, CyclotronDefinition
from cyclotron.core.draws import partition_of
from cyclotron.core.overview import SetSummary
from cyclotron.labels import CurrentLabel, current_labels
from cyclotron.store import Store

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
SEED = "seed-1"
NO_LEARNING = 1_000_000


def classifier(name: str = "screening", **changed: Any) -> ClassifierDefinition:
    """A classifier of two labels; `changed` replaces its fields."""
    fields: dict[str, Any] = {"labels": ("include", "exclude"), "question": "Is it about attention?"}
    return ClassifierDefinition(name, **fields | changed)


def definition(
    *classifiers: ClassifierDefinition, seed: str = SEED, learn_every: int = NO_LEARNING
) -> CyclotronDefinition:
    """A cyclotron of some classifiers (the one of `classifier()` when none is given) that does not learn by itself."""
    return CyclotronDefinition(seed, classifiers or (classifier(),), learn_every)


def identities(partition: str, count: int, *, seed: str = SEED, prefix: str = "item-") -> list[str]:
    """The first `count` identities of a partition."""
    named = (f"{prefix}{number}" for number in itertools.count())
    return list(itertools.islice((name for name in named if partition_of(seed, name) == partition), count))


def ticking(start: datetime = NOW) -> Callable[[], datetime]:
    """A clock that moves by one second each time it is read."""
    seconds = itertools.count()
    return lambda: start + timedelta(seconds=next(seconds))


@dataclass
class CountingModel:
    """Answers each request by its text and endpoint alone, and remembers the fingerprints that it was asked.

    `confidences` maps a text to the probability of its label; by default the digest chooses both.
    """

    identity: str = "counting/1"
    concurrency: int = 1
    confidences: Mapping[str, float] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def answer(self, request: DecisionRequest) -> Answer:
        """An answer whose label and shares follow from SHA-256 of the fingerprint."""
        with self._lock:
            self.asked.append(request.fingerprint)
        drawn = hashlib.sha256(request.fingerprint.encode()).digest()
        labels = request.endpoint.definition.labels
        label = labels[drawn[0] % len(labels)]
        share = self.confidences.get(request.text, 0.5 + drawn[1] / 512)
        rest = (1.0 - share) / (len(labels) - 1)
        return Answer(
            label=label,
            probabilities={name: share if name == label else rest for name in labels},
            answers={question.id: drawn[2] / 255 for question in request.endpoint.configuration.questions},
            tokens_in=len(request.text),
            tokens_out=1,
        )

    @property
    def count(self) -> int:
        """The calls made so far."""
        return len(self.asked)


@dataclass
class Workbench:
    """A cyclotron with a model and a clock. `texts` of items are named after the identity unless given."""

    store: Store
    model: DecisionModel = field(default_factory=CountingModel)
    clock: Callable[[], datetime] = field(default_factory=ticking)
    ceiling: Ceiling = field(default_factory=Ceiling)
    guard: Guard | None = None
    numbers: Iterator[int] = field(default_factory=lambda: itertools.count(1))

    @property
    def asker(self) -> Asker:
        """What asks the model on behalf of this open."""
        return Asker(self.store, self.model, self.clock, self.ceiling, self.guard)

    def decide(self, identity: str, text: str | None = None, **given: Any) -> DecidedItem:
        """Decide an item."""
        values = given.pop("values", {"text": text or f"text of {identity}"})
        return decide_item(self.asker, identity=identity, values=values, now=self.clock(), **given)

    def review(
        self, decided: DecidedItem, label: str | None, identity: str | None = None, **said: Any
    ) -> RecordedReview:
        """Record a review of a decision, under a new identity unless one is given."""
        return record_review(
            self.store,
            identity=identity or f"review-{next(self.numbers)}",
            decision_id=decided.decision_id,
            label=label,
            now=self.clock(),
            **{"reviewer": "ada", **said},
        )

    def label(self, identity: str, label: str | None, text: str | None = None, **said: Any) -> RecordedReview:
        """Decide an item at a review rate of 1 and review the decision."""
        return self.review(self.decide(identity, text), label, **said)

    def choose(self, identity: str, label: str | None, **said: Any) -> RecordedReview:
        """Review an item by the reviewer's own choice."""
        return self.label(identity, label, selected_by="reviewer", **said)

    def undo(self, review: RecordedReview) -> bool:
        """Retract a review."""
        return undo_review(self.store, identity=review.identity, actor="ada", now=self.clock())

    def current(self, use: str | None = None, classifier: str | None = None) -> dict[str, CurrentLabel]:
        """The labels that count, by the item's identity."""
        return {
            label.item_id: label for label in current_labels(self.store, self.store.classifier(classifier), use=use)
        }

    def labels(self, use: str | None = None, classifier: str | None = None) -> dict[str, str]:
        """The labels that count, as text, by the item's identity."""
        return {identity: label.label for identity, label in self.current(use, classifier).items()}

    def freeze(self, classifier: str | None = None) -> SetSummary:
        """Freeze a held-out set."""
        return freeze_held_out_set(self.store, classifier, now=self.clock())

    def learn(self) -> list[Learned]:
        """Run the learning that is due."""
        return learn_if_due(self.asker, now=self.clock())


def workbench(*classifiers: ClassifierDefinition, model: DecisionModel | None = None, **settings: Any) -> Workbench:
    """A workbench over a new cyclotron; `settings` are those of `definition`."""
    store = create_cyclotron(name="tried", definition=definition(*classifiers, **settings), now=NOW)
    return Workbench(store, model or CountingModel())
