"""Worker processes killed with SIGKILL, lost bells and a transport that is down."""

import time
from collections.abc import Callable
from pathlib import Path

import pytest
from celery import Celery

from kapsoweb.foundation import clock
from kapsoweb.jobs import actions, bell, queries
from kapsoweb.jobs.models import Job, JobState
from kapsoweb.settings.base import broker
from tests.support.sample_jobs import jobs as sample_jobs
from tests.support.services import free_port
from tests.support.workers import until, worker_process

pytestmark = [pytest.mark.faults, pytest.mark.services, pytest.mark.django_db(transaction=True)]

assert sample_jobs  # imported for the kinds that it registers


def enqueue(kind: str, **payload: object) -> str:
    return actions.enqueue(kind=kind, payload=payload, account_id="acc_1", now=clock.now()).pk


def ended(job_id: str) -> Callable[[], bool]:
    def has_ended() -> bool:
        return queries.job(job_id).is_finished

    return has_ended


def test_a_worker_process_hears_the_bell_and_does_the_job(tmp_path: Path) -> None:
    with worker_process() as process:
        until(lambda: bool(queries.live_workers(clock.now())), "a worker's heartbeat")
        job_id = enqueue("sample.note", folder=str(tmp_path))
        until(ended(job_id), "the job's end")
        assert queries.job(job_id).result == {"fence": 1, "pid": process.pid}
        process.terminate()
        assert process.wait(30) == 0
    assert queries.live_workers(clock.now()) == []


def test_a_job_is_done_by_another_when_its_worker_is_killed(tmp_path: Path) -> None:
    with worker_process() as first:
        job_id = enqueue("sample.hold", folder=str(tmp_path))
        until((tmp_path / "ran-1").exists, "the first claim")
        first.kill()
        first.wait()
    assert queries.job(job_id).state == JobState.RUNNING
    with worker_process() as second:
        until(ended(job_id), "the second claim's end")
    job = queries.job(job_id)
    assert (job.state, job.result) == (JobState.DONE, {"fence": 2, "pid": second.pid})
    assert sorted(path.name for path in tmp_path.iterdir()) == ["ran-1", "ran-2"]


def test_a_job_that_kills_its_worker_three_times_is_finished_at_the_fourth() -> None:
    job_id = enqueue("sample.die", times=3)
    for _ in range(3):
        with worker_process() as process:
            assert process.wait(60) == -9
    with worker_process():
        until(ended(job_id), "the fourth claim's end")
    assert queries.job(job_id).result == {"fence": 4}


def test_a_job_that_always_kills_its_worker_is_given_up() -> None:
    job_id = enqueue("sample.die", times=99)
    limit = {"KAPSOWEB_JOB_MAX_ATTEMPTS": "2"}
    for _ in range(2):
        with worker_process(more=limit) as process:
            assert process.wait(60) == -9
    with worker_process(more=limit) as process:
        until(ended(job_id), "the end")
        assert process.poll() is None
    assert queries.job(job_id).error_id == "gave-up"


def test_a_lost_bell_is_made_up_for_by_the_sweep(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(bell, "ring", lambda job_id: True)  # said to be sent, and lost on its way
        job_id = enqueue("sample.note", folder=str(tmp_path))
    with worker_process():
        until(ended(job_id), "the job's end")
    assert queries.job(job_id).state == JobState.DONE


def test_without_the_sweep_a_lost_bell_leaves_its_job_waiting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(bell, "ring", lambda job_id: True)
        lost = enqueue("sample.note", folder=str(tmp_path))
    (tmp_path / "other").mkdir()
    with worker_process(more={"KAPSOWEB_SWEEP_SECONDS": "3600"}):
        until(lambda: bool(queries.live_workers(clock.now())), "a worker's heartbeat")
        heard = enqueue("sample.note", folder=str(tmp_path / "other"))
        until(ended(heard), "the end of a job whose bell was heard")
        assert queries.job(lost).state == JobState.QUEUED


def test_a_running_job_in_another_process_stops_when_asked() -> None:
    with worker_process():
        job_id = enqueue("sample.until-cancelled")
        until(lambda: queries.job(job_id).progress_total > 0, "the first progress")
        actions.request_cancel(job_id, clock.now())
        until(ended(job_id), "the end of the job that was told to stop")
    job = queries.job(job_id)
    assert (job.state, job.result) == (JobState.CANCELLED, {"stopped": True})


def test_a_transport_that_is_down_neither_fails_nor_holds_up_the_caller(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("REDIS_URL", f"redis://127.0.0.1:{free_port()}/0")
    url, options = broker(tmp_path)
    app = Celery("elsewhere", broker=url, set_as_current=False)
    app.conf.broker_transport_options = options
    monkeypatch.setattr(bell, "import_string", lambda name: app)
    began = time.monotonic()
    job_id = enqueue("sample.note", folder=str(tmp_path))
    assert time.monotonic() - began < 5
    job = queries.job(job_id)
    assert (job.state, job.rung_at) == (JobState.QUEUED, None)
    assert [record.levelname for record in caplog.records if record.name == "kapsoweb.jobs.bell"] == ["WARNING"]
    assert Job.objects.count() == 1
