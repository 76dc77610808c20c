"""The queue of record and the workers that are alive. Only `actions`, `claims` and `worker` write these rows."""

from django.db import models
from django.db.models import Q


class JobState(models.TextChoices):
    """Where a job stands. The last three are ends: `cancelled` is one that was told to stop, and did."""

    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


FINISHED = (JobState.DONE, JobState.FAILED, JobState.CANCELLED)


class Job(models.Model):
    """One piece of work. `fence` grows with every claim; a write by a worker counts only under its own fence.

    `record_id` names the record that the work is about, for whoever shows jobs beside their records.
    """

    id = models.CharField(primary_key=True, max_length=40, editable=False)
    kind = models.CharField(max_length=100)
    payload = models.JSONField(default=dict)
    account_id = models.CharField(max_length=64)
    record_id = models.CharField(max_length=64, blank=True, default="")
    state = models.CharField(max_length=16, choices=JobState.choices, default=JobState.QUEUED)
    fence = models.IntegerField(default=0)
    attempts = models.IntegerField(default=0)
    worker_id = models.CharField(max_length=100, blank=True, default="")
    lease_until = models.DateTimeField(null=True, blank=True)
    progress_done = models.IntegerField(default=0)
    progress_total = models.IntegerField(default=0)
    cancel_requested_at = models.DateTimeField(null=True, blank=True)
    result = models.JSONField(null=True, blank=True)
    error_id = models.CharField(max_length=64, blank=True, default="")
    error_message = models.TextField(blank=True, default="")
    created_at = models.DateTimeField()
    rung_at = models.DateTimeField(null=True, blank=True)
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("-created_at", "-id")
        indexes = (
            models.Index(fields=("state", "created_at"), name="kapso_job_state"),
            models.Index(fields=("account_id", "-id"), name="kapso_job_newest"),
        )
        constraints = (
            models.CheckConstraint(condition=Q(state__in=JobState.values), name="kapso_job_state_known"),
            models.CheckConstraint(condition=Q(fence__gte=0) & Q(attempts__gte=0), name="kapso_job_counts_grow"),
            models.CheckConstraint(
                condition=(Q(state=JobState.RUNNING) & Q(lease_until__isnull=False) & ~Q(worker_id=""))
                | (~Q(state=JobState.RUNNING) & Q(lease_until__isnull=True)),
                name="kapso_job_running_has_lease",
            ),
            models.CheckConstraint(
                condition=(Q(state__in=FINISHED) & Q(finished_at__isnull=False))
                | (~Q(state__in=FINISHED) & Q(finished_at__isnull=True)),
                name="kapso_job_end_has_moment",
            ),
            models.CheckConstraint(
                condition=(Q(state=JobState.FAILED) & ~Q(error_id="")) | (~Q(state=JobState.FAILED) & Q(error_id="")),
                name="kapso_job_failure_has_error",
            ),
        )

    def __str__(self) -> str:
        return f"{self.kind} {self.id}"

    @property
    def is_finished(self) -> bool:
        """Whether the job has come to one of its ends."""
        return self.state in FINISHED


class WorkerHeartbeat(models.Model):
    """A worker process, seen last at `seen_at`."""

    id = models.CharField(primary_key=True, max_length=40, editable=False)
    pid = models.IntegerField()
    host = models.CharField(max_length=255)
    started_at = models.DateTimeField()
    seen_at = models.DateTimeField(db_index=True)

    class Meta:
        ordering = ("-seen_at",)

    def __str__(self) -> str:
        return f"{self.host} {self.pid}"
