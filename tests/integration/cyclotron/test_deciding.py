"""Deciding: items, partitions, selection, and one request a question through the shared cache."""

from typing import Any

import pytest

from cyclotron.actions.asking import Ceiling
from cyclotron.core.configuration import Answer, DecisionRequest
from cyclotron.core.draws import partition_of, selection_draw
from cyclotron.core.errors import (
    InvalidItemError,
    InvalidPropensityError,
    ItemChangedError,
    ModelError,
    RequestCeilingError,
)
from cyclotron.core.items import MAX_VALUES_BYTES
from cyclotron.models import CachedAnswer, Decision, DecisionOutput, Event, Item
from kapsoweb.foundation.canonical import UnreadableValueError
from kapsoweb.foundation.errors import KapsoError
from tests.support.cyclotrons import NOW, SEED, CountingModel, Workbench, classifier, identities, workbench
from tests.support.races import in_threads

pytestmark = [pytest.mark.services, pytest.mark.django_db]

DIFFERENT = [
    "case",
    "Case",
    "caf\u00e9",
    "cafe\u0301",
    "end",
    "end ",
    " end",
    "e\u00adnd",
    "x" * 512,
    "\U0001f600" * 512,
]


@pytest.fixture
def bench() -> Workbench:
    return workbench()


def nothing_happened(bench: Workbench) -> None:
    """No item, decision, answer or event since the cyclotron was created."""
    assert not Item.objects.exists()
    assert not Decision.objects.exists()
    assert not CachedAnswer.objects.exists()
    assert bench.store.all(Event).count() == 1


def item_with_number(low: float, high: float) -> str:
    """The first identity whose permanent number is within [low, high)."""
    return next(name for name in (f"drawn-{n}" for n in range(10_000)) if low <= selection_draw(SEED, name) < high)


# Identities and values --------------------


def test_identities_are_compared_byte_for_byte_and_stored_as_they_came(bench: Workbench) -> None:
    for identity in DIFFERENT:
        assert bench.decide(identity).partition == partition_of(SEED, identity)
    assert sorted(bench.store.all(Item).values_list("identity", flat=True)) == sorted(DIFFERENT)
    for identity in DIFFERENT:
        bench.decide(identity)
    assert bench.store.all(Item).count() == len(DIFFERENT)
    assert bench.store.all(Decision).count() == 2 * len(DIFFERENT)


@pytest.mark.parametrize("identity", ["", "x" * 513, "a\x00", "\ud83d", None, 7, b"a"])
def test_an_identity_that_is_none_is_refused_before_anything_is_asked(bench: Workbench, identity: Any) -> None:
    with pytest.raises((InvalidItemError, UnreadableValueError)):
        bench.decide(identity)
    nothing_happened(bench)
    assert bench.model.count == 0


@pytest.mark.parametrize(
    "values",
    [
        None,
        [],
        "text",
        {},
        {"text": ""},
        {"text": " \n\t"},
        {"text": None},
        {"text": 7},
        {"text": ["a"]},
        {"Text": "a"},
        {"text": "a\x00b"},
        {"text": "a\ud800"},
        {"text": "a", "\x00": 1},
        {"text": "a", 7: 1},
        {"text": "a", "more": float("nan")},
        {"text": "a", "more": float("inf")},
        {"text": "a", "more": object()},
        {"text": "a", "more": b"bytes"},
        {"text": "a", "more": {1, 2}},
        {"text": "a" * MAX_VALUES_BYTES},
    ],
    ids=lambda values: repr(values)[:40],
)
def test_values_that_are_no_storable_json_object_with_text_are_refused_before_anything_is_asked(
    bench: Workbench, values: Any
) -> None:
    with pytest.raises((InvalidItemError, UnreadableValueError)):
        bench.decide("a", values=values)
    nothing_happened(bench)
    assert bench.model.count == 0


@pytest.mark.parametrize("nested", [10_000, 65])
def test_values_nested_too_deep_are_refused(bench: Workbench, nested: int) -> None:
    values: Any = "deep"
    for _ in range(nested):
        values = [values]
    with pytest.raises(UnreadableValueError):
        bench.decide("a", values={"text": "a", "more": values})
    nothing_happened(bench)


@pytest.mark.parametrize("digits", [309, 5000])
def test_a_whole_number_of_any_length_is_stored_or_refused_in_words(bench: Workbench, digits: int) -> None:
    try:
        bench.decide("a", values={"text": "a", "number": 10**digits})
    except UnreadableValueError:
        nothing_happened(bench)
    else:
        assert bench.store.all(Item).get().values["number"] == 10**digits


def test_an_error_about_an_items_values_does_not_hold_them(bench: Workbench) -> None:
    bench.decide("a", "first marker")
    refused: list[dict[str, Any]] = [
        {"text": "second marker"},
        {"text": "marker \x00"},
        {"text": ["marker"]},
        {"text": "a", "marker\x00": 1},
        {"text": "a", "more": {"marker": float("nan")}},
    ]
    for values in refused:
        with pytest.raises(KapsoError) as caught:
            bench.decide("a", values=values)
        assert "marker" not in str(caught.value.as_json())


def test_values_of_a_known_item_may_not_change_and_nothing_is_asked_or_kept(bench: Workbench) -> None:
    bench.decide("a", values={"text": "first", "rank": 1})
    calls, events = bench.model.count, bench.store.all(Event).count()
    for changed in ({"text": "second", "rank": 1}, {"text": "first", "rank": 1.0}, {"text": "first"}):
        with pytest.raises(ItemChangedError) as caught:
            bench.decide("a", values=changed)
        assert caught.value.detail == {"item": "a"}
    assert bench.decide("a", values={"rank": 1, "text": "first"}).item_id == "a"
    assert bench.model.count == calls
    assert bench.store.all(Item).get().values == {"text": "first", "rank": 1}
    assert bench.store.all(Event).count() == events + 1


# Partition and selection --------------------


def test_a_partition_is_fixed_before_any_label_and_never_changes(bench: Workbench) -> None:
    names = [name for partition in ("audit", "development", "training") for name in identities(partition, 4)]
    first = {name: bench.decide(name).partition for name in names}
    assert first == {name: partition_of(SEED, name) for name in names}
    for name in names:
        bench.choose(name, "include")
    assert dict(bench.store.all(Item).values_list("identity", "partition")) == first
    assert {name: bench.decide(name, review_rate=0.2).partition for name in names} == first


def test_a_partition_does_not_depend_on_the_store_or_the_classifiers() -> None:
    one, other = workbench(), workbench(classifier("other", labels=("x", "y", "z"), question="Which?"))
    for name in identities("audit", 2) + identities("development", 2):
        assert one.decide(name).partition == other.decide(name).partition
    assert one.store.cyclotron_id != other.store.cyclotron_id


@pytest.mark.parametrize(
    "rates",
    [
        {"review_rate": float("nan")},
        {"review_rate": float("inf")},
        {"review_rate": True},
        {"review_rate": -0.1},
        {"review_rate": 1.01},
        {"review_rate": "1"},
        {"review_rate": None},
        {"audit_rate": float("nan")},
        {"audit_rate": False},
        {"audit_rate": 2},
        {"low_confidence": float("nan")},
        {"low_confidence": True},
        {"low_confidence": 1.5},
        {"review_rate": 0, "audit_rate": 0},
        {"review_rate": 0, "audit_rate": 0, "low_confidence": 1.0},
    ],
    ids=str,
)
def test_a_rate_that_is_none_is_refused_before_anything_is_asked(bench: Workbench, rates: dict[str, Any]) -> None:
    with pytest.raises(InvalidPropensityError):
        bench.decide("a", **rates)
    nothing_happened(bench)
    assert bench.model.count == 0


def test_by_default_an_item_is_sent_with_propensity_1_and_the_audit_draw_names_its_reason(bench: Workbench) -> None:
    low, high = item_with_number(0, 0.05), item_with_number(0.05, 1)
    assert [bench.decide(name).reason for name in (low, high)] == ["audit", "program"]
    for decision in bench.store.all(Decision):
        assert decision.sent
        assert decision.propensity == 1.0


def test_an_item_is_not_drawn_anew_and_keeps_the_largest_propensity_that_it_was_exposed_to(bench: Workbench) -> None:
    name = item_with_number(0.3, 0.5)
    for rate, sent, propensity in ((0.2, False, 0.2), (0.2, False, 0.2), (0.1, False, 0.2), (0.5, True, 0.5)):
        decided = bench.decide(name, review_rate=rate)
        assert (decided.sent_to_review, decided.propensity) == (sent, propensity)
    again = bench.decide(name, review_rate=0.05)
    assert (again.sent_to_review, again.reason, again.propensity) == (True, "program", 0.5)
    kept = bench.store.all(Decision).order_by("decided_at").values_list("sent", "reason", "propensity")
    assert list(kept) == [(False, "", 0.2)] * 3 + [(True, "program", 0.5)] * 2


def test_the_audit_draw_of_the_rates_is_not_the_audit_partition(bench: Workbench) -> None:
    drawn = {
        partition: [selection_draw(SEED, name) < 0.05 for name in identities(partition, 60)]
        for partition in ("audit", "training")
    }
    assert all(any(flags) and not all(flags) for flags in drawn.values())
    name = next(name for name in identities("training", 60) if selection_draw(SEED, name) < 0.05)
    decided = bench.decide(name, review_rate=0.01)
    assert (decided.partition, decided.reason, decided.propensity) == ("training", "audit", 0.05)


def test_a_low_confidence_is_sent_with_propensity_1_and_stays_sent_for_that_reason() -> None:
    model = CountingModel(confidences={"unsure": 0.55, "sure": 0.95})
    bench = workbench(model=model)
    high = [name for name in identities("training", 30) if selection_draw(SEED, name) > 0.5]
    unsure = bench.decide(high[0], "unsure", review_rate=0.1, low_confidence=0.6)
    sure = bench.decide(high[1], "sure", review_rate=0.1, low_confidence=0.6)
    assert (unsure.sent_to_review, unsure.reason, unsure.propensity) == (True, "low-confidence", 1.0)
    assert (sure.sent_to_review, sure.reason, sure.propensity) == (False, "", 0.1)
    later = bench.decide(high[0], "unsure", review_rate=0.1)
    assert (later.sent_to_review, later.reason, later.propensity) == (True, "low-confidence", 1.0)


# Several classifiers --------------------


def test_every_classifier_answers_from_its_own_field_and_the_least_sure_one_decides_on_review() -> None:
    model = CountingModel(confidences={"title": 0.9, "abstract": 0.4})
    bench = workbench(
        classifier("one", input_field="title"),
        classifier("two", input_field="abstract", labels=("x", "y", "z"), question="Which?"),
        model=model,
    )
    name = next(name for name in identities("training", 60) if selection_draw(SEED, name) > 0.5)
    decided = bench.decide(name, values={"title": "title", "abstract": "abstract"}, review_rate=0.1, low_confidence=0.5)
    assert list(decided.outputs) == ["one", "two"]
    assert (decided.reason, decided.propensity) == ("low-confidence", 1.0)
    assert decided.outputs["two"].decided.label in ("x", "y", "z")
    assert sum(decided.outputs["two"].decided.probabilities.values()) == pytest.approx(1)
    rows = {row.classifier.name: row for row in DecisionOutput.objects.select_related("classifier")}
    assert {name: (row.version, row.refit) for name, row in rows.items()} == {"one": (1, 0), "two": (1, 0)}
    assert rows["one"].fingerprint != rows["two"].fingerprint
    assert set(model.asked) == {rows["one"].fingerprint, rows["two"].fingerprint}
    assert rows["two"].confidence == pytest.approx(0.4)


def test_an_item_that_lacks_one_classifiers_field_is_refused_before_anything_is_asked() -> None:
    bench = workbench(classifier("one"), classifier("two", input_field="abstract"))
    with pytest.raises(InvalidItemError) as caught:
        bench.decide("a", values={"text": "a"})
    assert caught.value.detail == {"field": "abstract"}
    nothing_happened(bench)
    assert bench.model.count == 0


def test_two_classifiers_with_one_and_the_same_question_are_one_request() -> None:
    bench = workbench(classifier("one"), classifier("two"))
    decided = bench.decide("a")
    assert decided.outputs["one"].fingerprint == decided.outputs["two"].fingerprint
    assert bench.model.count == 1


# Requests, cache, ceiling, guard --------------------


def test_an_answer_is_asked_for_once_whatever_the_items_identity(bench: Workbench) -> None:
    first = bench.decide("a", "the same text")
    second = bench.decide("b", "the same text")
    assert (
        bench.decide("c", "the same text ").outputs["screening"].fingerprint != first.outputs["screening"].fingerprint
    )
    assert first.outputs["screening"].fingerprint == second.outputs["screening"].fingerprint
    assert first.outputs["screening"].decided == second.outputs["screening"].decided
    assert bench.model.count == 2
    reopened = Workbench(bench.store, CountingModel())
    reopened.decide("d", "the same text")
    assert reopened.model.count == 0


def test_another_model_is_another_request(bench: Workbench) -> None:
    bench.decide("a")
    other = Workbench(bench.store, CountingModel(identity="counting/2"))
    other.decide("a")
    assert other.model.count == 1


def test_the_clock_is_part_of_a_request_only_where_the_definition_says_so() -> None:
    without, with_clock = workbench(), workbench(classifier(uses_clock=True))
    for bench in (without, with_clock):
        for _ in range(3):
            bench.decide("a")
    assert without.model.count == 1
    assert with_clock.model.count == 3


def test_the_ceiling_counts_requests_that_are_made_and_not_those_that_are_cached(bench: Workbench) -> None:
    bench.ceiling = Ceiling(2)
    for name in ("a", "b", "a", "b", "a"):
        bench.decide(name)
    with pytest.raises(RequestCeilingError) as caught:
        bench.decide("c")
    assert caught.value.id == "request-ceiling"
    assert caught.value.detail == {"maxRequests": 2}
    assert bench.model.count == 2
    assert not bench.store.all(Item).filter(identity="c").exists()
    bench.decide("b")


def test_a_ceiling_of_0_allows_no_request_and_leaves_nothing_behind(bench: Workbench) -> None:
    bench.ceiling = Ceiling(0)
    with pytest.raises(RequestCeilingError):
        bench.decide("a")
    nothing_happened(bench)
    assert bench.model.count == 0


def test_a_guard_sees_each_request_before_it_is_made_and_none_that_is_cached(bench: Workbench) -> None:
    seen: list[tuple[str, int]] = []
    bench.guard = lambda request: seen.append((request.text, bench.model.count))
    bench.decide("a", "one")
    bench.decide("b", "two")
    bench.decide("c", "one")
    assert seen == [("one", 0), ("two", 1)]


class StopError(Exception):
    """What a guard of these tests raises."""


def test_a_guard_that_raises_stops_the_decision_and_neither_asks_nor_keeps(bench: Workbench) -> None:
    def stop(request: DecisionRequest) -> None:
        raise StopError

    bench.guard = stop
    with pytest.raises(StopError):
        bench.decide("a")
    nothing_happened(bench)
    assert bench.model.count == 0


def test_a_ceiling_is_looked_at_before_the_guard(bench: Workbench) -> None:
    seen: list[str] = []
    bench.guard = lambda request: seen.append(request.text)
    bench.ceiling = Ceiling(0)
    with pytest.raises(RequestCeilingError):
        bench.decide("a")
    assert seen == []


def test_a_request_that_a_guard_stopped_was_not_made_and_is_not_counted(bench: Workbench) -> None:
    def stop(request: DecisionRequest) -> None:
        raise StopError

    bench.ceiling = Ceiling(1)
    bench.guard = stop
    for _ in range(3):
        with pytest.raises(StopError):
            bench.decide("a")
    bench.guard = None
    bench.decide("a")
    assert bench.model.count == 1


def test_what_one_classifier_was_answered_is_kept_when_the_next_is_stopped() -> None:
    bench = workbench(classifier("one"), classifier("two", question="And this?"))
    bench.ceiling = Ceiling(1)
    with pytest.raises(RequestCeilingError):
        bench.decide("a")
    assert bench.store.all(CachedAnswer).count() == 1
    assert not bench.store.all(Item).exists()
    bench.ceiling = Ceiling(1)
    bench.decide("a")
    assert bench.model.count == 2


class FailingModel(CountingModel):
    """Fails every call."""

    def answer(self, request: DecisionRequest) -> Answer:
        """Raise as an endpoint would that is away."""
        super().answer(request)
        raise ModelError("the model is away.", code="timeout")


def test_a_call_that_fails_counts_and_leaves_no_decision() -> None:
    bench = workbench(model=FailingModel())
    bench.ceiling = Ceiling(2)
    for _ in range(2):
        with pytest.raises(ModelError):
            bench.decide("a")
    with pytest.raises(RequestCeilingError):
        bench.decide("a")
    nothing_happened(bench)
    assert bench.model.count == 2


class StrangeModel(CountingModel):
    """Answers with a label that is none of the declared ones and quotes the item."""

    def answer(self, request: DecisionRequest) -> Answer:
        """A label that holds the text."""
        known = super().answer(request)
        return Answer(f"I would say {request.text}", known.probabilities, known.answers)


def test_a_label_that_is_not_declared_is_kept_nowhere_but_in_the_answer() -> None:
    bench = workbench(model=StrangeModel())
    decided = bench.decide("a", "marker of the text", review_rate=0.0001, audit_rate=0, low_confidence=0.2)
    assert decided.outputs["screening"].declared_label is None
    assert (decided.reason, decided.propensity) == ("low-confidence", 1.0)
    output = DecisionOutput.objects.get()
    assert (output.label, output.confidence) == ("", 0.0)
    assert "marker" not in str([event.detail for event in bench.store.all(Event)])


# Threads --------------------


@pytest.mark.django_db(transaction=True)
def test_one_new_item_decided_by_many_threads_is_one_item(bench: Workbench) -> None:
    assert in_threads(6, lambda number: bench.decide("a")) == []
    assert bench.store.all(Item).count() == 1
    assert bench.store.all(Decision).count() == 6
    assert bench.store.all(CachedAnswer).count() == 1
    sequence = list(bench.store.all(Event).order_by("sequence").values_list("sequence", flat=True))
    assert sequence == list(range(1, 8))


@pytest.mark.django_db(transaction=True)
def test_one_item_with_two_texts_decided_at_once_is_known_with_one_of_them(bench: Workbench) -> None:
    raised = in_threads(6, lambda number: bench.decide("a", f"text {number % 2}"))
    assert [type(error) for error in raised] == [ItemChangedError] * 3
    assert bench.store.all(Item).count() == 1
    assert bench.store.all(Decision).count() == 3


@pytest.mark.django_db(transaction=True)
def test_a_ceiling_holds_for_all_threads_of_an_open_together(bench: Workbench) -> None:
    bench.ceiling = Ceiling(4)
    raised = in_threads(8, lambda number: bench.decide(f"item {number}"))
    assert [type(error) for error in raised] == [RequestCeilingError] * 4
    assert bench.model.count == 4
    assert bench.store.all(Decision).count() == 4


def test_a_decision_is_dated_by_the_moment_that_it_is_given(bench: Workbench) -> None:
    bench.clock = lambda: NOW
    bench.decide("a")
    assert bench.store.all(Decision).get().decided_at == NOW
