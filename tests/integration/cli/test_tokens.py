"""API tokens from the lab's own machine: made once, listed without their secret, revoked at once."""

import pytest
from django.test import Client

from kapsoweb.accounts.access import caller_of_token
from kapsoweb.accounts.caller import Door
from kapsoweb.accounts.errors import UnknownTokenError
from kapsoweb.accounts.models import ApiToken, AuditEntry
from kapsoweb.accounts.roles import Role
from kapsoweb.foundation import clock
from tests.support.command_line import Run
from tests.support.held_cyclotrons import held_cyclotron

pytestmark = [pytest.mark.services, pytest.mark.django_db(transaction=True)]


def test_a_token_is_printed_once_and_opens_the_rest_door(run: Run, client: Client) -> None:
    made = run("token", "create", "nightly", "--role", "viewer", "--json")
    assert made.code == 0
    secret = made.document["token"]
    answer = client.get("/api/v1/me", headers={"Authorization": f"Bearer {secret}"})
    assert (answer.json()["role"], answer.json()["actor"]) == ("viewer", "command line (token nightly)")
    listed = run("token", "list")
    assert secret not in listed.out
    assert "nightly" in listed.out
    assert secret not in str(ApiToken.objects.values())
    assert AuditEntry.objects.get().action == "token.created"


def test_a_revoked_token_is_refused_from_then_on(run: Run) -> None:
    made = run("token", "create", "nightly", "--json").document
    assert run("token", "revoke", made["id"]).code == 0
    with pytest.raises(UnknownTokenError):
        caller_of_token(made["token"], Door.REST, clock.now())
    assert "revoked" in run("token", "list").out
    assert run("token", "revoke", "tok_unknown").code == 2


def test_a_token_may_be_for_one_cyclotron(run: Run) -> None:
    store = held_cyclotron("screening")
    made = run("token", "create", "narrow", "--cyclotron", "screening", "--json").document
    caller = caller_of_token(made["token"], Door.REST, clock.now())
    assert (caller.only, caller.role) == (store.cyclotron_id, Role.OPERATOR)
    assert run("token", "create", "none", "--cyclotron", "missing").code == 2
    assert ApiToken.objects.count() == 1


@pytest.mark.parametrize("given", [("--days", "0"), ("--days", "366"), ("--role", "king"), ("--days", "x")])
def test_what_no_token_may_be_is_refused(run: Run, given: tuple[str, str]) -> None:
    assert run("token", "create", "name", *given).code == 2
    assert not ApiToken.objects.exists()
