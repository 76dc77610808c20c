"""The doorbell: a message with a job's id, sent after commit. It may be lost; the sweep rings again."""

import logging
from typing import TYPE_CHECKING

from django.conf import settings
from django.utils.module_loading import import_string

if TYPE_CHECKING:
    from celery import Celery

logger = logging.getLogger(__name__)

TASK = "kapsoweb.jobs.run"


def ring(job_id: str) -> bool:
    """Tell the workers that a job waits. A transport that is down is logged and left to the sweep; never raises."""
    app: Celery = import_string(settings.KAPSOWEB_CELERY_APP)
    try:
        app.send_task(TASK, args=[job_id], retry=False, ignore_result=True)
    except Exception:
        # Whatever the transport raises, the job is safe in its table, and its caller has done its part.
        logger.warning("could not ring for job %s; the sweep will", job_id, exc_info=True)
        return False
    return True
