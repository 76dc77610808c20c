"""The review queue hands each item to one reviewer, loses no answer, and takes the last one back exactly."""

import threading
from contextlib import nullcontext
from datetime import timedelta

import pytest
from django.db import IntegrityError

from cyclotron import queries
from cyclotron.actions.queueing import HOLD, answer_assignment, skip_assignment, take_item, undo_last
from cyclotron.actions.reviewing import record_review
from cyclotron.core.errors import (
    AssignmentLostError,
    InvalidReviewError,
    ReviewChangedError,
    ReviewFollowedError,
    ReviewUndoneError,
)
from cyclotron.models import Assignment, Event, Review
from cyclotron.queries import AssignmentShown
from cyclotron.store import Store
from tests.support.cyclotrons import NOW, Workbench, definition
from tests.support.races import in_threads

pytestmark = [pytest.mark.services, pytest.mark.django_db(transaction=True)]

LATER = NOW + HOLD + timedelta(seconds=1)


@pytest.fixture
def bench() -> Workbench:
    from cyclotron.actions import create_cyclotron

    return Workbench(create_cyclotron(name="queue", definition=definition(), now=NOW))


def fill(bench: Workbench, count: int) -> list[str]:
    names = [f"item-{number:03d}" for number in range(count)]
    for name in names:
        bench.decide(name)
    return names


def take(bench: Workbench, reviewer: str) -> AssignmentShown:
    taken = take_item(bench.store, reviewer=reviewer, now=NOW)
    assert taken is not None
    return taken


def answer(store: Store, taken: AssignmentShown, label: str | None = "include", reviewer: str = "ada", now=NOW):  # type: ignore[no-untyped-def]
    return answer_assignment(store, taken.id, reviewer=reviewer, label=label, now=now)


def test_items_come_in_the_order_in_which_they_were_sent_with_what_was_decided(bench: Workbench) -> None:
    names = fill(bench, 3)
    seen = []
    for _ in names:
        taken = take(bench, "ada")
        seen.append(taken.item_id)
        answer(bench.store, taken)
    assert seen == names
    assert take_item(bench.store, reviewer="ada", now=NOW) is None
    assert taken.values == {"text": "text of item-002"}
    assert taken.reason == "program"
    assert taken.label in {"include", "exclude"}
    assert sum(taken.probabilities.values()) == pytest.approx(1)


def test_an_item_that_was_sent_later_than_it_came_waits_behind_those_sent_before(bench: Workbench) -> None:
    bench.decide("item-000", review_rate=0.0, audit_rate=1e-12)
    bench.decide("item-001")
    bench.decide("item-000")
    assert take(bench, "ada").item_id == "item-001"
    assert take(bench, "ben").item_id == "item-000"


def test_an_item_whose_review_is_undone_waits_in_its_old_place(bench: Workbench) -> None:
    names = fill(bench, 3)
    given = bench.label(names[0], "include")
    bench.undo(given)
    assert take(bench, "ada").item_id == names[0]


def test_whoever_holds_an_item_is_given_it_again_and_nobody_else_is(bench: Workbench) -> None:
    fill(bench, 2)
    first = take(bench, "ada")
    assert take(bench, "ada").id == first.id
    assert take(bench, "ben").item_id == "item-001"
    assert take_item(bench.store, reviewer="eve", now=NOW) is None
    state = queries.queue_state(bench.store, now=NOW)
    assert (state.waiting, state.held, state.reviewed) == (2, 2, 0)
    assert queries.assignment_of(bench.store, reviewer="eve") is None


def test_an_item_that_was_not_sent_is_in_no_queue(bench: Workbench) -> None:
    bench.decide("item-000", review_rate=0.0, audit_rate=1e-12)
    assert take_item(bench.store, reviewer="ada", now=NOW) is None


def test_an_assignment_goes_to_the_next_reviewer_once_its_time_is_over(bench: Workbench) -> None:
    fill(bench, 1)
    first = take(bench, "ada")
    second = take_item(bench.store, reviewer="ben", now=LATER)
    assert second is not None
    assert second.item_id == first.item_id
    with pytest.raises(AssignmentLostError):
        answer(bench.store, first, now=LATER)
    assert not Review.objects.exists()
    assert answer(bench.store, second, reviewer="ben", now=LATER).new


def test_a_late_answer_counts_while_nobody_else_was_given_the_item(bench: Workbench) -> None:
    fill(bench, 1)
    assert answer(bench.store, take(bench, "ada"), now=LATER + timedelta(days=2)).new


def test_an_item_that_somebody_reviewed_elsewhere_is_not_answered_again(bench: Workbench) -> None:
    fill(bench, 1)
    taken = take(bench, "ada")
    record_review(bench.store, identity="r", decision_id=taken.decision_id, label="exclude", reviewer="ben", now=NOW)
    with pytest.raises(AssignmentLostError):
        answer(bench.store, taken)
    assert list(Review.objects.values_list("identity", flat=True)) == ["r"]
    assert queries.assignment_of(bench.store, reviewer="ada") is None


def test_the_same_answer_twice_is_one_review_and_another_answer_is_refused(bench: Workbench) -> None:
    fill(bench, 1)
    taken = take(bench, "ada")
    assert answer(bench.store, taken).new
    assert not answer(bench.store, taken).new
    with pytest.raises(ReviewChangedError):
        answer(bench.store, taken, "exclude")
    with pytest.raises(AssignmentLostError):
        answer(bench.store, taken, reviewer="ben")
    assert Review.objects.get().identity == taken.id
    assert Event.objects.filter(kind="review-recorded").count() == 1


@pytest.mark.parametrize("bad", ["", "as_unknown", "\x00", "\ud800", "x" * 10_000])
def test_an_assignment_that_is_not_there_is_lost_and_nothing_is_recorded(bench: Workbench, bad: str) -> None:
    fill(bench, 1)
    with pytest.raises(AssignmentLostError):
        answer_assignment(bench.store, bad, reviewer="ada", label="include", now=NOW)
    with pytest.raises(AssignmentLostError):
        skip_assignment(bench.store, bad, reviewer="ada", now=NOW)
    assert not Review.objects.exists()


def test_an_unknown_label_is_refused_and_the_item_stays_held(bench: Workbench) -> None:
    fill(bench, 1)
    taken = take(bench, "ada")
    with pytest.raises(InvalidReviewError):
        answer(bench.store, taken, "perhaps")
    assert take(bench, "ada").id == taken.id


def test_a_close_without_a_label_takes_the_item_out_of_the_queue(bench: Workbench) -> None:
    fill(bench, 1)
    assert answer(bench.store, take(bench, "ada"), None).label is None
    assert take_item(bench.store, reviewer="ada", now=NOW) is None


def test_a_skipped_item_comes_last_for_its_reviewer_and_in_turn_for_others(bench: Workbench) -> None:
    names = fill(bench, 3)
    for number in (0, 1):
        taken = take(bench, "ada")
        assert not taken.skipped_before
        skip_assignment(bench.store, taken.id, reviewer="ada", now=NOW + timedelta(seconds=number))
    assert take(bench, "ben").item_id == names[0]
    third = take(bench, "ada")
    assert third.item_id == names[2]
    answer(bench.store, third)
    again = take(bench, "ada")
    assert (again.item_id, again.skipped_before) == (names[1], True)


def test_an_undo_brings_the_item_back_to_whoever_answered_it(bench: Workbench) -> None:
    fill(bench, 3)
    answer(bench.store, take(bench, "ada"))
    answer(bench.store, take(bench, "ada"))
    held = take(bench, "ada")
    back = undo_last(bench.store, reviewer="ada", now=NOW)
    assert back is not None
    assert back.item_id == "item-001"
    assert take(bench, "ada").id == back.id
    assert take(bench, "ben").item_id == held.item_id
    assert answer(bench.store, back, "exclude").new
    assert [label.label for label in queries.labels(bench.store)] == ["include", "exclude"]
    assert undo_last(bench.store, reviewer="ben", now=NOW) is None


def test_an_answer_that_was_taken_back_is_not_recorded_by_being_sent_again(bench: Workbench) -> None:
    fill(bench, 2)
    taken = take(bench, "ada")
    answer(bench.store, taken)
    undo_last(bench.store, reviewer="ada", now=NOW)
    with pytest.raises(ReviewUndoneError):
        answer(bench.store, taken)
    assert not Review.objects.filter(undone_at=None).exists()


def test_an_answer_that_was_corrected_since_is_not_undone_by_the_queue(bench: Workbench) -> None:
    fill(bench, 1)
    taken = take(bench, "ada")
    answer(bench.store, taken)
    record_review(bench.store, identity="r", decision_id=taken.decision_id, label="exclude", reviewer="ben", now=NOW)
    with pytest.raises(ReviewFollowedError):
        undo_last(bench.store, reviewer="ada", now=NOW)
    assert not Review.objects.exclude(undone_at=None).exists()


def test_ten_reviewers_at_once_share_a_queue_and_lose_nothing(bench: Workbench) -> None:
    names = fill(bench, 500)
    given: list[str] = []
    undone: list[str] = []

    def review(number: int) -> None:
        reviewer = f"reviewer-{number}"
        for turn in range(10_000):
            taken = take_item(bench.store, reviewer=reviewer, now=NOW)
            if taken is None:
                return
            if turn % 7 == 3 and undo_last(bench.store, reviewer=reviewer, now=NOW) is not None:
                undone.append(reviewer)
                taken = take_item(bench.store, reviewer=reviewer, now=NOW)
                assert taken is not None
            answer_assignment(bench.store, taken.id, reviewer=reviewer, label="include", now=NOW)
            given.append(taken.item_id)

    assert in_threads(10, review) == []
    active = Review.objects.filter(undone_at=None)
    assert sorted(active.values_list("item__identity", flat=True)) == names
    assert Review.objects.count() == len(given)
    assert Review.objects.exclude(undone_at=None).count() == len(undone)
    assert not Assignment.objects.exists()


def test_without_the_lock_two_reviewers_are_given_one_item(bench: Workbench, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(bench, 1)
    monkeypatch.setattr(Store, "lock", Store.cyclotron)
    monkeypatch.setattr(Store, "transaction", lambda self: nullcontext())
    together = threading.Barrier(2)
    looked = Assignment.__init__

    def wait_for_the_other(self: Assignment, *given: object, **named: object) -> None:
        if named:  # made here, and not read from the database
            together.wait(timeout=20)
        looked(self, *given, **named)

    monkeypatch.setattr(Assignment, "__init__", wait_for_the_other)
    errors = in_threads(2, lambda number: take_item(bench.store, reviewer=f"reviewer-{number}", now=NOW))
    assert [type(error) for error in errors] == [IntegrityError]  # both chose it; only the constraint kept one away
