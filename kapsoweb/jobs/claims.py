"""The claim: one conditional update makes a job this worker's; its fence keeps a late worker from writing.

Every write here is one `UPDATE ... WHERE id = and fence = and state = 'running'`. Whoever lost the job matches no row.
"""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import F, Q
from django.db.models.functions import Coalesce
from django.db.models.query import QuerySet

from kapsoweb.foundation import clock
from kapsoweb.jobs.errors import ClaimLost
from kapsoweb.jobs.models import Job, JobState

OnProgress = Callable[[int, int], None]
PROGRESS_SECONDS = 0.2  # progress is written at most this often; the last step always is


def lease() -> timedelta:
    """How long a claim holds without a heartbeat."""
    return timedelta(seconds=settings.KAPSOWEB_JOB_LEASE_SECONDS)


def claimable(now: datetime) -> Q:
    """Jobs to be had: queued ones, and running ones whose lease ran out."""
    return Q(state=JobState.QUEUED) | Q(state=JobState.RUNNING, lease_until__lt=now)


@dataclass
class Claim:
    """A worker's hold on a job, given to the job's handler. `fence` is larger than that of every earlier claim."""

    job_id: str
    kind: str
    fence: int
    payload: dict[str, Any]
    on_progress: OnProgress | None = None
    lost: threading.Event = field(default_factory=threading.Event)
    _written: float | None = field(default=None, repr=False)

    def _rows(self) -> QuerySet[Job]:
        return Job.objects.filter(pk=self.job_id, fence=self.fence, state=JobState.RUNNING)

    def _write(self, **values: Any) -> None:
        if not self._rows().update(**values):
            raise self._loss()

    def _loss(self) -> ClaimLost:
        self.lost.set()
        return ClaimLost(
            f"The job {self.job_id} is no longer held by claim {self.fence}; another worker has it or it has ended.",
            jobId=self.job_id,
        )

    def check(self) -> None:
        """Raise `ClaimLost` unless the job is still held by this claim.

        Inside a transaction of the job table's database the row stays locked until the transaction ends, so that what
        the transaction writes is written by the holder.
        """
        rows = self._rows()
        if transaction.get_connection().in_atomic_block:
            rows = rows.select_for_update()
        if not rows.values_list("pk", flat=True).first():
            raise self._loss()

    def progress(self, done: int, total: int) -> None:
        """Say how far the work is: `done` of `total`. Also a sign of life. Raises `ClaimLost`."""
        moment = time.monotonic()
        if done < total and self._written is not None and moment - self._written < PROGRESS_SECONDS:
            if self.lost.is_set():
                self.check()
            return
        self._write(progress_done=done, progress_total=total, lease_until=clock.now() + lease())
        self._written = moment
        if self.on_progress is not None:
            self.on_progress(done, total)

    def cancel_requested(self) -> bool:
        """Whether somebody asked for the job to stop. Raises `ClaimLost` when the job is another's by now."""
        asked_at = list(self._rows().values_list("cancel_requested_at", flat=True))
        if not asked_at:
            raise self._loss()
        return asked_at[0] is not None

    def beat(self, now: datetime) -> bool:
        """Extend the lease; False, and `lost` is set, when the job is no longer this claim's."""
        if self._rows().update(lease_until=now + lease()):
            return True
        self.lost.set()
        return False

    def release(self) -> None:
        """Give the job back unfinished, for the next worker (raises `ClaimLost`)."""
        self._write(state=JobState.QUEUED, lease_until=None, rung_at=None)

    def finish(self, state: JobState, now: datetime, **outcome: Any) -> None:
        """Record the end of the job: `result`, or `error_id` and `error_message` (raises `ClaimLost`)."""
        self._write(state=state, lease_until=None, finished_at=now, **outcome)


def take(job_id: str, worker_id: str, now: datetime, on_progress: OnProgress | None = None) -> Claim | None:
    """Claim the job for `worker_id`, or None when it is not to be had. Of callers at the same time one wins."""
    with transaction.atomic():  # the row stays locked, so what is read back is this claim and no later one
        won = Job.objects.filter(claimable(now), pk=job_id).update(
            state=JobState.RUNNING,
            fence=F("fence") + 1,
            attempts=F("attempts") + 1,
            worker_id=worker_id,
            lease_until=now + lease(),
            started_at=Coalesce(F("started_at"), now),
        )
        if not won:
            return None
        job = Job.objects.get(pk=job_id)
    return Claim(job_id=job.pk, kind=job.kind, fence=job.fence, payload=job.payload, on_progress=on_progress)
