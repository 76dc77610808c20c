"""What is asked of fields: arguments within their rules, lists by pages, and no text of an item where none belongs."""

import json
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from cyclotron.models import Item, Report
from kapsoweb.accounts.models import AuditEntry
from kapsoweb.accounts.roles import Role
from tests.support.cyclotrons import identities
from tests.support.graphql import GraphQL
from tests.support.graphql_documents import DOCUMENTS, MUTATIONS, Document
from tests.support.operations import everything
from tests.support.whole_cyclotrons import Whole, whole_cyclotron

pytestmark = [pytest.mark.services, pytest.mark.django_db]


@pytest.fixture
def mine() -> Whole:
    """A cyclotron of the local account, with one of everything that a field can name."""
    return whole_cyclotron("mine")


@pytest.mark.parametrize(
    ("changed", "found"),
    [
        ({"name": "no name"}, "invalid-name"),
        ({"seed": ""}, "invalid-request"),
        ({"classifiers": []}, "invalid-request"),
        ({"learnEvery": 0}, "invalid-request"),
        ({"classifiers": [{"name": "x", "labels": ["a"], "question": "?"}]}, "invalid-request"),
        ({"classifiers": [{"name": "x", "labels": ["a", "a"], "question": "?"}]}, "invalid-definition"),
        ({"classifiers": [{"name": "x", "labels": ["a", "b"], "question": "?", "rubric": None}]}, "invalid-request"),
    ],
)
def test_a_definition_that_breaks_a_rule_creates_nothing(changed: dict[str, Any], found: str) -> None:
    program = GraphQL()
    before = everything()
    document = MUTATIONS["createCyclotron"]
    body = document.send(program, {}, cyclotron={**document.values["cyclotron"], **changed}).json()
    assert body["errors"][0]["extensions"]["id"] == found
    assert everything() == before


@pytest.mark.parametrize(
    "changed",
    [
        {"values": []},
        {"values": {"text": 5}},
        {"propensity": 0},
        {"propensity": 1.5},
        {"reason": ""},
        {"outputs": []},
        {"outputs": [{"classifier": "screening", "label": "include", "confidence": 0.9}] * 2},
        {
            "outputs": [
                {
                    "classifier": "screening",
                    "label": "include",
                    "confidence": 0.9,
                    "probabilities": [{"label": "include", "share": 0.5}] * 2,
                }
            ]
        },
    ],
)
def test_decisions_from_elsewhere_are_all_brought_in_or_none(changed: dict[str, Any], mine: Whole) -> None:
    document = MUTATIONS["importDecisions"]
    (good,) = document.values["decisions"]
    program = GraphQL()
    before = everything()
    body = document.send(program, mine.ids, decisions=[good, {**good, "itemId": "second", **changed}]).json()
    assert body["data"] == {"importDecisions": None}
    assert everything() == before


@pytest.mark.parametrize(
    ("changed", "found"),
    [
        ({"textColumns": []}, "invalid-request"),
        ({"textColumns": ["text"] * 51}, "invalid-request"),
        ({"idColumn": ""}, "invalid-request"),
        ({"mapping": ["include"]}, "invalid-request"),
        ({"mapping": {"yes": 5}}, "invalid-request"),
        ({"auditRate": 1.5}, "invalid-request"),
        ({"reviewRate": 0, "auditRate": 0}, "invalid-import"),
    ],
)
def test_a_choice_of_columns_is_held_to_the_form_of_every_door(
    changed: dict[str, Any], found: str, mine: Whole
) -> None:
    document = MUTATIONS["startImport"]
    columns = document.values["columns"]
    program = GraphQL()
    before = everything()
    body = document.send(program, mine.ids, columns={**columns, **changed}).json()
    assert body["errors"][0]["extensions"]["id"] == found
    assert everything() == before
    unsaid = {"reviewRate": None, "auditRate": None, "lowConfidence": None, "otherwise": None}
    assert document.send(program, mine.ids, columns={**columns, **unsaid}).json()["data"]["startImport"]


def test_a_list_goes_on_where_it_ended_and_its_cursor_is_good_for_it_alone(mine: Whole) -> None:
    program = GraphQL(role=Role.VIEWER)
    query = """query($c:ID!,$a:String,$l:String){cyclotron(id:$c){
        items(first:5,after:$a,filters:{label:$l}){nodes{itemId} nextCursor}}}"""
    found: list[str] = []
    cursor, pages = None, 0
    while cursor is not None or pages == 0:
        page = program.data(query, c=mine.ids["cyclotronId"], a=cursor, l=None)["cyclotron"]["items"]
        found += [row["itemId"] for row in page["nodes"]]
        cursor, pages = page["nextCursor"], pages + 1
    assert found == list(mine.store.all(Item).order_by("id").values_list("identity", flat=True))
    cursor = program.data(query, c=mine.ids["cyclotronId"], a=None, l=None)["cyclotron"]["items"]["nextCursor"]
    for changed in ({"l": "include"}, {"a": "x" * 500}, {"a": ""}, {"a": cursor[:-1]}):
        variables = {"c": mine.ids["cyclotronId"], "a": cursor, "l": None, **changed}
        assert program.field_error(query, **variables) == (["cyclotron", "items"], "invalid-cursor")


def test_events_can_be_followed(mine: Whole) -> None:
    program = GraphQL(role=Role.VIEWER)
    query = "query($c:ID!,$a:String){cyclotron(id:$c){events(first:200,after:$a){nodes{sequence} nextCursor}}}"
    one = program.data(query, c=mine.ids["cyclotronId"], a=None)["cyclotron"]["events"]
    assert [event["sequence"] for event in one["nodes"]] == list(range(1, len(one["nodes"]) + 1))
    two = program.data(query, c=mine.ids["cyclotronId"], a=one["nextCursor"])["cyclotron"]["events"]
    assert two["nodes"] == []
    assert two["nextCursor"] == one["nextCursor"]


@pytest.mark.parametrize(
    "selection",
    ['items(filters:{state:"lost"}){nextCursor}', 'items(filters:{partition:"x"}){nextCursor}', "item{values}"],
)
def test_an_argument_that_nothing_can_have_is_refused(selection: str, mine: Whole) -> None:
    path, _ = GraphQL().field_error(f"query($c:ID!){{cyclotron(id:$c){{{selection}}}}}", c=mine.ids["cyclotronId"])
    assert path == ["cyclotron", selection.partition("(")[0].partition("{")[0]]


def queries_of(program: GraphQL, document: Document, ids: dict[str, str]) -> int:
    """How many database queries an answer takes."""
    with CaptureQueriesContext(connection) as captured:
        body = document.send(program, ids).json()
    assert "errors" not in body, body
    return len(captured)


def test_a_list_takes_as_many_queries_for_many_rows_as_for_few() -> None:
    ids, program = {}, GraphQL()
    program.data("{me{role}}")  # the first use of a token is noted, which takes a query more
    counted: list[dict[str, int]] = []
    for count in (0, 1):
        whole = whole_cyclotron(f"number-{count}")
        more = 12 * count
        for number, identity in enumerate(identities("training", more, prefix=f"more-{count}-")):
            decide(program, whole, f"{identity}-{number}")
        ids = whole.ids
        counted.append({name: queries_of(program, DOCUMENTS[name], ids) for name in LISTS})
    assert counted[0] == counted[1]
    assert all(number <= 16 for number in counted[0].values()), counted[0]


LISTS = ["cyclotrons", "jobs", "tokens", "members", "auditLog", "items", "decisions", "reviews", "reports", "events"]


def decide(program: GraphQL, whole: Whole, identity: str) -> None:
    item = {"itemId": identity, "values": {"text": "attention"}}
    assert "errors" not in MUTATIONS["decide"].send(program, whole.ids, item=item).json()


def test_a_report_from_before_there_were_intervals_is_read(mine: Whole) -> None:
    stored = mine.store.all(Report).get()
    for name in ("beforeInterval", "afterInterval", "changeInterval"):
        del stored.body["headline"][name]
    stored.save()
    for name in ("report", "reports"):
        shown = DOCUMENTS[name].send(GraphQL(), mine.ids).json()["data"]["cyclotron"][name]
        headline = (shown if name == "report" else shown["nodes"][0])["headline"]
        assert headline["before"] is not None
        assert headline["changeInterval"] is None


def test_texts_of_items_reach_no_error_and_no_audit_entry(mine: Whole) -> None:
    text = "a text that nobody else has"
    program = GraphQL()
    items = [{"itemId": "x", "values": {"text": text, "n": 1}}, {"itemId": "x", "values": {"text": text, "n": 2}}]
    answers = [MUTATIONS["decide"].send(program, mine.ids, item=item).json() for item in items]
    assert answers[1]["errors"][0]["extensions"]["id"] == "item-changed"
    assert text not in json.dumps(answers)
    assert text not in json.dumps(list(AuditEntry.objects.values_list("detail", flat=True)))
