"""The two processes of a lab, web and worker: how each is started, kept up and ended."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import kapsoweb
from kapsoweb.lab.address import HOST
from kapsoweb.lab.errors import KeepsEnding

RESTARTS = 3
RESTARTS_WITHIN_SECONDS = 300.0
END_SECONDS = 8.0  # an idle worker takes up to four: Celery looks for a last message first
_LOG_BYTES = 5_000_000
_LOG_TAIL_LINES = 12


class Process:
    """A supervised process. It writes to `log`, reads nothing, and is on a leash: it cannot outlive this one."""

    def __init__(self, name: str, module: Sequence[str], log: Path) -> None:
        self.name = name
        self.log = log
        self._module = module
        self._running: subprocess.Popen[bytes] | None = None
        self._ends: list[float] = []

    @property
    def pid(self) -> int | None:
        """Its process id, or None when it was never started."""
        return self._running.pid if self._running else None

    def start(self) -> None:
        """Start it; what it says is appended to its log."""
        with self.log.open("ab") as output:
            self._running = subprocess.Popen(
                [sys.executable, "-m", "kapsoweb.lab.leash", *self._module],
                cwd=Path(kapsoweb.__file__).parents[1],
                env={**os.environ, "PYTHONUNBUFFERED": "1"},
                stdin=subprocess.PIPE,  # the leash: never written to
                stdout=output,
                stderr=subprocess.STDOUT,
                process_group=0,  # a terminal's Ctrl-C reaches the supervisor only, which then ends both in order
            )

    def keep_up(self, say: Callable[[str], None]) -> None:
        """Start it again when it has ended. Raises `KeepsEnding` after three restarts within five minutes."""
        code = self._running.poll() if self._running else None
        if code is None:
            return
        now = time.monotonic()
        self._ends = [end for end in self._ends if now - end < RESTARTS_WITHIN_SECONDS] + [now]
        how = f"was killed by {signal.Signals(-code).name}" if code < 0 else f"ended with exit code {code}"
        if len(self._ends) > RESTARTS:
            raise KeepsEnding(
                f"The {self.name} process {how} and had been started again {RESTARTS} times already. "
                f"The last lines of {self.log}:\n{self._tail()}"
            )
        say(f"The {self.name} process {how}; starting it again ({len(self._ends)} of {RESTARTS}). Its log: {self.log}")
        self.start()

    def ask_to_end(self) -> None:
        """Ask it to finish what it does; `wait_for_end` follows."""
        if self._running and self._running.poll() is None:
            self._running.terminate()

    def wait_for_end(self, deadline: float, impatient: Callable[[], bool]) -> None:
        """Wait until `deadline` (monotonic seconds), or until somebody is impatient, then kill it."""
        if self._running is None:
            return
        while self._running.poll() is None and time.monotonic() < deadline and not impatient():
            time.sleep(0.05)
        if self._running.poll() is None:
            self._running.kill()
        self._running.wait()

    def _tail(self) -> str:
        lines = self.log.read_text(encoding="utf-8", errors="replace").splitlines()
        return "\n".join(f"  {line}" for line in lines[-_LOG_TAIL_LINES:])


def web_and_worker(home: Path, port: int) -> list[Process]:
    """The processes of a lab, not yet started; their logs are in `home`/logs, of earlier starts too."""
    logs = home / "logs"
    logs.mkdir(exist_ok=True)
    for log in (logs / "web.log", logs / "worker.log"):
        if log.exists() and log.stat().st_size > _LOG_BYTES:
            log.replace(log.with_suffix(".log.1"))
    serve = ["uvicorn", "kapsoweb.asgi:application", "--host", HOST, "--port", str(port)]
    serve += ["--no-access-log", "--log-level", "warning", "--timeout-graceful-shutdown", "3"]
    return [Process("web", serve, logs / "web.log"), Process("worker", ["kapsoweb.jobs"], logs / "worker.log")]


def end_all(processes: Sequence[Process], impatient: Callable[[], bool]) -> None:
    """End all of them within `END_SECONDS`: politely first, then by SIGKILL (a job's lease then runs out)."""
    for process in processes:
        process.ask_to_end()
    deadline = time.monotonic() + END_SECONDS
    for process in processes:
        process.wait_for_end(deadline, impatient)
