"""Worker processes that die where a test wants it: `python -m tests.support.faulty_worker`, told what to do by lines.

It imports the lab once and forks a process for each line of standard input, so that a death costs milliseconds. The
forked process installs its fault by wrapping functions of the product, which knows nothing of it, then runs the job as
every worker does. Lines out: the process's id, then its exit code (negative for a signal) once it has ended; an empty
line in says that the test has taken note.
"""

import contextlib
import functools
import json
import os
import signal
import sys
import threading
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

RAN, NOT_TO_BE_HAD = 0, 3  # exit codes

Wrap = Callable[[Callable[..., Any]], Callable[..., Any]]


@dataclass(frozen=True)
class Fault:
    """What is wrong with a worker: the step at whose `on`-th pass it kills itself, and guards taken away from it.

    `step` is a key of `steps()` or empty; `without` is a key of `removals()` or empty. `concurrency` is the number of
    calls that the worker has under way at once, `timeout_seconds` the time that it allows each.
    """

    step: str = ""
    on: int = 1
    without: str = ""
    concurrency: int = 1
    timeout_seconds: float = 60


@dataclass(frozen=True)
class Task:
    """One line of standard input: the job, the base URL of the loopback model, and the fault."""

    job_id: str
    model_url: str
    fault: Fault

    def as_line(self) -> bytes:
        return json.dumps(asdict(self)).encode() + b"\n"

    @classmethod
    def from_line(cls, line: str) -> "Task":
        value = json.loads(line)
        return cls(value["job_id"], value["model_url"], Fault(**value["fault"]))


@dataclass(frozen=True)
class Place:
    """Where a function of the product is looked up, and whether the death comes after it instead of before."""

    owner: Any
    name: str
    after: bool = False


def steps() -> dict[str, Place]:
    """The steps of an evaluation at which a process can be killed, in the order in which they are passed."""
    from cyclotron.actions.evaluating import permits, reporting, running

    return {
        "before-permit": Place(permits.EvaluationPermits, "take"),
        "inside-permit": Place(permits, "issue_permits", after=True),  # written, not committed
        "after-permit": Place(permits.EvaluationPermits, "take", after=True),
        "before-record": Place(permits.EvaluationPermits, "record"),
        "inside-record": Place(permits, "store_answers", after=True),  # written, not committed
        "after-record": Place(permits.EvaluationPermits, "record", after=True),
        "before-report": Place(running, "write_report"),
        "inside-report": Place(reporting, "append_event", after=True),  # written, not committed
        "after-report": Place(running, "write_report", after=True),
    }


def install(fault: Fault) -> None:
    """Wrap what the fault names, in this process."""
    from cyclotron.adapters.configured import decision_model
    from cyclotron.adapters.openai import OpenAIModel

    model = decision_model()
    assert isinstance(model, OpenAIModel)
    model.concurrency, model._timeout_seconds = fault.concurrency, fault.timeout_seconds
    if fault.without:
        removals()[fault.without]()
    if fault.step:
        place = steps()[fault.step]
        wrapped = killing(getattr(place.owner, place.name), on=fault.on, after=place.after)
        setattr(place.owner, place.name, wrapped)


def killing(function: Callable[..., Any], *, on: int, after: bool) -> Callable[..., Any]:
    """`function`, at whose `on`-th pass the process kills itself: before it, or after it has returned."""
    passes = 0
    lock = threading.Lock()

    def wrapped(*arguments: Any, **named: Any) -> Any:
        nonlocal passes
        with lock:
            passes += 1
            dies = passes == on
        if dies and not after:
            os.kill(os.getpid(), signal.SIGKILL)
        result = function(*arguments, **named)
        if dies:
            os.kill(os.getpid(), signal.SIGKILL)
        return result

    return wrapped


def removals() -> dict[str, Callable[[], None]]:
    """The guards that can be taken away, to show that the tests need them."""
    from cyclotron.actions.evaluating.permits import EvaluationPermits

    def grant_uncounted(permits: EvaluationPermits, fingerprint: str) -> int:
        return 0

    def close_unstored(permits: EvaluationPermits, number: int, request: object, answer: object) -> None:
        permits._permits([number]).update(answered_at=permits.clock())

    return {
        "permit": lambda: setattr(EvaluationPermits, "take", grant_uncounted),
        "record": lambda: setattr(EvaluationPermits, "record", close_unstored),
    }


def work(task: Task) -> int:
    """Run the job with its fault; the exit code, if the process lives to have one."""
    from django.conf import settings

    from kapsoweb.jobs import running

    settings.KAPSOWEB_MODEL_URL = task.model_url
    install(task.fault)
    return RAN if running.run(task.job_id, f"faulty:{os.getpid()}") else NOT_TO_BE_HAD


def serve() -> None:
    """Fork a process for each task, one after the other, until standard input ends."""
    for line in sys.stdin:
        process_id = os.fork()
        if process_id == 0:
            code = 1
            try:
                code = work(Task.from_line(line))
            finally:
                os._exit(code)
        say(process_id)
        # Its end is told before it is reaped: as long as the test may kill it, its id can belong to no other process.
        ended = os.waitid(os.P_PID, process_id, os.WEXITED | os.WNOWAIT)
        assert ended is not None
        say(ended.si_status if ended.si_code == os.CLD_EXITED else -ended.si_status)
        sys.stdin.readline()
        os.waitpid(process_id, 0)


def warm_up() -> None:
    """Do once what each of the processes to come would do at its first call: import, and read the certificates.

    No query: a connection to PostgreSQL must not be shared by processes.
    """
    import asyncio

    import httpx
    from httpx._transports import default

    default.create_ssl_context = functools.cache(default.create_ssl_context)

    async def call() -> None:
        async with httpx.AsyncClient(trust_env=False) as client:
            with contextlib.suppress(httpx.HTTPError):
                await client.get("http://127.0.0.1:9")

    asyncio.run(call())


def say(number: int) -> None:
    sys.stdout.write(f"{number}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    import django

    django.setup()
    import cyclotron.jobs  # registers the kinds, and imports what a worker imports

    assert cyclotron.jobs
    warm_up()
    serve()
