"""A sign-in link works once."""

import hashlib
from datetime import datetime, timedelta

import pytest
from django.contrib.auth.models import User

from kapsoweb.accounts import actions
from kapsoweb.accounts.actions.signing_in import LINK_LIFETIME
from kapsoweb.accounts.errors import SignInLinkError
from kapsoweb.accounts.models import Membership, SignInLink
from kapsoweb.lab.signing_in import way_in
from tests.support.people import lab_owner
from tests.support.races import in_threads

pytestmark = [pytest.mark.services, pytest.mark.django_db]


@pytest.fixture(autouse=True)
def owner() -> User:
    return lab_owner()


def test_a_link_signs_the_owner_in_once(moment: datetime) -> None:
    token = actions.create_sign_in_link(moment)
    user = actions.use_sign_in_link(token, moment + timedelta(minutes=1))
    assert user.username == "owner"
    with pytest.raises(SignInLinkError):
        actions.use_sign_in_link(token, moment + timedelta(minutes=2))


def test_a_link_is_refused_when_its_time_is_over(moment: datetime) -> None:
    token = actions.create_sign_in_link(moment)
    with pytest.raises(SignInLinkError):
        actions.use_sign_in_link(token, moment + LINK_LIFETIME)
    assert SignInLink.objects.get().used_at is None


@pytest.mark.parametrize("token", ["", "guess", "\x00", "\ud800", "a" * 1_000_000])
def test_a_made_up_token_is_refused_and_spends_nothing(token: str, moment: datetime) -> None:
    good = actions.create_sign_in_link(moment)
    with pytest.raises(SignInLinkError):
        actions.use_sign_in_link(token, moment)
    assert actions.use_sign_in_link(good, moment).username == "owner"


def test_refusals_do_not_say_which_rule_was_broken(moment: datetime) -> None:
    used = actions.create_sign_in_link(moment)
    actions.use_sign_in_link(used, moment)
    messages = set()
    for token in (used, "never-made"):
        with pytest.raises(SignInLinkError) as refused:
            actions.use_sign_in_link(token, moment)
        messages.add(str(refused.value))
    assert len(messages) == 1


def test_the_database_holds_the_digest_of_a_token_and_not_the_token(moment: datetime) -> None:
    token = actions.create_sign_in_link(moment)
    row = SignInLink.objects.values().get()
    assert row["token_digest"] == hashlib.sha256(token.encode()).hexdigest()
    assert token not in str(row)
    assert len(token) >= 43  # 256 bits


@pytest.mark.django_db(transaction=True)
def test_of_callers_at_the_same_moment_one_is_signed_in(moment: datetime) -> None:
    token = actions.create_sign_in_link(moment)
    said: list[str] = []
    refused = in_threads(4, lambda number: said.append(actions.use_sign_in_link(token, moment).username))
    assert said == ["owner"]
    assert [type(error) for error in refused] == [SignInLinkError] * 3


def test_the_lab_says_what_its_link_does() -> None:
    assert way_in(8000).startswith("Sign in with http://127.0.0.1:8000/sign-in/")
    Membership.objects.all().delete()
    assert way_in(8000).startswith("Become the lab's owner at http://127.0.0.1:8000/sign-in/")
    assert SignInLink.objects.count() == 2
