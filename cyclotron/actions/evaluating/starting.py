"""Confirming an evaluation: the refusals, in order, and the row that holds its permits. Source: spec, section 4."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from cyclotron import queries
from cyclotron.actions.events import append_event
from cyclotron.core.draws import MAX_IDENTITY
from cyclotron.core.errors import (
    BoundChangedError,
    EvaluationRunningError,
    InvalidEvaluationError,
    PlanChangedError,
    RequestCeilingError,
    RequestIdReusedError,
)
from cyclotron.core.interruption import Interruption
from cyclotron.core.verdict import DEFAULT_MINIMUM_PER_LABEL, check_minimum
from cyclotron.models import Evaluation, EvaluationRequest
from cyclotron.plan import Plan, comparison_of, make_plan
from cyclotron.store import Store
from kapsoweb.foundation.canonical import check_text, digest
from kapsoweb.foundation.identifiers import new_id
from kapsoweb.jobs.actions import enqueue, request_cancel
from kapsoweb.jobs.models import JobState
from kapsoweb.jobs.queries import state_of

JOB_KIND = "cyclotron.evaluate"
# Silences after which an evaluation inside a call, which no job watches over, is taken to be lost: longer than a call
# to a model may take, and much longer where nobody has asked for its end.
CANCELLED_AFTER, ABANDONED_AFTER = timedelta(seconds=90), timedelta(minutes=5)


@dataclass(frozen=True)
class StartedEvaluation:
    """An evaluation that is under way or ended. `new` is False when an earlier call had started it."""

    id: str
    state: str
    job_id: str
    new: bool


def start_evaluation(
    store: Store,
    classifier: str | None = None,
    *,
    model: str,
    confirmed_bound: int,
    now: datetime,
    account_id: str | None = None,
    confirmed_plan: str | None = None,
    request_id: str | None = None,
    set_id: str | None = None,
    minimum_per_label: int = DEFAULT_MINIMUM_PER_LABEL,
    ceiling_left: int | None = None,
) -> StartedEvaluation:
    """Confirm an evaluation of the newest set (or `set_id`) and give it `confirmed_bound` permits.

    With an `account_id` a job is queued in the same transaction; without one, and when nothing has to be asked, the
    caller runs the evaluation itself.
    `model` is the identity of the decision model that will be asked. Refused before anything is spent: another
    evaluation running, a bound or plan that is not the present one, a ceiling that the bound would pass. Whether calls
    to a model are allowed at all is for the caller to ask first.
    A repeated `request_id` and a running evaluation of the same comparison give back what is already there; a
    `request_id` that found one running is that evaluation's from then on.
    """
    _check_arguments(confirmed_bound, minimum_per_label, confirmed_plan, request_id)
    with store.transaction():
        store.lock()
        row = store.classifier(classifier)
        content = digest([row.name, confirmed_bound, confirmed_plan, set_id, minimum_per_label])
        known = _asked_before(store, request_id, content)
        if known is not None:
            return StartedEvaluation(known.id, known.state, known.job_id, new=False)
        plan = make_plan(store, row, model=model, set_id=set_id, minimum_per_label=minimum_per_label)
        close_lost_evaluation(store, row.name, now=now)
        locked = store.lock()  # read only now: what was closed wrote an event of its own
        running = queries.running_evaluation(store, row)
        if running is not None:
            if running.comparison_digest == plan.comparison_digest:
                _remember(store, running, request_id, content)
                return StartedEvaluation(running.id, running.state, running.job_id, new=False)
            raise EvaluationRunningError(
                "an evaluation of this classifier is running; wait for it or cancel it.", evaluation=running.id
            )
        _refuse_drift(plan, confirmed_bound, confirmed_plan, ceiling_left)
        evaluation = Evaluation(
            id=new_id("ev"),
            cyclotron_id=store.cyclotron_id,
            classifier=row,
            held_out_set=plan.held_out_set,
            comparison_digest=plan.comparison_digest,
            model=model,
            minimum_per_label=minimum_per_label,
            before_version=plan.before_version,
            after_version=plan.after_version,
            after_ml_model=plan.after_ml_model,
            bound=plan.bound,
            total=plan.total,
            started_at=now,
            seen_at=now,
        )
        if account_id is not None and plan.bound > 0:
            payload = {"store": store.using, "cyclotron": store.cyclotron_id, "evaluation": evaluation.id}
            evaluation.job_id = enqueue(
                kind=JOB_KIND, payload=payload, account_id=account_id, record_id=store.cyclotron_id, now=now
            ).id
        evaluation.save(using=store.using, force_insert=True)
        _remember(store, evaluation, request_id, content)
        append_event(
            store,
            locked,
            kind="evaluation-confirmed",
            detail={"evaluation": evaluation.id, "classifier": row.name, "bound": plan.bound},
            now=now,
        )
    return StartedEvaluation(evaluation.id, evaluation.state, evaluation.job_id, new=True)


def _asked_before(store: Store, request_id: str | None, content: str) -> Evaluation | None:
    """The evaluation that the `request_id` stands for; `RequestIdReusedError` where it was sent with other content."""
    if request_id is None:
        return None
    asked = store.all(EvaluationRequest).filter(request_id=request_id).select_related("evaluation").first()
    if asked is None:
        return None
    if asked.content_digest != content:
        raise RequestIdReusedError(
            "this requestId belongs to an evaluation with other content; use a new one.", requestId=request_id
        )
    return asked.evaluation


def _remember(store: Store, evaluation: Evaluation, request_id: str | None, content: str) -> None:
    """Give the evaluation a `request_id` that nobody has sent yet; the caller holds the cyclotron's lock."""
    if request_id is not None:
        store.rows(EvaluationRequest).create(
            cyclotron_id=store.cyclotron_id, request_id=request_id, content_digest=content, evaluation=evaluation
        )


def cancel_evaluation(store: Store, evaluation_id: str, *, now: datetime) -> None:
    """Ask a running evaluation to stop. Every answer it got is kept; one that has ended is left alone."""
    with store.transaction():
        locked = store.lock()
        evaluation = queries.evaluation_record(store, evaluation_id)
        if evaluation.state != "running" or evaluation.cancel_requested:
            return
        evaluation.cancel_requested = True
        evaluation.save(using=store.using, update_fields=["cancel_requested"])
        append_event(store, locked, kind="evaluation-cancelling", detail={"evaluation": evaluation_id}, now=now)
        if evaluation.job_id:
            request_cancel(evaluation.job_id, now=now)
        close_lost_evaluation(store, evaluation.classifier.name, now=now)


def close_lost_evaluation(store: Store, classifier: str | None = None, *, now: datetime) -> None:
    """End a classifier's running evaluation when nobody runs it any more; leave every other one alone.

    Nobody does when its job has ended or is unknown, or, without a job, when no permit was taken for `ABANDONED_AFTER`.
    """
    running = queries.running_evaluation(store, store.classifier(classifier))
    reason = _lost_to(running, now) if running is not None else None
    if running is not None and reason is not None:
        interrupt(store, running, reason=reason, now=now)


def _lost_to(evaluation: Evaluation, now: datetime) -> Interruption | None:
    if not evaluation.job_id:
        silence = CANCELLED_AFTER if evaluation.cancel_requested else ABANDONED_AFTER
        return Interruption.ABANDONED if now - evaluation.seen_at > silence else None
    state = state_of(evaluation.job_id)
    if state in (JobState.QUEUED, JobState.RUNNING):
        return None
    return Interruption.CANCELLED if state is JobState.CANCELLED else Interruption.JOB_FAILED


def interrupt(store: Store, evaluation: Evaluation, *, reason: Interruption, now: datetime) -> None:
    """End a running evaluation without a report; what was answered is kept and what is left can be confirmed anew.

    Nothing happens when a newer claim runs the evaluation or it has ended.
    """
    unanswered = comparison_of(store, evaluation).bound
    with store.transaction():
        locked = store.lock()
        ended = (
            store.all(Evaluation)
            .filter(id=evaluation.id, state="running", fence=evaluation.fence)
            .update(state="interrupted", reason=reason, unanswered=unanswered, ended_at=now)
        )
        if ended:
            append_event(
                store,
                locked,
                kind="evaluation-interrupted",
                detail={"evaluation": evaluation.id, "reason": reason, "unanswered": unanswered},
                now=now,
            )


def _check_arguments(
    confirmed_bound: int, minimum_per_label: int, confirmed_plan: str | None, request_id: str | None
) -> None:
    if isinstance(confirmed_bound, bool) or not isinstance(confirmed_bound, int) or confirmed_bound < 0:
        raise InvalidEvaluationError(
            "confirmedRequestBound must be a whole number, 0 or more.", argument="confirmedRequestBound"
        )
    check_minimum(minimum_per_label)
    for what, text in (("confirmedPlan", confirmed_plan), ("requestId", request_id)):
        if text is not None and (not isinstance(text, str) or not 1 <= len(check_text(text, what)) <= MAX_IDENTITY):
            raise InvalidEvaluationError(f"{what} must be text of 1 to {MAX_IDENTITY} characters.", argument=what)


def _refuse_drift(plan: Plan, confirmed_bound: int, confirmed_plan: str | None, ceiling_left: int | None) -> None:
    if confirmed_bound != plan.bound:
        raise BoundChangedError(
            f"an evaluation would now make up to {plan.bound} model requests, not {confirmed_bound}; "
            "look again and confirm that number. Nothing was spent.",
            requestBound=plan.bound,
            confirmedRequestBound=confirmed_bound,
            planDigest=plan.digest,
        )
    if confirmed_plan is not None and confirmed_plan != plan.digest:
        raise PlanChangedError(
            "what would be compared is no longer what was confirmed; look again. Nothing was spent.",
            planDigest=plan.digest,
            requestBound=plan.bound,
        )
    if ceiling_left is not None and plan.bound > ceiling_left:
        raise RequestCeilingError(
            f"the evaluation may make up to {plan.bound} model requests, and this open has {ceiling_left} left.",
            requestBound=plan.bound,
            left=ceiling_left,
        )
