"""The pages of an account's jobs: what they show to whom, and stopping and starting again."""

import re
from datetime import timedelta
from html import unescape
from typing import Any

import pytest
from django.http import HttpResponseBase
from django.test import Client
from django.urls import reverse

from kapsoweb.accounts.access import local_account
from kapsoweb.accounts.models import AuditEntry
from kapsoweb.accounts.roles import Role
from kapsoweb.doors.limits import PAGE_DEFAULT
from kapsoweb.foundation import clock
from kapsoweb.foundation.identifiers import new_id
from kapsoweb.jobs import registry
from kapsoweb.jobs.models import Job, JobState
from tests.support.held_cyclotrons import held_cyclotron
from tests.support.people import member, other_account

pytestmark = [pytest.mark.services, pytest.mark.django_db]

EVALUATION = "cyclotron.evaluate"


def made(state: JobState = JobState.QUEUED, kind: str = EVALUATION, account: str = "", **given: Any) -> Job:
    """A job in a state, as the queue would hold it."""
    now = clock.now()
    fields: dict[str, Any] = {"created_at": now, "payload": {}, "account_id": account or local_account().pk}
    if state == JobState.RUNNING:
        fields |= {"worker_id": "w", "lease_until": now + timedelta(hours=1), "started_at": now, "attempts": 1}
    if state in {JobState.DONE, JobState.FAILED, JobState.CANCELLED}:
        fields |= {"finished_at": now}
    if state == JobState.FAILED:
        fields |= {"error_id": "model-error", "error_message": "the model did not answer."}
    return Job.objects.create(id=new_id("job"), kind=kind, state=state, **(fields | given))


@pytest.fixture
def repeatable(monkeypatch: pytest.MonkeyPatch) -> str:
    """A kind of job that may be started again."""
    monkeypatch.setattr(registry, "_handlers", dict(registry._handlers))
    monkeypatch.setattr(registry, "_repeatable", set(registry._repeatable))
    registry.job("test.again", repeatable=True)(lambda claim: None)
    return "test.again"


def visitor(role: Role = Role.OPERATOR) -> Client:
    client = Client()
    client.force_login(member(f"a-{role}", role))
    return client


def body_of(answer: HttpResponseBase) -> str:
    return unescape(answer.getvalue().decode())


def page(job: Job) -> str:
    return reverse("pages:job", args=[job.pk])


def listed(body: str) -> list[str]:
    """The ids of the jobs in the list, from top to bottom."""
    return re.findall(r'href="/jobs/(job_\w+)/"', body)


def test_the_list_has_the_accounts_jobs_newest_first_and_no_others() -> None:
    jobs = [made(), made(JobState.RUNNING), made(JobState.DONE)]
    made(account=other_account().pk)
    assert listed(body_of(visitor(Role.VIEWER).get("/jobs/"))) == sorted((job.pk for job in jobs), reverse=True)


def test_a_job_is_named_in_words_and_leads_to_its_record() -> None:
    store = held_cyclotron(training=0, audit=2)
    made(record_id=store.cyclotron_id)
    body = body_of(visitor(Role.VIEWER).get("/jobs/"))
    assert ">Evaluation</a>" in body
    assert f'<a href="{reverse("cyclotron:detail", args=[store.cyclotron_id])}"><bdi>screening</bdi></a>' in body


def test_a_record_of_another_account_is_never_named() -> None:
    store = held_cyclotron(training=0, audit=2)
    other = other_account()
    job = made(account=other.pk, record_id=store.cyclotron_id)
    stranger = Client()
    stranger.force_login(member("nobody", Role.OWNER, other))
    for where in ("/jobs/", page(job)):
        body = body_of(stranger.get(where))
        assert "screening" not in body
        assert store.cyclotron_id not in body


def test_the_state_in_the_address_filters_and_one_that_is_none_does_not() -> None:
    failed, running = made(JobState.FAILED), made(JobState.RUNNING)
    viewer = visitor(Role.VIEWER)
    assert listed(body_of(viewer.get("/jobs/", {"state": "failed"}))) == [failed.pk]
    assert listed(body_of(viewer.get("/jobs/", {"state": "running"}))) == [running.pk]
    assert "No job is in this state." in body_of(viewer.get("/jobs/", {"state": "cancelled"}))
    assert len(listed(body_of(viewer.get("/jobs/", {"state": "lost\x00"})))) == 2


def test_pages_by_key_show_every_job_once() -> None:
    jobs = [made(JobState.DONE) for _ in range(PAGE_DEFAULT + 5)]
    viewer = visitor(Role.VIEWER)
    first = body_of(viewer.get("/jobs/", {"state": "done"}))
    following = re.search(r'<a href="(/jobs/\?[^"]+)" rel="next">', first)
    assert following is not None
    assert "state=done" in following[1]
    second = body_of(viewer.get(following[1]))
    assert listed(first) + listed(second) == sorted((job.pk for job in jobs), reverse=True)
    assert 'rel="next"' not in second
    assert viewer.get("/jobs/", {"after": "a\x00b"}).status_code == 200


def test_the_top_bar_counts_what_is_under_way() -> None:
    made(), made(JobState.RUNNING), made(JobState.DONE), made(account=other_account().pk)
    body = body_of(visitor(Role.VIEWER).get("/cyclotrons/"))
    assert re.search(r'<span class="count">2<span class="visually-hidden"> under way', body)


def test_the_list_asks_again_only_while_something_is_under_way() -> None:
    viewer = visitor(Role.VIEWER)
    job = made()
    body = body_of(viewer.get("/jobs/", {"state": "queued"}))
    assert 'hx-get="/jobs/?state=queued&known=1"' in body
    assert '<meta http-equiv="refresh"' in body
    assert "No worker is alive" in body
    part = viewer.get("/jobs/", {"known": "1"}, headers={"HX-Request": "true"}).content.decode()
    assert "<html" not in part
    assert 'id="jobs-announcement"' not in part
    assert '<span class="count">1<' in part
    Job.objects.filter(pk=job.pk).update(state=JobState.DONE, finished_at=clock.now())
    ended = viewer.get("/jobs/", {"known": "1"}, headers={"HX-Request": "true"}).content.decode()
    assert "hx-get" not in ended
    assert "Every job has ended." in ended


def test_a_failed_job_shows_its_error_and_no_internals() -> None:
    body = body_of(visitor(Role.VIEWER).get(page(made(JobState.FAILED, payload={"store": "in-the-cellar"}))))
    assert "The model did not answer." in body
    assert "model-error" in body
    assert "in-the-cellar" not in body


def test_a_finished_evaluation_leads_to_its_report() -> None:
    store = held_cyclotron(training=0, audit=2)
    result = {"evaluation": "ev_1", "state": "done", "reason": "", "report": "rep_1"}
    body = body_of(visitor(Role.VIEWER).get(page(made(JobState.DONE, record_id=store.cyclotron_id, result=result))))
    assert reverse("cyclotron:report", args=[store.cyclotron_id, "rep_1"]) in body


@pytest.mark.parametrize(
    ("reason", "said"),
    [("cancelled", "It was cancelled."), ("permits-lost", "Some calls to the model brought no answer")],
)
def test_an_evaluation_without_a_report_says_why_and_leads_to_its_panel(reason: str, said: str) -> None:
    store = held_cyclotron(training=0, audit=2)
    result = {"evaluation": "ev_1", "state": "interrupted", "reason": reason, "report": None}
    state = JobState.CANCELLED if reason == "cancelled" else JobState.DONE
    body = body_of(visitor().get(page(made(state, record_id=store.cyclotron_id, result=result))))
    assert said in body
    assert "An evaluation is not started again" in body
    panel = reverse("cyclotron:detail", args=[store.cyclotron_id])
    assert f'<a href="{panel}">Confirm what is left in its panel</a>' in body


def test_a_waiting_job_is_cancelled_by_its_button() -> None:
    job = made()
    answer = visitor().post(reverse("pages:job-cancel", args=[job.pk]))
    assert answer.headers["Location"] == page(job)
    job.refresh_from_db()
    assert job.state == JobState.CANCELLED
    assert [(entry.action, entry.record_id) for entry in AuditEntry.objects.all()] == [("job.cancelled", job.pk)]


def test_a_running_job_is_told_to_stop_and_says_so() -> None:
    job = made(JobState.RUNNING)
    operator = visitor()
    operator.post(reverse("pages:job-cancel", args=[job.pk]))
    body = body_of(operator.get(page(job)))
    assert "stopping" in body
    assert "It has been told to stop" in body
    operator.post(reverse("pages:job-cancel", args=[job.pk]))
    assert AuditEntry.objects.count() == 1


def test_a_job_that_stopped_starts_again_by_its_button_once(repeatable: str) -> None:
    job = made(JobState.CANCELLED, repeatable)
    operator = visitor()
    again = reverse("pages:job-retry", args=[job.pk])
    assert operator.post(again).headers["Location"] == page(job)
    second = operator.post(again)
    assert second.status_code == 409
    assert "job-not-repeatable" in body_of(second)
    job.refresh_from_db()
    assert job.state == JobState.QUEUED
    assert AuditEntry.objects.count() == 1


@pytest.mark.parametrize(
    ("state", "said"),
    [
        (JobState.DONE, "It is done."),
        (JobState.FAILED, ""),
        (JobState.CANCELLED, ""),
    ],
)
def test_starting_again_is_offered_or_off_with_its_reason(repeatable: str, state: JobState, said: str) -> None:
    body = body_of(visitor().get(page(made(state, repeatable))))
    assert "Start again" in body
    assert ">Cancel<" not in body
    assert ('disabled aria-describedby="retry-reason"' in body) == bool(said)
    assert said in body


@pytest.mark.parametrize("role", [Role.VIEWER, Role.REVIEWER])
def test_a_lesser_role_sees_why_the_buttons_are_off_and_is_refused(repeatable: str, role: Role) -> None:
    waiting, failed = made(), made(JobState.FAILED, repeatable)
    client = visitor(role)
    assert f"Your role here is {role.value}; cancelling needs operator." in body_of(client.get(page(waiting)))
    assert f"Your role here is {role.value}; starting a job again needs operator." in body_of(client.get(page(failed)))
    assert client.post(reverse("pages:job-cancel", args=[waiting.pk])).status_code == 403
    assert client.post(reverse("pages:job-retry", args=[failed.pk])).status_code == 403
    waiting.refresh_from_db(), failed.refresh_from_db()
    assert (waiting.state, failed.state) == (JobState.QUEUED, JobState.FAILED)
    assert not AuditEntry.objects.exists()


def test_a_job_of_another_account_is_missing_to_the_letter() -> None:
    theirs = made(account=other_account().pk)
    operator = visitor()
    for view in ("job", "job-cancel", "job-retry"):
        answers = [operator.get(reverse(f"pages:{view}", args=[job_id])) for job_id in (theirs.pk, "job_nobody")]
        assert [answer.status_code for answer in answers] == [404, 404]
        assert answers[0].content == answers[1].content
    assert operator.post(reverse("pages:job-cancel", args=[theirs.pk])).status_code == 404
    theirs.refresh_from_db()
    assert theirs.state == JobState.QUEUED


def test_a_job_that_no_room_describes_is_shown_by_its_kind(repeatable: str) -> None:
    body = body_of(visitor().get(page(made(JobState.DONE, repeatable, result={"secret": 1}))))
    assert f"<h1>{repeatable}</h1>" in body
    assert "secret" not in body


def test_asking_a_command_address_leads_to_the_job() -> None:
    job = made()
    assert visitor().get(reverse("pages:job-cancel", args=[job.pk])).headers["Location"] == page(job)
    job.refresh_from_db()
    assert job.state == JobState.QUEUED
