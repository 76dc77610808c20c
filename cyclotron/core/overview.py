"""What the held-out panel shows, for a page, an API and the command line alike. Source: spec, sections 8 and 9."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any


@dataclass(frozen=True)
class SetSummary:
    """A frozen held-out set: its content-derived id, when it was frozen, its items and their number per label."""

    id: str
    frozen_at: datetime
    size: int
    label_counts: Mapping[str, int]


@dataclass(frozen=True)
class RunningEvaluation:
    """An evaluation under way. `done` of `total` requests have an answer; `requests_used` of `bound` were made."""

    id: str
    state: str
    done: int
    total: int
    requests_used: int
    bound: int
    started_at: datetime


@dataclass(frozen=True)
class InterruptedEvaluation:
    """The newest evaluation when it ended without a report: why (an error id and a sentence), and what was kept."""

    id: str
    reason: str
    message: str
    ended_at: datetime
    requests_used: int
    answers_kept: int
    unanswered: int


@dataclass(frozen=True)
class StoredReport:
    """A report as lists show it: its id and its document (see the schema), without the `items`."""

    id: str
    document: Mapping[str, Any]


@dataclass(frozen=True)
class Overview:
    """Everything the panel of one classifier needs. `request_bound` and `plan_digest` are what a person confirms.

    `request_bound` and `plan_digest` are None while no set is frozen. `disabled_reason` says in words why the button is
    off, or is None. `reports` are oldest first, ten at most.
    """

    cyclotron_id: str
    name: str
    classifier: str
    question: str
    labels: tuple[str, ...]
    positive_label: str | None
    live_enabled: bool
    minimum_per_label: int
    current_set: SetSummary | None
    new_labels: int
    request_bound: int | None
    plan_digest: str | None
    running: RunningEvaluation | None
    interrupted: InterruptedEvaluation | None
    disabled_reason: str | None
    reports: Sequence[StoredReport]


@dataclass(frozen=True)
class Status:
    """A cyclotron's counts: items by partition, decisions, reviews by label, the active version and its learning."""

    items: Mapping[str, int]
    decisions: int
    reviews: Mapping[str, int]
    version: int
    refits: int
    versions: int
    training_reviews: int
    next_learning_in: int
