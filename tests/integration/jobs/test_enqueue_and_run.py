"""A job from its cause to its end."""

import logging
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import IntegrityError, transaction
from pytest_django import DjangoAssertNumQueries

from kapsoweb.foundation import clock
from kapsoweb.foundation.canonical import UnreadableValueError
from kapsoweb.foundation.errors import KapsoError
from kapsoweb.jobs import actions, bell, queries, running
from kapsoweb.jobs.errors import NoSuchJobError, UnknownKindError
from kapsoweb.jobs.models import Job, JobState
from kapsoweb.jobs.registry import Stopped

pytestmark = [pytest.mark.services, pytest.mark.django_db]

Register = Callable[..., str]


@pytest.fixture
def rung(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The ids that were rung for, instead of a transport."""
    ids: list[str] = []

    def ring(job_id: str) -> bool:
        ids.append(job_id)
        return True

    monkeypatch.setattr(bell, "ring", ring)
    return ids


def enqueue(kind: str, **payload: Any) -> Job:
    return actions.enqueue(kind=kind, payload=payload, account_id="acc_1", now=clock.now())


class OutOfPaperError(KapsoError):
    id = "out-of-paper"


@pytest.mark.django_db(transaction=True)
def test_a_job_is_rung_for_once_its_cause_has_committed_and_not_before(register_job: Register, rung: list[str]) -> None:
    kind = register_job(lambda claim: None)
    with transaction.atomic():
        job = enqueue(kind)
        assert rung == []
    assert rung == [job.pk]
    assert queries.job(job.pk).rung_at is not None


def test_a_job_whose_cause_is_rolled_back_leaves_nothing_behind(register_job: Register, rung: list[str]) -> None:
    kind = register_job(lambda claim: None)
    with transaction.atomic():
        enqueue(kind)
        transaction.set_rollback(True)
    assert rung == []
    assert not Job.objects.exists()


def test_a_kind_that_nobody_does_is_refused_and_no_row_is_written(rung: list[str]) -> None:
    with pytest.raises(UnknownKindError):
        enqueue("nobody.does")
    assert not Job.objects.exists()
    assert rung == []


@pytest.mark.parametrize("payload", [{"text": "a\x00b"}, {"text": "\ud800"}, {"number": float("nan")}])
def test_a_payload_that_no_database_can_store_is_refused_at_the_door(
    register_job: Register, rung: list[str], payload: dict[str, Any]
) -> None:
    with pytest.raises(UnreadableValueError):
        enqueue(register_job(lambda claim: None), **payload)
    assert not Job.objects.exists()


def test_a_handler_gets_its_payload_and_its_answer_becomes_the_result(register_job: Register, rung: list[str]) -> None:
    seen: list[Any] = []

    def handler(claim: running.Claim) -> dict[str, Any]:
        seen.append((claim.job_id, claim.kind, claim.payload, claim.fence))
        claim.progress(2, 3)
        return {"sum": 7}

    job = enqueue(register_job(handler), a=3)
    assert running.run(job.pk, "worker-1")
    ended = queries.job(job.pk)
    assert seen == [(job.pk, "test.work", {"a": 3}, 1)]
    assert (ended.state, ended.result, ended.fence) == (JobState.DONE, {"sum": 7}, 1)
    assert (ended.progress_done, ended.progress_total) == (2, 3)
    assert ended.started_at is not None
    assert ended.finished_at is not None
    assert ended.lease_until is None


def test_a_second_delivery_of_the_bell_does_nothing(register_job: Register, rung: list[str]) -> None:
    runs: list[int] = []
    job = enqueue(register_job(lambda claim: runs.append(claim.fence)))
    assert running.run(job.pk, "worker-1")
    assert not running.run(job.pk, "worker-2")
    assert runs == [1]


def test_a_bell_for_a_job_that_does_not_exist_does_nothing() -> None:
    assert not running.run("job_unknown", "worker-1")


def test_an_error_of_the_lab_becomes_the_jobs_error_with_its_id_and_message(
    register_job: Register, rung: list[str]
) -> None:
    def handler(claim: running.Claim) -> None:
        raise OutOfPaperError("There is no paper in tray 2; refill it.")

    job = enqueue(register_job(handler))
    assert running.run(job.pk, "worker-1")
    ended = queries.job(job.pk)
    assert (ended.state, ended.error_id) == (JobState.FAILED, "out-of-paper")
    assert ended.error_message == "There is no paper in tray 2; refill it."


def test_any_other_exception_says_nothing_of_itself_but_its_traceback_is_logged(
    register_job: Register, rung: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    def handler(claim: running.Claim) -> None:
        raise ValueError("the item reads: secret words")

    job = enqueue(register_job(handler))
    with caplog.at_level(logging.ERROR, "kapsoweb.jobs.running"):
        assert running.run(job.pk, "worker-1")
    ended = queries.job(job.pk)
    assert (ended.state, ended.error_id) == (JobState.FAILED, "internal-error")
    assert job.pk in ended.error_message
    assert "secret" not in ended.error_message
    assert [record.exc_info is not None for record in caplog.records] == [True]


@pytest.mark.parametrize(
    "result", [{"score": float("nan")}, {"text": "\ud800"}, {"when": datetime(2026, 1, 1, tzinfo=UTC)}]
)
def test_a_result_that_cannot_be_stored_fails_the_job_instead_of_leaving_it_open(
    register_job: Register, rung: list[str], result: dict[str, Any]
) -> None:
    job = enqueue(register_job(lambda claim: result))
    assert running.run(job.pk, "worker-1")
    ended = queries.job(job.pk)
    assert (ended.state, ended.error_id, ended.result) == (JobState.FAILED, "unreadable-value", None)


def test_an_error_message_that_no_database_can_store_still_ends_its_job(
    register_job: Register, rung: list[str]
) -> None:
    def handler(claim: running.Claim) -> None:
        raise OutOfPaperError("tray \x00 and \ud800")

    job = enqueue(register_job(handler))
    assert running.run(job.pk, "worker-1")
    assert queries.job(job.pk).error_message == "tray \\x00 and \\ud800"


def test_an_interrupted_process_gives_its_job_back(register_job: Register, rung: list[str]) -> None:
    def handler(claim: running.Claim) -> dict[str, int]:
        if claim.fence == 1:
            raise KeyboardInterrupt
        return {"fence": claim.fence}

    job = enqueue(register_job(handler))
    with pytest.raises(KeyboardInterrupt):
        running.run(job.pk, "worker-1")
    assert queries.job(job.pk).state == JobState.QUEUED
    assert running.run(job.pk, "worker-2")
    assert queries.job(job.pk).result == {"fence": 2}


def test_an_interruption_goes_on_upward_though_another_worker_has_the_job(
    register_job: Register, rung: list[str]
) -> None:
    def handler(claim: running.Claim) -> dict[str, int]:
        if claim.fence == 1:
            Job.objects.filter(pk=claim.job_id).update(lease_until=clock.now() - timedelta(seconds=1))
            assert running.run(claim.job_id, "worker-2")
            raise KeyboardInterrupt
        return {"fence": claim.fence}

    job = enqueue(register_job(handler))
    with pytest.raises(KeyboardInterrupt):
        running.run(job.pk, "worker-1")
    ended = queries.job(job.pk)
    assert (ended.state, ended.result) == (JobState.DONE, {"fence": 2})


def test_a_waiting_job_is_cancelled_at_once(register_job: Register, rung: list[str]) -> None:
    job = enqueue(register_job(lambda claim: None))
    assert actions.request_cancel(job.pk, clock.now()).state == JobState.CANCELLED
    assert not running.run(job.pk, "worker-1")


def test_a_running_job_that_is_told_to_stop_ends_as_cancelled_with_what_it_leaves(
    register_job: Register, rung: list[str]
) -> None:
    def handler(claim: running.Claim) -> Stopped:
        assert not claim.cancel_requested()
        assert actions.request_cancel(claim.job_id, clock.now()).state == JobState.RUNNING
        assert claim.cancel_requested()
        return Stopped({"kept": 4})

    job = enqueue(register_job(handler))
    assert running.run(job.pk, "worker-1")
    ended = queries.job(job.pk)
    assert (ended.state, ended.result, ended.error_id) == (JobState.CANCELLED, {"kept": 4}, "")
    assert None not in (ended.cancel_requested_at, ended.finished_at)


def test_a_job_that_was_told_to_stop_too_late_is_done(register_job: Register, rung: list[str]) -> None:
    def handler(claim: running.Claim) -> dict[str, int]:
        actions.request_cancel(claim.job_id, clock.now())
        return {"kept": 9}

    job = enqueue(register_job(handler))
    assert running.run(job.pk, "worker-1")
    ended = queries.job(job.pk)
    assert (ended.state, ended.result) == (JobState.DONE, {"kept": 9})


def test_asking_whether_to_stop_costs_one_query(
    register_job: Register, rung: list[str], django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    def handler(claim: running.Claim) -> None:
        with django_assert_num_queries(1):
            assert not claim.cancel_requested()

    job = enqueue(register_job(handler))
    assert running.run(job.pk, "worker-1")
    assert queries.state_of(job.pk) is JobState.DONE


def test_the_state_of_a_job_is_known_without_its_row_being_there(register_job: Register, rung: list[str]) -> None:
    job = enqueue(register_job(lambda claim: None))
    assert queries.state_of(job.pk) is JobState.QUEUED
    job.delete()
    assert queries.state_of("job_of_another_table") is None


def test_cancelling_what_has_ended_changes_nothing(register_job: Register, rung: list[str]) -> None:
    job = enqueue(register_job(lambda claim: {"ok": True}))
    running.run(job.pk, "worker-1")
    before = Job.objects.filter(pk=job.pk).values().get()
    actions.request_cancel(job.pk, clock.now())
    assert Job.objects.filter(pk=job.pk).values().get() == before


def test_cancelling_an_unknown_job_is_an_error() -> None:
    with pytest.raises(NoSuchJobError):
        actions.request_cancel("job_unknown", clock.now())


def test_progress_is_written_sparingly_but_its_last_step_always(register_job: Register, rung: list[str]) -> None:
    seen: list[int] = []

    def handler(claim: running.Claim) -> None:
        for done in range(1, 1001):
            claim.progress(done, 1000)

    job = enqueue(register_job(handler))
    running.run(job.pk, "worker-1", on_progress=lambda done, total: seen.append(done))
    assert queries.job(job.pk).progress_done == 1000
    assert len(seen) < 100


@pytest.mark.parametrize(
    "wrong",
    [
        {"state": "sleeping"},
        {"fence": -1},
        {"state": JobState.RUNNING},
        {"state": JobState.DONE},
        {"finished_at": datetime(2026, 1, 1, tzinfo=UTC)},
        {"state": JobState.FAILED, "finished_at": datetime(2026, 1, 1, tzinfo=UTC)},
        {"lease_until": datetime(2026, 1, 1, tzinfo=UTC)},
    ],
)
def test_the_database_itself_refuses_a_job_in_an_impossible_state(
    register_job: Register, rung: list[str], wrong: dict[str, Any]
) -> None:
    job = enqueue(register_job(lambda claim: None))
    with pytest.raises(IntegrityError), transaction.atomic():
        Job.objects.filter(pk=job.pk).update(**wrong)
    assert queries.job(job.pk).state == JobState.QUEUED


def test_times_are_aware_and_in_utc(register_job: Register, rung: list[str]) -> None:
    stored = queries.job(enqueue(register_job(lambda claim: None)).pk)
    assert stored.created_at.utcoffset() == timedelta(0)
