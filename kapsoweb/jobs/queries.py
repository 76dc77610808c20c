"""Reads of the job table."""

from datetime import datetime, timedelta

from django.conf import settings

from kapsoweb.jobs.errors import NoSuchJobError
from kapsoweb.jobs.models import Job, JobState, WorkerHeartbeat


def job(job_id: str) -> Job:
    """The job of that id, or `NoSuchJobError`. Whether the asker may see it is the caller's business."""
    try:
        return Job.objects.get(pk=job_id)
    except Job.DoesNotExist:
        raise NoSuchJobError(f"There is no job {job_id!r}.", jobId=job_id) from None


def state_of(job_id: str) -> JobState | None:
    """Where the job of that id stands; None without such a row, for stores may travel without the job table."""
    state = Job.objects.filter(pk=job_id).values_list("state", flat=True).first()
    return None if state is None else JobState(state)


def live_workers(now: datetime) -> list[WorkerHeartbeat]:
    """The workers seen within `KAPSOWEB_WORKER_SEEN_SECONDS` of `now`, newest sign of life first."""
    horizon = now - timedelta(seconds=settings.KAPSOWEB_WORKER_SEEN_SECONDS)
    return list(WorkerHeartbeat.objects.filter(seen_at__gte=horizon))
