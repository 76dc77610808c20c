"""Running one job: claim, beat while the handler works, record the end."""

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from django.conf import settings
from django.db import connections

from kapsoweb.foundation import clock
from kapsoweb.foundation.canonical import check_json
from kapsoweb.foundation.errors import KapsoError
from kapsoweb.jobs import actions, registry
from kapsoweb.jobs.claims import Claim, OnProgress, take
from kapsoweb.jobs.errors import ClaimLost
from kapsoweb.jobs.models import JobState
from kapsoweb.jobs.registry import Stopped
from kapsoweb.logs import job_context

__all__ = ["Claim", "run"]

logger = logging.getLogger(__name__)

INTERNAL = "internal-error"


def run(job_id: str, worker_id: str, on_progress: OnProgress | None = None) -> bool:
    """Claim the job, run its handler and record how it ended. Never raises for what the handler raises.

    False when the job was not to be had (unknown, held, ended, given up) or was lost to another worker on the way; then
    nothing was recorded here. An interruption of the process (`KeyboardInterrupt`, `SystemExit`) gives the job back and
    goes on upward.
    """
    with job_context(job_id):
        if actions.give_up(job_id, clock.now()):
            return False
        claim = take(job_id, worker_id, clock.now(), on_progress)
        if claim is None:
            return False
        logger.info("claimed job %s, claim %s", job_id, claim.fence)
        try:
            state, outcome = _outcome(claim)
            claim.finish(state, clock.now(), **outcome)
        except ClaimLost:
            logger.warning("lost job %s, claim %s; nothing recorded", job_id, claim.fence)
            return False
        logger.info("job %s ended as %s", job_id, state.value)
        return True


def _outcome(claim: Claim) -> tuple[JobState, dict[str, Any]]:
    try:
        with _beating(claim):
            returned = registry.handler_of(claim.kind)(claim)
        state = JobState.CANCELLED if isinstance(returned, Stopped) else JobState.DONE
        result = returned.result if isinstance(returned, Stopped) else returned
        check_json(result, "the job's result")
    except ClaimLost:
        raise
    except KapsoError as error:
        logger.warning("job %s failed: %s", claim.job_id, error.id)
        return JobState.FAILED, {"error_id": error.id, "error_message": _storable(error.message)}
    except Exception:
        logger.exception("job %s failed", claim.job_id)
        return JobState.FAILED, {
            "error_id": INTERNAL,
            "error_message": f"The job {claim.job_id} failed inside the lab; the log has the details under its id.",
        }
    except BaseException:
        with suppress(ClaimLost):  # another has the job by now, and the interruption goes on upward all the same
            claim.release()
        raise
    return state, {"result": result}


def _storable(text: str) -> str:
    """`text` without what a database cannot store, so that even a strange message ends its job."""
    return text.encode("utf-8", "backslashreplace").decode().replace("\x00", "\\x00")


@contextmanager
def _beating(claim: Claim) -> Iterator[None]:
    """Extend the lease from a thread until the block is left."""
    stop = threading.Event()
    thread = threading.Thread(target=_beat, args=(claim, stop), name=f"heartbeat of {claim.job_id}", daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def _beat(claim: Claim, stop: threading.Event) -> None:
    while not stop.wait(settings.KAPSOWEB_JOB_HEARTBEAT_SECONDS):
        try:
            if not claim.beat(clock.now()):
                return
        except Exception:
            # The database may be away for a moment; the lease is longer than one missed beat.
            logger.warning("a heartbeat of job %s failed", claim.job_id, exc_info=True)
        finally:
            connections.close_all()
