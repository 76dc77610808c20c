"""Evaluations brought to their report while their workers die, and what must hold of each confirmation on the way."""

import contextlib
import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from unittest import mock

from django.conf import settings

from cyclotron.actions.evaluating import close_lost_evaluation, confirm_evaluation, run_evaluation, start_evaluation
from cyclotron.adapters.openai import OpenAIModel
from cyclotron.models import CachedAnswer, Evaluation, Permit, Report
from cyclotron.plan import make_plan
from cyclotron.store import Store
from kapsoweb.foundation import clock
from kapsoweb.jobs import bell
from kapsoweb.jobs import queries as jobs
from kapsoweb.jobs.models import Job, JobState
from tests.support.faulty_worker import NOT_TO_BE_HAD, RAN, Fault, Task
from tests.support.frozen_cyclotrons import MINIMUM_PER_LABEL
from tests.support.loopback_model import LoopbackModel
from tests.support.workers import ROOT, database_url

MODEL_NAME = "loopback"
MOST_WORKERS = 40  # for one confirmation; more means that it never ends


def model_environment(url: str) -> dict[str, str]:
    """The environment of a worker whose decision model is at `url`."""
    return {
        "KAPSOWEB_DECISION_MODEL": "openai",
        "KAPSOWEB_MODEL_NAME": MODEL_NAME,
        "KAPSOWEB_MODEL_URL": url,
        "KAPSOWEB_MODEL_KEY": "",
    }


@dataclass(frozen=True)
class Killed:
    """A death from outside: SIGKILL once the model has received that many calls of the worker."""

    after_calls: int
    concurrency: int = 1
    without: str = ""


Disturbance = Fault | Killed


@contextlib.contextmanager
def silent_bell() -> Iterator[None]:
    """No job that this process queues is rung for: who wants it run starts a worker, or rings."""
    with mock.patch.object(bell, "ring", return_value=True):
        yield


class FaultyWorkers:
    """The process that forks workers; see `tests.support.faulty_worker`."""

    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        self._process = process

    def run(self, job_id: str, server: LoopbackModel, disturbance: Disturbance) -> int:
        """Let a worker run the job; its exit code, negative for the signal that ended it."""
        fault = disturbance
        if isinstance(disturbance, Killed):
            fault = Fault(concurrency=disturbance.concurrency, without=disturbance.without)
        target = server.count + disturbance.after_calls if isinstance(disturbance, Killed) else None
        self._write(Task(job_id, server.url, fault).as_line())
        process_id = self._read()
        if target is not None:
            while not self._has_said() and not server.wait_for_calls(target, 0.02):
                pass
            os.kill(process_id, signal.SIGKILL)
        code = self._read()
        self._write(b"\n")
        return code

    def _write(self, line: bytes) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(line)

    def _read(self) -> int:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line, "the process that forks workers is gone"
        return int(line)

    def _has_said(self) -> bool:
        assert self._process.stdout is not None
        return bool(select.select([self._process.stdout], [], [], 0)[0])


@contextlib.contextmanager
def faulty_workers() -> Iterator[FaultyWorkers]:
    """Workers on the test's database and transport; whatever is left of them is killed at the end."""
    environment = {
        **os.environ,
        **model_environment("http://127.0.0.1:9/v1"),
        "DJANGO_SETTINGS_MODULE": "kapsoweb.settings.local",
        "DATABASE_URL": database_url(),
        "KAPSOWEB_HOME": str(settings.KAPSOWEB_HOME),
        "KAPSOWEB_LOG_LEVEL": "CRITICAL",
        "PYTHONPATH": str(ROOT),
    }
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.support.faulty_worker"],
        env=environment,
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        bufsize=0,
        start_new_session=True,
    )
    try:
        yield FaultyWorkers(process)
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


@dataclass(frozen=True)
class Confirmation:
    """One confirmed evaluation after its end: its bound, the calls that were made, and what became of them.

    `lost` counts permits that brought no answer, `answered` requests that a permit brought an answer to, `kept` those
    of them whose answer is stored; `unanswered` is what the evaluation itself says is left.
    """

    id: str
    bound: int
    calls: int
    permits: int
    lost: int
    answered: int
    kept: int
    state: str
    unanswered: int

    def check(self) -> None:
        """What holds however its workers died, and however many there were."""
        assert self.calls <= self.bound, f"{self.calls} calls were made where {self.bound} were confirmed"
        assert self.calls <= self.permits <= self.bound
        assert self.kept == self.answered, f"{self.answered - self.kept} answers are gone"
        assert self.state in ("done", "interrupted")
        assert (self.state == "interrupted") == (self.unanswered > 0), f"{self.state} with {self.unanswered} unanswered"
        # An answer may come after the end, from a worker that was taken for dead; it is kept all the same.
        assert self.bound - self.answered <= self.unanswered


class Trial:
    """A frozen set of `store` brought to its report, one confirmation after the other."""

    def __init__(self, store: Store, server: LoopbackModel, workers: FaultyWorkers | None = None) -> None:
        self.store, self.server, self.workers = store, server, workers
        self.confirmations: list[Confirmation] = []
        self.kills = 0
        self._calls_before = server.count
        self._model = model_at(server)

    @property
    def calls(self) -> int:
        """Calls made for all confirmations."""
        return self.server.count - self._calls_before

    @property
    def repeated_calls(self) -> int:
        """Calls that asked what an earlier one had asked."""
        return self.calls - len({call.fingerprint for call in self.server.calls[self._calls_before :]})

    @property
    def lost_permits(self) -> int:
        return sum(confirmation.lost for confirmation in self.confirmations)

    def until_done(self, disturbances: Iterator[Any]) -> dict[str, Any]:
        """Confirm what is left until there is a report, and return it.

        Each worker meets the next of `disturbances`; when there are no more, nothing befalls it.
        """
        while not (self.confirmations and self.confirmations[-1].state == "done"):
            assert len(self.confirmations) < MOST_WORKERS
            self._confirm_and_run(disturbances)
        return report_of(self.store)

    def check(self) -> None:
        """What holds of all confirmations together and each by itself, where one worker at a time is at work."""
        for one in self.confirmations:
            one.check()
            assert one.unanswered == one.bound - one.answered
            assert (one.state == "interrupted") == (one.lost > 0), f"{one.state} with {one.lost} permits lost"
        assert self.repeated_calls <= self.lost_permits

    def forget(self) -> None:
        """Leave the store as it was before the trial."""
        forget_evaluations(self.store, self._model.identity)

    def _confirm_and_run(self, disturbances: Iterator[Disturbance]) -> None:
        before = self.server.count
        started = confirm_evaluation(
            self.store,
            model=self._model,
            account_id="acc_1",
            clock=clock.now,
            **confirmation_of(self.store, self._model),
        )
        if started.job_id:
            self._run(started.job_id, disturbances)
        ended = self.store.all(Evaluation).get(id=started.id)
        if ended.state == "running":  # its job failed, and the next look at it closes it
            close_lost_evaluation(self.store, now=clock.now())
            ended.refresh_from_db()
        permits = self.store.rows(Permit).filter(evaluation=ended)
        answered = set(permits.exclude(answered_at=None).values_list("fingerprint", flat=True))
        self.confirmations.append(
            Confirmation(
                id=ended.id,
                bound=ended.bound,
                calls=self.server.count - before,
                permits=permits.count(),
                lost=permits.filter(answered_at=None).count(),
                answered=len(answered),
                kept=self.store.all(CachedAnswer).filter(fingerprint__in=answered).count(),
                state=ended.state,
                unanswered=ended.unanswered,
            )
        )
        assert ended.permits_taken == permits.count()

    def _run(self, job_id: str, disturbances: Iterator[Disturbance]) -> None:
        assert self.workers is not None
        for _ in range(MOST_WORKERS):
            code = self.workers.run(job_id, self.server, next(disturbances, Fault()))
            if code in (RAN, NOT_TO_BE_HAD):
                break
            assert code == -signal.SIGKILL
            self.kills += 1
            # The dead worker's lease runs out, without the wait for it.
            Job.objects.filter(pk=job_id, state=JobState.RUNNING).update(lease_until=clock.now() - timedelta(seconds=1))
        assert jobs.job(job_id).is_finished


def model_at(server: LoopbackModel, *, concurrency: int = 1, timeout_seconds: float = 20) -> OpenAIModel:
    """The model that a worker on `server` asks, for use in the test's own process."""
    return OpenAIModel(server.url, MODEL_NAME, "", concurrency=concurrency, timeout_seconds=timeout_seconds)


def confirmation_of(store: Store, model: OpenAIModel) -> dict[str, Any]:
    """The arguments by which a person confirms what the overview shows now."""
    plan = make_plan(store, store.classifier(), model=model.identity, minimum_per_label=MINIMUM_PER_LABEL)
    return {
        "confirmed_bound": plan.bound,
        "confirmed_plan": plan.digest,
        "minimum_per_label": MINIMUM_PER_LABEL,
    }


def undisturbed_report(store: Store, server: LoopbackModel) -> dict[str, Any]:
    """The report of an evaluation to which nothing happens; afterwards the store is as it was before."""
    model = model_at(server)
    started = start_evaluation(store, model=model.identity, now=clock.now(), **confirmation_of(store, model))
    run_evaluation(store, started.id, model=model, fence=1, clock=clock.now)
    model.close()
    document = report_of(store)
    forget_evaluations(store, model.identity)
    return document


def forget_evaluations(store: Store, model: str) -> None:
    """Take away every evaluation and what the model answered, as no user can."""
    store.all(Report).delete()
    store.rows(Permit).filter(evaluation__cyclotron_id=store.cyclotron_id).delete()
    store.all(Evaluation).delete()
    store.all(CachedAnswer).filter(model=model).delete()


def report_of(store: Store) -> dict[str, Any]:
    """The only report of a store."""
    document: dict[str, Any] = store.all(Report).get().document
    return document


def comparable(report: Mapping[str, Any]) -> dict[str, Any]:
    """A report without what may differ between two evaluations of the same set by the same versions and model."""
    return {key: value for key, value in report.items() if key not in ("createdAt", "cost")}
