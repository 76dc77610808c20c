"""A record is reached through an account, or not at all."""

from datetime import datetime

import pytest
from django.contrib.auth.models import AnonymousUser, User
from django.db import IntegrityError, transaction

from kapsoweb.accounts import access, actions
from kapsoweb.accounts.caller import Door
from kapsoweb.accounts.errors import InvalidNameError, NameTakenError, RecordHeldError, RecordNotFound
from kapsoweb.accounts.models import Account, Holding
from kapsoweb.accounts.roles import Role
from kapsoweb.foundation.errors import Kind
from tests.support.people import lab_owner
from tests.support.races import in_threads

pytestmark = [pytest.mark.services, pytest.mark.django_db]

ROOM = "cyclotron"


@pytest.fixture
def stranger(moment: datetime) -> Account:
    return Account.objects.create(id="acc_stranger", name="Stranger", slug="stranger", created_at=moment)


def hold(account: Account, name: str, record_id: str, now: datetime) -> Holding:
    return actions.hold_record(account=account, room=ROOM, name=name, store="default", record_id=record_id, now=now)


def test_an_account_reaches_what_it_holds_by_id_and_by_name(moment: datetime) -> None:
    caller = access.local_caller()
    held = hold(caller.account, "screening", "cyc_1", moment)
    assert access.access_record(caller, ROOM, "cyc_1") == held
    assert access.access_record_by_name(caller, ROOM, "screening") == held
    assert (held.store, held.record_id) == ("default", "cyc_1")
    assert [one.name for one in access.access_records(caller, ROOM)] == ["screening"]


def test_anothers_record_and_a_missing_one_are_the_same_error_to_the_letter(
    moment: datetime, stranger: Account
) -> None:
    hold(stranger, "theirs", "cyc_1", moment)
    caller = access.local_caller()
    with pytest.raises(RecordNotFound) as theirs:
        access.access_record(caller, ROOM, "cyc_1")
    with pytest.raises(RecordNotFound) as named:
        access.access_record_by_name(caller, ROOM, "theirs")
    Holding.objects.all().delete()
    with pytest.raises(RecordNotFound) as missing:
        access.access_record(caller, ROOM, "cyc_1")
    with pytest.raises(RecordNotFound) as nameless:
        access.access_record_by_name(caller, ROOM, "theirs")
    assert theirs.value.as_json() == missing.value.as_json()
    assert named.value.as_json() == nameless.value.as_json()
    assert theirs.value.kind is Kind.MISSING
    assert not access.access_records(caller, ROOM)


def test_a_record_of_another_room_is_not_reached(moment: datetime) -> None:
    caller = access.local_caller()
    hold(caller.account, "screening", "cyc_1", moment)
    with pytest.raises(RecordNotFound):
        access.access_record(caller, "bank", "cyc_1")


def test_two_accounts_may_use_the_same_name_and_one_may_not_use_it_twice(moment: datetime, stranger: Account) -> None:
    account = access.local_account()
    hold(account, "screening", "cyc_1", moment)
    hold(stranger, "screening", "cyc_2", moment)
    with pytest.raises(NameTakenError):
        hold(account, "screening", "cyc_3", moment)
    assert Holding.objects.count() == 2


def test_a_record_has_one_holder(moment: datetime, stranger: Account) -> None:
    hold(stranger, "theirs", "cyc_1", moment)
    with pytest.raises(RecordHeldError):
        hold(access.local_account(), "mine", "cyc_1", moment)
    assert Holding.objects.get().account == stranger


@pytest.mark.parametrize(
    "name", ["", " ", ".hidden", "-dash", "a b", "a/b", "../up", "a" * 65, "été", "a\n", "a\x00", "_a", "名前"]
)
def test_a_name_that_breaks_the_rule_is_refused_and_nothing_is_held(name: str, moment: datetime) -> None:
    with pytest.raises(InvalidNameError, match="1 to 64"):
        hold(access.local_account(), name, "cyc_1", moment)
    assert not Holding.objects.exists()


@pytest.mark.parametrize("name", ["a", "7", "adhd.v2", "First-600_rows", "a" * 64])
def test_a_name_that_keeps_the_rule_is_taken_as_it_is(name: str, moment: datetime) -> None:
    assert hold(access.local_account(), name, "cyc_1", moment).name == name


@pytest.mark.parametrize("part", ["room", "name", "store", "record_id"])
def test_the_database_itself_refuses_a_hold_with_an_empty_part(part: str, moment: datetime) -> None:
    held = hold(access.local_account(), "screening", "cyc_1", moment)
    with pytest.raises(IntegrityError), transaction.atomic():
        Holding.objects.filter(pk=held.pk).update(**{part: ""})


def test_an_account_that_holds_something_cannot_be_deleted_under_it(moment: datetime) -> None:
    account = access.local_account()
    hold(account, "screening", "cyc_1", moment)
    with pytest.raises(IntegrityError):
        account.delete()


def test_a_signed_in_user_acts_for_the_local_account_and_a_visitor_for_none() -> None:
    caller = access.caller_of_user(lab_owner(), Door.BROWSER)
    assert (caller.account, caller.role, caller.actor) == (access.local_account(), Role.OWNER, "owner")
    for nobody in (AnonymousUser(), User(username="gone", is_active=False), User.objects.create(username="alone")):
        with pytest.raises(RecordNotFound):
            access.caller_of_user(nobody, Door.BROWSER)


@pytest.mark.django_db(transaction=True)
def test_callers_that_are_first_together_get_one_local_account() -> None:
    seen: list[str] = []
    assert in_threads(4, lambda number: seen.append(access.local_account().pk)) == []
    assert len(seen) == 4
    assert len(set(seen)) == 1
