"""The account's jobs by REST."""

from collections.abc import Callable
from typing import Any

import pytest

from kapsoweb.accounts.access import local_account
from kapsoweb.accounts.models import Account, AuditEntry
from kapsoweb.accounts.roles import Role
from kapsoweb.foundation import clock
from kapsoweb.foundation.errors import KapsoError
from kapsoweb.jobs import registry
from kapsoweb.jobs.actions import enqueue
from kapsoweb.jobs.models import Job, JobState
from kapsoweb.jobs.running import run
from tests.support.api import Program, refusal
from tests.support.people import other_account

pytestmark = [pytest.mark.services, pytest.mark.django_db]


class RefusedError(KapsoError):
    id = "refused-for-the-test"


def refuses(claim: Any) -> None:
    raise RefusedError("the work was refused.")


@pytest.fixture
def kind(register_job: Callable[..., str], monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(registry, "_repeatable", {"test.work"})
    return register_job(refuses)


def queued(kind: str, account: Account | None = None, record: str = "") -> Job:
    account = account or local_account()
    job = enqueue(kind=kind, payload={}, account_id=account.pk, now=clock.now())
    Job.objects.filter(pk=job.pk).update(record_id=record)
    return job


def test_jobs_are_listed_newest_first_by_state_and_record(kind: str) -> None:
    program = Program(role=Role.VIEWER)
    jobs = [queued(kind, record=record) for record in ("cy_1", "cy_2", "cy_1")]
    queued(kind, other_account())
    run(jobs[0].pk, "worker-of-the-test")

    def ids(**query: Any) -> list[str]:
        return [row["id"] for row in program.get("jobs", **query).json()["items"]]

    newest_first = [job.pk for job in reversed(jobs)]
    assert ids() == newest_first
    assert ids(recordId="cy_1") == [jobs[2].pk, jobs[0].pk]
    assert ids(state="failed") == [jobs[0].pk]
    assert ids(recordId="cy_3") == []
    first = program.get("jobs", limit=2).json()
    assert [row["id"] for row in first["items"]] == newest_first[:2]
    assert ids(limit=2, cursor=first["next"]) == newest_first[2:]


def test_a_job_says_what_became_of_it(kind: str) -> None:
    job = queued(kind)
    run(job.pk, "worker-of-the-test")
    body = Program(role=Role.VIEWER).get(f"jobs/{job.pk}").json()
    assert (body["state"], body["errorId"], body["errorMessage"]) == (
        "failed",
        "refused-for-the-test",
        "the work was refused.",
    )
    assert body["finishedAt"].endswith("Z")


def test_a_waiting_job_is_cancelled_once_and_noted_once(kind: str) -> None:
    job = queued(kind)
    program = Program(role=Role.OPERATOR)
    for _ in range(2):
        assert program.post(f"jobs/{job.pk}/cancel").json()["state"] == "cancelled"
    assert AuditEntry.objects.filter(action="job.cancelled", record_id=job.pk).count() == 1


def test_a_failed_job_is_started_again(kind: str) -> None:
    job = queued(kind)
    run(job.pk, "worker-of-the-test")
    program = Program(role=Role.OPERATOR)
    answer = program.post(f"jobs/{job.pk}/retry")
    assert (answer.json()["state"], answer.json()["attempts"], answer.json()["errorId"]) == ("queued", 0, "")
    assert refusal(program.post(f"jobs/{job.pk}/retry")) == (409, "job-not-repeatable")
    assert AuditEntry.objects.filter(action="job.retried", record_id=job.pk).count() == 1


@pytest.mark.parametrize("verb", ["cancel", "retry"])
def test_a_reviewer_neither_stops_nor_starts_a_job(kind: str, verb: str) -> None:
    job = queued(kind)
    assert refusal(Program(role=Role.REVIEWER).post(f"jobs/{job.pk}/{verb}")) == (403, "not-allowed")
    job.refresh_from_db()
    assert job.state == JobState.QUEUED
    assert not AuditEntry.objects.filter(record_id=job.pk).exists()


def test_a_token_for_one_record_sees_that_records_jobs(kind: str) -> None:
    its, another = queued(kind, record="cy_1"), queued(kind, record="cy_2")
    program = Program(only="cy_1")
    assert [row["id"] for row in program.get("jobs").json()["items"]] == [its.pk]
    assert program.get("jobs", recordId="cy_2").json() == {"items": [], "next": None}
    assert program.get(f"jobs/{its.pk}").status_code == 200
    assert refusal(program.get(f"jobs/{another.pk}")) == (404, "record-not-found")
    assert refusal(program.post(f"jobs/{another.pk}/cancel")) == (404, "record-not-found")
    another.refresh_from_db()
    assert another.state == JobState.QUEUED


@pytest.mark.parametrize("job_id", ["nothing", "%00", "%FF", "a" * 500])
def test_a_job_that_is_not_there_is_missing(job_id: str) -> None:
    for answer in (Program().get(f"jobs/{job_id}"), Program().post(f"jobs/{job_id}/retry")):
        assert refusal(answer) == (404, "record-not-found")
