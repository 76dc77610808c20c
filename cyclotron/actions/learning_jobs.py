"""Queueing a job that learns once enough new training reviews are stored. Source: spec held-out, section 4."""

from datetime import datetime, timedelta

from cyclotron.labels import reviews_until_due
from cyclotron.store import Store
from kapsoweb.jobs.actions import enqueue
from kapsoweb.jobs.models import Job, JobState
from kapsoweb.jobs.queries import newest_job

JOB_KIND = "cyclotron.learn"
TRY_AGAIN_AFTER = timedelta(minutes=10)
"""After a job failed no other is queued for so long: an endpoint that is down is not asked at every review."""


def queue_learning(store: Store, *, account_id: str, now: datetime) -> Job | None:
    """Queue a job that learns, unless nothing is due, a job is there that will look, or one failed a moment ago.

    The caller holds the store's lock, under which a job looks for the last time and says so by its progress.
    """
    if not learning_is_due(store):
        return None
    newest = newest_job(JOB_KIND, record_id=store.cyclotron_id)
    if newest is not None and (_will_look(newest) or _failed_since(newest, now - TRY_AGAIN_AFTER)):
        return None
    return enqueue(
        kind=JOB_KIND,
        payload={"store": store.using, "cyclotron": store.cyclotron_id},
        account_id=account_id,
        record_id=store.cyclotron_id,
        now=now,
    )


def learning_is_due(store: Store) -> bool:
    """Whether any classifier has enough new training reviews."""
    learn_every = store.cyclotron().learn_every
    return any(reviews_until_due(store, row, learn_every) == 0 for row in store.classifiers())


def _will_look(job: Job) -> bool:
    return not job.is_finished and job.progress_done == 0


def _failed_since(job: Job, moment: datetime) -> bool:
    return job.state == JobState.FAILED and job.finished_at is not None and job.finished_at > moment
