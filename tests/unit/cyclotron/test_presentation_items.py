"""What a list of items and an item's own page say: what changed, whether a review agrees, and what the item is for."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from cyclotron.core.definition import ClassifierDefinition
from cyclotron.core.outcome import Outcome
from cyclotron.core.wording import MINUS
from cyclotron.labels import CurrentLabel
from cyclotron.presentation.item_page import item_page
from cyclotron.presentation.items import STATES, change_between, item_view
from cyclotron.queries import (
    ITEM_STATES,
    DecisionRow,
    DecisionShown,
    ItemHistory,
    ItemInReport,
    ItemRow,
    OutputShown,
    ReviewRow,
    ReviewShown,
    SetMembership,
)

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
DEFINITION = ClassifierDefinition("screening", ("include", "exclude"), "Is it about attention?")
FIRST = DecisionShown("dec_1", "include", 0.605, 1, 0, NOW, "program", True, 0.25)
SECOND = replace(FIRST, decision_id="dec_2", label="exclude", confidence=0.8, version=3, refit=2)


def row(**changed: Any) -> ItemRow:
    given: dict[str, Any] = {
        "key": 7,
        "identity": "item-7",
        "partition": "audit",
        "state": "reviewed",
        "first": FIRST,
        "latest": SECOND,
        "review": ReviewShown("r", "exclude", "ada", "program", NOW),
    }
    return ItemRow(**given | changed)


def made(decision: DecisionShown, *, foreign: bool = False) -> DecisionRow:
    output = OutputShown(decision.label, decision.confidence, {}, decision.version, decision.refit, "f")
    return DecisionRow(
        decision.decision_id,
        7,
        "item-7",
        decision.sent,
        decision.reason,
        decision.propensity,
        NOW,
        foreign,
        {"screening": output},
    )


def history(**changed: Any) -> ItemHistory:
    given: dict[str, Any] = {
        "row": row(),
        "values": {"text": "attention"},
        "propensity": 0.25,
        "created_at": NOW,
        "decisions": (made(SECOND), made(FIRST)),
        "reviews": (),
        "label": None,
        "sets": (),
    }
    return ItemHistory(**given | changed)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({}, "nothing"),
        ({"label": "exclude"}, "label changed"),
        ({"confidence": 0.637, "version": 3}, "confidence +3.2 points, version 1 → 3"),
        ({"confidence": 0.5, "refit": 2}, f"confidence {MINUS}10.5 points, refit – → 2"),
        ({"version": 0}, "version 1 → elsewhere"),
        ({"label": None}, "label changed"),
        ({"confidence": 0.60549}, "nothing"),
    ],
)
def test_what_moved_between_two_decisions_is_said_in_words(changed: dict[str, Any], said: str) -> None:
    assert change_between(FIRST, replace(FIRST, decision_id="dec_2", **changed)) == said


def test_nothing_moved_between_a_decision_and_itself_or_none() -> None:
    assert change_between(FIRST, FIRST) == ""
    assert change_between(None, FIRST) == ""
    assert change_between(None, None) == ""


def test_every_state_has_words() -> None:
    assert set(STATES) == set(ITEM_STATES)


def test_a_row_says_whether_the_review_agrees_with_the_latest_decision() -> None:
    assert item_view(row()).agreement == "agrees"
    assert item_view(row(latest=FIRST)).agreement == "disagrees"
    assert item_view(row(review=None)).agreement == ""
    closed = item_view(row(review=ReviewShown("r", None, "ada", "program", NOW), state="closed"))
    assert (closed.label, closed.agreement, closed.state) == ("", "", "closed without a label")


def test_a_row_names_the_version_and_refit_that_decided() -> None:
    seen = item_view(row(first=replace(FIRST, version=0)))
    assert seen.first is not None
    assert seen.latest is not None
    assert (seen.first.version, seen.latest.version) == ("elsewhere", "version 3, refit 2")
    assert (seen.latest.confidence, seen.label_changed) == ("80.0%", True)


def test_an_item_that_was_never_decided_shows_no_decision() -> None:
    seen = item_view(row(first=None, latest=None, review=None, state="not-sent"))
    assert (seen.first, seen.latest, seen.change, seen.waits) == (None, None, "", False)
    page = item_page(history(row=row(first=None, latest=None), decisions=(), propensity=None), DEFINITION)
    assert (page.steps, page.latest_decision, page.propensity) == ((), "", "")


def test_decisions_are_told_newest_first_each_with_what_changed_since_the_one_before() -> None:
    page = item_page(history(decisions=(made(SECOND), made(FIRST, foreign=True))), DEFINITION)
    assert [step.change for step in page.steps] == ["label changed, confidence +19.5 points, version 1 → 3", ""]
    assert [step.foreign for step in page.steps] == [False, True]
    assert page.latest_decision == "dec_2"
    assert page.steps[0].propensity == "0.25"


@pytest.mark.parametrize(
    ("partition", "said"),
    [
        ("training", "training: its labels teach"),
        ("development", "development: its labels choose between versions"),
        ("audit", "audit: its labels are never learned from; they measure"),
    ],
)
def test_a_partition_is_named_with_what_it_means(partition: str, said: str) -> None:
    assert item_page(history(row=row(partition=partition)), DEFINITION).partition == said


def test_the_label_that_counts_has_its_use_and_says_when_a_person_chose_it() -> None:
    label = CurrentLabel(7, "item-7", "exclude", "audit", False, 0.25, {}, "d")
    assert item_page(history(label=label), DEFINITION).use == "audit"
    chosen = replace(label, use="training", chosen=True)
    assert item_page(history(label=chosen), DEFINITION).use == "training, by a reviewer's choice"
    assert item_page(history(), DEFINITION).use == ""


def test_reviews_say_who_selected_them_what_they_correct_and_who_undid_them() -> None:
    given = ReviewRow(
        "r2", "dec_1", 7, "item-7", "screening", None, "because", "dose", "ada", "audit", "r1", NOW, NOW, "olga"
    )
    (seen,) = item_page(history(reviews=(given,)), DEFINITION).reviews
    assert (seen.label, seen.selected, seen.corrects, seen.undone_by) == ("", "sent by the random audit", True, "olga")


def test_text_that_is_long_is_marked_and_text_that_is_none_is_empty() -> None:
    assert not item_page(history(values={"text": "x" * 2_000}), DEFINITION).long
    assert item_page(history(values={"text": "x" * 2_001}), DEFINITION).long
    assert item_page(history(values={"text": 5}), DEFINITION).text == ""


def test_each_set_is_told_with_every_report_over_it() -> None:
    newer = SetMembership("cy_set:" + "b" * 64, NOW, "exclude")
    older = SetMembership("cy_set:" + "a" * 64, NOW - timedelta(days=1), "include")
    unread = SetMembership("cy_set:" + "c" * 64, NOW - timedelta(days=2), "include")
    said = (
        ItemInReport("rep_3", newer.set_id, NOW, None),
        ItemInReport("rep_2", older.set_id, NOW, Outcome.GAINED, None, "include"),
        ItemInReport("rep_1", older.set_id, NOW, Outcome.BOTH_WRONG, "exclude", "exclude"),
    )
    page = item_page(history(sets=(newer, older, unread)), DEFINITION, said)
    assert [(each.digest[0], each.report_id, each.outcome, each.before, each.reason) for each in page.held_out] == [
        ("b", "rep_3", "", "", "left out: a reviewer had chosen it by then"),
        ("a", "rep_2", "gained", "none of the labels", ""),
        ("a", "rep_1", "both wrong", "exclude", ""),
        ("c", "", "", "", "no report counts it yet"),
    ]
