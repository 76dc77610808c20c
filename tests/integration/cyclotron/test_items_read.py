"""Items, their decisions and their reviews, as lists and pages of them read them."""

from itertools import pairwise
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from cyclotron import queries
from cyclotron.actions import create_cyclotron, freeze_held_out_set, undo_review
from cyclotron.core.errors import InvalidPageError
from cyclotron.models import Decision, DecisionOutput, Item
from cyclotron.queries import ItemFilters, review_queue
from cyclotron.queries.items import NoSuchItemError
from tests.support.cyclotrons import NOW, CountingModel, Workbench, classifier, definition, identities, workbench

pytestmark = [pytest.mark.services, pytest.mark.django_db]


@pytest.fixture
def bench() -> Workbench:
    """Ten items: two reviewed, one closed without a label, one not sent, the others waiting."""
    made = Workbench(create_cyclotron(name="items", definition=definition(), now=NOW))
    decided = [made.decide(f"item-{number}") for number in range(9)]
    made.decide("unsent-9", review_rate=0.0, audit_rate=1e-12)
    made.review(decided[0], "include")
    made.review(decided[1], "exclude")
    made.review(decided[2], None)
    return made


def names(bench: Workbench, **filters: Any) -> list[str]:
    page = queries.items(bench.store, filters=ItemFilters(**filters), limit=100)
    assert queries.matching_items(bench.store, filters=ItemFilters(**filters)) == len(page.rows)
    return [row.identity for row in page.rows]


def test_items_come_page_by_page_each_once(bench: Workbench) -> None:
    first = queries.items(bench.store, limit=4)
    second = queries.items(bench.store, after=first.next, limit=4)  # type: ignore[arg-type]
    third = queries.items(bench.store, after=second.next, limit=4)  # type: ignore[arg-type]
    assert [len(page.rows) for page in (first, second, third)] == [4, 4, 2]
    assert third.next is None
    assert len({row.key for page in (first, second, third) for row in page.rows}) == 10
    assert [row.state for row in first.rows] == ["reviewed", "reviewed", "closed", "waiting"]
    assert third.rows[-1].state == "not-sent"


def test_the_page_before_is_the_one_that_led_here(bench: Workbench) -> None:
    for filters in (None, ItemFilters(state="waiting"), ItemFilters(beginning="item")):
        begins: list[int | None] = [None]
        while (page := queries.items(bench.store, filters=filters, after=begins[-1], limit=2)).next is not None:
            assert isinstance(page.next, int)
            begins.append(page.next)
        assert len(begins) > 2
        for before, after in pairwise(begins):
            assert after is not None
            assert queries.page_before(bench.store, filters=filters, after=after, limit=2) == before
    past = Item.objects.latest("id").pk + 10**17
    assert queries.page_before(bench.store, after=past, limit=4) == Item.objects.order_by("-id")[4].pk
    assert queries.page_before(bench.store, after=0, limit=4) is None


def test_an_identity_begins_with_a_text_byte_for_byte() -> None:
    bench = workbench()
    odd = [
        "abc",
        "Abc",
        "ABC",
        "ab*c",
        "ab?c",
        "ab[c]",
        "ab]c",
        "ab%c",
        "ab_c",
        "ab\\c",
        "caf\u00e9",
        "cafe\u0301",
        "*",
        "\u00c9",
    ]
    for name in odd:
        bench.decide(name)
    for text in [
        *odd,
        *(name[:length] for name in odd for length in range(1, len(name))),
        "a*",
        "?",
        "[a]",
        "\u00e9",
        "z",
    ]:
        assert names(bench, beginning=text) == [name for name in odd if name.encode().startswith(text.encode())], text


def test_lists_of_what_begins_alike_are_read_in_their_order_and_not_sorted(bench: Workbench) -> None:
    if connection.vendor != "sqlite":
        return  # PostgreSQL chooses by what the tables hold
    chosen = bench.store.all(Item).filter(identity__begins="item").order_by("id")[:51]
    answers = review_queue.answers_of(bench.store, bench.store.classifier(), reviewer="ada")[:1]
    for rows in (chosen, answers):
        assert "ORDER BY" not in rows.explain()


def test_filters_choose_by_state_label_and_how_an_identity_begins(bench: Workbench) -> None:
    assert names(bench, state="reviewed") == ["item-0", "item-1"]
    assert names(bench, state="closed") == ["item-2"]
    assert names(bench, state="not-sent") == ["unsent-9"]
    assert names(bench, state="waiting") == [f"item-{number}" for number in range(3, 9)]
    assert names(bench, label="include") == ["item-0"]
    assert names(bench, beginning="unsent") == ["unsent-9"]
    assert names(bench, beginning="item_") == []  # no wildcard
    assert names(bench, state="reviewed", label="exclude", beginning="item-1") == ["item-1"]


def test_an_undone_review_no_longer_counts(bench: Workbench) -> None:
    undo_review(bench.store, identity="review-1", actor="ada", now=NOW)
    assert names(bench, state="reviewed") == ["item-1"]
    assert "item-0" in names(bench, state="waiting")
    assert names(bench, label="include") == []


def test_filters_choose_by_what_was_decided_and_whether_it_changed(bench: Workbench) -> None:
    latest = dict(DecisionOutput.objects.values_list("decision__item__identity", "label"))
    for label in ("include", "exclude"):
        assert names(bench, decided_label=label) == [name for name, said in latest.items() if said == label]
    assert names(bench, changed=True) == []
    other = "exclude" if latest["item-4"] == "include" else "include"
    again = Decision.objects.get(item__identity="item-4")
    again.pk = "dec_zzz"
    again.save(force_insert=True)
    DecisionOutput.objects.create(
        decision=again,
        classifier=bench.store.classifier(),
        label=other,
        confidence=0.75,
        probabilities={},
        version=2,
        refit=1,
        fingerprint="",
    )
    assert names(bench, changed=True) == ["item-4"]
    assert len(names(bench, changed=False)) == 9
    (row,) = queries.items(bench.store, filters=ItemFilters(changed=True)).rows
    assert row.changed
    assert (row.first.label, row.latest.label) == (latest["item-4"], other)  # type: ignore[union-attr]
    assert (row.latest.confidence, row.latest.version, row.latest.refit) == (0.75, 2, 1)  # type: ignore[union-attr]
    assert names(bench, decided_label=other, beginning="item-4") == ["item-4"]


def test_a_page_of_items_takes_as_many_queries_whatever_its_length(bench: Workbench) -> None:
    counts = []
    for limit in (2, 10):
        with CaptureQueriesContext(
            connection,
        ) as ran:
            queries.items(bench.store, limit=limit)
            queries.decisions(bench.store, limit=limit)
            queries.reviews(bench.store, limit=limit)
        counts.append(len(ran))
    assert counts[0] == counts[1]


@pytest.mark.parametrize(
    "given",
    [{"state": "lost"}, {"partition": "x"}, {"label": "\x00"}, {"decided_label": "\ud800"}, {"beginning": "\x00"}],
)
def test_a_filter_that_nothing_can_pass_is_refused(given: dict[str, str]) -> None:
    with pytest.raises(InvalidPageError):
        ItemFilters(**given)  # type: ignore[arg-type]


def test_an_item_is_shown_with_all_that_happened_to_it() -> None:
    made = Workbench(create_cyclotron(name="one", definition=definition(), now=NOW))
    (name,) = identities("audit", 1)
    decided = made.decide(name)
    made.review(decided, "include")
    made.review(decided, "exclude", explanation="a second look", reason_code="dose")
    frozen = freeze_held_out_set(made.store, now=NOW)
    key = queries.item_key_of(made.store, name)
    history = queries.item(made.store, key)
    assert (history.row.identity, history.row.partition, history.row.state) == (name, "audit", "reviewed")
    assert history.values == {"text": f"text of {name}"}
    assert [row.decision_id for row in history.decisions] == [decided.decision_id]
    assert [(row.label, row.corrects, row.reason_code) for row in history.reviews] == [
        ("exclude", "review-1", "dose"),
        ("include", None, ""),
    ]
    assert history.label is not None
    assert (history.label.label, history.label.use, history.label.chosen) == ("exclude", "audit", False)
    assert [(held.set_id, held.label) for held in history.sets] == [(frozen.id, "exclude")]


def test_an_item_of_another_cyclotron_is_missing(bench: Workbench) -> None:
    other = Workbench(create_cyclotron(name="other", definition=definition(), now=NOW))
    other.decide("theirs")
    theirs = Item.objects.get(identity="theirs").id
    for key in (theirs, 0, -1, 2**63, 10**30):
        with pytest.raises(NoSuchItemError):
            queries.item(bench.store, key)
    for name in ("theirs", "", "\x00"):
        with pytest.raises(NoSuchItemError):
            queries.item_key_of(bench.store, name)


def test_decisions_and_reviews_are_read_newest_first(bench: Workbench) -> None:
    first = queries.decisions(bench.store, limit=6)
    rest = queries.decisions(bench.store, after=first.next, limit=6)  # type: ignore[arg-type]
    ids = [row.decision_id for row in (*first.rows, *rest.rows)]
    assert ids == sorted(ids, reverse=True)
    assert len(ids) == 10
    assert first.rows[0].outputs["screening"].label in {"include", "exclude"}
    page = queries.reviews(bench.store, limit=2)
    assert [row.review_id for row in page.rows] == ["review-3", "review-2"]
    assert [row.review_id for row in queries.reviews(bench.store, after=page.next).rows] == ["review-1"]  # type: ignore[arg-type]


def test_each_classifier_has_its_own_first_and_latest_decision() -> None:
    two = definition(classifier(), classifier("urgency", labels=("now", "later")))
    made = Workbench(create_cyclotron(name="two", definition=two, now=NOW), CountingModel())
    made.decide("a")
    row = queries.items(made.store, "urgency").rows[0]
    assert row.latest is not None
    assert row.latest.label in {"now", "later"}
    assert set(queries.decisions(made.store).rows[0].outputs) == {"screening", "urgency"}
