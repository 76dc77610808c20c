"""Kinds of job that a test can watch from outside the worker's process."""

import os
import signal
import threading
from pathlib import Path
from typing import Any

from kapsoweb.jobs.registry import Stopped, job
from kapsoweb.jobs.running import Claim
from tests.support.workers import until

PATIENCE_SECONDS = 60


@job("sample.note")
def note(claim: Claim) -> dict[str, Any]:
    """Leave a mark for this claim, and end."""
    Path(claim.payload["folder"], f"ran-{claim.fence}").touch(exist_ok=False)
    return {"fence": claim.fence, "pid": os.getpid()}


@job("sample.hold")
def hold(claim: Claim) -> dict[str, Any]:
    """Leave a mark; the first claim then works until it is killed, later ones end at once."""
    Path(claim.payload["folder"], f"ran-{claim.fence}").touch(exist_ok=False)
    if claim.fence == 1:
        threading.Event().wait(PATIENCE_SECONDS)
    return {"fence": claim.fence, "pid": os.getpid()}


@job("sample.die")
def die(claim: Claim) -> dict[str, Any]:
    """Kill the worker's process as often as the payload says, then end."""
    if claim.fence <= claim.payload["times"]:
        os.kill(os.getpid(), signal.SIGKILL)
    return {"fence": claim.fence}


@job("sample.until-cancelled")
def until_cancelled(claim: Claim) -> dict[str, Any] | Stopped:
    """Work until somebody asks for the end; the result says whether somebody did."""
    waiting = threading.Event()
    for step in range(PATIENCE_SECONDS * 20):
        if claim.cancel_requested():
            return Stopped({"stopped": True})
        claim.progress(step, PATIENCE_SECONDS * 20)
        waiting.wait(0.05)
    return {"stopped": False}


@job("sample.meet")
def meet(claim: Claim) -> None:
    """Leave a mark, and end once there are as many as the payload says: so many workers are free at one moment."""
    folder = Path(claim.payload["folder"])
    (folder / claim.job_id).touch()
    until(lambda: len(list(folder.iterdir())) >= claim.payload["of"], "the others", PATIENCE_SECONDS)
