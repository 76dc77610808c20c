"""Every kind of event is told in words, and what has a page is marked as leading there."""

from datetime import UTC, datetime
from typing import Any

import pytest

from cyclotron.presentation.event_list import GROUPS, Part, event_row

AT = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


def told(kind: str, **detail: Any) -> str:
    """The event's kind and detail as one sentence."""
    row = event_row(sequence=1204, kind=kind, detail=detail, at=AT, keys={"tip-1": 7})
    return f"{row.kind}: {''.join(part.text for part in row.parts)}"


@pytest.mark.parametrize(
    ("kind", "detail", "sentence"),
    [
        ("created", {"fingerprint": "ab" * 32}, "Created: "),
        (
            "learning-interval-set",
            {"learnEvery": 1},
            "Learning interval set: learning is due after 1 new training review",
        ),
        (
            "decided",
            {"item": "tip-1", "labels": {"decision": "include"}, "sent": True, "reason": "audit", "propensity": 0.2},
            "Decided: tip-1: include, sent by the audit draw",
        ),
        (
            "decided",
            {"item": "tip-1", "labels": {"topic": "a", "urgent": None}, "sent": False, "reason": "", "propensity": 0.2},
            "Decided: tip-1: topic a, urgent none of the labels, not sent to review",
        ),
        (
            "review-recorded",
            {"item": "tip-1", "label": "include", "selectedBy": "reviewer"},
            "Reviewed: tip-1 is include, chosen by the reviewer",
        ),
        (
            "review-closed",
            {"item": "tip-1", "label": None, "selectedBy": "program"},
            "Closed without a label: tip-1 without a label, sent by the review rate",
        ),
        (
            "review-undone",
            {"item": "tip-1", "review": "rv_1", "classifier": "decision"},
            "Review undone: tip-1: the review before it, if there was one, counts again",
        ),
        (
            "learning-promoted",
            {"classifier": "decision", "step": 2, "trainingReviews": 1240, "version": 3, "refit": 0},
            "Learned: a new version is active: decision: step 2 from 1,240 training reviews; version 3, no ML model",
        ),
        (
            "held-out-set-frozen",
            {"classifier": "decision", "set": "3f2a91bc" + "0" * 56, "size": 2, "labels": {"yes": 1, "no": 1}},
            "Held-out set frozen: decision: set 3f2a91bc of 2 items (yes 1, no 1)",
        ),
        (
            "evaluation-confirmed",
            {"evaluation": "ev_1", "classifier": "decision", "bound": 1},
            "Evaluation confirmed: decision: up to 1 model request",
        ),
        ("evaluation-cancelling", {"evaluation": "ev_1"}, "Evaluation told to stop: "),
        (
            "evaluation-interrupted",
            {"evaluation": "ev_1", "reason": "cancelled", "unanswered": 12},
            "Evaluation interrupted: It was cancelled. 12 answers missing",
        ),
        (
            "evaluation-done",
            {"report": "rep_1", "verdict": "no-clear-change", "newRequests": 1},
            "Evaluation finished: report: no clear change, 1 new request",
        ),
        (
            "file-imported",
            {"import": "imp_1", "recorded": 1, "known": 0, "bad": 43},
            "File brought in: file: 1 row recorded, 0 known before, 43 bad",
        ),
        (
            "decisions-imported",
            {"recorded": 1200, "known": 3, "first": "d_1"},
            "Decisions brought in: 1,200 decisions made elsewhere, 3 known before",
        ),
        ("something-new", {"count": 3, "of": "x"}, "Something new: count 3, of x"),
    ],
)
def test_an_event_is_told_in_a_sentence(kind: str, detail: dict[str, Any], sentence: str) -> None:
    assert told(kind, **detail) == sentence


def test_an_item_leads_to_its_page_by_its_key_and_a_report_by_its_id() -> None:
    reviewed = {"item": "tip-1", "label": "عاجل", "selectedBy": "audit"}
    parts = event_row(sequence=1, kind="review-recorded", detail=reviewed, at=AT, keys={"tip-1": 7}).parts
    assert parts[0] == Part("tip-1", own=True, item=7)
    assert Part("عاجل", own=True) in parts
    finished = {"report": "rep_1", "verdict": "improved", "newRequests": 2}
    parts = event_row(sequence=1, kind="evaluation-done", detail=finished, at=AT, keys={}).parts
    assert parts[0].report == "rep_1"


def test_an_item_that_is_gone_is_named_without_a_way_to_it() -> None:
    detail = {"item": "tip-2", "label": "a", "selectedBy": "audit"}
    parts = event_row(sequence=1, kind="review-recorded", detail=detail, at=AT, keys={}).parts
    assert parts[0] == Part("tip-2", own=True)


def test_words_with_braces_are_left_as_they_are() -> None:
    said = told("review-recorded", item="{x}", label="{label}", selectedBy="audit")
    assert said.startswith("Reviewed: {x} is {label},")


@pytest.mark.parametrize(
    "kind",
    [
        "created",
        "decided",
        "review-undone",
        "learning-kept",
        "learning-interval-set",
        "evaluation-done",
        "file-imported",
        "decisions-imported",
    ],
)
def test_every_kind_belongs_to_one_group(kind: str) -> None:
    assert len([group for group in GROUPS if kind.startswith(group.prefixes)]) == 1
