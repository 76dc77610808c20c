"""The panel says what an evaluation would cost, why it cannot begin, and how far a running one has come."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from cyclotron.core.errors import BoundChangedError, LiveCallsOffError
from cyclotron.core.overview import InterruptedEvaluation, Overview, RunningEvaluation, SetSummary, Status
from cyclotron.presentation.panel import panel_view, progress_of, refusal_of, status_facts

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
READY = Overview(
    cyclotron_id="cy_1",
    name="screening",
    classifier="decision",
    question="Should it be included?",
    labels=("include", "exclude"),
    positive_label="include",
    live_enabled=True,
    minimum_per_label=10,
    current_set=SetSummary("3f2a91bc" + "0" * 56, NOW, 181, {"include": 20, "exclude": 161}),
    new_labels=0,
    request_bound=362,
    plan_digest="ab" * 32,
    running=None,
    interrupted=None,
    disabled_reason=None,
    reports=(),
)
RUNNING = RunningEvaluation("ev_1", "running", 123, 362, 120, 362, NOW - timedelta(seconds=65))


@pytest.mark.parametrize("bound", [0, 1, 362, 12_000])
def test_the_button_reads_exactly_as_agreed_whatever_the_bound(bound: int) -> None:
    view = panel_view(replace(READY, request_bound=bound), NOW, worker_alive=True)
    assert view.button == f"Evaluate (up to {bound} model requests)"
    assert view.bound == bound
    assert view.plan == READY.plan_digest


def test_a_reason_is_a_sentence() -> None:
    view = panel_view(replace(READY, disabled_reason="an evaluation is running."), NOW, worker_alive=True)
    assert view.disabled_reason == "An evaluation is running."


def test_freezing_says_how_many_labels_it_would_add() -> None:
    assert panel_view(replace(READY, new_labels=1), NOW, worker_alive=True).freeze == "Freeze 1 new label"
    many = panel_view(replace(READY, new_labels=1200), NOW, worker_alive=True)
    assert (many.freeze, many.can_freeze) == ("Freeze 1,200 new labels", True)
    assert not panel_view(READY, NOW, worker_alive=True).can_freeze


def test_a_set_without_an_item_of_a_label_shows_a_zero_for_it() -> None:
    summary = SetSummary("a" * 64, NOW, 3, {"exclude": 3})
    view = panel_view(replace(READY, current_set=summary), NOW, worker_alive=True)
    assert [(fact.name, fact.text) for fact in view.set_facts] == [("Items", "3"), ("include", "0"), ("exclude", "3")]


def test_progress_counts_answers_and_requests_apart() -> None:
    progress = progress_of(RUNNING, NOW, worker_alive=True)
    assert progress.text == "123 of 362 answers"
    assert progress.requests == "120 of 362 confirmed requests used"
    assert progress.elapsed == "1 min 5 s"
    assert progress.note == ""
    assert progress.can_cancel


def test_progress_is_announced_a_quarter_at_a_time() -> None:
    quarters = {
        done: progress_of(replace(RUNNING, done=done), NOW, worker_alive=True).quarter for done in (0, 90, 91, 362)
    }
    assert quarters == {0: 0, 90: 0, 91: 1, 362: 4}
    assert progress_of(replace(RUNNING, done=0, total=0), NOW, worker_alive=True).quarter == 0


def test_a_cancelled_evaluation_that_still_stops_cannot_be_cancelled_again() -> None:
    progress = progress_of(replace(RUNNING, state="cancelling"), NOW, worker_alive=True)
    assert (progress.title, progress.can_cancel) == ("Evaluation stopping", False)


def test_a_missing_worker_is_said() -> None:
    assert "No worker is alive" in progress_of(RUNNING, NOW, worker_alive=False).note


def test_an_interruption_says_what_is_kept_what_is_left_and_what_it_would_cost() -> None:
    ended = InterruptedEvaluation("ev_1", "permits-lost", "some calls brought no answer.", NOW, 362, 358, 4)
    view = panel_view(replace(READY, interrupted=ended, request_bound=4), NOW, worker_alive=True).interruption
    assert view is not None
    assert view.title == "Evaluation interrupted"
    assert view.message == "Some calls brought no answer."
    assert view.kept.startswith("358 answers kept, 362 requests used.")
    assert view.left == "4 answers missing; finishing costs up to 4 model requests."


def test_a_cancelled_evaluation_is_called_so() -> None:
    ended = InterruptedEvaluation("ev_1", "cancelled", "It was cancelled.", NOW, 10, 10, 352)
    view = panel_view(replace(READY, interrupted=ended), NOW, worker_alive=True).interruption
    assert view is not None
    assert view.title == "Evaluation cancelled"


def test_a_changed_bound_is_told_with_the_way_on() -> None:
    refusal = refusal_of(BoundChangedError("an evaluation would now make up to 181 model requests, not 362."))
    assert refusal.title == "The cost has changed; nothing was spent"
    assert refusal.message.startswith("An evaluation would now make up to 181")
    assert "press it to confirm" in refusal.advice


def test_another_refusal_keeps_its_own_words() -> None:
    refusal = refusal_of(LiveCallsOffError("calls to a model are switched off here."))
    assert (refusal.error_id, refusal.message, refusal.advice) == (
        "live-off",
        "Calls to a model are switched off here.",
        "",
    )


def test_status_counts_carry_what_they_are_made_of() -> None:
    status = Status(
        items={"audit": 170, "development": 170, "training": 511},
        decisions=851,
        reviews={"include": 84, "exclude": 767},
        version=4,
        refits=12,
        versions=6,
        training_reviews=511,
        next_learning_in=9,
    )
    facts = {fact.name: fact for fact in status_facts(status, when_due="under way")}
    assert facts["Items"].text == "851"
    assert [(part.name, part.text) for part in facts["Items"].parts] == [
        ("audit", "170"),
        ("development", "170"),
        ("training", "511"),
    ]
    assert facts["Reviews"].text == "851"
    assert facts["Active version"].text == "4 of 6"
    assert facts["Next learning"].text == "in 9 reviews"
    due = status_facts(replace(status, next_learning_in=0), when_due="under way")
    assert {fact.name: fact.text for fact in due}["Next learning"] == "under way"
