"""An account's pages: who sees what, secrets shown once, and refusals in words."""

import re
from html import unescape

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from kapsoweb.accounts.access import local_account
from kapsoweb.accounts.actions import create_sign_in_link
from kapsoweb.accounts.models import Account, ApiToken, AuditEntry, Invitation, Membership, SignInLink
from kapsoweb.accounts.roles import Role
from kapsoweb.foundation import clock
from tests.support.people import member, other_account

pytestmark = [pytest.mark.services, pytest.mark.django_db(transaction=True)]

SECRET = re.compile(r'<code id="secret">([^<]+)</code>')
NEW = {"username": "ben", "password1": "a long enough phrase", "password2": "a long enough phrase"}


def signed_in(name: str, role: Role = Role.OWNER, account: Account | None = None) -> Client:
    client = Client()
    client.force_login(member(name, role, account))
    return client


def page(name: str, *arguments: object) -> str:
    return reverse(f"pages:{name}", args=arguments)


def secret_in(body: bytes) -> str:
    found = SECRET.search(body.decode())
    assert found is not None
    return unescape(found.group(1))


def test_a_token_is_shown_once_and_works() -> None:
    ada = signed_in("ada")
    made = ada.post(page("tokens"), {"name": "nightly", "role": "viewer", "days": "9", "record": ""})
    secret = secret_in(made.content)
    assert secret not in ada.get(page("tokens")).content.decode()
    answer = Client().get("/api/v1/me", headers={"Authorization": f"Bearer {secret}"})
    assert answer.json()["actor"] == "ada (token nightly)"
    token = ApiToken.objects.get()
    ada.post(page("token-revoke", token.pk))
    assert Client().get("/api/v1/me", headers={"Authorization": f"Bearer {secret}"}).status_code == 401


@pytest.mark.parametrize(
    "given",
    [
        {"name": ""},
        {"days": "0"},
        {"days": "x"},
        {"role": "king"},
        {"record": "cyclotron:cy_other"},
        {"name": "a\x00"},
    ],
)
def test_a_token_form_that_is_not_right_says_so_and_makes_none(given: dict[str, str]) -> None:
    form = {"name": "nightly", "role": "viewer", "days": "9", "record": ""} | given
    answer = signed_in("ada").post(page("tokens"), form)
    assert answer.status_code == 400
    assert 'role="alert"' in answer.content.decode()
    assert not ApiToken.objects.exists()


def test_a_viewer_is_offered_no_role_above_their_own() -> None:
    viewer = signed_in("vic", Role.VIEWER)
    assert 'value="owner"' not in viewer.get(page("tokens")).content.decode()
    assert viewer.post(page("tokens"), {"name": "n", "role": "owner", "days": "9"}).status_code == 400
    assert not ApiToken.objects.exists()


def test_an_invitation_leads_a_stranger_to_a_user_and_into_the_account() -> None:
    ada = signed_in("ada")
    made = ada.post(page("members"), {"role": "reviewer", "note": "Ben", "days": "7"})
    link = secret_in(made.content)
    stranger = Client()
    assert "Join" in stranger.get(link).content.decode()
    assert stranger.post(link, NEW | {"password2": "different phrase"}).status_code == 400
    assert not User.objects.filter(username="ben").exists()
    assert stranger.post(link, NEW).status_code == 302
    assert Membership.objects.get(user__username="ben").role == Role.REVIEWER
    assert stranger.get(page("account")).context["caller"].actor == "ben"
    assert Client().get(link).status_code == 403


def test_somebody_with_a_user_joins_by_a_button_and_works_there_at_once() -> None:
    ada = signed_in("ada")
    link = secret_in(ada.post(page("members"), {"role": "viewer", "note": "", "days": "7"}).content)
    eve = signed_in("eve", Role.OWNER, other_account())
    assert "You are signed in as" in eve.get(link).content.decode()
    eve.post(link)
    assert eve.get(page("account")).context["caller"].account == local_account()
    eve.post(page("account-switch"), {"account": "acc_other"})
    assert eve.get(page("account")).context["caller"].account.slug == "other"


def test_a_user_name_that_is_taken_keeps_the_invitation() -> None:
    ada = signed_in("ada")
    link = secret_in(ada.post(page("members"), {"role": "viewer", "note": "", "days": "7"}).content)
    assert Client().post(link, NEW | {"username": "ada"}).status_code == 400
    assert Invitation.objects.get().used_at is None


def test_an_account_of_others_cannot_be_chosen() -> None:
    other = other_account()
    ada = signed_in("ada")
    answers = [ada.post(page("account-switch"), {"account": each}) for each in (other.pk, "acc_missing", "\x00", "")]
    assert [answer.status_code for answer in answers] == [404] * 4
    assert len({answer.content for answer in answers}) == 1
    assert ada.get(page("account")).context["caller"].account == local_account()


def test_removing_a_member_asks_for_the_name() -> None:
    ada = signed_in("ada")
    signed_in("ben", Role.VIEWER)
    where = page("member-remove", Membership.objects.get(user__username="ben").pk)
    assert ada.get(where).status_code == 200
    assert ada.post(where, {"name": "bem"}).status_code == 400
    assert Membership.objects.count() == 2
    assert ada.post(where, {"name": "ben"}).status_code == 302
    assert Membership.objects.count() == 1


def test_whoever_leaves_is_led_to_what_is_left() -> None:
    signed_in("ada")
    ben = signed_in("ben", Role.VIEWER)
    ben.post(page("member-remove", Membership.objects.get(user__username="ben").pk), {"name": "ben"})
    left = ben.get("/", follow=True)
    assert left.status_code == 200
    assert "You are a member of no account" in left.content.decode()
    ben.post(page("account-create"), {"name": "Mine"})
    assert ben.get(page("account")).context["caller"].account.name == "Mine"


def test_the_last_owner_reads_why_they_stay() -> None:
    ada = signed_in("ada")
    where = Membership.objects.get().pk
    answer = ada.post(page("member-remove", where), {"name": "ada"})
    assert answer.status_code == 409
    assert "An account keeps at least one owner" in answer.content.decode()
    assert ada.post(page("member-role", where), {"role": "viewer"}).status_code == 409
    assert Membership.objects.get().role == Role.OWNER


@pytest.mark.parametrize("role", [Role.VIEWER, Role.REVIEWER, Role.OPERATOR])
def test_members_who_are_no_owners_see_the_list_without_its_controls(role: Role) -> None:
    signed_in("ada")
    other = signed_in("ben", role)
    body = other.get(page("members")).content.decode()
    assert "Make an invitation" not in body
    assert "Owners of the account invite members" in body
    ada = Membership.objects.get(user__username="ada").pk
    assert other.post(page("members"), {"role": "owner", "note": "", "days": "7"}).status_code == 403
    assert other.post(page("member-role", ada), {"role": "viewer"}).status_code == 403
    assert other.get(page("member-remove", ada)).status_code == 403
    assert other.post(page("member-remove", ada), {"name": "ada"}).status_code == 403
    assert other.post(page("account-rename"), {"name": "mine"}).status_code == 403
    assert other.get(page("audit")).status_code == 403
    assert not Invitation.objects.exists()
    assert not AuditEntry.objects.exists()


def test_members_and_tokens_of_another_account_are_missing() -> None:
    signed_in("ada")
    eve = signed_in("eve", Role.OWNER, other_account())
    hers = Membership.objects.get(user__username="ada").pk
    for name, given in (("member-role", {"role": "viewer"}), ("member-remove", {"name": "ada"})):
        theirs, none = (eve.post(page(name, key), given) for key in (hers, 10**9))
        assert (theirs.status_code, theirs.content) == (none.status_code, none.content)
        assert theirs.status_code == 404
    assert eve.post(page("token-revoke", "tok_x")).status_code == 404
    assert eve.post(page("invitation-revoke", "inv_x")).status_code == 404
    assert Membership.objects.get(user__username="ada").role == Role.OWNER


def test_the_audit_log_is_read_by_who_and_by_door() -> None:
    ada = signed_in("ada")
    ada.post(page("account-rename"), {"name": "<b>Ours</b>"})
    ada.post(page("tokens"), {"name": "nightly", "role": "viewer", "days": "9", "record": ""})
    body = ada.get(page("audit")).content.decode()
    assert "account.renamed" in body
    assert "token.created" in body
    assert "<b>Ours" not in body
    assert "token.created" in ada.get(page("audit"), {"door": "browser", "actor": "ada"}).content.decode()
    assert "Nothing of this kind" in ada.get(page("audit"), {"door": "rest"}).content.decode()
    odd = ada.get(page("audit"), {"door": "x", "actor": "\x00", "after": "9" * 40})
    assert odd.status_code == 200


def test_a_password_is_changed_by_its_owner() -> None:
    ada = signed_in("ada")
    user = User.objects.get(username="ada")
    user.set_password("the old long phrase")
    user.save()
    ada.force_login(user)
    new = {
        "old_password": "the old long phrase",
        "new_password1": "a new long phrase",
        "new_password2": "a new long phrase",
    }
    assert ada.post(page("password"), new | {"old_password": "wrong"}).status_code == 200
    assert User.objects.get(username="ada").check_password("the old long phrase")
    assert ada.post(page("password"), new).status_code == 302
    assert User.objects.get(username="ada").check_password("a new long phrase")


def a_rival_takes_the_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody takes a new user's name after the form was found right and before the user is saved."""
    save = User.save

    def late(user: User, *arguments: object, **named: object) -> None:
        if user.pk is None:
            User.objects.bulk_create([User(username=user.username)], ignore_conflicts=True)
        save(user, *arguments, **named)  # type: ignore[arg-type]  # passed on as they are

    monkeypatch.setattr(User, "save", late)


def test_a_name_that_is_taken_in_between_is_said_beside_it(monkeypatch: pytest.MonkeyPatch) -> None:
    link = secret_in(signed_in("ada").post(page("members"), {"role": "viewer", "note": "", "days": "7"}).content)
    a_rival_takes_the_name(monkeypatch)
    answer = Client().post(link, NEW)
    assert answer.status_code == 409
    assert 'id="id_username_error"' in answer.content.decode()
    assert Invitation.objects.get().used_at is None
    assert not Membership.objects.filter(user__username="ben").exists()


def test_a_first_owners_name_that_is_taken_in_between_keeps_the_link(monkeypatch: pytest.MonkeyPatch) -> None:
    address = page("sign-in-by-link", create_sign_in_link(clock.now()))
    a_rival_takes_the_name(monkeypatch)
    answer = Client().post(address, NEW)
    assert answer.status_code == 409
    assert 'id="id_username_error"' in answer.content.decode()
    assert SignInLink.objects.get().used_at is None
    assert not Membership.objects.exists()


@pytest.mark.parametrize("name", ["account", "members", "tokens", "audit", "password"])
def test_each_id_of_a_page_is_there_once_and_each_label_has_its_field(name: str) -> None:
    body = signed_in("ada").get(page(name)).content.decode()
    ids = re.findall(r'\bid="([^"]+)"', body)
    assert sorted(ids) == sorted(set(ids))
    assert set(re.findall(r'<label for="([^"]+)"', body)) <= set(ids)
