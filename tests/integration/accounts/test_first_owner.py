"""The first visitor becomes the owner of the local account, once, and keeps what was made before."""

from datetime import datetime

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from kapsoweb.accounts.access import caller_of_user, local_account
from kapsoweb.accounts.actions import create_first_owner, create_sign_in_link, use_sign_in_link
from kapsoweb.accounts.caller import Door
from kapsoweb.accounts.errors import OwnerExistsError, SignInLinkError
from kapsoweb.accounts.models import AuditEntry, Membership, SignInLink
from kapsoweb.accounts.roles import Role
from kapsoweb.foundation import clock
from tests.support.held_cyclotrons import held_cyclotron
from tests.support.people import lab_owner
from tests.support.races import in_threads

pytestmark = [pytest.mark.services, pytest.mark.django_db(transaction=True)]

FORM = {"username": "ada", "password1": "a long enough phrase", "password2": "a long enough phrase"}


def link() -> str:
    return reverse("pages:sign-in-by-link", args=[create_sign_in_link(clock.now())])


def test_the_first_visitor_becomes_the_owner_and_finds_what_the_command_line_made(client: Client) -> None:
    store = held_cyclotron()
    address = link()
    assert "Become the owner" in client.get(address).content.decode()
    assert SignInLink.objects.get().used_at is None
    assert client.post(address, FORM).status_code == 302
    ada = User.objects.get()
    assert (ada.username, ada.is_superuser, ada.check_password(FORM["password1"])) == ("ada", True, True)
    caller = caller_of_user(ada, Door.BROWSER)
    assert (caller.account, caller.role) == (local_account(), Role.OWNER)
    assert client.get(reverse("cyclotron:detail", args=[store.cyclotron_id])).status_code == 200
    assert AuditEntry.objects.get().action == "account.owned"
    assert Client().get(address).status_code == 403


@pytest.mark.parametrize(
    "changed",
    [
        {"username": ""},
        {"username": "a b/c"},
        {"username": "x" * 151},
        {"username": "a\x00b"},
        {"password1": "short", "password2": "short"},
        {"password1": "12345678901234", "password2": "12345678901234"},
        {"password1": "password1234567", "password2": "another one entirely"},
        {"password1": "", "password2": ""},
    ],
)
def test_a_form_that_is_not_right_keeps_the_link_and_makes_nobody(client: Client, changed: dict[str, str]) -> None:
    address = link()
    answer = client.post(address, FORM | changed)
    assert answer.status_code == 400
    assert 'role="alert"' in answer.content.decode()
    assert not User.objects.exists()
    assert SignInLink.objects.get().used_at is None
    assert client.post(address, FORM).status_code == 302


def test_a_made_up_link_shows_no_form_and_makes_nobody(client: Client) -> None:
    address = reverse("pages:sign-in-by-link", args=["made-up"])
    assert client.get(address).status_code == 403
    assert client.post(address, FORM).status_code == 403
    assert not User.objects.exists()


def test_of_first_visitors_at_once_one_becomes_the_owner(moment: datetime) -> None:
    local_account()
    tokens = [create_sign_in_link(moment) for _ in range(4)]

    def own(number: int) -> None:
        create_first_owner(tokens[number], User(username=f"visitor-{number}"), moment)

    refused = in_threads(4, own)
    assert [type(error) for error in refused] == [OwnerExistsError] * 3
    assert User.objects.count() == Membership.objects.count() == 1
    assert SignInLink.objects.filter(used_at=None).count() == 3


def test_a_later_link_signs_the_oldest_owner_in(client: Client) -> None:
    lab_owner("ada")
    assert client.get(link()).status_code == 302
    assert client.get(reverse("pages:account")).context["caller"].actor == "ada"


def test_without_an_owner_a_link_signs_nobody_in(moment: datetime) -> None:
    token = create_sign_in_link(moment)
    with pytest.raises(SignInLinkError):
        use_sign_in_link(token, moment)
    assert SignInLink.objects.get().used_at is None
