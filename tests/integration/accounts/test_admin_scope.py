"""The admin shows operators the rows of the accounts that they operate, and others' rows as missing ones."""

from datetime import datetime

import pytest
from django.contrib import admin
from django.contrib.auth.models import Group, User
from django.db import connection
from django.db.models import Model
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from kapsoweb.accounts import actions
from kapsoweb.accounts.actions.invitations import invite
from kapsoweb.accounts.actions.members import remove_member
from kapsoweb.accounts.actions.tokens import create_token
from kapsoweb.accounts.models import (
    Account,
    ApiToken,
    AuditEntry,
    Holding,
    Invitation,
    Membership,
    SignInLink,
)
from kapsoweb.accounts.roles import Role
from kapsoweb.jobs import actions as job_actions
from kapsoweb.jobs.models import Job, WorkerHeartbeat
from kapsoweb.readonly import ReadOnlyAdmin
from tests.support.people import caller, lab_owner, member, other_account

pytestmark = [pytest.mark.services, pytest.mark.django_db]

OF_ACCOUNTS: tuple[type[Model], ...] = (Account, Holding, Membership, Invitation, ApiToken, AuditEntry, Job)
OF_THE_LAB: tuple[type[Model], ...] = (SignInLink, WorkerHeartbeat, User, Group)
PASSWORD = "a long enough phrase"


@pytest.fixture
def theirs(moment: datetime) -> Account:
    """An account with one of everything."""
    account = other_account()
    owner = caller(Role.OWNER, account, "eve")
    actions.hold_record(
        account=account, room="cyclotron", name="theirs", store="default", record_id="cy_theirs", now=moment
    )
    invite(owner, role=Role.VIEWER, note="for Mallory", days=9, now=moment)
    create_token(owner, name="nightly", role=Role.VIEWER, days=9, now=moment)
    job_actions.enqueue(kind="cyclotron.import", payload={}, account_id=account.pk, now=moment)
    return account


def signed_in(name: str, role: Role, account: Account | None = None) -> Client:
    client = Client()
    client.force_login(member(name, role, account))
    return client


def url(model: type[Model], page: str, *arguments: object) -> str:
    return reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_{page}", args=arguments)


def row_of(model: type[Model], account: Account) -> Model:
    key = "pk" if model is Account else "account_id"
    return model._default_manager.filter(**{key: account.pk}).order_by("pk")[0]


def count(client: Client, model: type[Model]) -> int:
    return int(client.get(url(model, "changelist")).context["cl"].result_count)


@pytest.mark.parametrize("model", OF_ACCOUNTS)
def test_another_accounts_row_answers_as_one_that_does_not_exist(theirs: Account, model: type[Model]) -> None:
    there = row_of(model, theirs)
    missing = "x" * len(str(there.pk)) if isinstance(there.pk, str) else 10**9
    assert signed_in("owner-of-theirs", Role.OWNER, theirs).get(url(model, "change", there.pk)).status_code == 200
    stranger = signed_in("stranger", Role.OWNER)
    for page in ("change", "history", "delete"):
        theirs_is, none_is = (said(stranger, url(model, page, key), key) for key in (there.pk, missing))
        assert theirs_is == none_is
        assert theirs_is[0] != 200
    for parameters in ({}, {"q": str(there.pk)}, {"q": "theirs"}):
        shown = stranger.get(url(model, "changelist"), parameters).context["cl"].queryset
        assert there.pk not in {row.pk for row in shown}


def said(client: Client, where: str, key: object) -> tuple[int, str | None, bytes, str]:
    """An answer: its status, where it leads, its body, and the message it leaves there, without the id it repeats."""
    answer = client.get(where)
    messages = [str(each) for each in answer.wsgi_request._messages]
    latest = messages[-1].replace(str(key), "…") if answer.status_code == 302 else ""
    return answer.status_code, answer.headers.get("Location"), answer.content, latest


@pytest.mark.parametrize("model", OF_ACCOUNTS)
def test_an_operator_of_one_account_and_viewer_of_another_sees_the_rows_of_the_first(
    theirs: Account, model: type[Model]
) -> None:
    both = signed_in("both", Role.OWNER, theirs)
    here = other_account("here")
    member("both", Role.VIEWER, here)
    member("somebody-else", Role.OWNER, here)
    rows = both.get(url(model, "changelist")).context["cl"].queryset
    assert {getattr(row, "account_id", row.pk) for row in rows} == {theirs.pk}


@pytest.mark.parametrize("model", OF_THE_LAB)
def test_what_belongs_to_no_account_is_for_superusers(theirs: Account, model: type[Model], moment: datetime) -> None:
    actions.create_sign_in_link(moment)
    WorkerHeartbeat.objects.create(id="wkr_1", pid=1, host="here", started_at=moment, seen_at=moment)
    Group.objects.create(name="group")
    row = model._default_manager.all()[0]
    owner = signed_in("owner-of-theirs", Role.OWNER, theirs)
    for where in (url(model, "changelist"), url(model, "change", row.pk), url(model, "delete", row.pk)):
        assert owner.get(where).status_code == 403
    runs = Client()
    runs.force_login(lab_owner())
    assert runs.get(url(model, "changelist")).status_code == 200
    assert runs.get(url(model, "change", row.pk)).status_code == 200


def test_the_index_names_the_tables_that_a_visitor_may_see_and_no_other(theirs: Account) -> None:
    body = signed_in("owner-of-theirs", Role.OPERATOR, theirs).get(reverse("admin:index")).content.decode()
    for model, shown in admin.site._registry.items():
        listed = f'href="{url(model, "changelist")}"' in body
        assert listed is (isinstance(shown, ReadOnlyAdmin) and shown.is_for_operators()), model


@pytest.mark.parametrize("role", [Role.OPERATOR, Role.OWNER])
def test_an_operator_gets_in_by_the_admins_own_form_too(role: Role) -> None:
    user = member("oli", role)
    user.set_password(PASSWORD)
    user.save()
    client = Client()
    index = reverse("admin:index")
    asked = client.get(index)
    assert asked.headers["Location"] == f"{reverse('admin:login')}?next={index}"
    assert (
        client.post(reverse("admin:login"), {"username": "oli", "password": "wrong", "next": index}).status_code == 200
    )
    answer = client.post(reverse("admin:login"), {"username": "oli", "password": PASSWORD, "next": index}, follow=True)
    assert answer.wsgi_request.path == index
    assert answer.status_code == 200


def test_a_viewer_with_the_right_password_is_told_that_the_admin_is_not_for_them() -> None:
    user = member("vic", Role.VIEWER)
    user.set_password(PASSWORD)
    user.save()
    given = {"username": "vic", "password": PASSWORD, "next": reverse("admin:index")}
    answer = Client().post(reverse("admin:login"), given, follow=True)
    assert "not authorized to access this page" in answer.content.decode()


def test_an_operator_who_is_removed_or_made_inactive_is_out_at_once(theirs: Account, moment: datetime) -> None:
    oli, ole = (signed_in(name, Role.OPERATOR, theirs) for name in ("oli", "ole"))
    assert [count(client, Job) for client in (oli, ole)] == [1, 1]
    place = Membership.objects.get(user__username="oli").pk
    remove_member(caller(Role.OWNER, theirs), place, now=moment)
    User.objects.filter(username="ole").update(is_active=False)
    for client in (oli, ole):
        assert client.get(url(Job, "changelist")).status_code == 302


@pytest.mark.parametrize("model", [Invitation, ApiToken])
def test_digests_of_secrets_are_shown_to_nobody(theirs: Account, model: type[Model]) -> None:
    row = row_of(model, theirs)
    digest = row.token_digest if isinstance(row, Invitation) else row.digest  # type: ignore[attr-defined]
    runs = Client()
    runs.force_login(lab_owner())
    for client in (runs, signed_in("owner-of-theirs", Role.OWNER, theirs)):
        for where in (url(model, "changelist"), url(model, "change", row.pk)):
            answer = client.get(where)
            assert answer.status_code == 200
            assert digest not in answer.content.decode()
        assert client.get(url(model, "changelist"), {"q": digest}).context["cl"].result_count == 0


@pytest.mark.parametrize("model", OF_ACCOUNTS)
def test_text_that_no_database_takes_is_no_id_and_no_filter(theirs: Account, model: type[Model]) -> None:
    owner = signed_in("owner-of-theirs", Role.OWNER, theirs)
    assert owner.get(url(model, "change", "a\x00b")).status_code == 302
    for parameters in ({"room": "\x00"}, {"q": "\x00"}, {"role__exact": "\x00"}, {"account__id__exact": "\x00"}):
        assert owner.get(url(model, "changelist"), parameters, follow=True).status_code == 200


def test_who_is_there_is_asked_once_a_page(theirs: Account) -> None:
    owner = signed_in("owner-of-theirs", Role.OWNER, theirs)
    with CaptureQueriesContext(connection) as ran:
        owner.get(reverse("admin:index"))
    assert sum("kapso_accounts_membership" in each["sql"] for each in ran) <= 3
