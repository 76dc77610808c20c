"""An item as its reviewer sees it: its text, why it was sent, what was decided, and the labels with their keys."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from cyclotron.core.draws import AUDIT_DRAW, LOW_CONFIDENCE, PROGRAM
from cyclotron.core.wording import grouped, percent
from cyclotron.presentation.figures import quoted
from cyclotron.queries import AssignmentShown, LastAnswer, QueueState
from kapsoweb.foundation.canonical import canonical_json

KEYS = 9  # labels beyond the ninth have no key of their own
_SHORT = 40  # letters of an identity inside a sentence

_REASONS = {
    PROGRAM: "Sent by the review program.",
    LOW_CONFIDENCE: "Sent because the classifier was unsure.",
    AUDIT_DRAW: "Sent by the random audit.",
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
    """All that the review page shows of an assignment; `late` when its time has run out already."""

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
    late: bool
    skipped_before: bool


def review_view(assignment: AssignmentShown, *, labels: Sequence[str], input_field: str, now: datetime) -> ReviewView:
    """The page's view of an assignment."""
    return ReviewView(
        assignment_id=assignment.id,
        item_key=assignment.item_key,
        item_id=assignment.item_id,
        text=str(assignment.values[input_field]),
        fields=other_fields(assignment.values, input_field),
        reason=reason_words(assignment.reason),
        decided=assignment.label or "",
        confidence=percent(assignment.confidence),
        shares=shares_of(assignment.probabilities, assignment.label, labels),
        choices=tuple(choices(labels)),
        expires_at=assignment.expires_at,
        late=assignment.expires_at <= now,
        skipped_before=assignment.skipped_before,
    )


def reason_words(reason: str) -> str:
    """Why a decision was sent to review, in a sentence.

    No confidence is named: an item stays sent for what first sent it, also after decisions that were surer, and the
    least sure of a cyclotron's classifiers sends it for all of them.
    """
    return _REASONS.get(reason, "Not sent to review.")


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


def tally(queue: QueueState, *, held_here: bool, this_visit: int) -> str:
    """How far the queue is, and what the visitor has done of it in this visit."""
    done = f" You have reviewed {grouped(this_visit)} in this visit." if this_visit else ""
    reviewed = f"{grouped(queue.reviewed)} reviewed" if queue.reviewed else "none reviewed yet"
    return f"{_waiting(queue.waiting, queue.held - held_here)}; {reviewed}.{done}"


def _waiting(waiting: int, others: int) -> str:
    if not waiting:
        return "No item waits"
    said = "1 item waits" if waiting == 1 else f"{grouped(waiting)} items wait"
    if not others:
        return said
    if waiting == 1:
        return f"{said}, with another reviewer"
    return f"{said}, {'all' if others == waiting else grouped(others)} with other reviewers"


def recorded_words(label: str | None, answered: AssignmentShown | None) -> str:
    """What was recorded; and, for whoever kept it folded until then, what the classifier had decided."""
    said = "closed without a label" if label is None else quoted(label)
    if answered is None or label is None:
        return f"Recorded: {said}."
    if answered.label == label:
        return f"Recorded: {said}, as the classifier had decided."
    decided = "none of the labels" if answered.label is None else quoted(answered.label)
    return f"Recorded: {said}. The classifier had decided {decided}."


def answer_words(answer: LastAnswer) -> str:
    """An answer inside a sentence: `“include” on “item-7”`."""
    said = "the close without a label" if answer.label is None else quoted(answer.label)
    return f"{said} on {short_name(answer.item_id)}"


def short_name(identity: str) -> str:
    """An item's identity inside a sentence, cut where it is long."""
    return quoted(identity if len(identity) <= _SHORT else f"{identity[: _SHORT - 1]}…")
