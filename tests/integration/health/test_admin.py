"""The admin shows jobs and accounts and changes neither."""

import logging
from collections.abc import Callable
from datetime import datetime

import pytest
from django.test import Client

from kapsoweb.accounts import access, actions
from kapsoweb.accounts.actions.invitations import invite
from kapsoweb.accounts.actions.tokens import create_token
from kapsoweb.accounts.models import SignInLink
from kapsoweb.accounts.roles import Role
from kapsoweb.jobs import actions as job_actions
from kapsoweb.jobs import queries
from kapsoweb.jobs.models import JobState, WorkerHeartbeat
from tests.support.people import caller, lab_owner, member

pytestmark = [pytest.mark.services, pytest.mark.django_db]


@pytest.fixture
def owner(client: Client) -> Client:
    client.force_login(lab_owner())
    return client


@pytest.fixture
def rows(register_job: Callable[..., str], moment: datetime) -> dict[str, str]:
    """One row of each table: admin's name of the table -> primary key."""
    account = access.local_account()
    held = actions.hold_record(
        account=account, room="cyclotron", name="screening", store="default", record_id="cyc_1", now=moment
    )
    actions.create_sign_in_link(moment)
    kind = register_job(lambda claim: None)
    job = job_actions.enqueue(kind=kind, payload={}, account_id=account.pk, now=moment)
    WorkerHeartbeat.objects.create(id="wkr_1", pid=1, host="here", started_at=moment, seen_at=moment)
    return {
        "kapso_accounts/account": account.pk,
        "kapso_accounts/holding": str(held.pk),
        "kapso_accounts/signinlink": str(SignInLink.objects.get().pk),
        "kapso_jobs/job": job.pk,
        "kapso_jobs/workerheartbeat": "wkr_1",
    }


def test_every_table_can_be_listed_searched_and_read(owner: Client, rows: dict[str, str]) -> None:
    for table, key in rows.items():
        assert owner.get(f"/admin/{table}/").status_code == 200
        assert owner.get(f"/admin/{table}/", {"q": "x"}).status_code == 200
        assert owner.get(f"/admin/{table}/{key}/change/").status_code == 200


@pytest.mark.parametrize(
    ("table", "query"),
    [
        ("auth/user", "password__startswith=a"),
        ("kapso_accounts/membership", "user__groups__name=x"),
        ("kapso_cyclotron/review", "item__cyclotron__seed=x"),
        ("kapso_cyclotron/review", "no_such_column=x"),
        ("kapso_jobs/job", "_to_field=kind"),
    ],
)
def test_a_query_that_is_not_allowed_leads_to_the_page_without_it_and_is_no_fault_of_the_lab(
    owner: Client, table: str, query: str, caplog: pytest.LogCaptureFixture
) -> None:
    answer = owner.get(f"/admin/{table}/?{query}")
    assert (answer.status_code, answer.headers["Location"]) == (302, f"/admin/{table}/?e=1")
    assert owner.get(answer.headers["Location"]).status_code == 200
    assert [record for record in caplog.records if record.levelno >= logging.ERROR] == []


def test_a_row_that_is_asked_for_by_a_column_that_is_no_key_is_shown_by_its_own(
    owner: Client, rows: dict[str, str], caplog: pytest.LogCaptureFixture
) -> None:
    page = f"/admin/kapso_jobs/job/{rows['kapso_jobs/job']}/change/"
    assert owner.get(f"{page}?_to_field=kind", follow=True).redirect_chain == [(f"{page}?e=1", 302)]
    assert [record for record in caplog.records if record.levelno >= logging.ERROR] == []


def test_nothing_can_be_added_changed_or_deleted(owner: Client, rows: dict[str, str]) -> None:
    for table, key in rows.items():
        assert owner.get(f"/admin/{table}/add/").status_code == 403
        assert owner.post(f"/admin/{table}/{key}/change/", {"state": "done"}).status_code == 403
        assert owner.post(f"/admin/{table}/{key}/delete/", {"post": "yes"}).status_code == 403


def test_a_sign_in_links_digest_is_not_shown(owner: Client, rows: dict[str, str]) -> None:
    page = owner.get(f"/admin/kapso_accounts/signinlink/{rows['kapso_accounts/signinlink']}/change/")
    assert SignInLink.objects.get().token_digest not in page.content.decode()


def test_a_waiting_job_can_be_cancelled_by_the_named_action(owner: Client, rows: dict[str, str]) -> None:
    job_id = rows["kapso_jobs/job"]
    answer = owner.post("/admin/kapso_jobs/job/", {"action": "cancel", "_selected_action": [job_id]})
    assert answer.status_code == 302
    job = queries.job(job_id)
    assert job.state == JobState.CANCELLED
    assert job.finished_at is not None


@pytest.mark.parametrize("table", ["auditentry", "apitoken", "invitation"])
def test_what_is_for_owners_is_for_owners_in_the_admin_too(table: str, moment: datetime) -> None:
    create_token(caller(Role.OWNER, name="ada"), name="hers", role=Role.VIEWER, days=9, now=moment)
    invite(caller(Role.OWNER, name="eve"), role=Role.VIEWER, note="", days=9, now=moment)
    for role, expected in ((Role.OPERATOR, False), (Role.OWNER, True)):
        client = Client()
        client.force_login(member(f"one-{role}", role))
        answer = client.get(f"/admin/kapso_accounts/{table}/")
        assert (answer.context["cl"].result_count > 0) is expected, role
