"""A job that failed or was cancelled is started again where its kind is made for it; an account lists its jobs."""

from datetime import datetime

import pytest

from kapsoweb.jobs import actions, queries, registry
from kapsoweb.jobs.errors import JobNotRepeatableError, NoSuchJobError
from kapsoweb.jobs.models import Job, JobState
from kapsoweb.jobs.running import Claim, run
from tests.support.races import in_threads

pytestmark = [pytest.mark.services, pytest.mark.django_db(transaction=True)]

KIND, ONCE = "test.repeatable", "test.once"
attempts: list[str] = []


@registry.job(KIND, repeatable=True)
def _fails_at_first(claim: Claim) -> dict[str, int]:
    attempts.append(claim.job_id)
    if len(attempts) == 1:
        raise NoSuchJobError("the first attempt fails.")
    return {"attempts": len(attempts)}


@registry.job(ONCE)
def _once(claim: Claim) -> None:
    raise NoSuchJobError("it always fails.")


@pytest.fixture(autouse=True)
def _fresh() -> None:
    attempts.clear()


def queued(moment: datetime, kind: str = KIND, **given: str) -> Job:
    return actions.enqueue(**{"kind": kind, "payload": {}, "account_id": "acc_1", "now": moment, **given})


def test_a_failed_job_of_a_repeatable_kind_is_run_again(moment: datetime) -> None:
    job = queued(moment)
    run(job.pk, "worker")
    assert queries.job(job.pk).state == JobState.FAILED
    again = actions.retry_job(job.pk, moment)
    assert (again.state, again.attempts, again.error_id, again.finished_at) == ("queued", 0, "", None)
    run(job.pk, "worker")
    assert (queries.job(job.pk).state, queries.job(job.pk).result) == ("done", {"attempts": 2})


def test_a_cancelled_job_can_be_started_again(moment: datetime) -> None:
    job = queued(moment)
    actions.request_cancel(job.pk, moment)
    assert actions.retry_job(job.pk, moment).cancel_requested_at is None


def test_a_job_that_has_not_failed_or_is_not_made_for_it_stays_as_it_is(moment: datetime) -> None:
    waiting, once = queued(moment), queued(moment, ONCE)
    run(once.pk, "worker")
    before = list(Job.objects.order_by("id").values())
    for job in (waiting, once):
        with pytest.raises(JobNotRepeatableError):
            actions.retry_job(job.pk, moment)
    with pytest.raises(NoSuchJobError):
        actions.retry_job("job_unknown", moment)
    assert list(Job.objects.order_by("id").values()) == before


def test_of_retries_at_once_one_queues_the_job(moment: datetime) -> None:
    job = queued(moment)
    run(job.pk, "worker")
    refused = in_threads(4, lambda number: actions.retry_job(job.pk, moment))
    assert [type(error) for error in refused] == [JobNotRepeatableError] * 3


def test_an_accounts_jobs_come_newest_first_page_by_page(moment: datetime) -> None:
    mine = [queued(moment, record_id=f"cy_{number % 2}").pk for number in range(5)]
    queued(moment, account_id="acc_2")
    first = queries.jobs_of("acc_1", limit=2)
    second = queries.jobs_of("acc_1", after=str(first.next), limit=3)
    assert [job.pk for job in (*first.rows, *second.rows)] == sorted(mine, reverse=True)
    assert second.next is None
    assert {job.record_id for job in queries.jobs_of("acc_1", record_id="cy_1").rows} == {"cy_1"}
    assert queries.jobs_of("acc_1", state=JobState.DONE).rows == ()
