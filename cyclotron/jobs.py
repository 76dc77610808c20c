"""The cyclotron's jobs: thin, load by id and call once."""

import time
from dataclasses import asdict
from typing import Any

from cyclotron.actions.asking import Asker, Guard
from cyclotron.actions.evaluating import run_evaluation
from cyclotron.actions.evaluating.starting import JOB_KIND as EVALUATE
from cyclotron.actions.file_imports import JOB_KIND as IMPORT
from cyclotron.actions.file_imports import run_file_import
from cyclotron.actions.learning import Learned, learn_if_due
from cyclotron.actions.learning_jobs import JOB_KIND as LEARN
from cyclotron.actions.learning_jobs import learning_is_due
from cyclotron.adapters.configured import decision_model
from cyclotron.core.interruption import Interruption
from cyclotron.store import Store
from cyclotron.workspace.access import require_live
from kapsoweb.foundation import clock
from kapsoweb.jobs.registry import Stopped, job
from kapsoweb.jobs.running import Claim

CANCEL_SECONDS = 1.0  # a job that learns asks at most so often whether it is to stop


class _ToldToStop(Exception):  # noqa: N818 - no error: somebody asked for it
    """Ends the calls of a job that was cancelled."""


@job(EVALUATE)
def evaluate(claim: Claim) -> dict[str, Any] | Stopped:
    """Run an evaluation; the result names its report, or why there is none."""
    ended = run_evaluation(
        Store(using=claim.payload["store"], cyclotron_id=claim.payload["cyclotron"]),
        claim.payload["evaluation"],
        model=decision_model(),
        fence=claim.fence,
        clock=clock.now,
        stop=claim.cancel_requested,
        progress=claim.progress,
    )
    result = {"evaluation": ended.id, "state": ended.state, "reason": ended.reason, "report": ended.report_id}
    return Stopped(result) if ended.reason == Interruption.CANCELLED else result


@job(IMPORT, repeatable=True)
def import_file(claim: Claim) -> dict[str, Any] | Stopped:
    """Bring a file's rows in; the result says what came of them so far.

    Live calls are asked for here too: they may have been switched off since the import began or last stopped.
    """
    require_live()
    found = run_file_import(
        Store(using=claim.payload["store"], cyclotron_id=claim.payload["cyclotron"]),
        claim.payload["import"],
        model=decision_model(),
        clock=clock.now,
        stop=claim.cancel_requested,
        progress=claim.progress,
        hold=claim.check,
    )
    result = {"import": found.id, "recorded": found.recorded, "known": found.known, "bad": found.bad}
    return Stopped(result) if found.ended_at is None else result


@job(LEARN, repeatable=True)
def learn(claim: Claim) -> dict[str, Any] | Stopped:
    """Learn until nothing is due; the result lists the steps.

    Told to stop it does so before the next call to the model; the answers so far are stored, so learning again costs
    only what is missing.
    """
    require_live()
    store = Store(using=claim.payload["store"], cyclotron_id=claim.payload["cyclotron"])
    asker = Asker(store, decision_model(), clock.now, guard=_guard_of(claim))
    learned: list[Learned] = []
    try:
        claim.progress(0, 1)
        while not _looked_for_the_last_time(store, claim):
            learned += learn_if_due(asker, now=clock.now())
    except _ToldToStop:
        return Stopped({"steps": [asdict(step) for step in learned]})
    return {"steps": [asdict(step) for step in learned]}


def _looked_for_the_last_time(store: Store, claim: Claim) -> bool:
    """Whether nothing is due. It is said under the store's lock, so that a review after it queues another job."""
    with store.transaction():
        store.lock()
        if learning_is_due(store):
            return False
        claim.progress(1, 1)
        return True


def _guard_of(claim: Claim) -> Guard:
    """A guard that stops the calls once the job is told to stop; it looks at most once a second."""
    looked_at = 0.0

    def guard(_: object) -> None:
        nonlocal looked_at
        moment = time.monotonic()
        if moment - looked_at < CANCEL_SECONDS:
            return
        looked_at = moment
        if claim.cancel_requested():
            raise _ToldToStop

    return guard
