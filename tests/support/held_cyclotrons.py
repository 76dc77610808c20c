"""Cyclotrons that an account holds, as the pages find them, and the jobs that pages leave behind."""

from datetime import UTC, datetime
from typing import Any

from cyclotron.store import ROOM, Store
from kapsoweb.accounts.access import local_account
from kapsoweb.accounts.actions import hold_record
from kapsoweb.accounts.models import Account
from kapsoweb.jobs.models import Job, JobState
from kapsoweb.jobs.running import run
from tests.support.frozen_cyclotrons import frozen_cyclotron

HELD_AT = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


def hold(store: Store, name: str, account: Account | None = None) -> Store:
    """Let `account` (the local one unless said) hold the cyclotron under `name`; returns the store."""
    hold_record(
        account=account or local_account(),
        room=ROOM,
        name=name,
        store=store.using,
        record_id=store.cyclotron_id,
        now=HELD_AT,
    )
    return store


def held_cyclotron(name: str = "screening", **parts: Any) -> Store:
    """A `frozen_cyclotron` that the local account holds."""
    return hold(frozen_cyclotron(**parts), name)


def run_queued_jobs() -> int:
    """Run what is queued, as a worker would; returns how many jobs that was."""
    queued = list(Job.objects.filter(state=JobState.QUEUED).order_by("created_at"))
    return sum(run(job.pk, "worker-of-the-test") for job in queued)
