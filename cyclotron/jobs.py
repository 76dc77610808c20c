"""The cyclotron's jobs: thin, load by id and call once."""

from typing import Any

from cyclotron.actions.evaluating import run_evaluation
from cyclotron.actions.evaluating.starting import JOB_KIND as EVALUATE
from cyclotron.actions.file_imports import JOB_KIND as IMPORT
from cyclotron.actions.file_imports import run_file_import
from cyclotron.adapters.configured import decision_model
from cyclotron.core.interruption import Interruption
from cyclotron.store import Store
from cyclotron.workspace.access import require_live
from kapsoweb.foundation import clock
from kapsoweb.jobs.registry import Stopped, job
from kapsoweb.jobs.running import Claim


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
