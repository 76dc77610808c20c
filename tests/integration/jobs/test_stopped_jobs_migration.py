"""Jobs that were told to stop on their way, before such jobs ended as cancelled, are cancelled afterwards."""

from datetime import datetime, timedelta

import pytest
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from kapsoweb.jobs.models import Job, JobState

pytestmark = [pytest.mark.services, pytest.mark.django_db(transaction=True)]

APP = "kapso_jobs"
BEFORE, AFTER = (APP, "0002_record_of_a_job"), (APP, "0003_stopped_jobs_are_cancelled")


def test_what_was_left_on_the_way_is_cancelled_and_what_came_to_its_end_is_done(moment: datetime) -> None:
    def ended(name: str, done: int, total: int, *, asked: bool = True) -> None:
        Job.objects.create(
            id=name,
            kind="test.kind",
            account_id="acc_1",
            state=JobState.DONE,
            progress_done=done,
            progress_total=total,
            cancel_requested_at=moment if asked else None,
            created_at=moment,
            finished_at=moment + timedelta(minutes=1),
        )

    last = [node for node in MigrationExecutor(connection).loader.graph.leaf_nodes() if node[0] == APP]
    MigrationExecutor(connection).migrate([BEFORE])
    ended("on the way", 3, 10)
    ended("before the first step", 0, 0)
    ended("asked too late", 10, 10)
    ended("never asked", 3, 10, asked=False)
    MigrationExecutor(connection).migrate([AFTER])
    MigrationExecutor(connection).migrate(last)
    assert dict(Job.objects.values_list("id", "state")) == {
        "on the way": "cancelled",
        "before the first step": "cancelled",
        "asked too late": "done",
        "never asked": "done",
    }
