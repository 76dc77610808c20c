"""Waiting for a job from a command: a live worker does it, or else the waiting process does it itself."""

import os
import socket
import time

from kapsoweb.foundation import clock
from kapsoweb.jobs import queries, running
from kapsoweb.jobs.claims import OnProgress
from kapsoweb.jobs.models import Job

POLL_SECONDS = 0.2


def wait_for(job_id: str, on_progress: OnProgress | None = None) -> Job:
    """The job, once it has ended (see its `state`). Calls `on_progress(done, total)` whenever these change.

    While no worker is alive the job is run in this thread, as soon as it is to be had: at once when it is queued, and
    when its lease has run out after the worker that had it died. Raises `NoSuchJobError`.
    """
    name = f"waiting:{socket.gethostname()}:{os.getpid()}"[:100]
    said: tuple[int, int] | None = None

    def say(done: int, total: int) -> None:
        nonlocal said
        if on_progress is not None and said != (done, total):
            said = (done, total)
            on_progress(done, total)

    while True:
        job = queries.job(job_id)
        if job.started_at is not None:
            say(job.progress_done, job.progress_total)
        if job.is_finished:
            return job
        if queries.live_workers(clock.now()) or not running.run(job_id, name, say):
            time.sleep(POLL_SECONDS)
