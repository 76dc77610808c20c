"""Decisions made elsewhere come in with their propensities, all or none."""

import math
from typing import Any

import pytest

from cyclotron import queries
from cyclotron.actions import create_cyclotron, freeze_held_out_set, record_review
from cyclotron.actions.evaluating import run_evaluation, start_evaluation
from cyclotron.actions.importing import (
    MOST_AT_ONCE,
    ForeignDecision,
    ForeignOutput,
    InvalidForeignDecisionError,
    import_decisions,
)
from cyclotron.actions.queueing import take_item
from cyclotron.core.draws import partition_of
from cyclotron.core.errors import InvalidItemError, InvalidPropensityError, ItemChangedError
from cyclotron.models import Decision, DecisionOutput, Event, HeldOutItem, Item
from cyclotron.plan import make_plan
from cyclotron.store import Store
from kapsoweb.foundation.errors import KapsoError
from tests.support.cyclotrons import NOW, SEED, Workbench, classifier, definition, identities

pytestmark = [pytest.mark.services, pytest.mark.django_db]


@pytest.fixture
def store() -> Store:
    return create_cyclotron(name="imports", definition=definition(), now=NOW)


def foreign(identity: str = "a", **changed: Any) -> ForeignDecision:
    given: dict[str, Any] = {
        "values": {"text": f"text of {identity}"},
        "outputs": {"screening": ForeignOutput("include", 0.75)},
        "sent": True,
        "reason": "audit",
        "propensity": 0.25,
    }
    return ForeignDecision(identity, **given | changed)


def test_a_decision_comes_in_with_its_item_its_propensity_and_its_reason(store: Store) -> None:
    done = import_decisions(store, [foreign(), foreign("b", sent=False, reason="")], now=NOW)
    assert (done.recorded, done.known) == (2, 0)
    item = Item.objects.get(identity="a")
    assert (item.propensity, item.selected_because) == (0.25, "audit")
    assert item.partition == partition_of(SEED, "a")
    output = DecisionOutput.objects.get(decision_id=done.decision_ids[0])
    assert (output.label, output.confidence, output.version) == ("include", 0.75, 0)
    assert output.probabilities == {"include": 0.75, "exclude": 0.25}
    assert Item.objects.get(identity="b").selected_because == ""
    waiting = take_item(store, reviewer="ada", now=NOW)
    assert waiting is not None
    assert waiting.item_id == "a"
    event = Event.objects.get(kind="decisions-imported")
    assert event.detail == {"recorded": 2, "known": 0, "first": done.decision_ids[0]}


def test_the_same_again_records_nothing_and_the_same_item_decided_anew_is_another_decision(store: Store) -> None:
    import_decisions(store, [foreign()], now=NOW)
    again = import_decisions(store, [foreign(), foreign(propensity=0.5)], now=NOW)
    assert (again.recorded, again.known) == (1, 1)
    assert again.decision_ids[0] is None
    assert Decision.objects.count() == 2
    assert Item.objects.get().propensity == 0.5


def test_within_one_list_the_same_decision_counts_once(store: Store) -> None:
    done = import_decisions(store, [foreign(), foreign()], now=NOW)
    assert (done.recorded, done.known) == (1, 1)
    assert Decision.objects.count() == 1


def test_a_smaller_propensity_never_lowers_an_items_and_the_first_reason_stays(store: Store) -> None:
    import_decisions(store, [foreign(propensity=0.5)], now=NOW)
    import_decisions(store, [foreign(propensity=0.125, reason="program")], now=NOW)
    item = Item.objects.get()
    assert (item.propensity, item.selected_because) == (0.5, "audit")


def test_what_is_decided_here_afterwards_meets_the_propensity_that_came_in(store: Store) -> None:
    import_decisions(store, [foreign(propensity=0.5)], now=NOW)
    decided = Workbench(store).decide("a", review_rate=0.0, audit_rate=0.01)
    assert (decided.sent_to_review, decided.reason, decided.propensity) == (True, "audit", 0.5)


def test_a_frozen_item_weighs_one_over_the_propensity_that_came_in(store: Store) -> None:
    (name,) = identities("audit", 1)
    done = import_decisions(store, [foreign(name, propensity=0.05)], now=NOW)
    record_review(store, identity="r", decision_id=str(done.decision_ids[0]), label="include", reviewer="ada", now=NOW)
    assert freeze_held_out_set(store, now=NOW).size == 1
    assert HeldOutItem.objects.get().propensity == 0.05


@pytest.mark.parametrize(
    ("changed", "error"),
    [
        ({"propensity": 0}, InvalidPropensityError),
        ({"propensity": 1.5}, InvalidPropensityError),
        ({"propensity": True}, InvalidPropensityError),
        ({"propensity": 2.0**-65}, InvalidPropensityError),
        ({"propensity": 5e-324}, InvalidPropensityError),
        ({"propensity": math.nan}, InvalidPropensityError),
        ({"propensity": math.inf}, InvalidPropensityError),
        ({"sent": 1}, InvalidForeignDecisionError),
        ({"reason": ""}, InvalidForeignDecisionError),
        ({"reason": "reviewer"}, InvalidForeignDecisionError),
        ({"sent": False}, InvalidForeignDecisionError),
        ({"outputs": {}}, InvalidForeignDecisionError),
        ({"outputs": {"screening": ForeignOutput("perhaps", 0.5)}}, InvalidForeignDecisionError),
        ({"outputs": {"screening": ForeignOutput("include", True)}}, InvalidForeignDecisionError),
        ({"outputs": {"screening": ForeignOutput("include", math.nan)}}, InvalidForeignDecisionError),
        ({"outputs": {"screening": ForeignOutput("include", 0.5, {"include": 1.0})}}, InvalidForeignDecisionError),
        (
            {"outputs": {"screening": ForeignOutput("include", 0.5, {"include": 0.9, "exclude": 0.9})}},
            InvalidForeignDecisionError,
        ),
        ({"outputs": {"screening": ForeignOutput("include", 0.5, version=-1)}}, InvalidForeignDecisionError),
        ({"outputs": {"screening": ForeignOutput("include", 0.5, version=2**31)}}, InvalidForeignDecisionError),
        ({"values": {"other": "x"}}, InvalidItemError),
        ({"values": {"text": "a\x00"}}, KapsoError),
        ({"identity": ""}, InvalidItemError),
        ({"identity": "x" * 513}, InvalidItemError),
    ],
)
def test_one_bad_decision_keeps_all_of_them_out(store: Store, changed: dict[str, Any], error: type[KapsoError]) -> None:
    bad = ForeignDecision(**{**vars(foreign("bad")), **changed})
    with pytest.raises(error):
        import_decisions(store, [foreign("good"), bad], now=NOW)
    assert not Item.objects.exists()
    assert not Decision.objects.exists()
    assert [event.kind for event in queries.events(store).events] == ["created"]


def test_other_values_of_a_known_item_keep_all_of_them_out(store: Store) -> None:
    import_decisions(store, [foreign()], now=NOW)
    with pytest.raises(ItemChangedError):
        import_decisions(store, [foreign("good"), foreign(values={"text": "changed"})], now=NOW)
    assert [item.identity for item in Item.objects.all()] == ["a"]


@pytest.mark.parametrize("count", [0, MOST_AT_ONCE + 1])
def test_no_decision_and_too_many_are_refused(store: Store, count: int) -> None:
    with pytest.raises(InvalidForeignDecisionError, match="1 to 500"):
        import_decisions(store, [foreign()] * count, now=NOW)


def test_every_classifier_needs_an_output() -> None:
    two = create_cyclotron(name="two", definition=definition(classifier(), classifier("urgency")), now=NOW)
    with pytest.raises(InvalidForeignDecisionError, match="screening, urgency"):
        import_decisions(two, [foreign()], now=NOW)
    outputs = {"screening": ForeignOutput("include", 0.5), "urgency": ForeignOutput("exclude", 1.0)}
    assert import_decisions(two, [foreign(outputs=outputs)], now=NOW).recorded == 1


def test_the_smallest_propensity_that_comes_in_can_be_scored(store: Store) -> None:
    names = identities("audit", 4)
    import_decisions(store, [foreign(name, propensity=2.0**-64) for name in names], now=NOW)
    bench = Workbench(store)
    for place, name in enumerate(names):
        decision = Decision.objects.get(item__identity=name)
        label = "include" if place % 2 else "exclude"
        record_review(store, identity=name, decision_id=decision.id, label=label, reviewer="ada", now=NOW)
    freeze_held_out_set(store, now=NOW)
    plan = make_plan(store, store.classifier(), model=bench.model.identity)
    started = start_evaluation(store, model=bench.model.identity, confirmed_bound=plan.bound, now=NOW)
    ended = run_evaluation(store, started.id, model=bench.model, fence=1, clock=lambda: NOW)
    assert ended.state == "done"
