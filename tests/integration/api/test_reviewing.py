"""Deciding and reviewing by REST: items, decisions, reviews and the queue."""

from typing import Any

import pytest

from cyclotron.models import CachedAnswer, Decision
from kapsoweb.accounts.models import AuditEntry
from kapsoweb.accounts.roles import Role
from kapsoweb.doors.limits import DECISIONS_MOST
from tests.support.api import Program, refusal
from tests.support.operations import everything

pytestmark = [pytest.mark.services, pytest.mark.django_db]

DEFINITION = {
    "name": "screening",
    "labels": ["include", "exclude"],
    "question": "Is it about attention?",
    "positiveLabel": "include",
}
VALUES = {"text": "A trial of methylphenidate in children."}


@pytest.fixture
def operator() -> Program:
    return Program(role=Role.OPERATOR)


@pytest.fixture
def where(operator: Program) -> str:
    made = operator.post("cyclotrons", {"name": "adhd", "seed": "s", "classifiers": [DEFINITION]})
    return f"cyclotrons/{made.json()['id']}"


def decide(program: Program, where: str, item: str, **given: Any) -> dict[str, Any]:
    answer = program.post(f"{where}/decisions", {"itemId": item, "values": VALUES, **given})
    assert answer.status_code == 201, answer.content
    body: dict[str, Any] = answer.json()
    return body


def test_a_decision_says_what_was_decided_and_whether_it_is_sent(operator: Program, where: str) -> None:
    decided = decide(operator, where, "record-1")
    output = decided["outputs"]["screening"]
    assert output["label"] in DEFINITION["labels"]
    assert set(output["probabilities"]) == set(DEFINITION["labels"])
    assert (decided["itemId"], decided["sent"], decided["propensity"]) == ("record-1", True, 1.0)
    assert decided["reason"] in ("program", "audit")
    listed = operator.get(f"{where}/decisions").json()["items"]
    assert [(row["decisionId"], row["outputs"]) for row in listed] == [(decided["decisionId"], decided["outputs"])]
    assert AuditEntry.objects.filter(action="item.decided").count() == 1


@pytest.mark.parametrize(
    ("changed", "error"),
    [
        ({"itemId": ""}, "invalid-request"),
        ({"itemId": "x" * 513}, "invalid-request"),
        ({"itemId": 17}, "invalid-request"),
        ({"values": {}}, "invalid-item"),
        ({"values": {"text": ""}}, "invalid-item"),
        ({"values": {"text": 5}}, "invalid-item"),
        ({"values": []}, "invalid-request"),
        ({"values": {"text": "a", "more": "x" * 2**20}}, "invalid-item"),
        ({"reviewRate": True}, "invalid-request"),
        ({"reviewRate": 1.1}, "invalid-request"),
        ({"reviewRate": 0, "auditRate": 0}, "invalid-propensity"),
        ({"lowConfidence": "0.5"}, "invalid-request"),
    ],
)
def test_an_item_that_breaks_a_rule_is_neither_decided_nor_kept(
    operator: Program, where: str, changed: Any, error: str
) -> None:
    before = everything()
    answer = operator.post(f"{where}/decisions", {"itemId": "record-1", "values": VALUES} | changed)
    assert refusal(answer) == (400, error)
    assert everything() == before


def test_an_item_keeps_its_values(operator: Program, where: str) -> None:
    decide(operator, where, "record-1")
    changed = {"itemId": "record-1", "values": {"text": "Another text."}}
    assert refusal(operator.post(f"{where}/decisions", changed)) == (409, "item-changed")
    assert Decision.objects.count() == 1


def test_where_calls_are_off_nothing_is_decided(operator: Program, where: str, settings: Any) -> None:
    settings.KAPSOWEB_ALLOW_LIVE = False
    before = everything()
    answer = operator.post(f"{where}/decisions", {"itemId": "record-1", "values": VALUES})
    assert refusal(answer) == (403, "live-off")
    assert everything() == before


def test_a_decision_sent_twice_under_one_key_is_one(operator: Program, where: str) -> None:
    body = {"itemId": "record-1", "values": VALUES}
    answers = [operator.post(f"{where}/decisions", body, Idempotency_Key="once") for _ in range(2)]
    assert answers[0].content == answers[1].content
    assert Decision.objects.count() == 1


def foreign(number: int, **changed: Any) -> dict[str, Any]:
    return {
        "itemId": f"foreign-{number}",
        "values": VALUES,
        "outputs": {"screening": {"label": "include", "confidence": 0.75}},
        "sent": True,
        "reason": "audit",
        "propensity": 0.05,
    } | changed


def test_decisions_made_elsewhere_keep_their_propensities(operator: Program, where: str) -> None:
    body = {"decisions": [foreign(1), foreign(2, sent=False, reason="", propensity=0.5)]}
    first = operator.post(f"{where}/decisions/import", body).json()
    assert (first["recorded"], first["known"]) == (2, 0)
    again = operator.post(f"{where}/decisions/import", body).json()
    assert again == {"decisionIds": [None, None], "recorded": 0, "known": 2}
    rows = operator.get(f"{where}/decisions").json()["items"]
    assert {row["itemId"]: (row["propensity"], row["foreign"]) for row in rows} == {
        "foreign-1": (0.05, True),
        "foreign-2": (0.5, True),
    }
    assert not CachedAnswer.objects.exists()


@pytest.mark.parametrize(
    ("bad", "error"),
    [
        (foreign(2, propensity=0), "invalid-propensity"),
        (foreign(2, propensity=True), "invalid-request"),
        (foreign(2, propensity=1.5), "invalid-request"),
        (foreign(2, reason="reviewer"), "invalid-request"),
        (foreign(2, sent=False), "invalid-decision"),
        (foreign(2, outputs={}), "invalid-decision"),
        (foreign(2, outputs={"screening": {"label": "other", "confidence": 0.5}}), "invalid-decision"),
        (foreign(2, outputs={"screening": {"label": "include", "confidence": "0.5"}}), "invalid-request"),
        (foreign(1, values={"text": "other"}), "item-changed"),
    ],
)
def test_of_decisions_made_elsewhere_all_are_recorded_or_none(
    operator: Program, where: str, bad: Any, error: str
) -> None:
    before = everything()
    answer = operator.post(f"{where}/decisions/import", {"decisions": [foreign(1), bad]})
    assert refusal(answer)[1] == error
    assert everything() == before


def test_too_many_decisions_at_once_are_refused(operator: Program, where: str) -> None:
    body = {"decisions": [foreign(number) for number in range(DECISIONS_MOST + 1)]}
    assert refusal(operator.post(f"{where}/decisions/import", body)) == (400, "invalid-request")
    assert Decision.objects.count() == 0


def test_a_review_is_recorded_in_the_tokens_name_and_retracted(operator: Program, where: str) -> None:
    decided = decide(operator, where, "record-1")
    reviewer = Program(role=Role.REVIEWER)
    body = {"reviewId": "r-1", "decisionId": decided["decisionId"], "label": "include", "explanation": "clear"}
    first = reviewer.post(f"{where}/reviews", body)
    assert (first.status_code, first.json()["new"]) == (201, True)
    assert reviewer.post(f"{where}/reviews", body).json()["new"] is False
    assert refusal(reviewer.post(f"{where}/reviews", body | {"label": "exclude"})) == (409, "review-changed")
    row = reviewer.get(f"{where}/reviews").json()["items"][0]
    assert (row["reviewer"], row["explanation"], row["undoneAt"]) == ("command line (token test 2)", "clear", None)
    assert reviewer.post(f"{where}/reviews/undo", {"reviewId": "r-1"}).json() == {"undone": True}
    assert reviewer.post(f"{where}/reviews/undo", {"reviewId": "r-1"}).json() == {"undone": False}
    assert reviewer.get(f"{where}/reviews").json()["items"][0]["undoneAt"].endswith("Z")


@pytest.mark.parametrize(
    ("changed", "status", "error"),
    [
        ({"label": "other"}, 400, "invalid-review"),
        ({"label": ""}, 400, "invalid-request"),
        ({"decisionId": "dec_nothing"}, 404, "no-such-decision"),
        ({"classifier": "other"}, 404, "no-such-classifier"),
        ({"selectedBy": "audit"}, 400, "invalid-review"),
        ({"selectedBy": "somebody"}, 400, "invalid-request"),
        ({"reviewer": "ada"}, 400, "invalid-request"),
        ({"explanation": "x" * 20_001}, 400, "invalid-request"),
    ],
)
def test_a_review_that_breaks_a_rule_is_not_recorded(
    operator: Program, where: str, changed: Any, status: int, error: str
) -> None:
    decided = decide(operator, where, "record-1")
    before = everything()
    body = {"reviewId": "r-1", "decisionId": decided["decisionId"], "label": "include"}
    assert refusal(operator.post(f"{where}/reviews", body | changed)) == (status, error)
    assert everything() == before


def test_a_label_must_be_said_even_where_it_is_none(operator: Program, where: str) -> None:
    decided = decide(operator, where, "record-1")
    body = {"reviewId": "r-1", "decisionId": decided["decisionId"]}
    assert refusal(operator.post(f"{where}/reviews", body)) == (400, "invalid-request")
    assert operator.post(f"{where}/reviews", body | {"label": None}).json()["label"] is None


def test_items_are_listed_by_what_is_known_of_them(operator: Program, where: str) -> None:
    for number in range(6):
        decide(operator, where, f"record-{number}")
    reviewed = operator.get(f"{where}/items", itemId="record-3").json()["items"][0]
    decision = reviewed["latest"]["decisionId"]
    operator.post(f"{where}/reviews", {"reviewId": "r", "decisionId": decision, "label": "exclude"})

    def found(**query: Any) -> list[str]:
        return [row["itemId"] for row in operator.get(f"{where}/items", **query).json()["items"]]

    assert len(found()) == 6
    assert found(state="reviewed") == found(label="exclude") == ["record-3"]
    assert len(found(state="waiting")) == 5
    assert found(itemId="record-3", state="waiting") == []
    assert found(itemId="record-77") == []
    assert found(beginning="record-5") == ["record-5"]
    assert found(changed="true") == []
    by_partition = [item for name in ("audit", "development", "training") for item in found(partition=name)]
    assert sorted(by_partition) == sorted(found())
    page = operator.get(f"{where}/items", limit=4).json()
    assert found(limit=4, cursor=page["next"]) == ["record-4", "record-5"]
    other = operator.get(f"{where}/items", state="waiting", cursor=page["next"])
    assert refusal(other) == (400, "invalid-cursor")


def test_an_item_is_read_with_its_history(operator: Program, where: str) -> None:
    decided = decide(operator, where, "record-1")
    operator.post(f"{where}/reviews", {"reviewId": "r", "decisionId": decided["decisionId"], "label": "include"})
    key = operator.get(f"{where}/items").json()["items"][0]["key"]
    body = operator.get(f"{where}/items/{key}").json()
    assert body["values"] == VALUES
    assert (body["item"]["itemId"], body["item"]["state"]) == ("record-1", "reviewed")
    assert [row["decisionId"] for row in body["decisions"]] == [decided["decisionId"]]
    assert [row["reviewId"] for row in body["reviews"]] == ["r"]
    assert (body["label"]["label"], body["label"]["chosen"]) == ("include", False)


@pytest.mark.parametrize("key", ["0", "-1", "999999999999", "9" * 40, "abc", "1.0", "%31%00", "１"])
def test_an_item_that_is_not_there_is_missing(operator: Program, where: str, key: str) -> None:
    assert refusal(operator.get(f"{where}/items/{key}")) == (404, "no-such-item")


def test_the_queue_hands_each_item_to_one_reviewer(operator: Program, where: str) -> None:
    for number in range(3):
        decide(operator, where, f"record-{number}")
    from tests.support.people import member

    ada = Program(role=Role.REVIEWER, user=member("ada", Role.REVIEWER))
    bob = Program(role=Role.REVIEWER, user=member("bob", Role.REVIEWER))
    first = ada.post(f"{where}/queue/take").json()["assignment"]
    assert (first["itemId"], first["values"]) == ("record-0", VALUES)
    assert ada.post(f"{where}/queue/take", {}).json()["assignment"]["id"] == first["id"]
    second = bob.post(f"{where}/queue/take", {"classifier": "screening"}).json()["assignment"]
    assert second["itemId"] == "record-1"
    assert ada.get(f"{where}/queue").json() == {"waiting": 3, "held": 2, "reviewed": 0}
    stolen = bob.post(f"{where}/assignments/{first['id']}/answer", {"label": "include"})
    assert refusal(stolen) == (409, "assignment-lost")
    answered = ada.post(f"{where}/assignments/{first['id']}/answer", {"label": "include"})
    assert (answered.status_code, answered.json()["itemId"]) == (201, "record-0")
    assert bob.post(f"{where}/assignments/{second['id']}/skip").status_code == 204
    assert bob.post(f"{where}/queue/take").json()["assignment"]["itemId"] == "record-2"
    back = ada.post(f"{where}/queue/undo-last").json()["assignment"]
    assert back["itemId"] == "record-0"
    assert bob.post(f"{where}/queue/undo-last").json() == {"assignment": None}


def test_a_review_may_not_take_the_name_of_an_answer_to_the_queue(operator: Program, where: str) -> None:
    decided = decide(operator, where, "record-0")
    held = operator.post(f"{where}/queue/take").json()["assignment"]
    body = {"decisionId": decided["decisionId"], "label": "include"}
    refused = operator.post(f"{where}/reviews", {**body, "reviewId": "as_mine"})
    assert refusal(refused) == (400, "invalid-review")
    stranger = Program(role=Role.REVIEWER)
    assert refusal(stranger.post(f"{where}/reviews", {**body, "reviewId": held["id"]})) == (400, "invalid-review")
    assert operator.get(f"{where}/reviews").json()["items"] == []
    assert operator.post(f"{where}/assignments/{held['id']}/answer", {"label": "include"}).status_code == 201


def test_an_empty_queue_has_nothing_to_take(operator: Program, where: str) -> None:
    assert operator.post(f"{where}/queue/take").json() == {"assignment": None}
    assert refusal(operator.post(f"{where}/queue/take", {"classifier": "other"})) == (404, "no-such-classifier")
    assert refusal(operator.get(f"{where}/queue", classifier="other")) == (404, "no-such-classifier")
