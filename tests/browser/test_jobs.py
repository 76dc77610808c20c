"""The list of jobs and one job's page while work goes on elsewhere."""

from datetime import timedelta
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from kapsoweb.accounts.access import local_account
from kapsoweb.foundation import clock
from kapsoweb.foundation.identifiers import new_id
from kapsoweb.jobs.models import Job, JobState
from tests.support.cyclotrons import workbench
from tests.support.held_cyclotrons import hold

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def running() -> Job:
    """An evaluation's job that a worker holds."""
    store = hold(workbench().store, "tried")
    now = clock.now()
    return Job.objects.create(
        id=new_id("job"),
        kind="cyclotron.evaluate",
        account_id=local_account().pk,
        record_id=store.cyclotron_id,
        state=JobState.RUNNING,
        worker_id="w",
        lease_until=now + timedelta(hours=1),
        created_at=now,
        started_at=now,
        attempts=1,
        progress_done=3,
        progress_total=12,
    )


def end(job: Job) -> None:
    Job.objects.filter(pk=job.pk).update(
        state=JobState.FAILED,
        lease_until=None,
        finished_at=clock.now(),
        error_id="gave-up",
        error_message="the job was started 40 times.",
    )


def test_the_list_follows_what_happens_and_says_it(page: Page, live_server: Any, sign_in: Page) -> None:
    job = running()
    page.goto(f"{live_server.url}/jobs/")
    expect(page.get_by_role("row", name="Evaluation")).to_contain_text("running")
    expect(page.get_by_role("link", name="Jobs 1 under way")).to_be_visible()
    page.get_by_role("link", name="Evaluation").focus()
    Job.objects.filter(pk=job.pk).update(progress_done=7)
    expect(page.get_by_role("row", name="Evaluation")).to_contain_text("7 of 12")
    expect(page.get_by_role("link", name="Evaluation")).to_be_focused()
    end(job)
    expect(page.get_by_role("row", name="Evaluation")).to_contain_text("failed")
    expect(page.get_by_role("status")).to_have_text("Every job has ended.")
    expect(page.get_by_role("link", name="Jobs", exact=True)).to_be_visible()


def test_a_jobs_page_follows_it_to_its_end_and_leads_on(page: Page, live_server: Any, sign_in: Page) -> None:
    job = running()
    page.goto(f"{live_server.url}/jobs/{job.pk}/")
    expect(page.get_by_role("heading", level=1)).to_have_text("Evaluation of tried")
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_role("button", name="Cancel")).to_be_disabled()
    expect(page.get_by_role("button", name="Cancel")).to_have_accessible_description(
        "It has been told to stop, and does so at its next step."
    )
    end(job)
    expect(page.get_by_text("The job was started 40 times.")).to_be_visible()
    expect(page.get_by_role("status")).to_have_text("Evaluation: failed.")
    expect(page.get_by_role("button", name="Start again")).to_be_disabled()
    page.get_by_role("link", name="Confirm what is left in its panel").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("tried")
