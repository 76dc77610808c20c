"""Running a confirmed evaluation: ask what is missing, then either write the report or say what is left.

Nothing is learned, fitted, promoted or reviewed here. Source: spec held-out, sections 3, 4 and 6.
"""

from collections.abc import Callable, Set
from dataclasses import dataclass

from cyclotron.actions.asking import Asked, Asker, Ceiling, Clock, Guard, cached_answers
from cyclotron.actions.evaluating.permits import EvaluationPermits, claim_evaluation
from cyclotron.actions.evaluating.reporting import write_report
from cyclotron.actions.evaluating.starting import interrupt
from cyclotron.adapters.decision_model import DecisionModel
from cyclotron.core.configuration import DecisionRequest
from cyclotron.core.errors import (
    ModelRefusedError,
    NoSuchEvaluationError,
    PermitsExhaustedError,
    RequestCeilingError,
)
from cyclotron.core.interruption import Interruption
from cyclotron.models import Evaluation, HeldOutItem
from cyclotron.plan import Plan, comparison_of, scored_items
from cyclotron.store import Store
from kapsoweb.jobs.errors import ClaimLost


@dataclass(frozen=True)
class EndedEvaluation:
    """How a run ended: `done` with a report's id, or `interrupted` with a reason (see `Interruption`)."""

    id: str
    state: str
    reason: str
    report_id: str | None


@dataclass
class _WatchedGuard:
    """A caller's guard, and whether it was what stopped the run."""

    guard: Guard
    stopped: bool = False

    def __call__(self, request: DecisionRequest) -> None:
        try:
            self.guard(request)
        except BaseException:
            self.stopped = True
            raise


def run_evaluation(
    store: Store,
    evaluation_id: str,
    *,
    model: DecisionModel,
    fence: int,
    clock: Clock,
    stop: Callable[[], bool] | None = None,
    progress: Callable[[int, int], None] | None = None,
    guard: Guard | None = None,
    ceiling: Ceiling | None = None,
) -> EndedEvaluation:
    """Run an evaluation under the claim `fence` until it has ended, and say how.

    Returns at once what is there when it has ended already or a newer claim runs it. `stop` is asked before each call;
    an exception of `guard` ends the evaluation as interrupted and goes on to the caller.
    """
    if claim_evaluation(store, evaluation_id, fence=fence):
        evaluation = _evaluation(store, evaluation_id)
        evaluation.fence = fence  # and not that of a newer claim, which may have come in between
        if evaluation.model != model.identity:
            interrupt(store, evaluation, reason=Interruption.MODEL_CHANGED, now=clock())
            return _ended(_evaluation(store, evaluation_id))
        plan = comparison_of(store, evaluation)
        asker = Asker(store, model, clock, ceiling or Ceiling(), _WatchedGuard(guard) if guard else None)
        permits = EvaluationPermits(store, evaluation_id, fence, clock)
        # Read once: an item that joins or leaves training while the model is asked changes nothing in this run.
        rows = list(scored_items(store, evaluation.classifier, evaluation.held_out_set).defer("values"))
        if rows:
            _ask_and_end(asker, evaluation, plan, rows, permits, stop, progress)
        else:
            interrupt(store, evaluation, reason=Interruption.NOTHING_TO_SCORE, now=clock())
    return _ended(_evaluation(store, evaluation_id))


def _ask_and_end(
    asker: Asker,
    evaluation: Evaluation,
    plan: Plan,
    rows: list[HeldOutItem],
    permits: EvaluationPermits,
    stop: Callable[[], bool] | None,
    progress: Callable[[int, int], None] | None,
) -> None:
    store, clock = asker.store, asker.clock
    needed = {plan.fingerprint(column, row.input_digest) for row in rows for column in (plan.before, plan.after)}
    answers = cached_answers(store, sorted(needed))
    stored = len(answers)
    requests = _requests(store, plan, rows, answers.keys()) if stored < len(needed) else []

    def report_progress(done: int, total: int) -> None:
        if progress is not None:
            progress(stored + done, stored + total)

    try:
        why = _asked_for(asker, requests, permits, stop, report_progress)
        # From a worker that was taken for dead, an answer may have come that was missing above.
        answers |= cached_answers(store, sorted(needed - answers.keys()))
        if answers.keys() >= needed:
            write_report(store, evaluation, plan, rows, answers, now=clock())
        else:
            interrupt(store, evaluation, reason=why, now=clock())
    except ClaimLost:
        raise  # the job is another worker's by now, and so is the end of the evaluation
    except BaseException as error:
        reason = _why_raised(error, asker.guard, has_job=bool(evaluation.job_id))
        if reason is not None:
            interrupt(store, evaluation, reason=reason, now=clock())
        raise


def _asked_for(
    asker: Asker,
    requests: list[DecisionRequest],
    permits: EvaluationPermits,
    stop: Callable[[], bool] | None,
    progress: Callable[[int, int], None],
) -> Interruption:
    """Have the model answer the requests; why some have no answer, if some have none."""
    try:
        return _why(asker.ask(requests, permits=permits, stop=stop, progress=progress))
    except PermitsExhaustedError:
        # Either the permits that a crash or a failed call used up are missing now, or a newer claim has taken over.
        return Interruption.PERMITS_LOST


def _why_raised(error: BaseException, guard: Guard | None, *, has_job: bool) -> Interruption | None:
    """Why an exception ends the evaluation; None where the process is ending and the job's next claim goes on."""
    if isinstance(guard, _WatchedGuard) and guard.stopped:
        return Interruption.GUARD
    if isinstance(error, RequestCeilingError):
        return Interruption.CEILING
    if isinstance(error, Exception):
        return Interruption.JOB_FAILED
    return None if has_job else Interruption.CANCELLED


def _why(asked: Asked) -> Interruption:
    if asked.stopped:
        return Interruption.CANCELLED
    if isinstance(asked.failure, ModelRefusedError):
        return Interruption.MODEL_REFUSED
    return Interruption.MODEL_UNAVAILABLE if asked.gave_up else Interruption.PERMITS_LOST


def _requests(store: Store, plan: Plan, rows: list[HeldOutItem], answered: Set[str]) -> list[DecisionRequest]:
    """The requests about `rows` that have no stored answer, in the set's order."""
    field = plan.before.endpoint.definition.input_field
    open_columns = {
        row.id: columns
        for row in rows
        if (
            columns := [
                each for each in (plan.before, plan.after) if plan.fingerprint(each, row.input_digest) not in answered
            ]
        )
    }
    of_the_set = store.rows(HeldOutItem).filter(held_out_set=plan.held_out_set).order_by("position")
    return [
        column.request(plan.model, values[field], plan.clock)
        for key, values in of_the_set.values_list("id", "values").iterator(chunk_size=2000)
        for column in open_columns.get(key, ())
    ]


def _evaluation(store: Store, evaluation_id: str) -> Evaluation:
    found = (
        store.all(Evaluation)
        .select_related("classifier", "held_out_set", "before_version", "after_version", "after_ml_model")
        .defer("before_version__configuration", "after_version__configuration")
        .filter(id=evaluation_id)
        .first()
    )
    if found is None:
        raise NoSuchEvaluationError("there is no such evaluation.", evaluation=evaluation_id)
    return found


def _ended(evaluation: Evaluation) -> EndedEvaluation:
    report = getattr(evaluation, "report", None)
    return EndedEvaluation(evaluation.id, evaluation.state, evaluation.reason, report.id if report else None)
