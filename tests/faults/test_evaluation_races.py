"""Two workers on one evaluation, late claims, and calls for an evaluation at the same moment."""

import threading
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.db import connections
from pytest_django import Settings

from cyclotron.actions.evaluating import confirm_evaluation, run_evaluation, running, start_evaluation
from cyclotron.actions.evaluating.permits import EvaluationPermits, claim_evaluation
from cyclotron.adapters.openai import OpenAIModel
from cyclotron.core.configuration import Answer, DecisionRequest
from cyclotron.core.errors import EvaluationRunningError
from cyclotron.models import Evaluation, Event, Permit, Report
from cyclotron.store import Store
from kapsoweb.foundation import clock
from kapsoweb.jobs import claims, queries
from kapsoweb.jobs import running as jobs_running
from kapsoweb.jobs.models import Job, JobState
from tests.support.evaluation_trials import (
    comparable,
    confirmation_of,
    model_at,
    model_environment,
    report_of,
    undisturbed_report,
)
from tests.support.frozen_cyclotrons import MINIMUM_PER_LABEL, frozen_cyclotron
from tests.support.loopback_model import Fault, LoopbackModel
from tests.support.workers import until, worker_process

pytestmark = [
    pytest.mark.faults,
    pytest.mark.services,
    pytest.mark.django_db(transaction=True),
]

BOUND = 12
PATIENCE_SECONDS = 30


@pytest.fixture
def model(server: LoopbackModel, settings: Settings) -> Iterator[OpenAIModel]:
    """The model at the server, which jobs in this process ask as well."""
    for name, value in model_environment(server.url).items():
        setattr(settings, name, value)
    model = model_at(server)
    yield model
    model.close()


class Stalling:
    """A model whose `on`-th answer is held back until something else has happened."""

    concurrency = 1

    def __init__(self, model: OpenAIModel, *, on: int, meanwhile: Callable[[], None]) -> None:
        self.identity = model.identity
        self._model, self._on, self._meanwhile = model, on, meanwhile
        self._asked = 0

    def answer(self, request: DecisionRequest) -> Answer:
        answer = self._model.answer(request)
        self._asked += 1
        if self._asked == self._on:
            self._meanwhile()
        return answer


def in_threads(work: Callable[[int], Any], number: int) -> list[Any]:
    """What `work` gave, or the error that it raised, in that many threads that begin at the same moment."""
    barrier = threading.Barrier(number)
    results: list[Any] = [None] * number

    def one(place: int) -> None:
        try:
            barrier.wait(PATIENCE_SECONDS)
            results[place] = work(place)
        except Exception as error:  # noqa: BLE001 - handed to the test
            results[place] = error
        finally:
            connections.close_all()

    threads = [threading.Thread(target=one, args=(place,)) for place in range(number)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE_SECONDS)
    return results


def confirmed(store: Store, model: OpenAIModel) -> Evaluation:
    started = start_evaluation(store, model=model.identity, now=clock.now(), **confirmation_of(store, model))
    return store.all(Evaluation).get(id=started.id)


def finish(store: Store, model: OpenAIModel) -> dict[str, Any]:
    """Confirm what is left, run it, and return the report."""
    run_evaluation(store, confirmed(store, model).id, model=model, fence=1, clock=clock.now)
    return report_of(store)


def test_a_late_worker_can_neither_take_a_permit_nor_end_what_another_runs(
    server: LoopbackModel, model: OpenAIModel
) -> None:
    store = frozen_cyclotron()
    undisturbed = undisturbed_report(store, server)
    calls_before = server.count
    evaluation = confirmed(store, model)

    def overtake() -> None:
        second = run_evaluation(store, evaluation.id, model=model, fence=2, clock=clock.now)
        assert (second.state, second.reason) == ("interrupted", "permits-lost")

    first = run_evaluation(
        store, evaluation.id, model=Stalling(model, on=7, meanwhile=overtake), fence=1, clock=clock.now
    )
    assert first == run_evaluation(store, evaluation.id, model=model, fence=3, clock=clock.now)
    evaluation.refresh_from_db()
    assert server.count - calls_before == BOUND == evaluation.permits_taken
    # The late worker's seventh answer came too late to be of use: the second worker had asked for it again.
    assert evaluation.unanswered == 1
    assert comparable(finish(store, model)) == comparable(undisturbed)
    assert server.count - calls_before == BOUND + 1


def test_a_late_worker_that_wakes_while_another_works_stops_and_its_answer_is_kept(
    server: LoopbackModel, model: OpenAIModel
) -> None:
    store = frozen_cyclotron()
    calls_before = server.count
    evaluation = confirmed(store, model)

    def claim() -> None:
        assert claim_evaluation(store, evaluation.id, fence=2)
        assert store.rows(Permit).get(evaluation=evaluation, number=7).lost_to == "crash"

    late = run_evaluation(store, evaluation.id, model=Stalling(model, on=7, meanwhile=claim), fence=1, clock=clock.now)
    assert (late.state, late.report_id) == ("running", None)
    assert server.count - calls_before == 7
    seventh = store.rows(Permit).get(evaluation=evaluation, number=7)
    assert (seventh.lost_to, seventh.answered_at is not None) == ("", True)
    assert not store.all(Event).filter(kind="evaluation-interrupted").exists()


def test_an_answer_that_comes_late_from_another_worker_leaves_nothing_to_confirm(
    server: LoopbackModel, model: OpenAIModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first worker has taken the last permit; its answer comes when the second has found that none is left."""
    store = frozen_cyclotron()
    undisturbed = undisturbed_report(store, server)
    calls_before = server.count
    evaluation = confirmed(store, model)
    awake, gone = threading.Event(), threading.Event()
    take = EvaluationPermits.take

    def take_late(permits: EvaluationPermits, fingerprint: str) -> int | None:
        if permits.fence == 2:
            awake.set()
            assert gone.wait(PATIENCE_SECONDS)
        return take(permits, fingerprint)

    def work(place: int) -> str:
        if place == 0:
            stalling = Stalling(model, on=BOUND, meanwhile=lambda: assert_set(awake))
            ended = run_evaluation(store, evaluation.id, model=stalling, fence=1, clock=clock.now)
            gone.set()
        else:
            assert server.wait_for_calls(calls_before + BOUND, PATIENCE_SECONDS)
            ended = run_evaluation(store, evaluation.id, model=model, fence=2, clock=clock.now)
        return ended.state

    monkeypatch.setattr(EvaluationPermits, "take", take_late)
    assert in_threads(work, 2) == ["running", "done"]
    assert server.count - calls_before == BOUND
    assert comparable(report_of(store)) == comparable(undisturbed)


def assert_set(event: threading.Event) -> None:
    assert event.wait(PATIENCE_SECONDS)


def test_workers_that_run_one_evaluation_at_the_same_moment_stay_within_its_bound(
    server: LoopbackModel, model: OpenAIModel
) -> None:
    store = frozen_cyclotron()
    undisturbed = undisturbed_report(store, server)
    calls_before = server.count
    evaluation = confirmed(store, model)

    def work(place: int) -> None:
        run_evaluation(store, evaluation.id, model=model, fence=place + 1, clock=clock.now)

    assert in_threads(work, 4) == [None] * 4
    evaluation.refresh_from_db()
    assert server.count - calls_before <= evaluation.permits_taken <= BOUND
    assert evaluation.state in ("done", "interrupted")
    if evaluation.state == "interrupted":
        finish(store, model)
    assert comparable(report_of(store)) == comparable(undisturbed)


def test_a_worker_that_is_overtaken_while_it_reads_the_evaluation_leaves_it_alone(
    server: LoopbackModel, model: OpenAIModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = frozen_cyclotron()
    calls_before = server.count
    evaluation = confirmed(store, model)

    def claimed_and_lost(store: Store, evaluation_id: str, *, fence: int) -> bool:
        assert claim_evaluation(store, evaluation_id, fence=fence)
        assert claim_evaluation(store, evaluation_id, fence=fence + 1)
        return True

    with monkeypatch.context() as patch:
        patch.setattr(running, "claim_evaluation", claimed_and_lost)
        ended = run_evaluation(store, evaluation.id, model=model, fence=1, clock=clock.now)
    assert ended.state == "running"
    assert server.count == calls_before
    assert run_evaluation(store, evaluation.id, model=model, fence=3, clock=clock.now).state == "done"


@pytest.mark.usefixtures("silent_bell")
def test_a_worker_whose_job_was_taken_from_it_leaves_the_end_of_the_evaluation_to_the_taker(
    server: LoopbackModel, model: OpenAIModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = frozen_cyclotron()
    calls_before = server.count
    started = confirm_evaluation(
        store, model=model, account_id="acc_1", clock=clock.now, **confirmation_of(store, model)
    )

    def let_the_lease_run_out() -> None:
        Job.objects.filter(pk=started.job_id).update(lease_until=clock.now() - timedelta(seconds=1))

    def take_the_job() -> None:
        let_the_lease_run_out()
        assert claims.take(started.job_id, "another worker", clock.now()) is not None

    with monkeypatch.context() as patch:
        patch.setattr("cyclotron.jobs.decision_model", lambda: Stalling(model, on=7, meanwhile=take_the_job))
        assert not jobs_running.run(started.job_id, "first worker")
    assert store.all(Evaluation).get(id=started.id).state == "running"
    assert server.count - calls_before == 7
    let_the_lease_run_out()
    assert jobs_running.run(started.job_id, "third worker")
    job = queries.job(started.job_id)
    assert job.result is not None
    assert (job.state, job.result["state"]) == (JobState.DONE, "done")
    assert server.count - calls_before == BOUND


@pytest.mark.usefixtures("silent_bell")
def test_a_job_delivered_to_many_workers_is_asked_for_once(
    server: LoopbackModel, model: OpenAIModel, settings: Settings
) -> None:
    store = frozen_cyclotron()
    calls_before = server.count
    started = confirm_evaluation(
        store, model=model, account_id="acc_1", clock=clock.now, **confirmation_of(store, model)
    )
    ran = in_threads(lambda place: jobs_running.run(started.job_id, f"worker {place}"), 4)
    assert sorted(ran) == [False, False, False, True]
    assert server.count - calls_before == BOUND
    assert store.all(Report).count() == 1


@pytest.mark.usefixtures("silent_bell")
def test_calls_for_one_evaluation_at_the_same_moment_start_it_once(server: LoopbackModel, model: OpenAIModel) -> None:
    store = frozen_cyclotron()
    confirmation = confirmation_of(store, model)

    def evaluate(place: int) -> Any:
        return confirm_evaluation(store, model=model, account_id="acc_1", clock=clock.now, **confirmation)

    started = in_threads(evaluate, 4)
    assert len({one.id for one in started}) == 1
    assert sorted(one.new for one in started) == [False, False, False, True]
    assert (store.all(Evaluation).count(), Job.objects.count()) == (1, 1)


@pytest.mark.usefixtures("silent_bell")
def test_calls_for_different_evaluations_at_the_same_moment_start_one_of_them(
    server: LoopbackModel, model: OpenAIModel
) -> None:
    store = frozen_cyclotron()

    def evaluate(place: int) -> Any:
        return start_evaluation(
            store,
            model=model.identity,
            now=clock.now(),
            account_id="acc_1",
            confirmed_bound=BOUND,
            minimum_per_label=MINIMUM_PER_LABEL + place,
        )

    started = in_threads(evaluate, 3)
    assert sum(isinstance(one, EvaluationRunningError) for one in started) == 2
    assert (store.all(Evaluation).count(), Job.objects.count()) == (1, 1)


def test_a_worker_process_goes_on_where_a_killed_one_stopped(server: LoopbackModel, model: OpenAIModel) -> None:
    """The whole way: bell, claim, lease, sweep; the first process dies with as many calls under way as it may have."""
    store = frozen_cyclotron()
    undisturbed = undisturbed_report(store, server)
    calls_before = server.count
    environment = model_environment(server.url)
    settings_module = "kapsoweb.settings.local"

    def confirm() -> str:
        return confirm_evaluation(
            store, model=model, account_id="acc_1", clock=clock.now, **confirmation_of(store, model)
        ).job_id

    server.behave(Fault.HANG)
    with worker_process(more=environment, settings_module=settings_module) as first:
        job_id = confirm()
        assert server.wait_for_calls(calls_before + 8, PATIENCE_SECONDS)
        first.kill()
        first.wait()
    server.behave(Fault.NONE)
    server.release()
    with worker_process(more=environment, settings_module=settings_module):
        until(lambda: queries.job(job_id).is_finished, "the end of the interrupted evaluation")
        interrupted = store.all(Evaluation).get()
        assert (interrupted.state, interrupted.reason, interrupted.unanswered) == ("interrupted", "permits-lost", 8)
        assert server.count - calls_before == BOUND
        second = confirm()
        until(lambda: queries.job(second).is_finished, "the end of the rest")
    assert server.count - calls_before == BOUND + 8
    assert comparable(report_of(store)) == comparable(undisturbed)
