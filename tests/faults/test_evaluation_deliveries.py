"""Evaluations whose message comes twice, late or not at all, and two workers on one, over the transport itself."""

import pytest

from cyclotron.models import Report
from cyclotron.store import Store
from tests.support.evaluation_deliveries import DeliveredTrial, Delivery, Way, crew
from tests.support.evaluation_trials import comparable, undisturbed_report
from tests.support.frozen_cyclotrons import frozen_cyclotron
from tests.support.loopback_model import LoopbackModel

pytestmark = [
    pytest.mark.faults,
    pytest.mark.services,
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("silent_bell"),
]

BOUND = 12  # 6 held-out items, asked of two versions
MIDDLE = 6


@pytest.fixture
def store(transactional_db: None) -> Store:
    return frozen_cyclotron()


def test_however_its_message_comes_an_evaluation_is_asked_for_once(store: Store, server: LoopbackModel) -> None:
    undisturbed = undisturbed_report(store, server)
    with crew(server):
        for way, number in ((Way.TWICE, 2), (Way.TWICE, 5), (Way.LATE, 1), (Way.LATE, BOUND - 1), (Way.LOST, 0)):
            trial = DeliveredTrial(store, server)
            report = trial.until_done(iter([Delivery(way, number)]))
            trial.check()
            assert [(one.bound, one.calls, one.state) for one in trial.confirmations] == [(BOUND, BOUND, "done")]
            assert trial.repeated_calls == 0
            assert store.all(Report).count() == 1
            assert comparable(report) == comparable(undisturbed)
            assert report["cost"] == undisturbed["cost"]
            trial.forget()


def test_two_workers_at_once_stay_within_the_bound_and_lose_no_answer(store: Store, server: LoopbackModel) -> None:
    undisturbed = undisturbed_report(store, server)
    with crew(server):
        for calls in (1, MIDDLE):
            trial = DeliveredTrial(store, server)
            report = trial.until_done(iter([Delivery(Way.TAKEN_OVER, calls)]))
            assert trial.takeovers == 1
            trial.check()
            assert trial.confirmations[0].bound == BOUND
            assert comparable(report) == comparable(undisturbed)
            trial.forget()


def test_two_workers_at_once_pass_the_bound_where_no_permits_are_taken(store: Store, server: LoopbackModel) -> None:
    with crew(server, guarded=False):
        trial = DeliveredTrial(store, server)
        trial.until_done(iter([Delivery(Way.TAKEN_OVER, 1)]))
    assert trial.takeovers == 1
    with pytest.raises(AssertionError, match=f"calls were made where {BOUND} were confirmed"):
        trial.check()
