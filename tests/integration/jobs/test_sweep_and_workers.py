"""What keeps jobs going when bells, workers or transports fail."""

from collections.abc import Callable
from datetime import datetime, timedelta

import pytest
from pytest_django import Settings

from kapsoweb.foundation import clock
from kapsoweb.jobs import actions, bell, claims, queries, running, waiting, worker
from kapsoweb.jobs.models import Job, JobState, WorkerHeartbeat

pytestmark = [pytest.mark.services, pytest.mark.django_db]

Register = Callable[..., str]


@pytest.fixture(autouse=True)
def lost_bells(monkeypatch: pytest.MonkeyPatch) -> None:
    """No first bell ever arrives."""
    monkeypatch.setattr(bell, "ring", lambda job_id: False)


def enqueue(kind: str, now: datetime) -> Job:
    return actions.enqueue(kind=kind, payload={}, account_id="acc_1", now=now)


def alive(now: datetime, name: str = "wkr_1") -> None:
    WorkerHeartbeat.objects.create(id=name, pid=1, host="here", started_at=now, seen_at=now)


class Bell:
    """A transport that remembers."""

    def __init__(self, works: bool = True) -> None:
        self.ids: list[str] = []
        self.works = works

    def __call__(self, job_id: str) -> bool:
        self.ids.append(job_id)
        return self.works


def test_a_lost_bell_is_rung_again_and_two_sweeps_ring_once(register_job: Register, moment: datetime) -> None:
    job = enqueue(register_job(lambda claim: None), moment)
    ring = Bell()
    assert actions.sweep(moment + timedelta(seconds=1), ring).rung == ()  # the first bell may still be on its way
    later = moment + timedelta(seconds=60)
    assert actions.sweep(later, ring).rung == (job.pk,)
    assert actions.sweep(later, ring).rung == ()
    assert ring.ids == [job.pk]


def test_a_sweep_whose_own_bell_fails_rings_again_at_a_later_pass(register_job: Register, moment: datetime) -> None:
    job = enqueue(register_job(lambda claim: None), moment)
    assert actions.sweep(moment + timedelta(seconds=60), Bell(works=False)).rung == ()
    assert actions.sweep(moment + timedelta(seconds=120), Bell()).rung == (job.pk,)


def test_a_job_whose_worker_is_gone_is_rung_for_when_its_lease_has_run_out(
    register_job: Register, moment: datetime
) -> None:
    job = enqueue(register_job(lambda claim: None), moment)
    assert claims.take(job.pk, "wkr_dead", moment) is not None
    assert actions.sweep(moment + timedelta(seconds=20), Bell()).rung == ()
    assert actions.sweep(moment + timedelta(seconds=31), Bell()).rung == (job.pk,)
    again = claims.take(job.pk, "wkr_2", moment + timedelta(seconds=32))
    assert again is not None
    assert again.fence == 2


def test_a_job_that_beats_keeps_its_lease(register_job: Register, moment: datetime) -> None:
    job = enqueue(register_job(lambda claim: None), moment)
    claim = claims.take(job.pk, "wkr_1", moment)
    assert claim is not None
    assert claim.beat(moment + timedelta(seconds=25))
    assert actions.sweep(moment + timedelta(seconds=40), Bell()).rung == ()
    assert claims.take(job.pk, "wkr_2", moment + timedelta(seconds=40)) is None


def test_ended_jobs_are_left_alone(register_job: Register, moment: datetime) -> None:
    job = enqueue(register_job(lambda claim: None), moment)
    running.run(job.pk, "wkr_1")
    assert actions.sweep(moment + timedelta(days=400), Bell()).rung == ()


def test_a_job_that_never_ends_is_given_up(register_job: Register, moment: datetime, settings: Settings) -> None:
    settings.KAPSOWEB_JOB_MAX_ATTEMPTS = 3
    job = enqueue(register_job(lambda claim: None), moment)
    now = moment
    for _ in range(3):
        assert claims.take(job.pk, "wkr_doomed", now) is not None
        now += timedelta(seconds=31)
    assert actions.sweep(now, Bell()).gave_up == (job.pk,)
    ended = queries.job(job.pk)
    assert (ended.state, ended.error_id, ended.fence) == (JobState.FAILED, "gave-up", 3)


def test_the_bell_of_a_worn_job_gives_it_up_instead_of_starting_it(register_job: Register, settings: Settings) -> None:
    runs: list[int] = []
    job = enqueue(register_job(lambda claim: runs.append(1)), clock.now())
    settings.KAPSOWEB_JOB_MAX_ATTEMPTS = 2
    Job.objects.filter(pk=job.pk).update(attempts=2)
    assert not running.run(job.pk, "wkr_1")
    assert queries.job(job.pk).error_id == "gave-up"
    assert runs == []


def test_a_worker_counts_as_alive_for_fifteen_seconds_and_is_forgotten_later(moment: datetime) -> None:
    alive(moment)
    assert [one.pk for one in queries.live_workers(moment + timedelta(seconds=15))] == ["wkr_1"]
    assert queries.live_workers(moment + timedelta(seconds=16)) == []
    assert actions.sweep(moment + timedelta(seconds=16), Bell()).workers_forgotten == 0
    assert actions.sweep(moment + timedelta(seconds=61), Bell()).workers_forgotten == 1


@pytest.mark.django_db(transaction=True)
def test_the_attendant_is_seen_while_it_runs_and_takes_its_row_along() -> None:
    attendant = worker.start_attendant()
    try:
        for _ in range(200):
            if queries.live_workers(clock.now()):
                break
            attendant.join(0.05)
        assert [one.pk for one in queries.live_workers(clock.now())] == [attendant.worker_id]
        assert worker.worker_id() == attendant.worker_id
    finally:
        worker.stop_attendant()
    assert not WorkerHeartbeat.objects.exists()


def test_waiting_without_a_live_worker_does_the_job_and_hears_its_progress(register_job: Register) -> None:
    def handler(claim: running.Claim) -> dict[str, int]:
        claim.progress(1, 2)
        claim.progress(2, 2)
        return {"fence": claim.fence}

    heard: list[tuple[int, ...]] = []
    job = enqueue(register_job(handler), clock.now())
    ended = waiting.wait_for(job.pk, lambda *progress: heard.append(progress))
    assert (ended.state, ended.result) == (JobState.DONE, {"fence": 1})
    assert heard == [(1, 2), (2, 2)]


def test_waiting_leaves_the_job_to_a_live_worker_and_takes_it_over_when_that_one_dies(
    register_job: Register, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = enqueue(register_job(lambda claim: {"fence": claim.fence}), clock.now())
    assert claims.take(job.pk, "wkr_1", clock.now()) is not None
    alive(clock.now())
    pauses: list[float] = []

    def pause(seconds: float) -> None:
        pauses.append(seconds)
        assert queries.job(job.pk).fence == 1
        if len(pauses) == 3:  # the worker dies: no heartbeat any more, and in time its lease runs out
            WorkerHeartbeat.objects.all().delete()
        if len(pauses) == 5:
            Job.objects.filter(pk=job.pk).update(lease_until=clock.now() - timedelta(seconds=1))

    monkeypatch.setattr("kapsoweb.jobs.waiting.time.sleep", pause)
    ended = waiting.wait_for(job.pk)
    assert ended.result == {"fence": 2}
    assert len(pauses) == 5
