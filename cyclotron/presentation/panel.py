"""The held-out panel: what its button says, why it is off, and what runs. Source: spec held-out, section 9."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from cyclotron.core.overview import InterruptedEvaluation, Overview, RunningEvaluation, Status
from cyclotron.core.wording import counted, grouped
from cyclotron.presentation.figures import elapsed, short_digest
from cyclotron.presentation.report_page import Fact
from kapsoweb.foundation.errors import KapsoError
from kapsoweb.foundation.wording import sentence_case

CANCELLED = "cancelled"
STALE = frozenset({"bound-changed", "plan-changed"})
STALE_ADVICE = "The button below shows what an evaluation would take now; press it to confirm that."


@dataclass(frozen=True)
class Progress:
    """A running evaluation. `quarter` (0 to 4) grows with what is done; screen readers hear of a new quarter only."""

    evaluation_id: str
    title: str
    done: int
    total: int
    text: str
    requests: str
    elapsed: str
    note: str
    can_cancel: bool
    quarter: int
    announcement: str


@dataclass(frozen=True)
class Interruption:
    """An evaluation that ended without a report: what happened, what is kept, what is left and what it would cost."""

    title: str
    error_id: str
    message: str
    ended_at: datetime
    kept: str
    left: str


@dataclass(frozen=True)
class Refusal:
    """A command that was refused: what happened, and what to do when the page can say more than the error."""

    title: str
    error_id: str
    message: str
    advice: str


@dataclass(frozen=True)
class PanelView:
    """The panel's actions and states; the newest report and the history are shown beside it."""

    button: str
    bound: int
    plan: str
    disabled_reason: str
    freeze: str
    can_freeze: bool
    set_digest: str
    set_id: str
    frozen_at: datetime | None
    set_facts: Sequence[Fact]
    progress: Progress | None
    interruption: Interruption | None


def panel_view(overview: Overview, now: datetime, *, worker_alive: bool) -> PanelView:
    """Translate an overview, seen at `now`; `worker_alive` says whether anybody is there to run an evaluation."""
    current = overview.current_set
    bound = overview.request_bound or 0
    return PanelView(
        button=f"Evaluate (up to {bound} model requests)",
        bound=bound,
        plan=overview.plan_digest or "",
        disabled_reason=sentence_case(overview.disabled_reason or ""),
        freeze=f"Freeze {counted(overview.new_labels, 'new label')}",
        can_freeze=overview.new_labels > 0,
        set_digest=short_digest(current.id) if current else "",
        set_id=current.id if current else "",
        frozen_at=current.frozen_at if current else None,
        set_facts=_set_facts(current.size, current.label_counts, overview.labels) if current else [],
        progress=progress_of(overview.running, now, worker_alive=worker_alive) if overview.running else None,
        interruption=_interruption(overview.interrupted, bound) if overview.interrupted else None,
    )


def progress_of(running: RunningEvaluation, now: datetime, *, worker_alive: bool) -> Progress:
    """How far a running evaluation has come."""
    quarter = running.done * 4 // running.total if running.total else 0
    cancelling = running.state == "cancelling"
    title = "Evaluation stopping" if cancelling else "Evaluation running"
    return Progress(
        evaluation_id=running.id,
        title=title,
        done=running.done,
        total=running.total,
        text=f"{grouped(running.done)} of {counted(running.total, 'answer')}",
        requests=f"{grouped(running.requests_used)} of {counted(running.bound, 'confirmed request')} used",
        elapsed=elapsed(running.started_at, now),
        note="" if worker_alive else "No worker is alive; it goes on as soon as one is.",
        can_cancel=not cancelling,
        quarter=quarter,
        announcement=f"{title}: {quarter * 25}% done." if quarter else f"{title}.",
    )


def refusal_of(error: KapsoError) -> Refusal:
    """A refused command as the panel shows it. Whatever is refused here was refused before anything was spent."""
    if error.id in STALE:
        return Refusal("The cost has changed; nothing was spent", error.id, sentence_case(error.message), STALE_ADVICE)
    return Refusal("Not done; nothing was spent", error.id, sentence_case(error.message), "")


def _set_facts(size: int, counts: Mapping[str, int], labels: Sequence[str]) -> list[Fact]:
    return [Fact("Items", grouped(size))] + [Fact(label, grouped(counts.get(label, 0))) for label in labels]


def _interruption(ended: InterruptedEvaluation, bound: int) -> Interruption:
    cost = "nothing" if bound == 0 else f"up to {counted(bound, 'model request')}"
    return Interruption(
        title="Evaluation cancelled" if ended.reason == CANCELLED else "Evaluation interrupted",
        error_id=ended.reason,
        message=sentence_case(ended.message),
        ended_at=ended.ended_at,
        kept=(
            f"{counted(ended.answers_kept, 'answer')} kept, {counted(ended.requests_used, 'request')} used. "
            "No report was written, and no missing answer counts as wrong."
        ),
        left=f"{counted(ended.unanswered, 'answer')} missing; finishing costs {cost}.",
    )


def status_facts(status: Status, *, when_due: str) -> list[Fact]:
    """A cyclotron's counts, each with its unit and what it is made of; `when_due` says what becomes of due learning."""
    reviews = sum(status.reviews.values())
    return [
        Fact(
            "Items",
            grouped(sum(status.items.values())),
            _parts(status.items),
        ),
        Fact("Decisions", grouped(status.decisions)),
        Fact(
            "Reviews",
            grouped(reviews),
            _parts(status.reviews),
        ),
        Fact(
            "Active version",
            f"{status.version} of {status.versions}",
            note=f"refitted {counted(status.refits, 'time')}",
        ),
        Fact(
            "Next learning",
            f"in {counted(status.next_learning_in, 'review')}" if status.next_learning_in > 0 else when_due,
            note=f"{counted(status.training_reviews, 'training review')} so far",
        ),
    ]


def _parts(counts: Mapping[str, int]) -> list[Fact]:
    return [Fact(name, grouped(count)) for name, count in counts.items()]
