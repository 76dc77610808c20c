"""Evaluating a frozen set: what is compared and what it may cost, the confirmation, the run, the report."""

from cyclotron.actions.evaluating.confirming import confirm_evaluation, evaluate_inside, finish_at_once, run_inside
from cyclotron.actions.evaluating.running import run_evaluation
from cyclotron.actions.evaluating.starting import (
    StartedEvaluation,
    cancel_evaluation,
    close_lost_evaluation,
    start_evaluation,
)

__all__ = [
    "StartedEvaluation",
    "cancel_evaluation",
    "close_lost_evaluation",
    "confirm_evaluation",
    "evaluate_inside",
    "finish_at_once",
    "run_evaluation",
    "run_inside",
    "start_evaluation",
]
