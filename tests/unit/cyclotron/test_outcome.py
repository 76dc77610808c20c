"""The four outcomes of an item."""

from cyclotron.core.outcome import Outcome, count_outcomes, outcome_of
from cyclotron.core.report_format import report_schema
from cyclotron.core.scored import ScoredItem, columns_of
from cyclotron.presentation.sentences import OUTCOME_WORDS
from tests.support.held_out_reports import random_items

ITEMS = [
    ScoredItem("1", "a", "a", "a", 20.0),
    ScoredItem("2", "a", "b", "a", 20.0),
    ScoredItem("3", "a", "b", "a", 1.0),
    ScoredItem("4", "b", "b", "a", 5.0),
    ScoredItem("5", "b", "x", None, 1.0),
]


def test_an_outcome_says_which_side_was_right() -> None:
    assert [outcome_of(item).value for item in ITEMS] == ["bothRight", "gained", "gained", "lost", "bothWrong"]


def test_outcomes_count_items_without_their_weights() -> None:
    assert count_outcomes(columns_of(ITEMS, ("a", "b"))) == {"gained": 2, "lost": 1, "bothRight": 1, "bothWrong": 1}


def test_the_counts_are_those_of_the_items_one_by_one() -> None:
    items = random_items(500)
    one_by_one = [outcome_of(item) for item in items]
    counts = count_outcomes(columns_of(items, ("include", "exclude")))
    assert counts == {outcome: one_by_one.count(outcome) for outcome in Outcome}


def test_the_schema_and_the_pages_know_the_same_outcomes_in_the_same_order() -> None:
    schema = report_schema()
    assert schema["$defs"]["item"]["properties"]["outcome"]["enum"] == list(Outcome)
    assert [name for name in schema["properties"]["change"]["properties"] if name in list(Outcome)] == list(Outcome)
    assert list(OUTCOME_WORDS) == list(Outcome)
