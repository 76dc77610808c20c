"""Jobs of the account: list them, read one, stop one, start one again."""

from rest_framework.request import Request
from rest_framework.response import Response

from kapsoweb.accounts.roles import Role
from kapsoweb.doors import account_jobs
from kapsoweb.doors.access_rules import Access
from kapsoweb.doors.limits import ID_CHARACTERS
from kapsoweb.doors.rest.fields import ObjectField, TextField, TimeField, WholeNumberField, WordField
from kapsoweb.doors.rest.operations import Operation, operation
from kapsoweb.doors.rest.serializers import PageQuery, StrictSerializer, page_of
from kapsoweb.doors.rest.views import ApiView
from kapsoweb.foundation import clock
from kapsoweb.jobs.models import JobState

_TAG = "jobs"
_JOB = {
    "id": "job_01jkm3x7e8r5v9z2q4t6w8y0ag",
    "kind": "cyclotron.evaluate",
    "recordId": "cy_01jkm3x7e8r5v9z2q4t6w8y0ab",
    "state": "running",
    "attempts": 1,
    "progressDone": 120,
    "progressTotal": 320,
    "cancelRequestedAt": None,
    "result": None,
    "errorId": "",
    "errorMessage": "",
    "createdAt": "2026-03-01T12:00:00Z",
    "startedAt": "2026-03-01T12:00:01Z",
    "finishedAt": None,
}


class JobRow(StrictSerializer):
    """A piece of work: where it stands, and what came of it."""

    id = TextField(max_length=40)
    kind = TextField(max_length=100)
    record_id = TextField(max_length=64, allow_blank=True, help_text="What it is about; empty where it is no record.")
    state = WordField(JobState.values)
    attempts = WholeNumberField(help_text="How often a worker has begun it.")
    progress_done = WholeNumberField()
    progress_total = WholeNumberField(help_text="0 while it is not known.")
    cancel_requested_at = TimeField(allow_null=True)
    result = ObjectField(allow_null=True)
    error_id = TextField(max_length=64, allow_blank=True, help_text="Empty unless it failed.")
    error_message = TextField(max_length=10_000, allow_blank=True)
    created_at = TimeField()
    started_at = TimeField(allow_null=True)
    finished_at = TimeField(allow_null=True)


JobPage = page_of(JobRow, "JobPage")


class JobsQuery(PageQuery):
    """Of the list of jobs."""

    state = WordField(JobState.values, required=False)
    record_id = TextField(max_length=ID_CHARACTERS, required=False, help_text="Only those about this record.")


class JobsView(ApiView):
    """`/jobs`."""

    access = Access(needs=Role.VIEWER)

    @operation(
        Operation(
            id="listJobs",
            tag=_TAG,
            summary="List the account's jobs",
            query=JobsQuery,
            answer=JobPage,
            gives={"items": [_JOB], "next": None},
        )
    )
    def get(self, request: Request) -> Response:  # noqa: ARG002 - the framework passes it
        """Newest first; a token for one record sees that record's jobs."""
        state = self.query.get("state")
        page = account_jobs.jobs_of(
            self.caller,
            record_id=self.query.get("record_id"),
            state=JobState(state) if state else None,
            after=self.cursor("jobs"),
            limit=self.query["limit"],
        )
        return self.page(page, "jobs")


class JobView(ApiView):
    """`/jobs/{id}`."""

    access = Access(needs=Role.VIEWER, record="job_id")

    @operation(Operation(id="getJob", tag=_TAG, summary="Read a job", answer=JobRow, gives=_JOB))
    def get(self, request: Request, job_id: str) -> Response:  # noqa: ARG002 - the framework passes it
        """Where it stands, and what came of it."""
        return self.answer(account_jobs.job(self.caller, job_id))


class CancelJobView(ApiView):
    """`/jobs/{id}/cancel`."""

    access = Access(needs=Role.OPERATOR, record="job_id")

    @operation(
        Operation(
            id="cancelJob",
            tag=_TAG,
            summary="Ask a job to stop",
            answer=JobRow,
            gives={**_JOB, "cancelRequestedAt": "2026-03-01T12:00:05Z"},
        )
    )
    def post(self, request: Request, job_id: str) -> Response:  # noqa: ARG002 - the framework passes it
        """One that waits is cancelled at once, a running one is told. Needs the role operator."""
        self.no_body()
        return self.answer(account_jobs.cancel_job(self.caller, job_id, clock.now()))


class RetryJobView(ApiView):
    """`/jobs/{id}/retry`."""

    access = Access(needs=Role.OPERATOR, record="job_id")

    @operation(
        Operation(
            id="retryJob",
            tag=_TAG,
            summary="Start a failed or cancelled job again",
            answer=JobRow,
            gives={**_JOB, "state": "queued", "attempts": 0, "startedAt": None},
        )
    )
    def post(self, request: Request, job_id: str) -> Response:  # noqa: ARG002 - the framework passes it
        """It goes on where it stood. A 409 for a kind that is not made for it. Needs the role operator."""
        self.no_body()
        return self.answer(account_jobs.retry_job(self.caller, job_id, clock.now()))
