"""Evaluations whose workers are killed with SIGKILL, at each step and at random, against a model that counts."""

import random
from collections.abc import Iterator

import pytest

from tests.support.evaluation_trials import (
    FaultyWorkers,
    Killed,
    Trial,
    comparable,
    undisturbed_report,
)
from tests.support.faulty_worker import Fault
from tests.support.frozen_cyclotrons import frozen_cyclotron
from tests.support.loopback_model import LoopbackModel

pytestmark = [
    pytest.mark.faults,
    pytest.mark.services,
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("silent_bell"),
]

BOUND = 12  # 6 held-out items, asked of two versions
MIDDLE = 5
RANDOM_KILLS = 20
AT_ONCE = 4


@pytest.mark.parametrize(
    ("step", "repeated"),
    [
        pytest.param("after-permit", 0, id="after a permit and before its call"),
        pytest.param("before-record", 1, id="after an answer and before its record"),
        pytest.param("inside-record", 1, id="between the answer's row and its permit's"),
    ],
)
def test_a_kill_that_loses_a_permit_interrupts_the_evaluation_until_the_rest_is_confirmed(
    server: LoopbackModel, workers: FaultyWorkers, step: str, repeated: int
) -> None:
    store = frozen_cyclotron()
    undisturbed = undisturbed_report(store, server)
    for on in (1, MIDDLE, BOUND):
        trial = Trial(store, server, workers)
        report = trial.until_done(iter([Fault(step, on)]))
        trial.check()
        assert trial.kills == 1
        assert [(one.bound, one.state, one.lost) for one in trial.confirmations] == [
            (BOUND, "interrupted", 1),
            (1, "done", 0),
        ]
        assert trial.repeated_calls == repeated
        assert trial.calls == BOUND + repeated
        assert comparable(report) == comparable(undisturbed)
        assert report["cost"]["newRequests"] == 1
        assert report["cost"]["cachedRequests"] == BOUND - 1
        trial.forget()


@pytest.mark.parametrize(
    ("step", "passes"),
    [
        pytest.param("before-permit", (1, MIDDLE, BOUND), id="before a permit"),
        pytest.param("inside-permit", (1, MIDDLE, BOUND), id="while a permit is written"),
        pytest.param("after-record", (1, MIDDLE, BOUND), id="after an answer's record"),
        pytest.param("before-report", (1,), id="before the report"),
        pytest.param("inside-report", (1,), id="while the report is written"),
        pytest.param("after-report", (1,), id="after the report"),
    ],
)
def test_a_kill_that_loses_no_permit_leaves_the_evaluation_to_the_next_worker(
    server: LoopbackModel, workers: FaultyWorkers, step: str, passes: tuple[int, ...]
) -> None:
    store = frozen_cyclotron()
    undisturbed = undisturbed_report(store, server)
    for on in passes:
        trial = Trial(store, server, workers)
        report = trial.until_done(iter([Fault(step, on)]))
        trial.check()
        assert trial.kills == 1
        assert [(one.bound, one.state, one.lost) for one in trial.confirmations] == [(BOUND, "done", 0)]
        assert (trial.calls, trial.repeated_calls) == (BOUND, 0)
        assert comparable(report) == comparable(undisturbed)
        assert report["cost"] == undisturbed["cost"]
        trial.forget()


def test_every_worker_may_lose_its_permit_until_none_is_left(server: LoopbackModel, workers: FaultyWorkers) -> None:
    """Each of the first workers takes a permit and dies: no call is ever made, and no permit comes back."""
    store = frozen_cyclotron(audit=4)
    undisturbed = undisturbed_report(store, server)
    trial = Trial(store, server, workers)
    report = trial.until_done(iter([Fault("after-permit", 1)] * 8))
    trial.check()
    assert [(one.bound, one.calls, one.permits, one.lost) for one in trial.confirmations] == [
        (8, 0, 8, 8),
        (8, 8, 8, 0),
    ]
    assert comparable(report) == comparable(undisturbed)


def test_workers_killed_at_20_random_moments_never_pass_a_bound_and_end_with_the_same_report(
    server: LoopbackModel, workers: FaultyWorkers
) -> None:
    store = frozen_cyclotron(audit=20, repeated=2, training=16)
    undisturbed = undisturbed_report(store, server)
    draw = random.Random(20260301)
    kills = 0
    while kills < RANDOM_KILLS:
        trial = Trial(store, server, workers)
        deaths: Iterator[Killed] = (
            Killed(draw.randint(0, 9), concurrency=AT_ONCE) for _ in range(RANDOM_KILLS - kills)
        )
        report = trial.until_done(deaths)
        trial.check()
        kills += trial.kills
        assert trial.confirmations[0].bound == 36
        assert comparable(report) == comparable(undisturbed)
        trial.forget()
    assert kills == RANDOM_KILLS


def test_with_the_permit_taken_away_more_calls_are_made_than_were_confirmed(
    server: LoopbackModel, workers: FaultyWorkers
) -> None:
    store = frozen_cyclotron()
    trial = Trial(store, server, workers)
    trial.until_done(iter([Fault("before-record", MIDDLE, without="permit"), Fault(without="permit")]))
    assert trial.calls == BOUND + 1
    with pytest.raises(AssertionError, match=f"{BOUND + 1} calls were made where {BOUND} were confirmed"):
        trial.check()


def test_with_the_record_taken_away_an_evaluation_ends_although_no_permit_was_lost(
    server: LoopbackModel, workers: FaultyWorkers
) -> None:
    store = frozen_cyclotron()
    trial = Trial(store, server, workers)
    trial.until_done(iter([Fault("after-record", MIDDLE, without="record")]))
    assert trial.repeated_calls == MIDDLE
    with pytest.raises(AssertionError, match="interrupted with 0 permits lost"):
        trial.check()
