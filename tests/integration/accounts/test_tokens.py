"""API tokens: shown once, no more than their maker's role, scoped, expiring, revocable, last use noted."""

from datetime import datetime, timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from kapsoweb.accounts.access import access_record, access_records, caller_of_token, local_caller
from kapsoweb.accounts.actions.tokens import create_token, revoke_token, tokens_of
from kapsoweb.accounts.caller import Caller, Door
from kapsoweb.accounts.errors import (
    InvalidTokenError,
    NotAllowedError,
    RecordNotFound,
    TokenNameTakenError,
    UnknownTokenError,
)
from kapsoweb.accounts.models import ApiToken, AuditEntry
from kapsoweb.accounts.roles import Role
from tests.support.held_cyclotrons import held_cyclotron
from tests.support.people import caller, other_account

pytestmark = [pytest.mark.services, pytest.mark.django_db]


def token_of(secret: str, now: datetime) -> Caller:
    return caller_of_token(secret, Door.REST, now)


def test_a_tokens_secret_is_not_stored_and_opens_its_account(moment: datetime) -> None:
    ada = caller(Role.OPERATOR, name="ada")
    token, secret = create_token(ada, name="nightly", role=Role.REVIEWER, days=9, now=moment)
    assert secret.startswith("kapso_")
    assert secret.startswith(token.beginning)
    assert secret not in str(ApiToken.objects.values())
    found = token_of(secret, moment)
    assert (found.account, found.role, found.actor, found.token_id, found.only) == (
        ada.account,
        Role.REVIEWER,
        "ada (token nightly)",
        token.pk,
        None,
    )
    assert AuditEntry.objects.get().detail == {"token": token.pk, "role": "reviewer"}


@pytest.mark.parametrize("secret", ["", "kapso_", "kapso_guess", "\x00", "\ud800", "x" * 1_000_000])
def test_a_made_up_token_is_refused(secret: str, moment: datetime) -> None:
    with pytest.raises(UnknownTokenError):
        token_of(secret, moment)


def test_a_token_ends_by_its_time_and_by_revoking(moment: datetime) -> None:
    ada = caller(Role.VIEWER)
    token, secret = create_token(ada, name="n", role=Role.VIEWER, days=1, now=moment)
    assert token_of(secret, moment + timedelta(days=1) - timedelta(seconds=1))
    with pytest.raises(UnknownTokenError):
        token_of(secret, moment + timedelta(days=1))
    revoke_token(ada, token.pk, now=moment)
    revoke_token(ada, token.pk, now=moment + timedelta(hours=1))
    with pytest.raises(UnknownTokenError):
        token_of(secret, moment)
    assert ApiToken.objects.get().revoked_at == moment
    assert AuditEntry.objects.filter(action="token.revoked").count() == 1


def test_the_last_use_is_noted_once_a_minute(moment: datetime) -> None:
    _, secret = create_token(caller(Role.VIEWER), name="n", role=Role.VIEWER, days=9, now=moment)
    token_of(secret, moment)
    token_of(secret, moment + timedelta(seconds=59))
    assert ApiToken.objects.get().last_used_at == moment
    token_of(secret, moment + timedelta(seconds=61))
    assert ApiToken.objects.get().last_used_at == moment + timedelta(seconds=61)


def test_a_tokens_role_is_at_most_its_makers(moment: datetime) -> None:
    with pytest.raises(NotAllowedError):
        create_token(caller(Role.REVIEWER), name="n", role=Role.OPERATOR, days=9, now=moment)
    assert not ApiToken.objects.exists()


@pytest.mark.parametrize(
    "changed",
    [
        {"name": ""},
        {"name": " "},
        {"name": "x" * 101},
        {"days": 0},
        {"days": 366},
        {"days": True},
        {"room": "cyclotron"},
    ],
)
def test_what_no_token_may_be_is_refused(changed: dict[str, object], moment: datetime) -> None:
    given = {"name": "n", "role": Role.VIEWER, "days": 9, "now": moment} | changed
    with pytest.raises(InvalidTokenError):
        create_token(caller(Role.OWNER), **given)  # type: ignore[arg-type]
    assert not ApiToken.objects.exists()


def test_a_scoped_token_reaches_its_record_and_no_other_and_nothing_of_the_account(moment: datetime) -> None:
    mine, other = held_cyclotron("mine"), held_cyclotron("other")
    owner = caller(Role.OWNER)
    _, secret = create_token(
        owner, name="n", role=Role.OWNER, days=9, room="cyclotron", record_id=mine.cyclotron_id, now=moment
    )
    scoped = token_of(secret, moment)
    assert [held.name for held in access_records(scoped, "cyclotron")] == ["mine"]
    with pytest.raises(RecordNotFound):
        access_record(scoped, "cyclotron", other.cyclotron_id)
    with pytest.raises(NotAllowedError):
        scoped.require_whole_account(Role.VIEWER)
    with pytest.raises(NotAllowedError):
        create_token(scoped, name="wider", role=Role.VIEWER, days=9, now=moment)
    with pytest.raises(RecordNotFound):
        create_token(
            scoped, name="other", role=Role.VIEWER, days=9, room="cyclotron", record_id=other.cyclotron_id, now=moment
        )
    assert ApiToken.objects.count() == 1


def test_a_token_made_with_a_token_lasts_no_longer(moment: datetime) -> None:
    token, secret = create_token(caller(Role.OWNER), name="n", role=Role.OWNER, days=2, now=moment)
    later = moment + timedelta(days=1)
    made, _ = create_token(token_of(secret, later), name="child", role=Role.VIEWER, days=300, now=later)
    assert made.expires_at == token.expires_at


def test_members_see_and_revoke_their_own_tokens_and_owners_everybodys(moment: datetime) -> None:
    owner, ada, ben = caller(Role.OWNER), caller(Role.VIEWER, name="ada"), caller(Role.VIEWER, name="ben")
    hers, _ = create_token(ada, name="hers", role=Role.VIEWER, days=9, now=moment)
    his, _ = create_token(ben, name="his", role=Role.VIEWER, days=9, now=moment)
    assert [token.name for token in tokens_of(ada)] == ["hers"]
    assert {token.name for token in tokens_of(owner)} == {"hers", "his"}
    stranger = caller(Role.OWNER, other_account())
    for who in (ada, stranger):
        with pytest.raises(RecordNotFound):
            revoke_token(who, his.pk, now=moment)
    assert not tokens_of(stranger)
    revoke_token(owner, hers.pk, now=moment)
    assert ApiToken.objects.get(pk=hers.pk).revoked_at == moment
    assert ApiToken.objects.get(pk=his.pk).revoked_at is None


def test_a_token_is_looked_up_in_a_few_queries(moment: datetime) -> None:
    _, secret = create_token(caller(Role.VIEWER), name="n", role=Role.VIEWER, days=9, now=moment)
    with CaptureQueriesContext(connection) as ran:
        token_of(secret, moment)
    assert len(ran) <= 3


def test_revoking_a_token_ends_those_made_with_it_and_so_on(moment: datetime) -> None:
    owner = caller(Role.OWNER)
    first, secret = create_token(owner, name="first", role=Role.OWNER, days=9, now=moment)
    _, second = create_token(token_of(secret, moment), name="second", role=Role.VIEWER, days=9, now=moment)
    _, third = create_token(token_of(second, moment), name="third", role=Role.VIEWER, days=9, now=moment)
    _, other = create_token(owner, name="other", role=Role.VIEWER, days=9, now=moment)
    revoke_token(owner, first.pk, now=moment)
    for ended in (secret, second, third):
        with pytest.raises(UnknownTokenError):
            token_of(ended, moment)
    assert token_of(other, moment)


def test_tokens_without_a_maker_have_names_of_their_own_for_ever(moment: datetime) -> None:
    here = local_caller()
    made, _ = create_token(here, name="nightly", role=Role.REVIEWER, days=9, now=moment)
    revoke_token(here, made.pk, now=moment)
    with pytest.raises(TokenNameTakenError):
        create_token(here, name="nightly", role=Role.OWNER, days=9, now=moment)
    ada = caller(Role.OWNER, name="ada")
    for _ in range(2):
        create_token(ada, name="nightly", role=Role.VIEWER, days=9, now=moment)
    assert ApiToken.objects.filter(user=None).count() == 1
