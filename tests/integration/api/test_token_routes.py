"""Making, listing and ending API tokens by REST."""

from typing import Any

import pytest

from kapsoweb.accounts.models import ApiToken, AuditEntry
from kapsoweb.accounts.roles import Role
from kapsoweb.doors.models import KeyedRequest
from tests.support.api import Program, refusal
from tests.support.held_cyclotrons import held_cyclotron
from tests.support.operations import everything
from tests.support.people import member, other_account

pytestmark = [pytest.mark.services, pytest.mark.django_db]

NEW = {"name": "nightly", "role": "reviewer", "days": 30}


def test_a_token_is_made_shown_once_and_works() -> None:
    program = Program(user=member("ada"))
    made = program.post("tokens", NEW)
    assert made.status_code == 201
    body = made.json()
    assert body["secret"].startswith(body["beginning"])
    assert Program(body["secret"]).get("me").json()["actor"] == "ada (token nightly)"
    listed = program.get("tokens")
    assert body["id"] in [row["id"] for row in listed.json()["items"]]
    assert body["secret"] not in listed.content.decode()
    assert AuditEntry.objects.get(action="token.created").detail["token"] == body["id"]


def test_a_secret_is_not_kept_for_a_key() -> None:
    program = Program()
    made = program.post("tokens", NEW, Idempotency_Key="k")
    secret = made.json()["secret"]
    again = program.post("tokens", NEW, Idempotency_Key="k")
    assert refusal(again) == (409, "idempotency-answer-not-kept")
    assert ApiToken.objects.filter(name="nightly").count() == 1
    assert all(secret not in str(value) for row in KeyedRequest.objects.values() for value in row.values())


@pytest.mark.parametrize(
    ("role", "changed", "status", "error"),
    [
        (Role.VIEWER, {"role": "reviewer"}, 403, "not-allowed"),
        (Role.OPERATOR, {"role": "owner"}, 403, "not-allowed"),
        (Role.OWNER, {"role": "king"}, 400, "invalid-request"),
        (Role.OWNER, {"days": 0}, 400, "invalid-request"),
        (Role.OWNER, {"days": 366}, 400, "invalid-request"),
        (Role.OWNER, {"days": True}, 400, "invalid-request"),
        (Role.OWNER, {"name": " "}, 400, "invalid-token-request"),
        (Role.OWNER, {"room": "cyclotron"}, 400, "invalid-token-request"),
        (Role.OWNER, {"room": "cyclotron", "recordId": "cy_nothing"}, 404, "record-not-found"),
    ],
)
def test_a_token_that_breaks_a_rule_is_not_made(role: Role, changed: Any, status: int, error: str) -> None:
    program = Program(role=role)
    before = everything()
    assert refusal(program.post("tokens", NEW | changed)) == (status, error)
    assert everything() == before


def test_a_token_for_one_record_makes_tokens_for_that_record_only() -> None:
    mine, other = held_cyclotron("mine"), held_cyclotron("other")
    program = Program(only=mine.cyclotron_id)
    before = everything()
    assert refusal(program.post("tokens", NEW)) == (403, "not-allowed")
    scoped = NEW | {"room": "cyclotron", "recordId": other.cyclotron_id}
    assert refusal(program.post("tokens", scoped)) == (404, "record-not-found")
    assert everything() == before
    made = program.post("tokens", scoped | {"recordId": mine.cyclotron_id})
    assert made.json()["recordId"] == mine.cyclotron_id


def test_a_token_made_with_a_token_lasts_no_longer() -> None:
    program = Program()
    made = program.post("tokens", NEW | {"days": 365}).json()
    assert made["expiresAt"] == program.get("me").json()["tokenExpiresAt"]


def test_members_end_their_own_tokens_and_owners_everybodys() -> None:
    ada = Program(user=member("ada", Role.OPERATOR))
    bob = Program(user=member("bob", Role.OPERATOR))
    owner = Program(user=member("owner"))
    made = ada.post("tokens", NEW).json()
    assert refusal(bob.delete(f"tokens/{made['id']}")) == (404, "record-not-found")
    assert Program(made["secret"]).get("me").status_code == 200
    assert owner.delete(f"tokens/{made['id']}").status_code == 204
    assert refusal(Program(made["secret"]).get("me")) == (401, "token-refused")
    assert ada.delete(f"tokens/{made['id']}").status_code == 204
    assert AuditEntry.objects.filter(action="token.revoked").count() == 1


def test_a_token_made_on_the_labs_machine_knows_itself_and_no_other_of_its_kind() -> None:
    strong, weak = Program(role=Role.OPERATOR), Program(role=Role.VIEWER)
    listed = weak.get("tokens").json()["items"]
    assert [row["id"] for row in listed] == [weak.get("me").json()["tokenId"]]
    other = strong.get("me").json()["tokenId"]
    assert refusal(weak.delete(f"tokens/{other}")) == (404, "record-not-found")
    assert strong.get("me").status_code == 200


def test_tokens_of_another_account_are_not_listed() -> None:
    Program(account=other_account())
    program = Program()
    assert len(program.get("tokens").json()["items"]) == 1
