"""What a larger cyclotron costs: reads and commands make the same number of queries at every size."""

from collections.abc import Callable
from functools import partial

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from cyclotron import queries
from cyclotron.actions import freeze_held_out_set
from cyclotron.actions.queueing import take_item
from cyclotron.plan import held_out_set_of, make_plan, scored_items
from cyclotron.queries import ItemFilters
from cyclotron.queries.items import chosen_items
from cyclotron.store import Store
from tests.support.cyclotrons import CountingModel, Workbench
from tests.support.held_cyclotrons import hold
from tests.support.large_cyclotrons import DECIDED_AT, MODEL, large_cyclotron
from tests.support.people import member

pytestmark = pytest.mark.django_db
on_both_databases = pytest.mark.services

SIZES = (40, 160)

READS: dict[str, Callable[[Store], object]] = {
    "the overview": lambda store: queries.overview(store, model=MODEL, allow_live=True),
    "the plan": lambda store: make_plan(store, store.classifier(), model=MODEL),
    "the status": queries.status,
    "freezing again": lambda store: freeze_held_out_set(store, now=DECIDED_AT),
}


def frozen(size: int) -> Store:
    store = large_cyclotron(size)
    freeze_held_out_set(store, now=DECIDED_AT)
    return store


def queries_made(work: Callable[[], object]) -> int:
    work()  # what is read once a process is read now
    with CaptureQueriesContext(connection) as made:
        work()
    return len(made)


@on_both_databases
@pytest.mark.parametrize("read", READS.values(), ids=READS.keys())
def test_a_larger_cyclotron_takes_no_more_queries(read: Callable[[Store], object]) -> None:
    small, large = (queries_made(partial(read, frozen(size))) for size in SIZES)
    assert small == large


@on_both_databases
def test_the_page_of_a_larger_cyclotron_takes_no_more_queries(client: Client) -> None:
    client.force_login(member("somebody"))
    addresses = [f"/cyclotrons/{hold(frozen(size), f'of-{size}').cyclotron_id}/" for size in SIZES]
    small, large = (queries_made(partial(client.get, address)) for address in addresses)
    assert small == large


@on_both_databases
def test_a_plan_counts_items_and_requests_in_one_query() -> None:
    store = frozen(SIZES[1])
    classifier = store.classifier()
    scored = scored_items(store, classifier, held_out_set_of(store, classifier, None)).count()
    with CaptureQueriesContext(connection) as made:
        plan = make_plan(store, classifier, model=MODEL)
    assert (plan.scored, plan.total, plan.bound) == (scored, 2 * scored, scored)  # half of the answers are stored
    assert sum("heldoutitem" in query["sql"] for query in made) == 1


def test_sqlite_looks_up_whether_a_held_out_item_trains_now_and_passes_over_no_table_for_it() -> None:
    store = frozen(SIZES[0])
    classifier = store.classifier()
    steps = scored_items(store, classifier, held_out_set_of(store, classifier, None)).explain()
    assert "(cyclotron_id=? AND identity=?)" in steps
    assert "(classifier_id=? AND item_id=?)" in steps
    assert "SCAN" not in steps


@on_both_databases
def test_a_cyclotron_that_no_statistics_know_is_read_as_every_other() -> None:
    large_cyclotron(1_000)
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("ANALYZE")
    store = frozen(2_000)
    classifier = store.classifier()
    steps = scored_items(store, classifier, held_out_set_of(store, classifier, None)).explain()
    looks = [line for line in steps.splitlines() if "Index Cond" in line or "SEARCH" in line]
    assert any("cyclotron_id" in look and "identity" in look for look in looks)
    assert all("item_id" in look for look in looks if "classifier_id" in look)


@on_both_databases
def test_items_of_a_cyclotron_that_no_statistics_know_are_looked_up_each() -> None:
    large_cyclotron(1_000)
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("ANALYZE")
    store = large_cyclotron(2_000)
    row = store.classifier()
    for filters in (ItemFilters(state="closed"), ItemFilters(state="not-sent"), ItemFilters(label="include")):
        looks = [line for line in chosen_items(store, row, filters).explain().splitlines() if "classifier_id" in line]
        assert looks
        assert all("item_id" in look for look in looks)
    assert chosen_items(store, row, ItemFilters(state="waiting")).count() == 0


@on_both_databases
def test_taking_an_item_passes_over_nothing_that_was_reviewed() -> None:
    store = large_cyclotron(SIZES[1])
    Workbench(store, CountingModel(identity=MODEL)).decide("waits")
    with CaptureQueriesContext(connection) as made:
        taken = take_item(store, reviewer="ada", now=DECIDED_AT)
    assert taken is not None
    assert taken.item_id == "waits"
    assert not any("kapso_cyclotron_review" in query["sql"] for query in made)
