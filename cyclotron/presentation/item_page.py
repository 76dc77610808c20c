"""One item's own page: its text, its decisions and reviews in time, and the held-out sets and reports that count it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from cyclotron.core.definition import ClassifierDefinition
from cyclotron.core.draws import AUDIT, DEVELOPMENT
from cyclotron.presentation.figures import short_digest
from cyclotron.presentation.item_list import NO_LABEL
from cyclotron.presentation.items import Decided, ItemView, change_between, decided, item_view
from cyclotron.presentation.reviewing import ValueField, other_fields, reason_words
from cyclotron.presentation.sentences import OUTCOME_WORDS
from cyclotron.queries import (
    DecisionRow,
    DecisionShown,
    ItemHistory,
    ItemInReport,
    OutputShown,
    ReviewRow,
    SetMembership,
)

_LONG = 2_000  # letters of text from which on it is shown in a box that scrolls by itself

_PARTITIONS = {
    AUDIT: "audit: its labels are never learned from; they measure",
    DEVELOPMENT: "development: its labels choose between versions",
}
_TRAINING = "training: its labels teach"
_SELECTED = {
    "program": "sent by the review program",
    "low-confidence": "sent for its low confidence",
    "audit": "sent by the random audit",
    "reviewer": "chosen by the reviewer",
}


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
class Counted:
    """A held-out set that holds the item, with what one report over it says of the item, or why none does."""

    digest: str
    frozen_at: datetime
    label: str
    report_id: str = ""
    reported_at: datetime | None = None
    before: str = ""
    after: str = ""
    outcome: str = ""
    tone: str = ""
    reason: str = ""


@dataclass(frozen=True)
class ItemPage:
    """All that an item's own page shows."""

    row: ItemView
    text: str
    long: bool
    fields: tuple[ValueField, ...]
    partition: str
    use: str
    propensity: str
    steps: tuple[Step, ...]
    reviews: tuple[ReviewStep, ...]
    held_out: tuple[Counted, ...]
    latest_decision: str


def item_page(
    found: ItemHistory, definition: ClassifierDefinition, in_reports: Sequence[ItemInReport] = ()
) -> ItemPage:
    """An item's own page, for one classifier."""
    field = definition.input_field
    text = found.values.get(field)
    text = text if isinstance(text, str) else ""
    return ItemPage(
        row=item_view(found.row),
        text=text,
        long=len(text) > _LONG,
        fields=other_fields(found.values, field),
        partition=_PARTITIONS.get(found.row.partition, _TRAINING),
        use="" if found.label is None else found.label.use + (", by a reviewer's choice" if found.label.chosen else ""),
        propensity="" if found.propensity is None else f"{found.propensity:.3g}",
        steps=_steps(found.decisions, definition.name),
        reviews=tuple(_review(each) for each in found.reviews),
        held_out=tuple(row for held in found.sets for row in _counted(held, in_reports)),
        latest_decision=found.decisions[0].decision_id if found.decisions else "",
    )


def _steps(decisions: Sequence[DecisionRow], classifier: str) -> tuple[Step, ...]:
    """Decisions, newest first, each with what changed since the one before it in time."""
    shown = [_shown(row, row.outputs[classifier]) for row in decisions]
    return tuple(
        Step(
            decided=decided(now),
            reason=reason_words(row.reason),
            propensity=f"{row.propensity:.3g}",
            foreign=row.foreign,
            change=change_between(before, now),
        )
        for row, now, before in zip(decisions, shown, [*shown[1:], None], strict=False)
    )


def _counted(held: SetMembership, in_reports: Sequence[ItemInReport]) -> list[Counted]:
    """One row for each report over the set, or one that says that there is none."""
    of_set = (short_digest(held.set_id), held.frozen_at, held.label)
    reports = [each for each in in_reports if each.set_id == held.set_id]
    return [_said(of_set, each) for each in reports] or [Counted(*of_set, reason="no report counts it yet")]


def _said(of_set: tuple[str, datetime, str], report: ItemInReport) -> Counted:
    if report.outcome is None:
        left_out = "left out: a reviewer had chosen it by then"
        return Counted(*of_set, report.report_id, report.created_at, reason=left_out)
    words = OUTCOME_WORDS[report.outcome]
    return Counted(
        *of_set,
        report.report_id,
        report.created_at,
        before=report.before or NO_LABEL,
        after=report.after or NO_LABEL,
        outcome=words.name,
        tone=words.tone,
    )


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
