"""The one Celery task: somebody rang, so try to have the job."""

from celery import shared_task
from django.db import connections

from kapsoweb.jobs import bell, running, worker


@shared_task(name=bell.TASK)  # type: ignore[untyped-decorator]
def run(job_id: str) -> None:
    """Run the job unless another has it. A second delivery of the same bell does nothing."""
    try:
        running.run(job_id, worker.worker_id())
    finally:
        connections.close_all()  # this thread may not work again for long
