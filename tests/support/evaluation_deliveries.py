"""Evaluations whose messages go over the real transport to two worker processes: twice, late, not at all, to both."""

import contextlib
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum

from cyclotron.store import Store
from kapsoweb.foundation import clock
from kapsoweb.jobs import actions as jobs_actions
from kapsoweb.jobs import queries as jobs
from kapsoweb.jobs.bell import ring
from kapsoweb.jobs.models import Job, JobState
from tests.support.evaluation_trials import Trial, model_environment, silent_bell
from tests.support.loopback_model import Fault, LoopbackModel
from tests.support.sample_jobs import jobs as sample_jobs
from tests.support.workers import until, worker_process

assert sample_jobs  # imported for the kinds that it registers

CREW = 2
PATIENCE_SECONDS = 30
SLOWLY = 20  # milliseconds that an answer takes, where something is to happen meanwhile
_MORE = {"KAPSOWEB_LOG_LEVEL": "CRITICAL"}


class Way(StrEnum):
    """What befalls a message; the number in a `Delivery` says how."""

    ONCE = "once"
    TWICE = "twice"  # it comes `number` times at one moment
    LATE = "late"  # it comes again when `number` calls have been made, and again after the end
    LOST = "lost"  # it never comes
    TAKEN_OVER = "taken-over"  # after `number` calls the worker is taken for dead, and goes on beside the next one


@dataclass(frozen=True)
class Delivery:
    """How the message of one confirmation comes to the workers."""

    way: Way = Way.ONCE
    number: int = 0


@contextlib.contextmanager
def crew(server: LoopbackModel, *, guarded: bool = True) -> Iterator[None]:
    """Two worker processes of one thread each, that hear the transport and ask `server`; killed at the end."""
    module = "kapsoweb.jobs" if guarded else "tests.support.unguarded_worker"
    more = {**model_environment(server.url), **_MORE}
    with contextlib.ExitStack() as stack:
        for _ in range(CREW):
            stack.enter_context(worker_process(more=more, threads=1, module=module))
        settle()
        yield


def settle() -> None:
    """Return once both workers are free at one moment: every message sent before has then been dealt with."""
    with tempfile.TemporaryDirectory() as folder:
        meetings = [_meeting(folder) for _ in range(CREW)]
        until(lambda: all(jobs.job(each).is_finished for each in meetings), "both workers to be free")


def _meeting(folder: str) -> str:
    payload = {"folder": folder, "of": CREW}
    with silent_bell():
        job_id = jobs_actions.enqueue(kind="sample.meet", payload=payload, account_id="acc_1", now=clock.now()).pk
    ring(job_id)
    return job_id


class DeliveredTrial(Trial):
    """A trial whose workers are a crew; its disturbances are deliveries."""

    def __init__(self, store: Store, server: LoopbackModel) -> None:
        super().__init__(store, server)
        self.takeovers = 0

    def check(self) -> None:
        """As of any trial; where two workers were at work, the second may have asked what the first was asking."""
        if not self.takeovers:
            super().check()
        for one in self.confirmations:
            one.check()
            assert one.lost == 0, "every call was answered"

    def _run(self, job_id: str, disturbances: Iterator[Delivery]) -> None:
        delivery = next(disturbances, Delivery())
        before = self.server.count
        if delivery.way in (Way.LATE, Way.TAKEN_OVER):
            self.server.behave(Fault.SLOW, amount=SLOWLY)
        if delivery.way is not Way.LOST:
            for _ in range(delivery.number if delivery.way is Way.TWICE else 1):
                ring(job_id)
        if delivery.way is Way.LATE:
            assert self.server.wait_for_calls(before + delivery.number, PATIENCE_SECONDS)
            ring(job_id)
        if delivery.way is Way.TAKEN_OVER:
            assert self.server.wait_for_calls(before + delivery.number, PATIENCE_SECONDS)
            self._take_over(job_id)
        until(lambda: jobs.job(job_id).is_finished, "the end of the evaluation's job")
        self.server.behave(Fault.NONE)
        if delivery.way is Way.LATE:
            ring(job_id)
        settle()

    def _take_over(self, job_id: str) -> None:
        """Let the second worker have the job while calls of the first are under way, and both go on."""
        self.server.behave(Fault.HANG)

        def taken() -> bool:
            job = jobs.job(job_id)
            if job.is_finished or job.fence > 1:
                return True
            # The first worker is alive and holds on to its lease; it is lost again until the second has the job.
            lapsed = clock.now() - timedelta(seconds=1)
            if Job.objects.filter(pk=job_id, state=JobState.RUNNING, fence=1).update(lease_until=lapsed):
                ring(job_id)
            return False

        until(taken, "the second worker to take over")
        self.takeovers += jobs.job(job_id).fence > 1
        calls = self.server.count
        # Its first call, or its end where no permit was left for one.
        until(lambda: self.server.count > calls or jobs.job(job_id).is_finished, "the second worker to begin")
        self.server.release()
