"""Items as a list shows them: what was decided first and last, and what changed in between."""

from dataclasses import dataclass
from datetime import datetime

from cyclotron.core.wording import NONE, percent
from cyclotron.presentation.figures import signed
from cyclotron.queries import DecisionShown, ItemRow

WAITING = "waiting"
STATES = {
    WAITING: "waits for review",
    "reviewed": "reviewed",
    "closed": "closed without a label",
    "not-sent": "not sent to review",
}
_LEAST_POINTS = 0.05  # what moves less shows as no change at one decimal


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
    waits: bool
    first: Decided | None
    latest: Decided | None
    change: str
    label_changed: bool
    label: str
    agreement: str


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
        waits=row.state == WAITING,
        first=None if first is None else decided(first),
        latest=None if latest is None else decided(latest),
        change=change_between(first, latest),
        label_changed=row.changed,
        label=label,
        agreement=agreement,
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
    points = 100 * (latest.confidence - first.confidence)
    moved = ["label changed"] if first.label != latest.label else []
    if abs(points) >= _LEAST_POINTS:
        moved.append(f"confidence {signed(points)} points")
    if first.version != latest.version:
        moved.append(f"version {_version(first)} → {_version(latest)}")
    elif first.refit != latest.refit:
        moved.append(f"refit {first.refit or NONE} → {latest.refit or NONE}")
    return ", ".join(moved) or "nothing"


def _version(shown: DecisionShown) -> str:
    return str(shown.version) if shown.version else "elsewhere"
