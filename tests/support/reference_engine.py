"""A cyclotron's engine once more, in a few dictionaries, written from the rules alone and not from the code.

It is what `tests/faults/test_any_order.py` holds the real one against. It knows nothing of a database, nor of how a
request is fingerprinted or a configuration learned; where it needs those it is told what was seen of them.
Source: spec held-out, sections 1 to 4.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

PERSON = "reviewer"


def draw(seed: str, identity: str) -> float:
    return int.from_bytes(hashlib.sha256(f"{seed}:{identity}".encode()).digest()[:8], "big") / 2**64


def partition(seed: str, identity: str) -> str:
    if draw(seed, identity) < 0.20:
        return "audit"
    return "development" if draw(seed + ":development", identity) < 0.25 else "training"


def question_key(model: str, classifier: Mapping[str, Any], configuration: Any, text: str, clock: str | None) -> str:
    """One name for one complete question, whatever the engine calls it."""
    parts = [model, classifier["question"], list(classifier["labels"]), configuration, text, clock]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


@dataclass
class RefItem:
    text: str
    partition: str
    number: float  # the permanent draw
    propensity: float = 0.0
    reason: str = ""


@dataclass(frozen=True)
class RefDecision:
    item: str
    sent: bool
    reason: str
    propensity: float


@dataclass
class RefReview:
    classifier: str
    item: str
    label: str | None
    selected_by: str
    corrects: str | None
    undone: bool = False


@dataclass(frozen=True)
class Frozen:
    """What a set holds of an item."""

    text: str
    label: str
    propensity: float


@dataclass(frozen=True)
class RefSet:
    classifier: str
    frozen_at: datetime
    items: Mapping[str, Frozen]

    @property
    def pairs(self) -> set[tuple[str, str]]:
        return {(identity, frozen.label) for identity, frozen in self.items.items()}


@dataclass
class RefEvaluation:
    """What was confirmed; `calls` are those that reached the model on its behalf."""

    classifier: str
    set_id: str
    after: tuple[int, int]
    minimum: int
    model: str
    bound: int
    calls: int = 0
    asked: set[str] = field(default_factory=set)
    answered: set[str] = field(default_factory=set)


@dataclass
class RefClassifier:
    labels: tuple[str, ...]
    question: str
    uses_clock: bool
    configurations: dict[int, Any] = field(default_factory=dict)  # by the version's number
    active: tuple[int, int] = (1, 0)  # version, refit
    newest_set: str | None = None
    training_reviews: int = 0
    learned_from: int = 0  # the training reviews of the last step
    steps: int = 0
    taught: set[str] = field(default_factory=set)  # items that a person chose and a step has read

    def definition(self) -> dict[str, Any]:
        return {"question": self.question, "labels": self.labels}


@dataclass
class Reference:
    seed: str
    learn_every: int
    classifiers: dict[str, RefClassifier]
    items: dict[str, RefItem] = field(default_factory=dict)
    decisions: dict[str, RefDecision] = field(default_factory=dict)
    reviews: dict[str, RefReview] = field(default_factory=dict)  # in the order in which they came
    sets: dict[str, RefSet] = field(default_factory=dict)
    evaluations: dict[str, RefEvaluation] = field(default_factory=dict)
    request_ids: dict[str, tuple[str, Any]] = field(default_factory=dict)
    stored: set[str] = field(default_factory=set)  # keys of the questions whose answers are kept

    # -- Section 1: decisions and reviews

    def decide(
        self,
        decision: str,
        identity: str,
        text: str,
        *,
        confidence: float,
        review_rate: float,
        audit_rate: float,
        low_confidence: float | None,
    ) -> RefDecision:
        item = self.items.setdefault(
            identity, RefItem(text, partition(self.seed, identity), draw(self.seed + ":selection", identity))
        )
        rate, reason = max(review_rate, audit_rate), ""
        if low_confidence is not None and confidence < low_confidence:
            rate, reason = 1.0, "low-confidence"
        elif item.number < rate:
            reason = "audit" if item.number < audit_rate else "program"
        item.propensity = max(item.propensity, rate)
        item.reason = item.reason or reason
        made = RefDecision(identity, bool(item.reason), item.reason, item.propensity)
        self.decisions[decision] = made
        return made

    def selection(self, classifier: str, decision: str, label: str | None, said: str | None) -> str | None:
        """Who selected a review of the decision; None where what the caller says is refused."""
        made = self.decisions[decision]
        corrected = self.corrected_by(classifier, made.item) if label is not None else None
        derived = self.reviews[corrected].selected_by if corrected else made.reason or PERSON
        return derived if said in (None, derived) else PERSON if said == PERSON else None

    def corrected_by(self, classifier: str, item: str) -> str | None:
        """The review that a new label of the item would correct."""
        labelled = [name for name, review in self._active(classifier, item) if review.label is not None]
        return labelled[-1] if labelled else None

    def review(self, identity: str, classifier: str, decision: str, label: str | None, said: str | None) -> RefReview:
        item = self.decisions[decision].item
        selected_by = self.selection(classifier, decision, label, said)
        assert selected_by is not None
        corrected = self.corrected_by(classifier, item) if label is not None else None
        self.reviews[identity] = made = RefReview(classifier, item, label, selected_by, corrected)
        if label is not None and (self.items[item].partition == "training" or item in self.chosen(classifier)):
            self.classifiers[classifier].training_reviews += 1
        return made

    def _active(self, classifier: str, item: str) -> list[tuple[str, RefReview]]:
        return [
            (name, review)
            for name, review in self.reviews.items()
            if review.classifier == classifier and review.item == item and not review.undone
        ]

    def chosen(self, classifier: str) -> set[str]:
        """The items that a person chose: they train then, and for good once they have taught."""
        active = {
            review.item
            for review in self.reviews.values()
            if review.classifier == classifier and review.selected_by == PERSON and not review.undone
        }
        return active | self.classifiers[classifier].taught

    def labels(self, classifier: str, use: str | None = None) -> dict[str, str]:
        """The label of each item that counts, where it may be used for `use`."""
        newest: dict[str, str | None] = {}
        for review in self.reviews.values():
            if review.classifier == classifier and not review.undone:
                newest[review.item] = review.label
        chosen = self.chosen(classifier)
        return {
            item: label
            for item, label in newest.items()
            if label is not None and use in (None, "training" if item in chosen else self.items[item].partition)
        }

    def waiting(self, classifier: str) -> set[str]:
        """Items that were sent and have no active review."""
        reviewed = {
            review.item for review in self.reviews.values() if review.classifier == classifier and not review.undone
        }
        return {identity for identity, item in self.items.items() if item.reason} - reviewed

    # -- Section 2: freezing

    def eligible(self, classifier: str) -> dict[str, Frozen]:
        return {
            identity: Frozen(self.items[identity].text, label, self.items[identity].propensity)
            for identity, label in self.labels(classifier, "audit").items()
        }

    def new_labels(self, classifier: str) -> set[tuple[str, str]]:
        pairs = {(identity, frozen.label) for identity, frozen in self.eligible(classifier).items()}
        newest = self.classifiers[classifier].newest_set
        return pairs - self.sets[newest].pairs if newest else pairs

    # -- Sections 3 and 4: what an evaluation compares and costs

    def scored(self, classifier: str, set_id: str) -> dict[str, Frozen]:
        chosen = self.chosen(classifier)
        return {identity: item for identity, item in self.sets[set_id].items.items() if identity not in chosen}

    def labels_changed(self, classifier: str, identities: Iterable[str], set_id: str) -> int:
        now = self.labels(classifier)
        return sum(now.get(identity) != self.sets[set_id].items[identity].label for identity in identities)

    def column_key(self, classifier: str, set_id: str, version: int, text: str, model: str) -> str:
        """The question that one column puts about a text of a set."""
        known = self.classifiers[classifier]
        clock = self.sets[set_id].frozen_at.isoformat() if known.uses_clock else None
        return question_key(model, known.definition(), known.configurations[version], text, clock)

    def needed(self, classifier: str, set_id: str, after: int, model: str) -> set[str]:
        """Every distinct question of a comparison."""
        return {
            self.column_key(classifier, set_id, version, item.text, model)
            for item in self.scored(classifier, set_id).values()
            for version in (1, after)
        }

    def missing(self, classifier: str, set_id: str, after: int, model: str) -> set[str]:
        return self.needed(classifier, set_id, after, model) - self.stored

    # -- Learning

    def is_due(self, classifier: str) -> bool:
        known = self.classifiers[classifier]
        return known.training_reviews - known.learned_from >= self.learn_every

    def learned(self, classifier: str) -> None:
        """A step was made: what a person chose and it has read can never be scored again."""
        known = self.classifiers[classifier]
        known.steps += 1
        known.learned_from = known.training_reviews
        known.taught |= self.labels(classifier, "training").keys() & self.chosen(classifier)
