"""Members, invitations and accounts: who may change whom, once, and never without an owner."""

from datetime import datetime, timedelta

import pytest
from django.contrib.auth.models import User

from kapsoweb.accounts import queries
from kapsoweb.accounts.access import caller_of_token, caller_of_user, local_account
from kapsoweb.accounts.actions.invitations import accept_invitation, invite, open_invitation, revoke_invitation
from kapsoweb.accounts.actions.members import change_role, create_account, remove_member, rename_account
from kapsoweb.accounts.actions.tokens import create_token
from kapsoweb.accounts.caller import Door
from kapsoweb.accounts.errors import (
    AlreadyMemberError,
    InvalidAccountError,
    InvalidInvitationError,
    InvitationError,
    LastOwnerError,
    NotAllowedError,
    RecordNotFound,
    UnknownTokenError,
    UserNameTakenError,
)
from kapsoweb.accounts.models import Account, AuditEntry, Invitation, Membership
from kapsoweb.accounts.roles import Role
from tests.support.people import caller, member, other_account
from tests.support.races import in_threads

pytestmark = [pytest.mark.services, pytest.mark.django_db(transaction=True)]


def place_of(name: str) -> int:
    return Membership.objects.get(user__username=name).pk


def test_an_owner_changes_a_role_and_it_counts_at_once(moment: datetime) -> None:
    owner, ben = caller(Role.OWNER), member("ben", Role.VIEWER)
    change_role(owner, place_of("ben"), role=Role.OPERATOR, now=moment)
    assert caller_of_user(ben, Door.BROWSER).role is Role.OPERATOR
    assert AuditEntry.objects.get().detail == {"member": "ben", "role": "operator"}
    change_role(owner, place_of("ben"), role=Role.OPERATOR, now=moment)
    assert AuditEntry.objects.count() == 1


@pytest.mark.parametrize("role", [Role.VIEWER, Role.REVIEWER, Role.OPERATOR])
def test_nobody_else_changes_members_invites_or_renames(role: Role, moment: datetime) -> None:
    caller(Role.OWNER, name="ada")
    other = caller(role)
    before = list(Membership.objects.values())
    for refused in (
        lambda: change_role(other, place_of("ada"), role=Role.VIEWER, now=moment),
        lambda: remove_member(other, place_of("ada"), now=moment),
        lambda: invite(other, role=Role.VIEWER, note="", days=1, now=moment),
        lambda: revoke_invitation(other, "inv_x", now=moment),
        lambda: rename_account(other, name="mine", now=moment),
        lambda: queries.audit_entries(other),
        lambda: queries.invitations(other),
    ):
        with pytest.raises(NotAllowedError):
            refused()
    assert list(Membership.objects.values()) == before
    assert not AuditEntry.objects.exists()


def test_the_last_owner_can_be_neither_removed_nor_demoted(moment: datetime) -> None:
    owner = caller(Role.OWNER, name="ada")
    member("ben", Role.OPERATOR)
    with pytest.raises(LastOwnerError):
        remove_member(owner, place_of("ada"), now=moment)
    with pytest.raises(LastOwnerError):
        change_role(owner, place_of("ada"), role=Role.VIEWER, now=moment)
    assert Membership.objects.get(user__username="ada").role == Role.OWNER


def test_two_owners_who_remove_each_other_at_once_leave_one(moment: datetime) -> None:
    owners = [caller(Role.OWNER, name="ada"), caller(Role.OWNER, name="ben")]
    places = [place_of("ben"), place_of("ada")]
    refused = in_threads(2, lambda number: remove_member(owners[number], places[number], now=moment))
    assert len(refused) == 1
    assert isinstance(refused[0], LastOwnerError | RecordNotFound)
    assert Membership.objects.filter(role=Role.OWNER).count() == 1


def test_whoever_leaves_loses_the_account_and_their_tokens(moment: datetime) -> None:
    caller(Role.OWNER)
    ben = caller(Role.OPERATOR, name="ben")
    _, secret = create_token(ben, name="n", role=Role.VIEWER, days=9, now=moment)
    assert caller_of_token(secret, Door.REST, moment).actor == "ben (token n)"
    remove_member(ben, place_of("ben"), now=moment)
    with pytest.raises(UnknownTokenError):
        caller_of_token(secret, Door.REST, moment)
    with pytest.raises(RecordNotFound):
        caller_of_user(User.objects.get(username="ben"), Door.BROWSER)


def test_what_a_removed_member_made_stays_ended_when_they_come_back(moment: datetime) -> None:
    owner, ben = caller(Role.OWNER), caller(Role.OWNER, name="ben")
    _, token = create_token(ben, name="n", role=Role.VIEWER, days=9, now=moment)
    _, link = invite(ben, role=Role.OWNER, note="a way back", days=9, now=moment)
    _, used = invite(ben, role=Role.VIEWER, note="", days=9, now=moment)
    accept_invitation(used, User(username="cleo"), moment)
    remove_member(owner, place_of("ben"), now=moment)
    member("ben", Role.OWNER)
    with pytest.raises(UnknownTokenError):
        caller_of_token(token, Door.REST, moment)
    with pytest.raises(InvitationError):
        accept_invitation(link, User(username="eve"), moment)
    assert not User.objects.filter(username="eve").exists()
    assert Membership.objects.filter(user__username="cleo").exists()


def test_an_invitation_works_as_long_as_its_maker_is_an_owner(moment: datetime) -> None:
    owner, ben = caller(Role.OWNER), caller(Role.OWNER, name="ben")
    _, link = invite(ben, role=Role.OWNER, note="", days=9, now=moment)
    change_role(owner, place_of("ben"), role=Role.OPERATOR, now=moment)
    with pytest.raises(InvitationError):
        accept_invitation(link, User.objects.get(username="ben"), moment)
    with pytest.raises(InvitationError):
        accept_invitation(link, User(username="eve"), moment)
    assert not User.objects.filter(username="eve").exists()
    assert Invitation.objects.get().used_at is None
    change_role(owner, place_of("ben"), role=Role.OWNER, now=moment)
    User.objects.filter(username="ben").update(is_active=False)
    with pytest.raises(InvitationError):
        open_invitation(link, moment)
    User.objects.filter(username="ben").update(is_active=True)
    assert accept_invitation(link, User(username="eve"), moment).role == Role.OWNER


def test_a_demoted_members_token_may_do_no_more_than_its_member(moment: datetime) -> None:
    owner, ben = caller(Role.OWNER), caller(Role.OPERATOR, name="ben")
    _, secret = create_token(ben, name="n", role=Role.OPERATOR, days=9, now=moment)
    change_role(owner, place_of("ben"), role=Role.VIEWER, now=moment)
    assert caller_of_token(secret, Door.REST, moment).role is Role.VIEWER


def test_another_accounts_member_is_a_missing_one(moment: datetime) -> None:
    owner = caller(Role.OWNER)
    caller(Role.OWNER, other_account(), "eve")
    member("mallory", Role.VIEWER, Account.objects.get(slug="other"))
    said = set()
    for key in (place_of("mallory"), 10**9):
        with pytest.raises(RecordNotFound) as missing:
            change_role(owner, key, role=Role.OWNER, now=moment)
        said.add(str(missing.value).replace(str(key), "…"))
        with pytest.raises(RecordNotFound):
            remove_member(owner, key, now=moment)
    assert len(said) == 1
    assert Membership.objects.get(user__username="mallory").role == Role.VIEWER


def test_an_invitation_makes_a_member_once(moment: datetime) -> None:
    invitation, secret = invite(caller(Role.OWNER), role=Role.REVIEWER, note="Ben", days=7, now=moment)
    assert secret not in str(Invitation.objects.values())
    assert open_invitation(secret, moment) == invitation
    made = accept_invitation(secret, User(username="ben"), moment)
    assert (made.account, made.role) == (local_account(), Role.REVIEWER)
    with pytest.raises(InvitationError):
        accept_invitation(secret, User(username="eve"), moment)
    assert not User.objects.filter(username="eve").exists()
    assert [entry.action for entry in AuditEntry.objects.order_by("id")] == ["member.invited", "member.joined"]


def test_of_many_who_follow_one_invitation_one_becomes_a_member(moment: datetime) -> None:
    _, secret = invite(caller(Role.OWNER), role=Role.VIEWER, note="", days=7, now=moment)
    refused = in_threads(4, lambda number: accept_invitation(secret, User(username=f"user-{number}"), moment))
    assert [type(error) for error in refused] == [InvitationError] * 3
    assert Membership.objects.filter(role=Role.VIEWER).count() == 1
    assert User.objects.filter(username__startswith="user-").count() == 1


def test_one_who_follows_two_invitations_at_once_is_a_member_once_and_leaves_one_unused(moment: datetime) -> None:
    owner, eve = caller(Role.OWNER), User.objects.create_user("eve")
    links = [invite(owner, role=Role.VIEWER, note="", days=7, now=moment)[1] for _ in range(3)]
    refused = in_threads(3, lambda number: accept_invitation(links[number], eve, moment))
    assert [type(error) for error in refused] == [AlreadyMemberError] * 2
    assert Membership.objects.filter(user=eve).count() == 1
    assert Invitation.objects.filter(used_at=None).count() == 2


def test_of_strangers_who_choose_one_name_at_once_one_gets_it_and_no_other_invitation_is_used(moment: datetime) -> None:
    owner = caller(Role.OWNER)
    links = [invite(owner, role=Role.VIEWER, note="", days=7, now=moment)[1] for _ in range(3)]
    refused = in_threads(3, lambda number: accept_invitation(links[number], User(username="eve"), moment))
    assert [type(error) for error in refused] == [UserNameTakenError] * 2
    assert User.objects.filter(username="eve").count() == 1
    assert Membership.objects.filter(user__username="eve").count() == 1
    assert Invitation.objects.filter(used_at=None).count() == 2


def test_an_invitation_ends_by_its_time_and_by_its_owner(moment: datetime) -> None:
    owner = caller(Role.OWNER)
    old, secret = invite(owner, role=Role.VIEWER, note="", days=1, now=moment)
    for late in (moment + timedelta(days=1), moment + timedelta(days=9)):
        with pytest.raises(InvitationError):
            accept_invitation(secret, User(username="late"), late)
    revoke_invitation(owner, old.pk, now=moment)
    revoke_invitation(owner, old.pk, now=moment + timedelta(hours=1))
    with pytest.raises(InvitationError):
        accept_invitation(secret, User(username="late"), moment)
    assert Invitation.objects.get().revoked_at == moment
    with pytest.raises(RecordNotFound):
        revoke_invitation(caller(Role.OWNER, other_account()), old.pk, now=moment)


def test_a_member_who_follows_an_invitation_keeps_it_for_somebody_else(moment: datetime) -> None:
    _, secret = invite(caller(Role.OWNER), role=Role.OWNER, note="", days=7, now=moment)
    ben = member("ben", Role.VIEWER)
    with pytest.raises(AlreadyMemberError):
        accept_invitation(secret, ben, moment)
    assert caller_of_user(ben, Door.BROWSER).role is Role.VIEWER
    assert open_invitation(secret, moment)


@pytest.mark.parametrize(("note", "days"), [("x" * 101, 7), ("", 0), ("", 31), ("", True)])
def test_an_invitation_that_may_not_be_is_refused(note: str, days: int, moment: datetime) -> None:
    with pytest.raises(InvalidInvitationError):
        invite(caller(Role.OWNER), role=Role.VIEWER, note=note, days=days, now=moment)
    assert not Invitation.objects.exists()


def test_whoever_creates_an_account_owns_it(moment: datetime) -> None:
    ada = member("ada")
    made = create_account(ada, name=" Night shift ", door=Door.BROWSER, now=moment)
    assert made.name == "Night shift"
    assert caller_of_user(ada, Door.BROWSER, made.pk).role is Role.OWNER
    for name in ("", "  ", "x" * 101):
        with pytest.raises(InvalidAccountError):
            create_account(ada, name=name, door=Door.BROWSER, now=moment)
    assert Account.objects.count() == 2


def test_a_name_that_the_account_has_already_is_no_change_to_write_down(moment: datetime) -> None:
    ada = caller(Role.OWNER, name="ada")
    for name in ("Ours", " Ours ", "Theirs"):
        rename_account(ada, name=name, now=moment)
    assert AuditEntry.objects.filter(action="account.renamed").count() == 2
