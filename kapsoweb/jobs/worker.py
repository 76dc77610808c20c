"""A worker process: Celery's consumer with a pool of threads, and one attendant that beats and sweeps.

`python -m kapsoweb.jobs [THREADS]` or `celery -A kapsoweb worker -P threads -c 4`; both come to the same, since
the attendant hangs on Celery's own signals.
"""

import logging
import os
import random
import socket
import threading
from typing import TYPE_CHECKING, Any

from celery import signals
from django.conf import settings
from django.db import connections
from django.utils.module_loading import import_string

from kapsoweb.foundation import clock
from kapsoweb.foundation.identifiers import new_id
from kapsoweb.jobs import actions
from kapsoweb.jobs.models import WorkerHeartbeat

if TYPE_CHECKING:
    from celery import Celery

logger = logging.getLogger(__name__)

THREADS = 4


class Attendant(threading.Thread):
    """Writes the worker's heartbeat and sweeps the job table, until told to stop."""

    def __init__(self) -> None:
        super().__init__(name="attendant", daemon=True)
        self.worker_id = new_id("wkr")
        self._leave = threading.Event()
        self._started_at = clock.now()

    def run(self) -> None:
        """Beat every third of the time after which a worker counts as gone; sweep every `KAPSOWEB_SWEEP_SECONDS`."""
        beat_every = settings.KAPSOWEB_WORKER_SEEN_SECONDS / 3
        sweep_in = 0.0  # once at the start: what was left behind is taken up without delay
        while True:
            self._try("heartbeat", self._beat)
            if sweep_in <= 0:
                self._try("sweep", self._sweep)
                # Jitter, so that workers started together do not sweep together for ever.
                sweep_in = settings.KAPSOWEB_SWEEP_SECONDS * random.uniform(0.75, 1.25)  # noqa: S311 - no secret
            connections.close_all()
            pause = max(0.05, min(beat_every, sweep_in))
            if self._leave.wait(pause):
                break
            sweep_in -= pause
        self._try("farewell", self._say_farewell)
        connections.close_all()

    def stop(self) -> None:
        """Leave after the current step and take the heartbeat's row along."""
        self._leave.set()
        self.join(timeout=30)

    def _try(self, what: str, step: Any) -> None:
        try:
            step()
        except Exception:
            # The attendant outlives a database or a transport that is away for a while.
            logger.warning("a worker's %s failed", what, exc_info=True)

    def _beat(self) -> None:
        WorkerHeartbeat.objects.update_or_create(
            pk=self.worker_id,
            defaults={"seen_at": clock.now()},
            create_defaults={
                "pid": os.getpid(),
                "host": socket.gethostname()[:255],
                "started_at": self._started_at,
                "seen_at": clock.now(),
            },
        )

    def _sweep(self) -> None:
        swept = actions.sweep(clock.now())
        if swept.rung or swept.gave_up:
            logger.info("swept: rang for %s jobs, gave up on %s", len(swept.rung), len(swept.gave_up))

    def _say_farewell(self) -> None:
        WorkerHeartbeat.objects.filter(pk=self.worker_id).delete()


_attendants: list[Attendant] = []


def worker_id() -> str:
    """The id of the worker that this process is, or a name for the process if it is none."""
    return _attendants[-1].worker_id if _attendants else f"process:{socket.gethostname()}:{os.getpid()}"[:100]


def start_attendant() -> Attendant:
    """Start beating and sweeping for this process."""
    attendant = Attendant()
    _attendants.append(attendant)
    attendant.start()
    return attendant


def stop_attendant() -> None:
    """End what `start_attendant` began; without effect when nothing runs."""
    while _attendants:
        _attendants.pop().stop()


def _leave_logs_alone(**_: Any) -> None:
    """Being connected is enough: Celery then sets up no logs of its own, and those of the settings stay."""


def _on_ready(**_: Any) -> None:
    start_attendant()


def _on_shutdown(**_: Any) -> None:
    stop_attendant()


signals.setup_logging.connect(_leave_logs_alone)
signals.worker_ready.connect(_on_ready)
signals.worker_shutdown.connect(_on_shutdown)


def serve(threads: int = THREADS) -> int:
    """Work until told to stop (SIGINT or SIGTERM: finish the jobs in hand, then leave); the exit code."""
    app: Celery = import_string(settings.KAPSOWEB_CELERY_APP)
    worker = app.Worker(
        pool="threads",
        concurrency=threads,
        without_gossip=True,
        without_mingle=True,
        without_heartbeat=True,
        quiet=True,
    )
    worker.start()
    return int(worker.exitcode or 0)
