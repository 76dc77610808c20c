"""Evaluations by worker processes whose model answers badly for a while: what is spent, what is kept, what is left."""

import itertools
import time

import pytest

from tests.support.evaluation_trials import FaultyWorkers, Trial, comparable, undisturbed_report
from tests.support.faulty_worker import Fault as WorkerFault
from tests.support.frozen_cyclotrons import frozen_cyclotron
from tests.support.loopback_model import Fault, LoopbackModel

pytestmark = [
    pytest.mark.faults,
    pytest.mark.services,
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("silent_bell"),
]

BOUND = 12
BAD = [
    pytest.param(Fault.STATUS, 429, id="429"),
    pytest.param(Fault.STATUS, 500, id="500"),
    pytest.param(Fault.GARBAGE, 0, id="garbage"),
    pytest.param(Fault.HALF, 0, id="half a body"),
]


@pytest.mark.parametrize(("fault", "amount"), BAD)
def test_calls_that_brought_no_answer_are_all_that_is_left_to_confirm(
    server: LoopbackModel, workers: FaultyWorkers, fault: Fault, amount: int
) -> None:
    store = frozen_cyclotron()
    undisturbed = undisturbed_report(store, server)
    for after, times in ((0, 1), (4, 3), (BOUND - 1, 1)):
        trial = Trial(store, server, workers)
        server.behave(fault, amount=amount, after=after, times=times)
        report = trial.until_done(iter([]))
        trial.check()
        assert [(one.bound, one.calls, one.lost, one.state) for one in trial.confirmations] == [
            (BOUND, BOUND, times, "interrupted"),
            (times, times, 0, "done"),
        ]
        assert comparable(report) == comparable(undisturbed)
        trial.forget()


@pytest.mark.parametrize(("fault", "amount"), BAD)
def test_a_model_that_only_answers_badly_is_given_up_and_what_was_answered_before_is_kept(
    server: LoopbackModel, workers: FaultyWorkers, fault: Fault, amount: int
) -> None:
    store = frozen_cyclotron()
    undisturbed = undisturbed_report(store, server)
    trial = Trial(store, server, workers)
    server.behave(fault, amount=amount, after=4, times=5)
    report = trial.until_done(iter([]))
    trial.check()
    assert [(one.bound, one.calls, one.lost, one.unanswered) for one in trial.confirmations] == [
        (BOUND, 9, 5, BOUND - 4),
        (BOUND - 4, BOUND - 4, 0, 0),
    ]
    assert comparable(report) == comparable(undisturbed)


def test_an_answer_of_one_byte_a_second_holds_a_worker_no_longer_than_a_call_may_take(
    server: LoopbackModel, workers: FaultyWorkers
) -> None:
    """Each byte comes well within the limit; the answer as a whole would take minutes."""
    store = frozen_cyclotron()
    undisturbed = undisturbed_report(store, server)
    trial = Trial(store, server, workers)
    server.behave(Fault.TRICKLE, amount=1000, after=3, times=2)
    began = time.monotonic()
    report = trial.until_done(itertools.repeat(WorkerFault(timeout_seconds=2.5)))
    assert time.monotonic() - began < 30
    trial.check()
    assert [(one.bound, one.calls, one.lost, one.state) for one in trial.confirmations] == [
        (BOUND, BOUND, 2, "interrupted"),
        (2, 2, 0, "done"),
    ]
    assert comparable(report) == comparable(undisturbed)
