"""Items as a list shows them and as a page of their own does: what was decided first and last, and what changed."""

from dataclasses import dataclass
from datetime import datetime

from cyclotron.core.definition import ClassifierDefinition
from cyclotron.core.draws import AUDIT, DEVELOPMENT
from cyclotron.core.wording import percent
from cyclotron.presentation.figures import short_digest, signed
from cyclotron.presentation.reviewing import ValueField, other_fields, reason_words
from cyclotron.queries import DecisionRow, DecisionShown, ItemHistory, ItemRow, OutputShown, ReviewRow

STATES = {
    "waiting": "waits for review",
    "reviewed": "reviewed",
    "closed": "closed without a label",
    "not-sent": "not sent to review",
}
_PARTITIONS = {
    AUDIT: "audit: its labels are never learned from; they measure",
    DEVELOPMENT: "development: its labels choose between versions",
}
_SELECTED = {
    "program": "sent by the review program",
    "low-confidence": "sent for its low confidence",
    "audit": "drawn by the random audit",
    "reviewer": "chosen by the reviewer",
}


@dataclass(frozen=True)
class Decided:
    """A decision in a few words: label, confidence, and the version (with its refit) that decided."""

    label: str
    confidence: str
    version: str
    at: datetime


@dataclass(frozen=True)
class ItemView:
    """A row of the list. `change` says what moved between the first and the latest decision, or is empty."""

    key: int
    identity: str
    partition: str
    state: str
    first: Decided | None
    latest: Decided | None
    change: str
    label_changed: bool
    label: str
    agreement: str


@dataclass(frozen=True)
class Step:
    """A decision in an item's history, with what changed since the one before it."""

    decided: Decided
    reason: str
    propensity: str
    foreign: bool
    change: str


@dataclass(frozen=True)
class ReviewStep:
    """A review in an item's history."""

    review_id: str
    label: str
    reviewer: str
    selected: str
    corrects: bool
    explanation: str
    reason_code: str
    at: datetime
    undone_at: datetime | None
    undone_by: str


@dataclass(frozen=True)
class Membership:
    """A held-out set that holds the item, by the beginning of its id."""

    digest: str
    frozen_at: datetime
    label: str


@dataclass(frozen=True)
class ItemPage:
    """All that an item's own page shows."""

    row: ItemView
    text: str
    fields: tuple[ValueField, ...]
    partition: str
    use: str
    propensity: str
    steps: tuple[Step, ...]
    reviews: tuple[ReviewStep, ...]
    sets: tuple[Membership, ...]
    latest_decision: str


def item_view(row: ItemRow) -> ItemView:
    """An item as a row."""
    first, latest = row.first, row.latest
    label = (row.review.label or "") if row.review else ""
    agreement = ""
    if label and latest is not None:
        agreement = "agrees" if latest.label == label else "disagrees"
    return ItemView(
        key=row.key,
        identity=row.identity,
        partition=row.partition,
        state=STATES[row.state],
        first=None if first is None else decided(first),
        latest=None if latest is None else decided(latest),
        change=change_between(first, latest),
        label_changed=row.changed,
        label=label,
        agreement=agreement,
    )


def item_page(found: ItemHistory, definition: ClassifierDefinition) -> ItemPage:
    """An item's own page, for one classifier."""
    steps: list[Step] = []
    before: DecisionShown | None = None
    for row in reversed(found.decisions):
        now = _shown(row, row.outputs[definition.name])
        step = Step(
            decided=decided(now),
            reason=reason_words(row.reason, percent(now.confidence)),
            propensity=f"{row.propensity:.3g}",
            foreign=row.foreign,
            change=change_between(before, now),
        )
        steps.insert(0, step)
        before = now
    field = definition.input_field
    text = found.values.get(field)
    return ItemPage(
        row=item_view(found.row),
        text=text if isinstance(text, str) else "",
        fields=other_fields(found.values, field),
        partition=_PARTITIONS.get(found.row.partition, "training: its labels teach"),
        use="" if found.label is None else found.label.use + (", by a reviewer's choice" if found.label.chosen else ""),
        propensity="" if found.propensity is None else f"{found.propensity:.3g}",
        steps=tuple(steps),
        reviews=tuple(_review(each) for each in found.reviews),
        sets=tuple(Membership(short_digest(each.set_id), each.frozen_at, each.label) for each in found.sets),
        latest_decision=found.decisions[0].decision_id if found.decisions else "",
    )


def decided(shown: DecisionShown) -> Decided:
    """A decision in a few words."""
    by = f"version {shown.version}" if shown.version else "elsewhere"
    return Decided(
        label=shown.label or "",
        confidence=percent(shown.confidence),
        version=f"{by}, refit {shown.refit}" if shown.refit else by,
        at=shown.decided_at,
    )


def change_between(first: DecisionShown | None, latest: DecisionShown | None) -> str:
    """What moved from one decision to a later one, in words; empty for one and the same and for none."""
    if first is None or latest is None or first.decision_id == latest.decision_id:
        return ""
    moved = []
    if first.label != latest.label:
        moved.append("label changed")
    points = 100 * (latest.confidence - first.confidence)
    moved.append(f"confidence {signed(points)} points" if abs(points) >= 0.05 else "same confidence")
    if (first.version, first.refit) == (latest.version, latest.refit):
        moved.append("same version")
    return ", ".join(moved)


def _shown(row: DecisionRow, output: OutputShown) -> DecisionShown:
    return DecisionShown(
        decision_id=row.decision_id,
        label=output.label,
        confidence=output.confidence,
        version=output.version,
        refit=output.refit,
        decided_at=row.decided_at,
        reason=row.reason,
        sent=row.sent,
        propensity=row.propensity,
    )


def _review(row: ReviewRow) -> ReviewStep:
    return ReviewStep(
        review_id=row.review_id,
        label=row.label or "",
        reviewer=row.reviewer,
        selected=_SELECTED[row.selected_by],
        corrects=row.corrects is not None,
        explanation=row.explanation,
        reason_code=row.reason_code,
        at=row.recorded_at,
        undone_at=row.undone_at,
        undone_by=row.undone_by,
    )
