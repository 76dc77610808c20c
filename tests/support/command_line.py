"""Running `kapsoweb` in this process, or as a process of its own with a home of its own."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kapsoweb.cli import main

ROOT = Path(__file__).resolve().parents[2]


PROGRAM = "import sys; from kapsoweb.cli import main; sys.exit(main())"
_CUT_SHORT = """
import os, signal
from kapsoweb.cli import output
report = output.Progress.__call__
def cut(self, done, total):
    report(self, done, total)
    if done == {rows}:
        os.kill(os.getpid(), signal.SIGINT)
output.Progress.__call__ = cut
"""


@dataclass(frozen=True)
class Ran:
    """How a command ended and what it printed."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        """Standard output as the one JSON document that it must be."""
        return json.loads(self.out)

    @property
    def error(self) -> dict[str, Any]:
        """The error of the document."""
        error: dict[str, Any] = self.document["error"]
        assert set(error) == {"id", "message", "detail"}
        return error


Run = Callable[..., Ran]


def in_this_process(read_output: Callable[[], Any]) -> Run:
    """A function that runs a command by calling `main`; `read_output` is that of pytest's `capsys`."""

    def run(*arguments: object) -> Ran:
        code = main([str(argument) for argument in arguments])
        printed = read_output()
        return Ran(code, printed.out, printed.err)

    return run


def as_a_process(home: Path, *arguments: object, after_rows: int | None = None, **environment: str) -> Ran:
    """Run a command as a process in `home`. Text that is no UTF-8 is passed on as the bytes that it stands for.

    With `after_rows` the process gets the signal of a Ctrl-C as soon as a replay has passed that many rows.
    """
    kept = {name: os.environ[name] for name in ("PATH", "LANG", "LC_ALL") if name in os.environ}
    program = PROGRAM if after_rows is None else _CUT_SHORT.format(rows=after_rows) + PROGRAM
    done = subprocess.run(
        [sys.executable, "-c", program, *map(_encoded, arguments)],
        cwd=ROOT,
        env={**kept, "HOME": str(home), "KAPSOWEB_HOME": str(home / "lab"), "OMP_NUM_THREADS": "1", **environment},
        capture_output=True,
        timeout=120,
        check=False,
    )
    return Ran(done.returncode, done.stdout.decode(), done.stderr.decode(errors="backslashreplace"))


def _encoded(argument: object) -> bytes:
    return os.fsencode(str(argument))
