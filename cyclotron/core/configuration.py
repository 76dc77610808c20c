"""What an endpoint puts into its requests, and what a model answers.

A request is the complete question put to a decision model. Its fingerprint is SHA-256 over the digests of its parts, so
the bound of a large set never serialises a prompt. Source: spec held-out, section 4.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from cyclotron.core.definition import ClassifierDefinition
from kapsoweb.foundation.canonical import digest, digest_of_parts


@dataclass(frozen=True)
class Example:
    """A labelled text that is shown to the model."""

    text: str
    label: str


@dataclass(frozen=True)
class SupportingQuestion:
    """A question whose answer, a share in 0..1, supports the decision and is a feature of the ML model.

    `text` is what a person or a language model reads. `criteria` are learned term weights and `bias` a constant, both
    on the logit scale; the embedded model answers from them.
    """

    id: str
    text: str
    criteria: Mapping[str, float]
    bias: float = 0.0


@dataclass(frozen=True)
class Configuration:
    """A version's rubric, examples, supporting questions and learned term weights (empty in version 1)."""

    rubric: str
    examples: tuple[Example, ...] = ()
    questions: tuple[SupportingQuestion, ...] = ()
    term_weights: Mapping[str, float] = field(default_factory=dict)

    @classmethod
    def seed_of(cls, definition: ClassifierDefinition) -> "Configuration":
        """Version 1 as a store is created: the seed rubric and the priming examples, nothing learned."""
        return cls(definition.rubric, tuple(Example(text, label) for text, label in definition.priming))

    def as_json(self) -> dict[str, Any]:
        """Plain JSON with camelCase keys."""
        return {
            "rubric": self.rubric,
            "examples": [{"text": example.text, "label": example.label} for example in self.examples],
            "questions": [
                {"id": item.id, "text": item.text, "criteria": dict(item.criteria), "bias": item.bias}
                for item in self.questions
            ],
            "termWeights": dict(self.term_weights),
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "Configuration":
        """Read what `as_json` wrote."""
        return cls(
            rubric=value["rubric"],
            examples=tuple(Example(item["text"], item["label"]) for item in value["examples"]),
            questions=tuple(
                SupportingQuestion(item["id"], item["text"], item["criteria"], item["bias"])
                for item in value["questions"]
            ),
            term_weights=value["termWeights"],
        )


@dataclass(frozen=True)
class Endpoint:
    """A classifier's definition with one version's configuration: a request without its item, model and clock."""

    definition: ClassifierDefinition
    configuration: Configuration

    @cached_property
    def digest(self) -> str:
        """Digest of the labels, the question and the configuration."""
        return digest(
            {
                "labels": list(self.definition.labels),
                "positiveLabel": self.definition.positive_label,
                "question": self.definition.question,
                "configuration": self.configuration.as_json(),
            }
        )


@dataclass(frozen=True)
class DecisionRequest:
    """The complete question put to a decision model. `clock` is an ISO 8601 time in UTC, or None where unused."""

    model: str
    endpoint: Endpoint
    text: str
    clock: str | None = None

    @cached_property
    def fingerprint(self) -> str:
        """Identity of the request: two requests with one fingerprint are one request."""
        return request_fingerprint(self.model, self.endpoint.digest, input_digest(self.text), self.clock)


def input_digest(text: str) -> str:
    """Digest of the item's part in a request: the text of the classifier's input field."""
    return digest(text)


def request_fingerprint(model: str, endpoint_digest: str, text_digest: str, clock: str | None) -> str:
    """SHA-256 over the digests of a request's parts, as 64 hexadecimal digits."""
    return digest_of_parts(model, endpoint_digest, text_digest, clock or "")


@dataclass(frozen=True)
class Answer:
    """What a model answered: its label (perhaps none of the declared ones), a probability in 0..1 for each declared
    label (they sum to 1), an answer in 0..1 for each supporting question, and the tokens it counted."""

    label: str
    probabilities: Mapping[str, float]
    answers: Mapping[str, float]
    tokens_in: int = 0
    tokens_out: int = 0

    def as_json(self) -> dict[str, Any]:
        """Plain JSON with camelCase keys; tokens are stored beside it."""
        return {"label": self.label, "probabilities": dict(self.probabilities), "answers": dict(self.answers)}


@dataclass(frozen=True)
class Decided:
    """A classifier's decision: label, its confidence (the probability that it is right) and all probabilities."""

    label: str
    confidence: float
    probabilities: Mapping[str, float]
