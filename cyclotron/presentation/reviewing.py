"""An item as its reviewer sees it: its text, why it was sent, what was decided, and the labels with their keys."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from cyclotron.core.draws import AUDIT_DRAW, LOW_CONFIDENCE, PROGRAM
from cyclotron.core.wording import percent
from cyclotron.queries import Assignment
from kapsoweb.foundation.canonical import canonical_json

KEYS = 9  # labels beyond the ninth have no key of their own

_REASONS = {
    PROGRAM: "The review program sent it.",
    AUDIT_DRAW: "The random audit drew it.",
}


@dataclass(frozen=True)
class Choice:
    """A label that may be given; `key` is the digit that gives it, or empty."""

    label: str
    key: str


@dataclass(frozen=True)
class Share:
    """A label's probability: in words, and from 0 to 100 for a bar; `decided` marks the label that was decided."""

    label: str
    text: str
    hundredths: float
    decided: bool


@dataclass(frozen=True)
class ValueField:
    """Another field of an item's values, as text."""

    name: str
    text: str


@dataclass(frozen=True)
class ReviewView:
    """All that the review page shows of the item in hand."""

    assignment_id: str
    item_key: int
    item_id: str
    text: str
    fields: tuple[ValueField, ...]
    reason: str
    decided: str
    confidence: str
    shares: tuple[Share, ...]
    choices: tuple[Choice, ...]
    expires_at: datetime
    skipped_before: bool


def review_view(assignment: Assignment, *, labels: Sequence[str], input_field: str) -> ReviewView:
    """The page's view of an assignment."""
    confidence = percent(assignment.confidence)
    return ReviewView(
        assignment_id=assignment.id,
        item_key=assignment.item_key,
        item_id=assignment.item_id,
        text=str(assignment.values[input_field]),
        fields=other_fields(assignment.values, input_field),
        reason=reason_words(assignment.reason, confidence),
        decided=assignment.label or "",
        confidence=confidence,
        shares=shares_of(assignment.probabilities, assignment.label, labels),
        choices=tuple(choices(labels)),
        expires_at=assignment.expires_at,
        skipped_before=assignment.skipped_before,
    )


def reason_words(reason: str, confidence: str) -> str:
    """Why a decision was sent to review, in a sentence."""
    if reason == LOW_CONFIDENCE:
        return f"The classifier was unsure: its confidence was {confidence}."
    return _REASONS.get(reason, "It was not sent to review.")


def choices(labels: Sequence[str]) -> list[Choice]:
    """The labels with the digits that give them."""
    return [Choice(label, str(place) if place <= KEYS else "") for place, label in enumerate(labels, start=1)]


def shares_of(probabilities: Mapping[str, float], decided: str | None, labels: Sequence[str]) -> tuple[Share, ...]:
    """Every label's probability, in the declared order; a label that the decision says nothing of has none."""
    return tuple(
        Share(label, percent(probabilities[label]), round(100 * probabilities[label], 2), label == decided)
        for label in labels
        if label in probabilities
    )


def other_fields(values: Mapping[str, Any], input_field: str) -> tuple[ValueField, ...]:
    """The values beside the one that is decided: text as it stands, everything else as JSON."""
    return tuple(
        ValueField(name, value if isinstance(value, str) else canonical_json(value).decode())
        for name, value in values.items()
        if name != input_field
    )
