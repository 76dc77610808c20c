"""A confirmed evaluation while it runs: guards, cancelling, models that fail, what it reports and leaves alone."""

import json
import logging
import signal
import threading
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from django.db.models import Model

from cyclotron import queries
from cyclotron.actions import undo_review
from cyclotron.actions.asking import Asker, Ceiling
from cyclotron.actions.evaluating import (
    StartedEvaluation,
    cancel_evaluation,
    close_lost_evaluation,
    confirm_evaluation,
    run_evaluation,
    start_evaluation,
)
from cyclotron.actions.evaluating.running import EndedEvaluation
from cyclotron.actions.learning import learn_if_due
from cyclotron.adapters.local import LocalModel
from cyclotron.adapters.openai import OpenAIModel
from cyclotron.core.configuration import DecisionRequest
from cyclotron.core.errors import (
    EvaluationInterruptedError,
    ModelError,
    NoSuchEvaluationError,
    RequestCeilingError,
)
from cyclotron.core.report_format import read_report
from cyclotron.engine import Cyclotron
from cyclotron.models import (
    CachedAnswer,
    Classifier,
    Decision,
    DecisionOutput,
    Evaluation,
    Event,
    HeldOutItem,
    HeldOutSet,
    Item,
    LearningStep,
    MlModelRecord,
    OutOfFoldAnswer,
    Permit,
    Report,
    Review,
    Version,
)
from cyclotron.plan import make_plan
from cyclotron.store import Store
from kapsoweb.foundation import clock
from kapsoweb.jobs import actions as jobs_actions
from kapsoweb.jobs import bell
from kapsoweb.jobs import queries as jobs
from kapsoweb.jobs.errors import ClaimLost
from kapsoweb.jobs.models import Job, JobState
from tests.support.evaluation_trials import comparable, confirmation_of, model_at, report_of, undisturbed_report
from tests.support.frozen_cyclotrons import (
    LABELS,
    MINIMUM_PER_LABEL,
    WORDS,
    add_item,
    frozen_cyclotron,
    identities,
    learns_from_questions,
    take,
    text_of,
)
from tests.support.loopback_model import Fault, LoopbackModel
from tests.support.workers import until

pytestmark = [pytest.mark.services, pytest.mark.django_db]

ITEMS = 6
BOUND = 2 * ITEMS


@pytest.fixture
def server() -> Iterator[LoopbackModel]:
    with LoopbackModel(learns_from_questions) as server:
        yield server


@pytest.fixture
def model(server: LoopbackModel) -> Iterator[OpenAIModel]:
    model = model_at(server)
    yield model
    model.close()


@pytest.fixture(autouse=True)
def silent_bell(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bell, "ring", lambda job_id: True)


def start(store: Store, model: OpenAIModel) -> StartedEvaluation:
    """Confirm what the overview shows, to be run in the test's own thread."""
    return start_evaluation(store, model=model.identity, now=clock.now(), **confirmation_of(store, model))


def run(store: Store, started: StartedEvaluation, model: OpenAIModel, **more: Any) -> EndedEvaluation:
    return run_evaluation(store, started.id, model=model, fence=1, clock=clock.now, **more)


def evaluate(store: Store, model: OpenAIModel, **more: Any) -> Evaluation:
    """Confirm and run; the evaluation after its end."""
    ended = run(store, start(store, model), model, **more)
    return store.all(Evaluation).get(id=ended.id)


def bound(store: Store, model: OpenAIModel) -> int:
    return make_plan(store, store.classifier(), model=model.identity).bound


def answers(store: Store, model: OpenAIModel) -> int:
    return store.all(CachedAnswer).filter(model=model.identity).count()


# Reports ------------------------------------------------------------------------------------------------------------


def test_a_report_is_written_conforms_to_its_schema_and_says_what_it_cost(
    server: LoopbackModel, model: OpenAIModel
) -> None:
    store = frozen_cyclotron()
    evaluation = evaluate(store, model)
    report = report_of(store)
    read_report(report)
    assert (evaluation.state, evaluation.permits_taken, server.count) == ("done", BOUND, BOUND)
    assert report["cost"] == {
        "newRequests": BOUND,
        "cachedRequests": 0,
        "tokensIn": 120 * BOUND,
        "tokensOut": 30 * BOUND,
    }
    assert (report["before"]["version"], report["after"]["version"]) == (1, 2)
    assert [item["itemId"] for item in report["items"]] == sorted(take(identities("audit"), ITEMS))
    assert {item["after"] == item["label"] for item in report["items"]} == {True}
    assert {item["before"] == item["label"] for item in report["items"]} == {True, False}


def test_a_second_evaluation_costs_nothing_and_reports_the_same(server: LoopbackModel, model: OpenAIModel) -> None:
    store = frozen_cyclotron()
    evaluate(store, model)
    assert bound(store, model) == 0
    evaluate(store, model)
    first, second = (record.document for record in queries.report_records(store))
    assert server.count == BOUND
    assert second["cost"] == {"newRequests": 0, "cachedRequests": BOUND, "tokensIn": 0, "tokensOut": 0}
    assert comparable(first) == comparable(second)


def test_the_history_holds_the_last_ten_reports_oldest_first(server: LoopbackModel, model: OpenAIModel) -> None:
    store = frozen_cyclotron(audit=1, development=0, training=0)
    for _ in range(11):
        evaluate(store, model)
    made = [report["createdAt"] for report in queries.held_out_reports(store)]
    assert len(made) == 10
    assert made == sorted(made)
    assert store.all(Report).count() == 11


def test_no_text_of_an_item_enters_a_report_an_event_an_error_or_a_log_line(
    server: LoopbackModel, model: OpenAIModel, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    store = frozen_cyclotron()
    server.behave(Fault.GARBAGE, times=2)
    evaluate(store, model)
    server.behave(Fault.STATUS, amount=401, times=1)
    refused = evaluate(store, model)
    assert refused.reason == "model-refused"
    evaluate(store, model)
    told = [
        json.dumps([report.document for report in store.all(Report)]),
        json.dumps(list(store.all(Event).values_list("detail", flat=True))),
        json.dumps(list(store.all(Evaluation).values_list("reason", flat=True))),
        json.dumps(list(Job.objects.values_list("payload", flat=True))),
        *(
            f"{record.getMessage()} {record.__dict__}"
            for record in caplog.records
            if record.name != "django.db.backends"
        ),
    ]
    for words in WORDS.values():
        for word in words:
            assert not [text for text in told if word in text], word


def test_items_that_a_reviewer_has_since_chosen_are_counted_and_left_out(
    server: LoopbackModel, model: OpenAIModel
) -> None:
    store = frozen_cyclotron()
    chosen = store.rows(HeldOutItem).order_by("position")[0]
    choose(store, chosen)
    assert bound(store, model) == BOUND - 2
    evaluate(store, model)
    found = report_of(store)["heldOutSet"]
    assert (found["size"], found["scored"], found["excludedSinceFrozen"]) == (ITEMS, ITEMS - 1, 1)
    assert chosen.identity not in {item["itemId"] for item in report_of(store)["items"]}


def test_items_whose_label_changed_since_are_counted_and_scored_by_the_frozen_label(
    server: LoopbackModel, model: OpenAIModel
) -> None:
    store = frozen_cyclotron()
    corrected, undone = store.rows(HeldOutItem).order_by("position")[:2]
    other = next(label for label in LABELS if label != corrected.label)
    asker = Asker(store, LocalModel(), clock.now)
    add_item(asker, corrected.identity, corrected.values["text"], other)
    review = store.all(Review).get(item__identity=undone.identity)
    undo_review(store, identity=review.identity, actor="somebody", now=clock.now())
    evaluate(store, model)
    report = report_of(store)
    found = report["heldOutSet"]
    assert (found["scored"], found["excludedSinceFrozen"], found["labelsChangedSinceFrozen"]) == (ITEMS, 0, 2)
    scored = {item["itemId"]: item["label"] for item in report["items"]}
    assert scored[corrected.identity] == corrected.label
    assert scored[undone.identity] == undone.label


def test_nothing_is_learned_decided_or_reviewed_during_an_evaluation(server: LoopbackModel, model: OpenAIModel) -> None:
    store = frozen_cyclotron(training=16)
    # Learning is due, and stays due: an evaluation must not do it on the way.
    row = store.cyclotron()
    row.learn_every = 1
    row.save(update_fields=["learn_every"])
    asker = Asker(store, LocalModel(), clock.now)
    add_item(asker, list(take(identities("training"), 17))[-1], text_of("include", 99), "include")
    assert queries.status(store).next_learning_in == 0
    before = contents()
    evaluate(store, model)
    assert contents() == before
    assert queries.status(store).next_learning_in == 0


def contents() -> dict[str, list[dict[str, Any]]]:
    """Every row of every table that an evaluation has to leave alone."""
    tables: tuple[type[Model], ...] = (
        Classifier,
        Decision,
        DecisionOutput,
        HeldOutItem,
        HeldOutSet,
        Item,
        LearningStep,
        MlModelRecord,
        OutOfFoldAnswer,
        Review,
        Version,
    )
    return {table.__name__: list(table._default_manager.order_by("pk").values()) for table in tables}


def test_what_is_learned_after_the_confirmation_changes_neither_column(
    server: LoopbackModel, model: OpenAIModel
) -> None:
    store = frozen_cyclotron()
    started = start(store, model)
    asker = Asker(store, LocalModel(), clock.now)
    for number, identity in enumerate(list(take(identities("training"), 16))[8:]):
        add_item(asker, identity, text_of(LABELS[number % 2], number + 50), LABELS[number % 2])
    assert [learned.outcome for learned in learn_if_due(asker, now=clock.now())] != ["kept"]
    run(store, started, model)
    report = report_of(store)
    assert (report["after"]["version"], report["after"]["refits"]) == (2, 0)
    assert (server.count, report["cost"]["newRequests"]) == (BOUND, BOUND)


def test_the_overview_shows_how_far_it_is_and_what_it_used(server: LoopbackModel, model: OpenAIModel) -> None:
    store = frozen_cyclotron()
    seen: list[tuple[int, int, int, int]] = []

    def look(done: int, total: int) -> None:
        shown = queries.overview(store, model=model.identity, allow_live=True).running
        assert shown is not None
        assert (shown.done, shown.total) == (done, total)
        seen.append((shown.done, shown.total, shown.requests_used, shown.bound))

    evaluate(store, model, progress=look)
    assert seen == [(number, BOUND, number, BOUND) for number in range(BOUND + 1)]


def test_an_evaluation_leaves_its_beginning_and_its_end_in_the_events(
    server: LoopbackModel, model: OpenAIModel
) -> None:
    store = frozen_cyclotron()
    cursor = queries.events(store).cursor
    server.behave(Fault.STATUS, amount=500, times=1)
    evaluate(store, model)
    evaluate(store, model)
    page = queries.events(store, after=cursor)
    assert [event.kind for event in page.events] == [
        "evaluation-confirmed",
        "evaluation-interrupted",
        "evaluation-confirmed",
        "evaluation-done",
    ]
    assert page.events[1].detail["unanswered"] == page.events[2].detail["bound"] == 1


def test_an_evaluation_that_has_ended_is_not_run_again(server: LoopbackModel, model: OpenAIModel) -> None:
    store = frozen_cyclotron()
    ended = evaluate(store, model)
    again = run_evaluation(store, ended.id, model=model, fence=9, clock=clock.now)
    assert (again.state, again.report_id) == ("done", store.all(Report).get().id)
    assert server.count == BOUND
    with pytest.raises(NoSuchEvaluationError):
        run_evaluation(store, "no such evaluation", model=model, fence=1, clock=clock.now)


# Guards -------------------------------------------------------------------------------------------------------------


def test_the_guard_is_asked_before_each_permit_and_each_call(server: LoopbackModel, model: OpenAIModel) -> None:
    store = frozen_cyclotron()
    seen: list[tuple[int, int]] = []

    def guard(request: DecisionRequest) -> None:
        seen.append((store.all(Evaluation).get().permits_taken, server.count))

    assert evaluate(store, model, guard=guard).state == "done"
    assert seen == [(number, number) for number in range(BOUND)]


def test_a_guard_that_raises_stops_the_run_and_keeps_the_answers(server: LoopbackModel, model: OpenAIModel) -> None:
    store = frozen_cyclotron()
    undisturbed = undisturbed_report(store, server)
    calls = server.count
    started = start(store, model)

    class BudgetSpent(Exception):  # noqa: N818 - a host's own exception
        pass

    def guard(request: DecisionRequest) -> None:
        if server.count == calls + 5:
            raise BudgetSpent

    with pytest.raises(BudgetSpent):
        run(store, started, model, guard=guard)
    evaluation = store.all(Evaluation).get()
    assert (evaluation.state, evaluation.reason) == ("interrupted", "guard")
    # No permit for the call that was not made.
    assert (server.count - calls, evaluation.permits_taken, answers(store, model)) == (5, 5, 5)
    assert (evaluation.unanswered, bound(store, model)) == (BOUND - 5, BOUND - 5)
    evaluate(store, model)
    assert server.count - calls == BOUND
    assert comparable(report_of(store)) == comparable(undisturbed)


def test_the_ceiling_comes_before_the_guard_and_the_guard_before_the_permit(
    server: LoopbackModel, model: OpenAIModel
) -> None:
    store = frozen_cyclotron()
    guarded: list[str] = []
    started = start(store, model)
    with pytest.raises(RequestCeilingError):
        run(store, started, model, ceiling=Ceiling(3), guard=lambda request: guarded.append(request.fingerprint))
    evaluation = store.all(Evaluation).get()
    assert (len(guarded), server.count, evaluation.permits_taken, answers(store, model)) == (3, 3, 3, 3)
    assert (evaluation.state, evaluation.unanswered) == ("interrupted", BOUND - 3)


# Cancelling ---------------------------------------------------------------------------------------------------------


def test_cancelling_while_it_runs_keeps_the_answers_and_the_rest_can_be_confirmed(
    server: LoopbackModel, model: OpenAIModel
) -> None:
    store = frozen_cyclotron()
    undisturbed = undisturbed_report(store, server)
    calls = server.count
    started = start(store, model)

    def cancel(done: int, total: int) -> None:
        if done == 5:
            cancel_evaluation(store, started.id, now=clock.now())

    ended = run(store, started, model, progress=cancel)
    assert (ended.state, ended.reason, ended.report_id) == ("interrupted", "cancelled", None)
    assert (server.count - calls, answers(store, model), bound(store, model)) == (5, 5, BOUND - 5)
    shown = queries.overview(store, model=model.identity, allow_live=True)
    assert shown.interrupted is not None
    assert (shown.interrupted.answers_kept, shown.interrupted.unanswered) == (5, BOUND - 5)
    assert shown.request_bound == BOUND - 5
    cancel_evaluation(store, started.id, now=clock.now())  # of one that has ended: nothing
    evaluate(store, model)
    assert server.count - calls == BOUND
    assert comparable(report_of(store)) == comparable(undisturbed)


def test_cancelling_before_a_worker_has_it_ends_it_at_once(server: LoopbackModel, model: OpenAIModel) -> None:
    store = frozen_cyclotron()
    started = confirm_evaluation(
        store, model=model, account_id="acc_1", clock=clock.now, **confirmation_of(store, model)
    )
    cancel_evaluation(store, started.id, now=clock.now())
    evaluation = store.all(Evaluation).get()
    assert (evaluation.state, evaluation.reason, evaluation.unanswered) == ("interrupted", "cancelled", BOUND)
    assert jobs.job(started.job_id).state == JobState.CANCELLED
    assert server.count == 0
    assert start(store, model).new


def test_an_evaluation_whose_job_was_given_up_is_closed_when_somebody_looks(
    server: LoopbackModel, model: OpenAIModel
) -> None:
    store = frozen_cyclotron()
    started = confirm_evaluation(
        store, model=model, account_id="acc_1", clock=clock.now, **confirmation_of(store, model)
    )
    Job.objects.filter(pk=started.job_id).update(attempts=1000)
    assert jobs_actions.give_up(started.job_id, clock.now())
    close_lost_evaluation(store, now=clock.now())
    shown = queries.overview(store, model=model.identity, allow_live=True)
    assert shown.running is None
    assert shown.interrupted is not None
    assert (shown.interrupted.reason, shown.request_bound) == ("job-failed", BOUND)


def test_an_evaluation_inside_a_call_whose_process_is_gone_is_closed_after_a_while(
    server: LoopbackModel, model: OpenAIModel
) -> None:
    store = frozen_cyclotron()
    start(store, model)
    close_lost_evaluation(store, now=clock.now() + timedelta(minutes=4))
    assert queries.overview(store, model=model.identity, allow_live=True).running is not None
    close_lost_evaluation(store, now=clock.now() + timedelta(minutes=6))
    shown = queries.overview(store, model=model.identity, allow_live=True)
    assert shown.interrupted is not None
    assert shown.interrupted.reason == "abandoned"


# Models that fail ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fault", "amount", "content"),
    [
        pytest.param(Fault.STATUS, 429, "", id="429"),
        pytest.param(Fault.STATUS, 500, "", id="500"),
        pytest.param(Fault.STATUS, 503, "", id="503"),
        pytest.param(Fault.REDIRECT, 0, "", id="a redirect"),
        pytest.param(Fault.GARBAGE, 0, "", id="a body that is no JSON"),
        pytest.param(Fault.REPLY, 0, "I would include it.", id="a reply in prose"),
        pytest.param(Fault.REPLY, 0, '{"label": "include"}', id="a reply without probabilities"),
        pytest.param(Fault.HALF, 0, "", id="half a body"),
        pytest.param(Fault.DROP, 0, "", id="a closed connection"),
        pytest.param(Fault.RESET, 0, "", id="a reset connection"),
        pytest.param(Fault.HUGE, 2 << 20, "", id="too large a body"),
    ],
)
def test_calls_that_bring_no_answer_spend_their_permits_and_leave_the_rest_to_confirm(
    server: LoopbackModel, model: OpenAIModel, fault: Fault, amount: int, content: str
) -> None:
    store = frozen_cyclotron()
    undisturbed = undisturbed_report(store, server)
    calls = server.count
    server.behave(fault, amount=amount, content=content, times=3)
    evaluation = evaluate(store, model)
    assert_interrupted(store, evaluation, lost=3)
    assert (server.count - calls, answers(store, model), bound(store, model)) == (BOUND, BOUND - 3, 3)
    evaluate(store, model)
    assert server.count - calls == BOUND + 3
    report = report_of(store)
    assert comparable(report) == comparable(undisturbed)
    assert (report["cost"]["newRequests"], report["cost"]["cachedRequests"]) == (3, BOUND - 3)


def test_an_answer_that_does_not_come_in_time_spends_its_permit(server: LoopbackModel) -> None:
    store = frozen_cyclotron()
    model = model_at(server, timeout_seconds=0.3)
    server.behave(Fault.HANG, times=2)
    evaluation = evaluate(store, model)
    server.release()
    assert_interrupted(store, evaluation, lost=2)
    assert bound(store, model) == 2
    lost = store.rows(Permit).filter(evaluation=evaluation, answered_at=None)
    assert set(lost.values_list("lost_to", flat=True)) == {"timeout"}
    model.close()


def assert_interrupted(store: Store, evaluation: Evaluation, *, lost: int) -> None:
    """Ended without a report, with every permit spent and as many lost as calls brought no answer."""
    assert (evaluation.state, evaluation.reason) == ("interrupted", "permits-lost")
    assert (evaluation.permits_taken, evaluation.unanswered) == (BOUND, lost)
    assert store.rows(Permit).filter(evaluation=evaluation, answered_at=None).exclude(lost_to="").count() == lost
    assert not store.all(Report).exists()


def test_a_label_that_is_not_declared_is_an_answer_and_scored_as_wrong(
    server: LoopbackModel, model: OpenAIModel
) -> None:
    store = frozen_cyclotron(audit=4, development=0, training=0)
    server.behave(Fault.WRONG_LABEL)
    assert evaluate(store, model).state == "done"
    report = report_of(store)
    assert {item["outcome"] for item in report["items"]} == {"bothWrong"}
    assert "no such label" not in json.dumps(report)


@pytest.mark.parametrize("status", [401, 403, 404])
def test_an_endpoint_that_refuses_is_asked_once(server: LoopbackModel, model: OpenAIModel, status: int) -> None:
    store = frozen_cyclotron()
    server.behave(Fault.STATUS, amount=status)
    evaluation = evaluate(store, model)
    assert (evaluation.state, evaluation.reason) == ("interrupted", "model-refused")
    assert (server.count, evaluation.permits_taken, evaluation.unanswered) == (1, 1, BOUND)


def test_five_failures_in_a_row_stop_the_run_before_more_permits_are_spent(
    server: LoopbackModel, model: OpenAIModel
) -> None:
    store = frozen_cyclotron()
    server.behave(Fault.STATUS, amount=500)
    evaluation = evaluate(store, model)
    assert (evaluation.state, evaluation.reason) == ("interrupted", "model-unavailable")
    assert (server.count, evaluation.permits_taken, evaluation.unanswered) == (5, 5, BOUND)
    server.behave(Fault.NONE)
    assert evaluate(store, model).state == "done"


def test_failures_that_are_not_in_a_row_do_not_stop_the_run(server: LoopbackModel, model: OpenAIModel) -> None:
    store = frozen_cyclotron()

    def fail_four_of_five(request: DecisionRequest) -> None:
        server.behave(Fault.NONE if server.count % 5 == 4 else Fault.STATUS, amount=500)

    evaluation = evaluate(store, model, guard=fail_four_of_five)
    assert (evaluation.state, evaluation.reason) == ("interrupted", "permits-lost")
    assert (server.count, evaluation.unanswered) == (BOUND, BOUND - 2)


@pytest.mark.django_db(transaction=True)
def test_calls_under_way_when_others_failed_are_still_recorded(server: LoopbackModel) -> None:
    store = frozen_cyclotron()
    model = model_at(server, concurrency=4)
    server.behave(Fault.STATUS, amount=429, times=4)
    evaluation = evaluate(store, model)
    assert_interrupted(store, evaluation, lost=4)
    assert (server.count, answers(store, model)) == (BOUND, BOUND - 4)
    model.close()


@pytest.mark.django_db(transaction=True)
def test_an_interrupted_process_makes_no_further_call(server: LoopbackModel) -> None:
    """Ctrl-C while threads ask: those under way are answered, and none begins."""
    store = frozen_cyclotron(audit=12)
    model = model_at(server, concurrency=2)
    started = start(store, model)
    server.behave(Fault.HANG)

    def interrupt() -> None:
        server.wait_for_calls(2)
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)

    threading.Thread(target=interrupt).start()
    with pytest.raises(KeyboardInterrupt):
        run(store, started, model)
    server.release()
    # By what they leave, because Python 3.11 takes a thread for ended whose join was interrupted.
    until(lambda: answers(store, model) == 2, "the answers under way")
    assert not server.wait_for_calls(3, 0.3)
    evaluation = store.all(Evaluation).get()
    assert (evaluation.state, evaluation.reason) == ("interrupted", "cancelled")  # no job is there to go on with it
    assert (evaluation.permits_taken, answers(store, model)) == (2, 2)
    assert run(store, start(store, model), model).state == "done"
    model.close()


# What happens to the set meanwhile ----------------------------------------------------------------------------------


def choose(store: Store, row: HeldOutItem) -> str:
    """A reviewer chooses a held-out item to review, so that it trains; the review's identity."""
    asker = Asker(store, LocalModel(), clock.now)
    add_item(asker, row.identity, row.values["text"], row.label, by="reviewer")
    return store.all(Review).get(item__identity=row.identity, selected_by="reviewer").identity


def test_an_evaluation_of_which_nothing_is_left_to_score_ends_without_a_call_or_a_report(
    server: LoopbackModel, model: OpenAIModel
) -> None:
    store = frozen_cyclotron(audit=2, development=0, training=0)
    started = start(store, model)
    for row in store.rows(HeldOutItem).order_by("position"):
        choose(store, row)
    shown = queries.overview(store, model=model.identity, allow_live=True)
    assert shown.running is not None
    ended = run(store, started, model)
    assert (ended.state, ended.report_id, server.count) == ("interrupted", None, 0)
    assert queries.overview(store, model=model.identity, allow_live=True).running is None


@pytest.mark.parametrize("at", [0, 5, BOUND - 2])
def test_an_item_that_comes_back_into_the_set_meanwhile_waits_for_the_next_evaluation(
    server: LoopbackModel, model: OpenAIModel, at: int
) -> None:
    """A reviewer's own choice took it out, and is undone while the model is asked."""
    store = frozen_cyclotron()
    chosen = store.rows(HeldOutItem).order_by("position")[0]
    identity = choose(store, chosen)

    def undo(done: int, total: int) -> None:
        if done == at:
            undo_review(store, identity=identity, actor="somebody", now=clock.now())

    assert evaluate(store, model, progress=undo).state == "done"
    assert report_of(store)["heldOutSet"]["excludedSinceFrozen"] == 1
    assert (server.count, bound(store, model)) == (BOUND - 2, 2)
    assert evaluate(store, model).state == "done"
    assert queries.held_out_reports(store)[-1]["heldOutSet"]["excludedSinceFrozen"] == 0


def test_an_item_that_leaves_the_set_meanwhile_is_left_out_of_the_next_evaluation(
    server: LoopbackModel, model: OpenAIModel
) -> None:
    store = frozen_cyclotron()
    chosen = store.rows(HeldOutItem).order_by("position")[0]

    def move(done: int, total: int) -> None:
        if done == 5:
            choose(store, chosen)

    assert evaluate(store, model, progress=move).state == "done"
    assert report_of(store)["heldOutSet"]["scored"] == ITEMS
    evaluate(store, model)
    assert queries.held_out_reports(store)[-1]["heldOutSet"]["scored"] == ITEMS - 1


# The engine's own door ----------------------------------------------------------------------------------------------


@pytest.mark.django_db(transaction=True)
def test_the_engine_evaluates_inside_the_call_within_its_ceiling(server: LoopbackModel, model: OpenAIModel) -> None:
    def evaluate_held_out(cyclotron: Cyclotron) -> dict[str, Any]:
        return async_to_sync(cyclotron.evaluate_held_out)(minimum_per_label=MINIMUM_PER_LABEL)

    store = frozen_cyclotron()
    with Cyclotron(store, model, max_requests=BOUND - 1) as cyclotron, pytest.raises(RequestCeilingError):
        evaluate_held_out(cyclotron)
    assert (server.count, store.all(Evaluation).count()) == (0, 0)
    with Cyclotron(store, model, max_requests=BOUND) as cyclotron:
        server.behave(Fault.STATUS, amount=500, times=1)
        with pytest.raises(EvaluationInterruptedError) as caught:
            evaluate_held_out(cyclotron)
        assert caught.value.detail["reason"] == "permits-lost"
        assert cyclotron.held_out_request_bound() == 1
    with Cyclotron(store, model, max_requests=1) as cyclotron:
        report = evaluate_held_out(cyclotron)
        assert cyclotron.held_out_reports() == [report]
    assert server.count == BOUND + 1


def test_a_failed_call_outside_an_evaluation_is_the_callers_error(server: LoopbackModel, model: OpenAIModel) -> None:
    store = frozen_cyclotron(audit=1, development=0, training=0)
    server.behave(Fault.STATUS, amount=500, times=1)
    plan = make_plan(store, store.classifier(), model=model.identity)
    with pytest.raises(ModelError):
        Asker(store, model, clock.now).ask([plan.after.request(model.identity, text_of("include", 1))])


def test_an_evaluation_confirmed_for_one_model_is_never_answered_by_another(
    server: LoopbackModel, model: OpenAIModel
) -> None:
    store = frozen_cyclotron()
    started = start(store, model)
    held = store.all(CachedAnswer).count()
    ended = run_evaluation(store, started.id, model=LocalModel(), fence=1, clock=clock.now)
    assert (ended.state, ended.reason, ended.report_id) == ("interrupted", "model-changed", None)
    assert (server.count, store.rows(Permit).count(), store.all(CachedAnswer).count()) == (0, 0, held)
    assert bound(store, model) == BOUND


@pytest.mark.parametrize("stop", [KeyboardInterrupt, SystemExit, GeneratorExit])
def test_a_guard_that_raises_anything_at_all_ends_an_evaluation_inside_a_call(
    server: LoopbackModel, model: OpenAIModel, stop: type[BaseException]
) -> None:
    store = frozen_cyclotron()
    started = start(store, model)

    def guard(request: DecisionRequest) -> None:
        raise stop

    with pytest.raises(stop):
        run(store, started, model, guard=guard)
    ended = store.all(Evaluation).get(id=started.id)
    assert (ended.state, ended.reason, server.count) == ("interrupted", "guard", 0)
    assert start(store, model).new


def test_answers_of_items_that_left_the_set_meanwhile_are_no_part_of_what_was_cached(
    server: LoopbackModel, model: OpenAIModel
) -> None:
    store = frozen_cyclotron()
    started = confirm_evaluation(
        store, model=model, account_id="acc_1", clock=clock.now, **confirmation_of(store, model)
    )

    def die(done: int, total: int) -> None:
        if done == BOUND - 2:
            raise ClaimLost("the worker is taken for dead", jobId=started.job_id)

    with pytest.raises(ClaimLost):
        run(store, started, model, progress=die)
    for row in list(store.rows(HeldOutItem).order_by("-position"))[: ITEMS - 1]:
        choose(store, row)
    ended = run_evaluation(store, started.id, model=model, fence=2, clock=clock.now)
    assert ended.state == "done"
    cost = report_of(store)["cost"]
    assert (cost["newRequests"], cost["cachedRequests"]) == (BOUND - 2, 0)
