"""The account's fields of Query and Mutation: who the caller is, and the account's jobs."""

from typing import Any

import graphene
from graphene import ID, Field, Int, ObjectType, String

from kapsoweb.accounts.caller import Caller
from kapsoweb.accounts.roles import Role
from kapsoweb.doors import account_jobs
from kapsoweb.doors.access_rules import Access
from kapsoweb.doors.graphql.errors import InvalidArgumentError
from kapsoweb.doors.graphql.fields import root_field
from kapsoweb.doors.graphql.pages import Listed, page_arguments, page_type, page_wanted
from kapsoweb.doors.graphql.scalars import JSON, Time
from kapsoweb.foundation import clock
from kapsoweb.jobs.models import Job as JobRow
from kapsoweb.jobs.models import JobState


class Account(ObjectType):
    """An account."""

    id = ID(required=True)
    name = String(required=True)
    slug = String(required=True)


class Me(ObjectType):
    """Whoever asks, and what they reach."""

    account = Field(Account, required=True)
    role = String(required=True, description=f"One of {', '.join(Role)}.")
    actor = String(required=True, description="The name that reviews and the audit log give this caller.")
    token_id = ID(description="Null for a session of the pages.")
    only = ID(description="The id of the one record that the token reaches; null for all.")


class Job(ObjectType):
    """A piece of work: where it stands, and what came of it."""

    id = ID(required=True)
    kind = String(required=True)
    record_id = ID(description="What it is about; null where it is no record.")
    state = String(required=True, description=f"One of {', '.join(JobState.values)}.")
    attempts = Int(required=True, description="How often a worker has begun it.")
    progress_done = Int(required=True)
    progress_total = Int(required=True, description="0 while it is not known.")
    cancel_requested_at = Time()
    result = Field(JSON)
    error_id = String(description="Null unless it failed.")
    error_message = String(description="Null unless it failed.")
    created_at = Time(required=True)
    started_at = Time()
    finished_at = Time()

    @staticmethod
    def resolve_record_id(row: JobRow, _: Any) -> str | None:
        """Null where there is none."""
        return row.record_id or None

    @staticmethod
    def resolve_error_id(row: JobRow, _: Any) -> str | None:
        """Null where there is none."""
        return row.error_id or None

    @staticmethod
    def resolve_error_message(row: JobRow, _: Any) -> str | None:
        """Null where there is none."""
        return row.error_message or None


JobPage = page_type(Job)


def me(caller: Caller) -> Caller:
    """Who asks."""
    return caller


def jobs(
    caller: Caller,
    first: int | None = None,
    after: str | None = None,
    state: str | None = None,
    record_id: str | None = None,
) -> Listed:
    """A page of the account's jobs."""
    if state is not None and state not in JobState.values:
        raise InvalidArgumentError(f"`state` must be one of {', '.join(JobState.values)}.", argument="state")
    wanted = page_wanted(caller, ["jobs", state, record_id], first, after)
    page = account_jobs.jobs_of(
        caller,
        record_id=record_id,
        state=None if state is None else JobState(state),
        after=wanted.after,
        limit=wanted.limit,
    )
    return wanted.read(page)


def job(caller: Caller, id: str) -> JobRow:  # noqa: A002 - the argument's name outside
    """One job; raises `RecordNotFound`."""
    return account_jobs.job(caller, id)


def cancel_job(caller: Caller, id: str) -> JobRow:  # noqa: A002 - as above
    """Ask a job to stop."""
    return account_jobs.cancel_job(caller, id, clock.now())


def retry_job(caller: Caller, id: str) -> JobRow:  # noqa: A002 - as above
    """Start a job again."""
    return account_jobs.retry_job(caller, id, clock.now())


class AccountQuery(ObjectType):
    """What can be read of the account."""

    me = root_field(Me, Access(needs=Role.VIEWER), me, "Who asks, and what they reach.")
    jobs = root_field(
        JobPage,
        Access(needs=Role.VIEWER),
        jobs,
        "The account's jobs, newest first.",
        **page_arguments(state=String(), record_id=ID(description="Only those about this record.")),
    )
    job = root_field(
        Job, Access(needs=Role.VIEWER, record="id"), job, "One job of the account.", id=graphene.ID(required=True)
    )


class AccountMutation(ObjectType):
    """What can be done in the account."""

    cancel_job = root_field(
        Job,
        Access(needs=Role.OPERATOR, record="id"),
        cancel_job,
        "Ask a job to stop; one that waits is cancelled at once. Operators.",
        id=ID(required=True),
    )
    retry_job = root_field(
        Job,
        Access(needs=Role.OPERATOR, record="id"),
        retry_job,
        "Start a failed or cancelled job again, where its kind is made for it. Operators.",
        id=ID(required=True),
    )
