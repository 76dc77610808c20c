"""Worker processes that share the test's database and transport, to be killed on purpose."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from django.conf import settings
from django.db import connection

ROOT = Path(__file__).resolve().parents[2]
QUICK = {
    "KAPSOWEB_JOB_LEASE_SECONDS": "2",
    "KAPSOWEB_JOB_HEARTBEAT_SECONDS": "0.3",
    "KAPSOWEB_SWEEP_SECONDS": "0.5",
    "KAPSOWEB_WORKER_SEEN_SECONDS": "3",
}


def database_url() -> str:
    """The address of the test's own database, for another process."""
    known = connection.settings_dict
    if connection.vendor == "sqlite":
        return f"sqlite:///{known['NAME']}"
    password = f":{known['PASSWORD']}" if known["PASSWORD"] else ""
    return f"postgres://{known['USER']}{password}@{known['HOST']}:{known['PORT'] or 5432}/{known['NAME']}"


@contextlib.contextmanager
def worker_process(
    *,
    more: Mapping[str, str] | None = None,
    settings_module: str = "tests.support.worker_settings",
    threads: int = 2,
    module: str = "kapsoweb.jobs",
) -> Iterator[subprocess.Popen[bytes]]:
    """A worker with leases and sweeps of seconds, on the test's database and transport; killed at the end."""
    environment = {
        **os.environ,
        **QUICK,
        "DJANGO_SETTINGS_MODULE": settings_module,
        "DATABASE_URL": database_url(),
        "KAPSOWEB_HOME": str(settings.KAPSOWEB_HOME),
        "KAPSOWEB_LOG_LEVEL": "WARNING",
        "PYTHONPATH": str(ROOT),
        "PYTHONWARNINGS": "ignore",
        **(more or {}),
    }
    process = subprocess.Popen(
        [sys.executable, "-m", module, str(threads)], env=environment, cwd=ROOT, stdin=subprocess.DEVNULL
    )
    try:
        yield process
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGKILL)
        process.wait()


def until(true: Callable[[], bool], what: str, seconds: float = 60.0) -> None:
    """Return once `true()` holds; fail when it does not within `seconds`."""
    deadline = time.monotonic() + seconds
    while not true():
        if time.monotonic() > deadline:
            raise AssertionError(f"waited {seconds:.0f} s in vain: {what}")
        time.sleep(0.05)
