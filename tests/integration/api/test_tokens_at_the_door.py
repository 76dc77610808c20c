"""Who may come in by the REST door."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.test import Client

from kapsoweb.accounts.models import ApiToken, Membership
from kapsoweb.accounts.roles import Role
from kapsoweb.foundation import clock
from tests.support.api import Program, refusal, token
from tests.support.people import member

pytestmark = [pytest.mark.services, pytest.mark.django_db]


def test_a_token_says_who_it_is() -> None:
    ada = member("ada", Role.OPERATOR)
    answer = Program(role=Role.OWNER, user=ada).get("me")
    assert answer.status_code == 200
    body = answer.json()
    assert (body["role"], body["actor"], body["only"]) == ("operator", "ada (token test)", None)
    assert body["account"]["slug"] == "local"
    assert body["tokenExpiresAt"].endswith("Z")


@pytest.mark.parametrize("header", ["", "Basic YTpi", "Token x", "bearer", "BearerX abc"])
def test_without_a_bearer_token_nobody_is_known(header: str) -> None:
    answer = Program("").call("GET", "me", **({"Authorization": header} if header else {}))
    expected = "token-refused" if header == "bearer" else "not-authenticated"
    assert refusal(answer) == (401, expected)
    assert answer.headers["WWW-Authenticate"].startswith('Bearer realm="kapsoweb"')


@pytest.mark.parametrize("secret", ["kapso_unknown", "x", "é", "a b", "\x7f", "k" * 5000])
def test_an_unknown_token_is_refused(secret: str) -> None:
    assert refusal(Program(secret).get("me")) == (401, "token-refused")


def test_unknown_revoked_and_expired_tokens_get_one_answer() -> None:
    answers = {
        Program(secret).get("me").content
        for secret in (
            "kapso_unknown",
            token(revoked=True),
            token(expires_at=clock.now() - timedelta(seconds=1)),
        )
    }
    assert len(answers) == 1
    assert b"token-refused" in answers.pop()


def test_a_token_dies_with_its_makers_membership() -> None:
    ada = member("ada")
    program = Program(user=ada)
    assert program.get("me").status_code == 200
    Membership.objects.filter(user=ada).delete()
    assert refusal(program.get("me")) == (401, "token-refused")


def test_a_token_can_do_no_more_than_its_maker_can_now() -> None:
    ada = member("ada", Role.VIEWER)
    assert Program(user=ada, role=Role.OWNER).get("me").json()["role"] == "viewer"


def test_a_session_is_no_token() -> None:
    client = Client()
    client.force_login(member("ada"))
    answer = client.get("/api/v1/me")
    assert refusal(answer) == (401, "not-authenticated")


def test_a_session_beside_a_bad_token_changes_nothing() -> None:
    client = Client()
    client.force_login(member("ada"))
    assert refusal(client.get("/api/v1/me", headers={"Authorization": "Bearer bad"})) == (401, "token-refused")


def test_the_use_of_a_token_is_noted_and_makes_no_session() -> None:
    answer = Program().get("me")
    assert ApiToken.objects.get().last_used_at is not None
    assert not answer.cookies
    assert User.objects.count() == 0


def test_the_schema_is_open_to_everybody() -> None:
    answer = Program("").get("schema")
    assert answer.status_code == 200
    assert answer.json()["openapi"].startswith("3.1")
    assert Program("").get("schema/").content == answer.content
