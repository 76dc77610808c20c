"""A lab run as a person runs it, in a process of its own, and looked at from outside."""

import contextlib
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tests.support.services import environment_of_a_part, free_port

ROOT = Path(__file__).resolve().parents[2]
PATIENCE_SECONDS = 60.0

# The demonstration is another room's: here it is a few lines, so that what is tested is the supervisor.
_PROGRAM = """
import sys, types
loading = types.ModuleType("cyclotron.demonstration.loading")
def load_demonstration(progress):
    {load}
loading.load_demonstration = load_demonstration
sys.modules[loading.__name__] = loading
from kapsoweb.cli import main
sys.exit(main(["lab"]))
"""
QUICK = 'progress("demonstration loaded")'
ENDLESS = 'progress("demonstration begun"); import time; time.sleep(3600)'


@dataclass
class RunningLab:
    """A lab's process, its port and home, and what it has said so far (standard output and error together)."""

    process: subprocess.Popen[str]
    port: int
    home: Path
    said: list[str] = field(default_factory=list)

    def wait_until_it_says(self, pattern: str) -> str:
        """The first line, from here on, that matches; fails the test when the lab ends without it."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.said.append(line.rstrip())
            if re.search(pattern, line):
                return line.rstrip()
        raise AssertionError(f"the lab ended without saying {pattern!r}:\n" + "\n".join(self.said))

    def wait_for_end(self) -> int:
        """Its exit code, once it has ended by itself."""
        assert self.process.stdout is not None
        self.said += [line.rstrip() for line in self.process.stdout]
        return self.process.wait()

    def children(self) -> dict[str, int]:
        """The process ids of "web" and "worker", as the system sees them below the lab's process."""
        found = {}
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit() and _parent(int(entry.name)) == self.process.pid:
                command = (entry / "cmdline").read_bytes().decode()
                found["web" if "uvicorn" in command else "worker"] = int(entry.name)
        return found


def is_alive(pid: int) -> bool:
    """Whether a process runs; one that has ended and was not yet collected by its parent does not."""
    return _stat(pid)[:1] not in ([], ["Z"], ["X"])


def wait_until(condition: Callable[[], bool]) -> None:
    """Return as soon as the condition holds; fail when it does not within a minute."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.05)


@contextlib.contextmanager
def start_lab(home: Path, *, load: str = QUICK, port: int | None = None) -> Iterator[RunningLab]:
    """Start a lab on `home`, in a session of its own; what is left of it at the end is killed."""
    port = port or free_port()
    process = subprocess.Popen(
        [sys.executable, "-c", _PROGRAM.format(load=load)],
        cwd=ROOT,
        env={**environment_of_a_part({}, str(home)), "PORT": str(port)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    lab = RunningLab(process, port, home)
    watchdog = threading.Timer(2 * PATIENCE_SECONDS, process.kill)
    watchdog.start()
    try:
        yield lab
    finally:
        watchdog.cancel()
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        if process.stdout:
            process.stdout.close()


def _stat(pid: int) -> list[str]:
    """The fields of /proc/PID/stat after the command's name: state, parent, ...; empty without such a process."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except (FileNotFoundError, ProcessLookupError):
        return []
    return text.rpartition(")")[2].split()


def _parent(pid: int) -> int | None:
    fields = _stat(pid)
    return int(fields[1]) if fields else None
