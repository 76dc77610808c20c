"""What a cyclotron is asked to decide. Source: spec held-out, section 1."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from cyclotron.core.errors import InvalidDefinitionError
from kapsoweb.foundation.canonical import check_text, digest

DEFAULT_LEARN_EVERY = 20
MAX_LABEL = 64
MAX_NAME = 64
MAX_LEARN_EVERY = 2**31 - 1  # what a database's integer holds


@dataclass(frozen=True)
class ClassifierDefinition:
    """One decision about an item: an ordered list of labels, a question, and the field of the item that is read.

    `rubric` and `priming` (pairs of text and label) are what version 1 starts from. `positive_label` names the label
    whose precision and recall are reported; `uses_clock` makes the request clock part of every request.
    """

    name: str
    labels: tuple[str, ...]
    question: str
    input_field: str = "text"
    positive_label: str | None = None
    rubric: str = ""
    priming: tuple[tuple[str, str], ...] = ()
    uses_clock: bool = False

    def __post_init__(self) -> None:
        for what, text in (
            ("a classifier's name", self.name),
            ("a classifier's question", self.question),
            ("a classifier's input field", self.input_field),
        ):
            if not isinstance(text, str) or not text.strip():
                raise InvalidDefinitionError(f"{what} must be text that is not empty.")
            check_text(text, what)
        if not isinstance(self.rubric, str):
            raise InvalidDefinitionError("the rubric must be text.")
        check_text(self.rubric, "the rubric")
        if len(self.name) > MAX_NAME:
            raise InvalidDefinitionError(f"a classifier's name may have {MAX_NAME} characters at most.")
        if isinstance(self.labels, str) or len(self.labels) < 2:
            raise InvalidDefinitionError("a classifier needs at least two labels.", labels=list(self.labels))
        for label in self.labels:
            if not isinstance(label, str) or not label.strip() or label != label.strip() or len(label) > MAX_LABEL:
                raise InvalidDefinitionError(
                    f"a label must be text of 1 to {MAX_LABEL} characters without space at its ends.", label=label
                )
            check_text(label, "a label")
        if len(set(self.labels)) != len(self.labels):
            raise InvalidDefinitionError("labels must differ from one another.", labels=list(self.labels))
        if self.positive_label is not None and self.positive_label not in self.labels:
            raise InvalidDefinitionError(
                "the positive label must be one of the labels.",
                positiveLabel=self.positive_label,
                labels=list(self.labels),
            )
        for text, label in self.priming:
            check_text(text, "a priming example")
            if label not in self.labels:
                raise InvalidDefinitionError("a priming example must carry one of the labels.", label=label)

    def as_json(self) -> dict[str, Any]:
        """The definition with camelCase keys, as it is stored and fingerprinted."""
        return {
            "name": self.name,
            "labels": list(self.labels),
            "question": self.question,
            "inputField": self.input_field,
            "positiveLabel": self.positive_label,
            "rubric": self.rubric,
            "priming": [{"text": text, "label": label} for text, label in self.priming],
            "usesClock": self.uses_clock,
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "ClassifierDefinition":
        """Read what `as_json` wrote."""
        return cls(
            name=value["name"],
            labels=tuple(value["labels"]),
            question=value["question"],
            input_field=value["inputField"],
            positive_label=value["positiveLabel"],
            rubric=value["rubric"],
            priming=tuple((example["text"], example["label"]) for example in value["priming"]),
            uses_clock=value["usesClock"],
        )


@dataclass(frozen=True)
class CyclotronDefinition:
    """One AI decision about one kind of item: its seed and its classifiers, in order.

    `learn_every` is the number of new training reviews after which learning is due; it is a setting of the store and
    no part of the fingerprint. None leaves a store's setting as it is, and is 20 for a new one.
    """

    seed: str
    classifiers: tuple[ClassifierDefinition, ...]
    learn_every: int | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.seed, str) or not self.seed:
            raise InvalidDefinitionError("a cyclotron needs a seed: text that is not empty.")
        check_text(self.seed, "the seed")
        if not self.classifiers:
            raise InvalidDefinitionError("a cyclotron needs at least one classifier.")
        names = [classifier.name for classifier in self.classifiers]
        if len(set(names)) != len(names):
            raise InvalidDefinitionError("the classifiers of a cyclotron must have different names.", names=names)
        if self.learn_every is not None:
            check_learn_every(self.learn_every)

    @property
    def fingerprint(self) -> str:
        """Digest of the seed and the classifiers: a store refuses a definition whose fingerprint changed."""
        return digest({"seed": self.seed, "classifiers": [item.as_json() for item in self.classifiers]})


def check_learn_every(learn_every: int) -> int:
    """Return a learning interval unless it is no whole number from 1; raises `InvalidDefinitionError`."""
    if isinstance(learn_every, bool) or not isinstance(learn_every, int) or not 1 <= learn_every <= MAX_LEARN_EVERY:
        raise InvalidDefinitionError(f"learn_every must be a whole number of reviews, 1 to {MAX_LEARN_EVERY:,}.")
    return learn_every
