"""Cyclotrons by REST: creating, listing, reading, the learning interval, events."""

from typing import Any

import pytest

from cyclotron.models import StoredCyclotron
from kapsoweb.accounts.models import AuditEntry, Holding
from kapsoweb.accounts.roles import Role
from kapsoweb.doors.limits import ID_CHARACTERS
from tests.support.api import Program, refusal
from tests.support.held_cyclotrons import held_cyclotron
from tests.support.operations import everything
from tests.support.people import other_account

pytestmark = [pytest.mark.services, pytest.mark.django_db]

CLASSIFIER = {
    "name": "screening",
    "labels": ["include", "exclude"],
    "question": "Is it about attention?",
    "inputField": "abstract",
    "positiveLabel": "include",
    "rubric": "Include trials.",
    "priming": [{"text": "A trial.", "label": "include"}],
    "usesClock": True,
}
NEW = {"name": "adhd", "seed": "seed of adhd", "classifiers": [CLASSIFIER], "learnEvery": 7}


def test_a_cyclotron_is_created_with_its_whole_definition_and_read_back() -> None:
    program = Program(role=Role.OPERATOR)
    created = program.post("cyclotrons", NEW)
    assert created.status_code == 201
    body = created.json()
    assert {name: body["classifiers"][0][name] for name in CLASSIFIER} == CLASSIFIER
    assert (body["name"], body["seed"], body["learnEvery"]) == ("adhd", "seed of adhd", 7)
    assert body["items"] == {"audit": 0, "development": 0, "training": 0}
    assert program.get(f"cyclotrons/{body['id']}").json() == body
    assert AuditEntry.objects.get(action="cyclotron.created").record_id == body["id"]


def test_what_is_left_out_of_a_definition_has_the_usual_value() -> None:
    plain = {"name": "a", "labels": ["x", "y"], "question": "Which?"}
    body = Program().post("cyclotrons", {"name": "plain", "seed": "s", "classifiers": [plain]}).json()
    classifier = body["classifiers"][0]
    assert (classifier["inputField"], classifier["positiveLabel"], classifier["rubric"]) == ("text", None, "")
    assert (classifier["priming"], classifier["usesClock"], body["learnEvery"]) == ([], False, 20)


@pytest.mark.parametrize(
    ("changed", "status", "error"),
    [
        ({"name": "a b"}, 400, "invalid-name"),
        ({"name": "x" * 65}, 400, "invalid-request"),
        ({"seed": ""}, 400, "invalid-request"),
        ({"classifiers": []}, 400, "invalid-request"),
        ({"classifiers": [CLASSIFIER, CLASSIFIER]}, 400, "invalid-definition"),
        ({"classifiers": [{**CLASSIFIER, "labels": ["one"]}]}, 400, "invalid-request"),
        ({"classifiers": [{**CLASSIFIER, "labels": ["one", "one"]}]}, 400, "invalid-definition"),
        ({"classifiers": [{**CLASSIFIER, "labels": ["one", " two"]}]}, 400, "invalid-definition"),
        ({"classifiers": [{**CLASSIFIER, "positiveLabel": "other"}]}, 400, "invalid-definition"),
        ({"classifiers": [{**CLASSIFIER, "usesClock": "no"}]}, 400, "invalid-request"),
        ({"learnEvery": 0}, 400, "invalid-request"),
        ({"learnEvery": 2**31}, 400, "invalid-request"),
        ({"learnEvery": None}, 400, "invalid-request"),
        ({"learnEvery": True}, 400, "invalid-request"),
    ],
)
def test_a_definition_that_breaks_a_rule_creates_nothing(changed: Any, status: int, error: str) -> None:
    program = Program()
    before = everything()
    assert refusal(program.post("cyclotrons", NEW | changed)) == (status, error)
    assert everything() == before


def test_a_name_is_taken_once_in_an_account() -> None:
    program = Program()
    program.post("cyclotrons", NEW)
    assert refusal(program.post("cyclotrons", NEW)) == (409, "name-taken")
    assert StoredCyclotron.objects.count() == Holding.objects.count() == 1
    assert Program(account=other_account()).post("cyclotrons", NEW).status_code == 201


def test_lists_hold_what_the_token_reaches_by_name() -> None:
    program = Program()
    ids = {name: program.post("cyclotrons", NEW | {"name": name}).json()["id"] for name in ("c", "a", "b")}
    Program(account=other_account()).post("cyclotrons", NEW)
    page = program.get("cyclotrons", limit=2).json()
    assert [row["name"] for row in page["items"]] == ["a", "b"]
    rest = program.get("cyclotrons", limit=2, cursor=page["next"]).json()
    assert ([row["name"] for row in rest["items"]], rest["next"]) == (["c"], None)
    only = Program(only=ids["b"]).get("cyclotrons").json()
    assert [row["id"] for row in only["items"]] == [ids["b"]]


def test_a_token_for_one_record_creates_no_other() -> None:
    store = held_cyclotron()
    program = Program(only=store.cyclotron_id)
    before = everything()
    assert refusal(program.post("cyclotrons", NEW)) == (403, "not-allowed")
    assert everything() == before


def test_the_counts_of_a_cyclotron_are_those_of_its_store() -> None:
    store = held_cyclotron()
    body = Program(role=Role.VIEWER).get(f"cyclotrons/{store.cyclotron_id}").json()
    assert body["items"] == {"audit": 6, "development": 2, "training": 8}
    assert body["decisions"] == 16
    (classifier,) = body["classifiers"]
    assert (classifier["version"], classifier["versions"]) == (2, 2)
    assert classifier["reviews"] == {"include": 8, "exclude": 8}


def test_the_learning_interval_can_be_changed_and_nothing_else() -> None:
    store = held_cyclotron()
    program = Program(role=Role.OPERATOR)
    where = f"cyclotrons/{store.cyclotron_id}"
    assert program.patch(where, {"learnEvery": 33}).json()["learnEvery"] == 33
    before = everything()
    assert refusal(program.patch(where, {"name": "other"})) == (400, "invalid-request")
    assert refusal(program.patch(where, {})) == (400, "invalid-request")
    assert refusal(Program(role=Role.REVIEWER).patch(where, {"learnEvery": 1})) == (403, "not-allowed")
    assert everything()["kapso_cyclotron.StoredCyclotron"] == before["kapso_cyclotron.StoredCyclotron"]
    assert everything()["kapso_cyclotron.Event"] == before["kapso_cyclotron.Event"]


def test_events_are_read_after_a_cursor_that_stays_good() -> None:
    program = Program()
    where = f"cyclotrons/{program.post('cyclotrons', NEW).json()['id']}"
    first = program.get(f"{where}/events").json()
    assert [event["kind"] for event in first["items"]] == ["created"]
    assert program.get(f"{where}/events", cursor=first["next"]).json()["items"] == []
    for interval in (8, 9):
        program.patch(where, {"learnEvery": interval})
    page = program.get(f"{where}/events", cursor=first["next"], limit=1).json()
    assert [event["detail"] for event in page["items"]] == [{"learnEvery": 8}]
    last = program.get(f"{where}/events", cursor=page["next"]).json()
    assert [event["sequence"] for event in last["items"]] == [3]
    other = program.post("cyclotrons", NEW | {"name": "other"}).json()["id"]
    assert refusal(program.get(f"cyclotrons/{other}/events", cursor=first["next"])) == (400, "invalid-cursor")


@pytest.mark.parametrize("character", ["x", "é", "\u4e2d", "\U0001f600", "%", "&"])
def test_an_item_is_looked_up_by_the_longest_identity_of_any_characters(character: str) -> None:
    program = Program()
    where = f"cyclotrons/{program.post('cyclotrons', NEW).json()['id']}"
    identity = character * ID_CHARACTERS
    for item in (identity, identity[:-1], "other"):
        assert program.post(f"{where}/decisions", {"itemId": item, "values": {"abstract": "text"}}).status_code == 201
    found = program.get(f"{where}/items", itemId=identity, classifier="screening", state="waiting", limit=1)
    assert [row["itemId"] for row in found.json()["items"]] == [identity]
    first = program.get(f"{where}/items", beginning=identity[:-1], limit=1).json()
    rest = program.get(f"{where}/items", beginning=identity[:-1], limit=1, cursor=first["next"]).json()
    assert [row["itemId"] for row in first["items"] + rest["items"]] == [identity, identity[:-1]]
