"""The event log: one sequence without gaps a cyclotron, and a cursor that loses nothing."""

import json
import threading
from typing import Any

import pytest
from django.db import IntegrityError, connections, transaction

from cyclotron import queries
from cyclotron.core.errors import CyclotronError, InvalidItemError
from cyclotron.models import Event
from tests.support.cyclotrons import Workbench, identities, workbench
from tests.support.races import in_threads

pytestmark = [pytest.mark.services, pytest.mark.django_db]


@pytest.fixture
def bench() -> Workbench:
    return workbench()


def kinds(bench: Workbench) -> list[str]:
    return [event.kind for event in queries.events(bench.store).events]


def test_each_thing_that_happens_is_one_event_in_its_order(bench: Workbench) -> None:
    (name,) = identities("audit", 1)
    first = bench.label(name, "include")
    bench.freeze()
    bench.label(name, "exclude")
    bench.undo(first)
    bench.label(name, None)
    assert kinds(bench) == [
        "created",
        "decided",
        "review-recorded",
        "held-out-set-frozen",
        "decided",
        "review-corrected",
        "review-undone",
        "decided",
        "review-closed",
    ]
    assert [event.sequence for event in queries.events(bench.store).events] == list(range(1, 10))


def test_what_was_refused_or_changed_nothing_is_no_event(bench: Workbench) -> None:
    decided = bench.decide("a")
    review = bench.review(decided, "include", "r-1")
    before = kinds(bench)
    bench.review(decided, "include", "r-1")
    refused: list[Any] = [
        lambda: bench.decide(""),
        lambda: bench.decide("a", "other text"),
        lambda: bench.review(decided, "maybe"),
        lambda: bench.review(decided, "exclude", "r-1"),
        lambda: bench.freeze(classifier="unknown"),
    ]
    for work in refused:
        with pytest.raises(CyclotronError):
            work()
    bench.undo(review)
    bench.undo(review)
    assert kinds(bench) == [*before, "review-undone"]


def test_events_hold_identities_and_labels_and_no_text_of_items_or_explanations(bench: Workbench) -> None:
    (name,) = identities("audit", 1)
    decided = bench.decide(name, "marker of the text")
    bench.review(decided, "include", explanation="marker of the explanation", reason_code="marker-code")
    bench.freeze()
    told = json.dumps([event.detail for event in queries.events(bench.store).events])
    assert "marker" not in told
    assert name in told
    detail = bench.store.all(Event).get(kind="decided").detail
    assert detail == {
        "decision": decided.decision_id,
        "item": name,
        "labels": {"screening": decided.outputs["screening"].decided.label},
        "sent": True,
        "reason": decided.reason,
        "propensity": 1.0,
    }


def test_a_cursor_gives_what_came_after_it_and_stays_where_nothing_did(bench: Workbench) -> None:
    page = queries.events(bench.store)
    assert page.cursor == 1
    assert queries.events(bench.store, after=page.cursor) == queries.EventPage((), 1)
    bench.decide("a")
    bench.decide("b")
    again = queries.events(bench.store, after=page.cursor)
    assert [event.detail["item"] for event in again.events] == ["a", "b"]
    assert again.cursor == 3
    assert queries.events(bench.store, after=10_000).cursor == 10_000


def test_pages_of_any_size_together_are_the_whole_log(bench: Workbench) -> None:
    for number in range(9):
        bench.decide(f"item {number}")
    whole = [event.sequence for event in queries.events(bench.store).events]
    for size in (1, 3, 10, 500, 10_000):
        read, cursor = [], 0
        while (page := queries.events(bench.store, after=cursor, limit=size)).events:
            read += [event.sequence for event in page.events]
            cursor = page.cursor
        assert read == whole == list(range(1, 11))


@pytest.mark.parametrize("limit", [0, -1, -(10**30)])
def test_a_page_without_room_is_refused_in_words(bench: Workbench, limit: int) -> None:
    with pytest.raises(CyclotronError) as caught:
        queries.events(bench.store, limit=limit)
    assert "limit" in caught.value.message


@pytest.mark.parametrize("after", [-1, -(10**30), 10**30])
def test_a_cursor_that_was_never_given_out_is_read_as_a_number(bench: Workbench, after: int) -> None:
    page = queries.events(bench.store, after=after)
    assert (len(page.events), page.cursor) == ((0, after) if after > 0 else (1, 1))


def test_a_cursor_is_of_one_cyclotron(bench: Workbench) -> None:
    other = workbench()
    for name in "abc":
        other.decide(name)
    bench.decide("d")
    assert [event.sequence for event in queries.events(bench.store).events] == [1, 2]
    assert [event.sequence for event in queries.events(other.store).events] == [1, 2, 3, 4]


def test_the_database_itself_refuses_a_number_twice(bench: Workbench) -> None:
    event = bench.store.all(Event).get()
    event.pk = None
    with pytest.raises(IntegrityError), transaction.atomic():
        event.save(force_insert=True)


def test_a_transaction_that_is_rolled_back_leaves_no_gap(bench: Workbench) -> None:
    class UndoneError(Exception):
        pass

    def failing() -> None:
        with transaction.atomic():
            bench.decide("a")
            raise UndoneError

    with pytest.raises(UndoneError):
        failing()
    bench.decide("b")
    assert [event.detail.get("item") for event in queries.events(bench.store).events] == [None, "b"]
    assert [event.sequence for event in queries.events(bench.store).events] == [1, 2]
    with pytest.raises(InvalidItemError):
        bench.decide("")


@pytest.mark.django_db(transaction=True)
def test_a_reader_beside_many_writers_sees_every_number_once_and_in_order(bench: Workbench) -> None:
    read: list[int] = []
    writers, each = 4, 6
    total = 1 + writers * each

    def follow() -> None:
        cursor = 0
        try:
            while cursor < total and not gone.is_set():
                page = queries.events(bench.store, after=cursor, limit=3)
                read.extend(event.sequence for event in page.events)
                cursor = page.cursor
        finally:
            connections.close_all()

    gone = threading.Event()
    reader = threading.Thread(target=follow)
    reader.start()
    try:
        raised = in_threads(writers, lambda number: [bench.decide(f"{number}-{turn}") for turn in range(each)])
    finally:
        reader.join(30)
        gone.set()
        reader.join()
    assert raised == []
    assert read == list(range(1, total + 1))
