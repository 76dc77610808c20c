"""The jobs of a caller's account, as every door reaches them: read by all, stopped and started again by operators."""

from datetime import datetime

from django.db import transaction

from kapsoweb.accounts.actions import record_audit
from kapsoweb.accounts.caller import Caller
from kapsoweb.accounts.errors import RecordNotFound
from kapsoweb.accounts.roles import Role
from kapsoweb.foundation.canonical import is_storable
from kapsoweb.foundation.paging import Page
from kapsoweb.jobs import actions, queries
from kapsoweb.jobs.models import Job, JobState

ROOM = "job"


def jobs_of(
    caller: Caller,
    *,
    record_id: str | None = None,
    state: JobState | None = None,
    after: str | None = None,
    limit: int = 50,
) -> Page[Job]:
    """The account's jobs, newest first. A caller who reaches one record sees that record's jobs and no other."""
    if caller.only is not None:
        if record_id not in (None, caller.only):
            return Page((), None)
        record_id = caller.only
    if record_id is not None and not is_storable(record_id):
        return Page((), None)
    return queries.jobs_of(caller.account.pk, record_id=record_id, state=state, after=after, limit=limit)


def job(caller: Caller, job_id: str, *, needs: Role = Role.VIEWER) -> Job:
    """The job of that id; raises `RecordNotFound`, or `NotAllowedError` when it is there and the role is not."""
    rows = Job.objects.filter(account_id=caller.account.pk)
    if caller.only is not None:
        rows = rows.filter(record_id=caller.only)
    found = rows.filter(pk=job_id).first() if is_storable(job_id) else None
    if found is None:
        raise RecordNotFound(f"There is no job with the id {job_id!r} here.", room=ROOM, recordId=job_id)
    caller.require(needs)
    return found


def cancel_job(caller: Caller, job_id: str, now: datetime) -> Job:
    """Ask a job to stop (see `kapsoweb.jobs.actions.request_cancel`); one that has ended stays as it is. Operators."""
    with transaction.atomic():
        known = job(caller, job_id, needs=Role.OPERATOR)
        stopped = actions.request_cancel(known.pk, now)
        if known.cancel_requested_at is None and stopped.cancel_requested_at is not None:
            _note(caller, "job.cancelled", stopped, now)
    return stopped


def retry_job(caller: Caller, job_id: str, now: datetime) -> Job:
    """Start a failed or cancelled job again; raises `JobNotRepeatableError` where that is not to be had. Operators."""
    with transaction.atomic():
        known = job(caller, job_id, needs=Role.OPERATOR)
        queued = actions.retry_job(known.pk, now)
        _note(caller, "job.retried", queued, now)
    return queued


def _note(caller: Caller, action: str, found: Job, now: datetime) -> None:
    record_audit(caller, action, now=now, room=ROOM, record_id=found.pk, kind=found.kind, about=found.record_id)
