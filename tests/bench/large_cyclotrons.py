"""What is measured over a cyclotron of n items, each decided and reviewed once, a fifth of them held out, half of the
answers stored; see `tests.bench.on_databases`."""

import time
from collections.abc import Callable
from functools import cache
from itertools import count
from typing import Any

from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from cyclotron import queries
from cyclotron.actions import freeze_held_out_set
from cyclotron.actions.evaluating import run_evaluation, start_evaluation
from cyclotron.actions.queueing import take_item
from cyclotron.core.configuration import Answer, DecisionRequest
from cyclotron.models import CachedAnswer, HeldOutItem, HeldOutSet, Item
from cyclotron.plan import make_plan
from cyclotron.store import Store
from kapsoweb.accounts.access import local_account
from kapsoweb.foundation import clock
from kapsoweb.jobs.claims import take
from tests.bench.on_databases import AT_ONCE, CALL_SECONDS
from tests.support.api import Program
from tests.support.held_cyclotrons import hold
from tests.support.large_cyclotrons import DECIDED_AT, MODEL, answer_about, fill_cache, large_cyclotron
from tests.support.people import member

PAGE = 50

Work = Callable[[], object]
names = (f"large-{number}" for number in count())


class StoredAnswersOnly:
    """A model that is never asked."""

    identity, concurrency = MODEL, AT_ONCE

    def answer(self, request: DecisionRequest) -> Answer:
        raise AssertionError("everything is stored")


class SlowModel:
    """A model that takes its time over every call."""

    identity, concurrency = "slow/1", AT_ONCE

    def answer(self, request: DecisionRequest) -> Answer:
        time.sleep(CALL_SECONDS)
        return answer_about(len(request.text))


@cache
def reviewed(size: int) -> Store:
    store = hold(large_cyclotron(size), next(names))
    freeze_held_out_set(store, now=DECIDED_AT)
    return _settled(store)


@cache
def waiting(size: int) -> Store:
    return _settled(hold(large_cyclotron(size, reviewed=False, model=None), next(names)))


@cache
def eligible(size: int) -> Store:
    return _settled(large_cyclotron(size, audit_only=True, model=None))


@cache
def answered(size: int) -> Store:
    store = large_cyclotron(size, audit_only=True)
    fill_cache(store)
    freeze_held_out_set(store, now=DECIDED_AT)
    return _settled(store)


@cache
def somebody() -> Any:
    return member("bench")


def _settled(store: Store) -> Store:
    """The store once its database has statistics, as a server has them after a minute."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("ANALYZE")
    return store


def overview(size: int) -> Work:
    store = reviewed(size)
    return lambda: queries.overview(store, model=MODEL, allow_live=True)


def page(size: int) -> Work:
    client, address = Client(), f"/cyclotrons/{reviewed(size).cyclotron_id}/"
    client.force_login(somebody())
    return lambda: _good(client.get(address))


def by_rest(size: int) -> Work:
    program, address = Program(), f"cyclotrons/{reviewed(size).cyclotron_id}/held-out"
    return lambda: _good(program.get(address))


def freezing(size: int) -> Work:
    store = eligible(size)
    classifier = store.classifier()
    classifier.current_set = None
    classifier.save()
    HeldOutItem.objects.filter(held_out_set__classifier=classifier).delete()
    HeldOutSet.objects.filter(classifier=classifier).delete()
    return lambda: freeze_held_out_set(store, now=DECIDED_AT)


def freezing_again(size: int) -> Work:
    store = reviewed(size)
    return lambda: freeze_held_out_set(store, now=DECIDED_AT)


def from_the_cache(size: int) -> Work:
    store = answered(size // 10)

    def work() -> object:
        started = start_evaluation(store, model=MODEL, confirmed_bound=0, now=clock.now())
        ended = run_evaluation(store, started.id, model=StoredAnswersOnly(), fence=1, clock=clock.now)
        assert ended.report_id is not None, ended
        return ended

    return work


def waiting_for_a_model(calls: int) -> Work:
    """With a job, whose claim is asked before each call and told of the progress, as a worker runs it."""
    store = answered(calls // 2)
    CachedAnswer.objects.filter(cyclotron_id=store.cyclotron_id, model=SlowModel.identity).delete()
    bound = make_plan(store, store.classifier(), model=SlowModel.identity).bound
    started = start_evaluation(
        store,
        model=SlowModel.identity,
        confirmed_bound=bound,
        now=clock.now(),
        account_id=local_account().id,
    )
    claim = take(started.job_id, "bench", clock.now())
    assert claim is not None
    assert bound == calls

    def work() -> object:
        ended = run_evaluation(
            store,
            started.id,
            model=SlowModel(),
            fence=claim.fence,
            clock=clock.now,
            stop=claim.cancel_requested,
            progress=claim.progress,
        )
        assert ended.report_id is not None, ended
        return ended

    return work


def first_items(size: int) -> Work:
    store = reviewed(size)
    return lambda: queries.items(store, limit=PAGE)


def last_items(size: int) -> Work:
    store = reviewed(size)
    before: int = store.all(Item).order_by("-id").values_list("id", flat=True)[PAGE]
    return lambda: queries.items(store, after=before, limit=PAGE)


def taking(size: int) -> Work:
    store = waiting(size)
    reviewers = (f"reviewer-{number}" for number in count())
    return lambda: take_item(store, reviewer=next(reviewers), now=clock.now())


def queue(size: int) -> Work:
    store = waiting(size)
    return lambda: queries.queue_state(store, now=clock.now())


def _good(answer: Any) -> Any:
    assert answer.status_code == 200, answer.status_code
    return answer


def queries_of(work: Work) -> int:
    """The SQL queries of one pass."""
    with CaptureQueriesContext(connection) as made:
        work()
    return len(made)
