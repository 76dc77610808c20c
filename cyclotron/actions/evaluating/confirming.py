"""How the lab evaluates: by a job, or at once when every answer is stored. Source: spec held-out, section 8."""

from collections.abc import Callable
from datetime import datetime
from typing import Required, TypedDict, Unpack

from cyclotron.actions.asking import Asker, Ceiling, Guard
from cyclotron.actions.evaluating.running import run_evaluation
from cyclotron.actions.evaluating.starting import StartedEvaluation, start_evaluation
from cyclotron.adapters.decision_model import DecisionModel
from cyclotron.store import Store


class Confirmation(TypedDict, total=False):
    """What a person confirms; see `start_evaluation`."""

    confirmed_bound: Required[int]
    confirmed_plan: str | None
    request_id: str | None
    set_id: str | None
    minimum_per_label: int


def confirm_evaluation(
    store: Store,
    classifier: str | None = None,
    *,
    model: DecisionModel,
    account_id: str,
    clock: Callable[[], datetime],
    **confirmation: Unpack[Confirmation],
) -> StartedEvaluation:
    """Start what was confirmed (see `start_evaluation`); with everything cached the report is there on return."""
    started = start_evaluation(
        store, classifier, model=model.identity, account_id=account_id, now=clock(), **confirmation
    )
    return finish_at_once(store, started, model=model, clock=clock)


def finish_at_once(
    store: Store, started: StartedEvaluation, *, model: DecisionModel, clock: Callable[[], datetime]
) -> StartedEvaluation:
    """Run a new evaluation for which every answer is stored; leave any other to the job or the call that has it."""
    if not started.new or started.job_id:
        return started
    ended = run_evaluation(store, started.id, model=model, fence=1, clock=clock)
    return StartedEvaluation(started.id, ended.state, "", new=True)


def evaluate_inside(
    store: Store,
    classifier: str | None = None,
    *,
    model: DecisionModel,
    ceiling: Ceiling,
    clock: Callable[[], datetime],
    guard: Guard | None = None,
    **confirmation: Unpack[Confirmation],
) -> StartedEvaluation:
    """Start what was confirmed and run it to its end before returning, for whoever has no worker.

    An evaluation that another call is running already, or has run, is given back as it is.
    """
    started = start_evaluation(
        store, classifier, model=model.identity, ceiling_left=ceiling.left, now=clock(), **confirmation
    )
    return run_inside(Asker(store, model, clock, ceiling, guard), started)


def run_inside(asker: Asker, started: StartedEvaluation) -> StartedEvaluation:
    """Run a new evaluation to its end; give any other back as it is, for another call has it."""
    if not started.new:
        return started
    ended = run_evaluation(
        asker.store,
        started.id,
        model=asker.model,
        fence=1,
        clock=asker.clock,
        guard=asker.guard,
        ceiling=asker.ceiling,
    )
    return StartedEvaluation(started.id, ended.state, "", new=True)
