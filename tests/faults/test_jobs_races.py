"""Each guard of the job table holds, and what it guards against happens as soon as it is taken away."""

import threading
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.db.models import F, Q
from django.db.models.query import QuerySet
from pytest_django import Settings

from kapsoweb.foundation import clock
from kapsoweb.jobs import actions, bell, claims, queries, running
from kapsoweb.jobs.claims import Claim
from kapsoweb.jobs.errors import ClaimLost
from kapsoweb.jobs.models import Job, JobState
from kapsoweb.jobs.registry import Stopped
from tests.support.races import in_threads

pytestmark = [pytest.mark.faults, pytest.mark.services, pytest.mark.django_db(transaction=True)]

Register = Callable[..., str]
Take = Callable[..., Claim | None]


@pytest.fixture(autouse=True)
def silent_bell(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bell, "ring", lambda job_id: True)


def enqueue(kind: str) -> Job:
    return actions.enqueue(kind=kind, payload={}, account_id="acc_1", now=clock.now())


def race(job_id: str, workers: int) -> list[bool]:
    """Run the job in that many threads at once; what each `run` said."""
    said: list[bool] = []
    assert in_threads(workers, lambda number: said.append(running.run(job_id, f"worker-{number}"))) == []
    return said


def meeting(take: Take, workers: int) -> Take:
    """`take`, entered by all workers at the same moment."""
    barrier = threading.Barrier(workers)

    def met(*arguments: Any) -> Claim | None:
        barrier.wait(30)
        return take(*arguments)

    return met


def take_without_swap(barrier: threading.Barrier) -> Take:
    """A claim as it would be without compare-and-swap: look first, write afterwards."""

    def take(job_id: str, worker_id: str, now: datetime, on_progress: Any = None) -> Claim:
        assert Job.objects.filter(claims.claimable(now), pk=job_id).exists()
        barrier.wait(30)
        Job.objects.filter(pk=job_id).update(
            state=JobState.RUNNING, worker_id=worker_id, lease_until=now + claims.lease(), fence=F("fence") + 1
        )
        barrier.wait(30)  # no worker ends the job before the others have claimed it
        job = queries.job(job_id)
        return Claim(job.pk, job.kind, job.fence, job.payload, on_progress)

    return take


def test_of_workers_that_race_for_one_job_one_runs_it(register_job: Register, monkeypatch: pytest.MonkeyPatch) -> None:
    runs: list[int] = []
    kind = register_job(lambda claim: runs.append(claim.fence))
    for _ in range(10):
        runs.clear()
        job = enqueue(kind)
        monkeypatch.setattr(running, "take", meeting(claims.take, 4))
        said = race(job.pk, 4)
        assert runs == [1]
        assert sorted(said) == [False, False, False, True]
        assert queries.job(job.pk).fence == 1


def test_without_compare_and_swap_two_workers_run_the_same_job(
    register_job: Register, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs: list[int] = []
    job = enqueue(register_job(lambda claim: runs.append(claim.fence)))
    monkeypatch.setattr(running, "take", take_without_swap(threading.Barrier(2)))
    race(job.pk, 2)
    assert len(runs) == 2


def overtaken(register_job: Register) -> tuple[Job, list[str]]:
    """A job whose first worker falls asleep, is overtaken by a second and wakes up; and what the first came upon."""
    came_upon: list[str] = []

    def handler(claim: Claim) -> dict[str, int]:
        if claim.fence == 1:
            Job.objects.filter(pk=claim.job_id).update(lease_until=clock.now() - timedelta(seconds=1))
            assert running.run(claim.job_id, "worker-2")
            for name, write in {
                "check": claim.check,
                "progress": lambda: claim.progress(5, 5),
                "cancel": claim.cancel_requested,
                "release": claim.release,
            }.items():
                try:
                    write()
                except ClaimLost:
                    came_upon.append(name)
            assert not claim.beat(clock.now())
        return {"by": claim.fence}

    job = enqueue(register_job(handler))
    running.run(job.pk, "worker-1")
    return queries.job(job.pk), came_upon


def test_a_late_worker_that_was_overtaken_can_write_nothing(register_job: Register) -> None:
    job, came_upon = overtaken(register_job)
    assert came_upon == ["check", "progress", "cancel", "release"]
    assert (job.state, job.result, job.fence, job.worker_id) == (JobState.DONE, {"by": 2}, 2, "worker-2")
    assert job.progress_done == 0


def test_without_the_fence_the_late_worker_overwrites_the_result(
    register_job: Register, monkeypatch: pytest.MonkeyPatch
) -> None:
    def rows_by_id_alone(claim: Claim) -> QuerySet[Job]:
        return Job.objects.filter(pk=claim.job_id)

    def handler(claim: Claim) -> dict[str, int]:
        if claim.fence == 1:
            Job.objects.filter(pk=claim.job_id).update(lease_until=clock.now() - timedelta(seconds=1))
            assert running.run(claim.job_id, "worker-2")
        return {"by": claim.fence}

    monkeypatch.setattr(Claim, "_rows", rows_by_id_alone)
    job = enqueue(register_job(handler))
    running.run(job.pk, "worker-1")
    assert queries.job(job.pk).result == {"by": 1}


def test_a_handler_works_on_past_its_lease_because_its_thread_beats(
    register_job: Register, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.KAPSOWEB_JOB_LEASE_SECONDS = 1.0
    settings.KAPSOWEB_JOB_HEARTBEAT_SECONDS = 0.1
    beats = threading.Semaphore(0)
    beat = Claim.beat

    def counted(claim: Claim, now: datetime) -> bool:
        held = beat(claim, now)
        beats.release()
        return held

    monkeypatch.setattr(Claim, "beat", counted)

    def handler(claim: Claim) -> None:
        before = queries.job(claim.job_id).lease_until
        assert before is not None
        for _ in range(3):
            assert beats.acquire(timeout=30)
        after = queries.job(claim.job_id).lease_until
        assert after is not None
        assert after > before

    job = enqueue(register_job(handler))
    assert running.run(job.pk, "worker-1")
    assert queries.job(job.pk).state == JobState.DONE


def test_sweeps_at_the_same_moment_ring_once_for_a_job(register_job: Register, moment: datetime) -> None:
    job = enqueue(register_job(lambda claim: None))
    Job.objects.filter(pk=job.pk).update(created_at=moment, rung_at=moment)
    rung: list[str] = []

    def ring(job_id: str) -> bool:
        rung.append(job_id)
        return True

    assert in_threads(4, lambda number: actions.sweep(moment + timedelta(minutes=5), ring)) == []
    assert rung == [job.pk]


def test_a_cancel_that_races_with_a_claim_is_never_lost(register_job: Register) -> None:
    def handler(claim: Claim) -> Stopped | None:
        return Stopped({"stopped": True}) if any(claim.cancel_requested() for _ in range(10_000)) else None

    kind = register_job(handler)
    for _ in range(10):
        job = enqueue(kind)

        def rival(number: int, job_id: str = job.pk) -> object:
            return running.run(job_id, "worker-1") if number else actions.request_cancel(job_id, clock.now())

        assert in_threads(2, rival) == []
        ended = queries.job(job.pk)
        assert ended.state == JobState.CANCELLED
        assert ended.result in (None, {"stopped": True})


def test_every_state_of_a_job_is_either_claimable_held_or_ended(register_job: Register) -> None:
    """No job can be stranded: the sweep's condition and the ends together cover the table."""
    now = clock.now()
    ended = Q(state__in=[JobState.DONE, JobState.FAILED, JobState.CANCELLED])
    held = Q(state=JobState.RUNNING, lease_until__gte=now)
    kind = register_job(lambda claim: None)
    ids = [enqueue(kind).pk for _ in range(4)]
    claims.take(ids[1], "worker-1", now)
    claims.take(ids[2], "worker-1", now - timedelta(hours=1))
    running.run(ids[3], "worker-1")
    assert not Job.objects.exclude(claims.claimable(now) | held | ended).exists()
    assert Job.objects.filter(claims.claimable(now)).count() == 2
