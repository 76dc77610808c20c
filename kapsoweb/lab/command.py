"""`kapsoweb lab`: prepare, start web and worker, say where the lab is, watch, end everything together."""

import os
import sys
import time
from collections.abc import Sequence

from django.db import connections

from kapsoweb.lab.address import HOST, chosen_port, require_free
from kapsoweb.lab.errors import NotReady
from kapsoweb.lab.home import sole_lab
from kapsoweb.lab.processes import Process, end_all, web_and_worker
from kapsoweb.lab.readiness import what_is_missing
from kapsoweb.lab.stopping import Stop
from kapsoweb.starting import ready_home, set_up_django

_READY_SECONDS = 120.0
_LOOK_EVERY_SECONDS = 0.2


def run_lab(port: int | None = None) -> None:
    """Run a lab on 127.0.0.1 until it is asked to end; `port` defaults to the environment's PORT, then to 8000.

    Raises `NotConfiguredError` for a home that cannot be used and a `LabError` when the port is none, when port or home
    is taken, or when the lab cannot be kept up.
    """
    stop = Stop()
    stop.listen()
    try:
        _run(chosen_port(port), stop)
    except KeyboardInterrupt:
        _say("Stopped before the lab was up; the next start goes on from here.")


def _run(port: int, stop: Stop) -> None:
    with stop.interrupting():
        set_up_django(plain_logs=True)
        home = ready_home()
    os.environ["KAPSOWEB_HOME"] = str(home)  # for web and worker, which run in another folder
    with sole_lab(home, f"http://{HOST}:{port}/"):
        require_free(port)
        with stop.interrupting():
            # Only now: it imports models, which need Django to be set up.
            from kapsoweb.lab.preparation import prepare  # noqa: PLC0415
            from kapsoweb.lab.signing_in import way_in  # noqa: PLC0415

            _say(f"The lab's state is in {home}")
            try:
                prepare(_say)
                first_step = way_in(port)
            finally:
                connections.close_all()  # the supervisor lives long and has no further use for them
        processes = web_and_worker(home, port)
        try:
            for process in processes:
                process.start()
            if _wait_until_ready(processes, port, stop):
                _say(
                    f"The lab runs on http://{HOST}:{port}/",
                    first_step,
                    f"Ctrl-C ends it. Logs are in {home / 'logs'}",
                )
            while not stop.requested:
                _look_after(processes)
            _say("Ending web and worker ... (a second Ctrl-C does not wait for the work in hand)")
        finally:
            end_all(processes, stop.is_impatient)
        _say("The lab has ended.")


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
