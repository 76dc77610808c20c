"""Writes of the jobs room on behalf of others: enqueue, cancel, and the sweep that makes up for lost bells."""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import F, Q
from django.db.models.functions import Coalesce

from kapsoweb.foundation.canonical import check_json
from kapsoweb.foundation.identifiers import new_id
from kapsoweb.jobs import bell, queries, registry
from kapsoweb.jobs.claims import claimable
from kapsoweb.jobs.errors import JobNotRepeatableError
from kapsoweb.jobs.models import Job, JobState, WorkerHeartbeat

logger = logging.getLogger(__name__)

GAVE_UP = "gave-up"
SWEEP_MOST = 100  # jobs rung in one pass
FORGET_WORKERS_AFTER = 4  # times `KAPSOWEB_WORKER_SEEN_SECONDS`


def enqueue(
    *, kind: str, payload: dict[str, Any], account_id: str, now: datetime, record_id: str = "", using: str = "default"
) -> Job:
    """Write a job and, once the caller's transaction has committed, ring for it.

    `payload`: plain JSON; ids rather than content. `record_id`: the record that the work is about, if there is one.
    `using`: the database alias of the caller's transaction. Job and cause are written together when that is the default
    database. From another store the row is written at once and the bell waits for that store's commit: its handler must
    stand finding that the cause was rolled back.

    Raises `UnknownKindError` when nothing could ever run the job.
    """
    registry.handler_of(kind)
    check_json(payload, "the job's payload")
    job = Job.objects.create(
        id=new_id("job"),
        kind=kind,
        payload=payload,
        account_id=account_id,
        record_id=record_id,
        state=JobState.QUEUED,
        created_at=now,
    )
    transaction.on_commit(partial(_first_ring, job.pk, now), using=using, robust=True)
    return job


def _first_ring(job_id: str, now: datetime) -> None:
    if bell.ring(job_id):
        Job.objects.filter(pk=job_id, rung_at__isnull=True).update(rung_at=now)


def request_cancel(job_id: str, now: datetime) -> Job:
    """Ask for a job to stop. One that waits is cancelled here; a running one is told, and its handler decides when.

    A handler that stops says what it leaves, and its job ends as cancelled with that. One that has ended stays as it
    is. Raises `NoSuchJobError`.
    """
    with transaction.atomic():
        waiting = Job.objects.filter(pk=job_id, state=JobState.QUEUED)
        if not waiting.update(state=JobState.CANCELLED, cancel_requested_at=now, finished_at=now):
            Job.objects.filter(pk=job_id, state=JobState.RUNNING, cancel_requested_at__isnull=True).update(
                cancel_requested_at=now
            )
        return queries.job(job_id)


def retry_job(job_id: str, now: datetime) -> Job:
    """Queue a failed or cancelled job again; its handler goes on where it stood. Of two callers at once one does it.

    Raises `NoSuchJobError`, or `JobNotRepeatableError` for a kind that is not made for it and for a job that has not
    failed.
    """
    with transaction.atomic():
        known = queries.job(job_id)
        if not registry.is_repeatable(known.kind):
            raise JobNotRepeatableError(
                "a job of this kind is not started again: what it was allowed to do is spent. Ask for it anew.",
                jobId=job_id,
            )
        queued = Job.objects.filter(pk=job_id, state__in=(JobState.FAILED, JobState.CANCELLED)).update(
            state=JobState.QUEUED,
            attempts=0,
            worker_id="",
            cancel_requested_at=None,
            result=None,
            error_id="",
            error_message="",
            rung_at=None,
            finished_at=None,
        )
        if not queued:
            raise JobNotRepeatableError(
                f"the job is {queries.job(job_id).state}; only one that failed or was cancelled is started again.",
                jobId=job_id,
            )
        transaction.on_commit(partial(_first_ring, job_id, now), robust=True)
        return queries.job(job_id)


@dataclass(frozen=True)
class Swept:
    """What one pass of the sweep did: ids rung for, ids given up, and the number of dead workers forgotten."""

    rung: tuple[str, ...]
    gave_up: tuple[str, ...]
    workers_forgotten: int


def sweep(now: datetime, ring: Callable[[str], bool] = bell.ring) -> Swept:
    """Ring for jobs whose bell may be lost and for those whose worker is gone; give up on those that kill workers.

    Safe in any number of workers at once: each job is rung for, or given up, by the one whose update matched.
    """
    gave_up = _give_up(now)
    stale = now - timedelta(seconds=settings.KAPSOWEB_SWEEP_SECONDS)
    due = Q(claimable(now)) & (Q(last_bell__lt=stale) | Q(state=JobState.RUNNING, last_bell__lt=F("lease_until")))
    rows = (
        Job.objects.annotate(last_bell=Coalesce("rung_at", "created_at"))
        .filter(due)
        .order_by("created_at", "id")
        .values_list("pk", "rung_at")[:SWEEP_MOST]
    )
    rung = []
    for job_id, rung_at in list(rows):
        if Job.objects.filter(claimable(now), pk=job_id, rung_at=rung_at).update(rung_at=now) and ring(job_id):
            rung.append(job_id)
    horizon = now - timedelta(seconds=settings.KAPSOWEB_WORKER_SEEN_SECONDS * FORGET_WORKERS_AFTER)
    forgotten, _ = WorkerHeartbeat.objects.filter(seen_at__lt=horizon).delete()
    return Swept(rung=tuple(rung), gave_up=tuple(gave_up), workers_forgotten=forgotten)


def _give_up(now: datetime) -> list[str]:
    worn = Job.objects.filter(claimable(now), attempts__gte=settings.KAPSOWEB_JOB_MAX_ATTEMPTS)
    ended = []
    for job_id in list(worn.values_list("pk", flat=True)[:SWEEP_MOST]):
        if give_up(job_id, now):
            ended.append(job_id)
    return ended


def give_up(job_id: str, now: datetime) -> bool:
    """End a job that was claimed `KAPSOWEB_JOB_MAX_ATTEMPTS` times and never finished: no job loops for ever."""
    most = settings.KAPSOWEB_JOB_MAX_ATTEMPTS
    ended = Job.objects.filter(claimable(now), pk=job_id, attempts__gte=most).update(
        state=JobState.FAILED,
        lease_until=None,
        finished_at=now,
        error_id=GAVE_UP,
        error_message=f"The job {job_id} was started {most} times and never came to an end; see the log.",
    )
    if ended:
        logger.error("gave up on job %s after %s claims", job_id, most)
    return bool(ended)
