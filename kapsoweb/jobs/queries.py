"""Reads of the job table."""

from collections.abc import Iterable
from datetime import datetime, timedelta

from django.conf import settings

from kapsoweb.foundation.paging import Page
from kapsoweb.jobs.errors import NoSuchJobError
from kapsoweb.jobs.models import Job, JobState, WorkerHeartbeat


def job(job_id: str) -> Job:
    """The job of that id, or `NoSuchJobError`. Whether the asker may see it is the caller's business."""
    try:
        return Job.objects.get(pk=job_id)
    except Job.DoesNotExist:
        raise NoSuchJobError(f"There is no job {job_id!r}.", jobId=job_id) from None


def jobs_of(
    account_id: str,
    *,
    record_id: str | None = None,
    state: JobState | None = None,
    after: str | None = None,
    limit: int = 50,
) -> Page[Job]:
    """An account's jobs, newest first, after the one with the id `after`; of one record and in one state if asked."""
    rows = Job.objects.filter(account_id=account_id)
    if record_id is not None:
        rows = rows.filter(record_id=record_id)
    if state is not None:
        rows = rows.filter(state=state)
    if after is not None:
        rows = rows.filter(id__lt=after)
    return Page.of(list(rows.order_by("-id")[: limit + 1]), limit)


def newest_job(kind: str, *, record_id: str) -> Job | None:
    """The job of a kind that was queued last for a record."""
    return Job.objects.filter(kind=kind, record_id=record_id).order_by("-id").first()


def unfinished_count(account_id: str) -> int:
    """How many of an account's jobs wait or run."""
    return Job.objects.filter(account_id=account_id, state__in=(JobState.QUEUED, JobState.RUNNING)).count()


def states_of(job_ids: Iterable[str]) -> dict[str, JobState]:
    """Where the jobs of those ids stand, in one query; one without a row is left out."""
    rows = Job.objects.filter(pk__in=set(job_ids)).values_list("id", "state")
    return {job_id: JobState(state) for job_id, state in rows}


def state_of(job_id: str) -> JobState | None:
    """Where the job of that id stands; None without such a row, for stores may travel without the job table."""
    state = Job.objects.filter(pk=job_id).values_list("state", flat=True).first()
    return None if state is None else JobState(state)


def live_workers(now: datetime) -> list[WorkerHeartbeat]:
    """The workers seen within `KAPSOWEB_WORKER_SEEN_SECONDS` of `now`, newest sign of life first."""
    horizon = now - timedelta(seconds=settings.KAPSOWEB_WORKER_SEEN_SECONDS)
    return list(WorkerHeartbeat.objects.filter(seen_at__gte=horizon))
