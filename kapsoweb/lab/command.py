"""`kapsoweb lab`: prepare, start web and worker, say where the lab is, watch, end everything together."""

import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import django
from django.apps import apps
from django.conf import settings

from kapsoweb.foundation.errors import Kind
from kapsoweb.lab.address import HOST, checked_port, port_of_the_environment, require_free
from kapsoweb.lab.errors import HomeUnusable, LabError, NotReady
from kapsoweb.lab.home import sole_lab
from kapsoweb.lab.processes import Process, end_all, web_and_worker
from kapsoweb.lab.readiness import what_is_missing
from kapsoweb.lab.stopping import Stop

_READY_SECONDS = 120.0
_LOOK_EVERY_SECONDS = 0.2
_EXIT_CODES = {Kind.INVALID: 2, Kind.MISSING: 2, Kind.CONFLICT: 3, Kind.REFUSED: 3, Kind.FAILED: 1}


def main(port: int | None = None) -> int:
    """Run a lab on 127.0.0.1 until it is asked to end; `port` defaults to the environment's PORT, then to 8000.

    Exit code 0 after Ctrl-C or SIGTERM, 1 when the lab cannot be kept up, 2 for a wrong PORT or an unusable home, 3
    when the port or the home is taken.
    """
    stop = Stop()
    stop.listen()
    try:
        _run(port_of_the_environment() if port is None else checked_port(port), stop)
    except KeyboardInterrupt:
        _say("Stopped before the lab was up; the next start goes on from here.")
    except LabError as error:
        sys.stderr.write(f"kapsoweb lab: {error.message}\n")
        return _EXIT_CODES[error.kind]
    return 0


def _run(port: int, stop: Stop) -> None:
    with stop.interrupting():
        home = _set_up_django()
    with sole_lab(home, f"http://{HOST}:{port}/"):
        require_free(port)
        with stop.interrupting():
            # Only now: it imports models, which need Django to be set up.
            from kapsoweb.lab.preparation import prepare, sign_in_path  # noqa: PLC0415

            _say(f"The lab's state is in {home}")
            prepare(_say)
            sign_in = sign_in_path()
        processes = web_and_worker(home, port)
        try:
            for process in processes:
                process.start()
            if _wait_until_ready(processes, port, stop):
                _say(
                    f"The lab runs on http://{HOST}:{port}/",
                    f"Sign in with http://{HOST}:{port}{sign_in} (works once, within 12 hours)",
                    f"Ctrl-C ends it. Logs are in {home / 'logs'}",
                )
            while not stop.requested:
                _look_after(processes)
            _say("Ending web and worker ... (a second Ctrl-C does not wait for the work in hand)")
        finally:
            end_all(processes, stop.is_impatient)
        _say("The lab has ended.")


def _set_up_django() -> Path:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "kapsoweb.settings.local")
    try:
        if not apps.ready:
            django.setup()
        home = Path(settings.KAPSOWEB_HOME)
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise HomeUnusable(
            f"The lab's home cannot be used ({error.strerror}: {error.filename}); set KAPSOWEB_HOME to a folder "
            "that this account may write."
        ) from error
    os.environ["KAPSOWEB_HOME"] = str(home)  # for web and worker, which run in another folder
    return home


def _wait_until_ready(processes: Sequence[Process], port: int, stop: Stop) -> bool:
    """True when ready, False when asked to end first; raises `NotReady` after two minutes."""
    _say("Starting web and worker ...")
    deadline = time.monotonic() + _READY_SECONDS
    while not stop.requested:
        missing = what_is_missing(port)
        if missing is None:
            return True
        if time.monotonic() > deadline:
            logs = ", ".join(str(process.log) for process in processes)
            raise NotReady(f"The lab is not ready after {_READY_SECONDS:.0f} seconds: {missing}. See {logs}")
        _look_after(processes)
    return False


def _look_after(processes: Sequence[Process]) -> None:
    for process in processes:
        process.keep_up(_say)
    time.sleep(_LOOK_EVERY_SECONDS)


def _say(*lines: str) -> None:
    sys.stdout.write("".join(f"{line}\n" for line in lines))
    sys.stdout.flush()
