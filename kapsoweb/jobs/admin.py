"""Jobs and workers in the admin: to read and to search. Stopping a job goes through `actions`, by a named action."""

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from kapsoweb.foundation import clock
from kapsoweb.jobs import actions
from kapsoweb.jobs.models import Job, JobState, WorkerHeartbeat
from kapsoweb.readonly import ReadOnlyAdmin, known


@admin.register(Job)
class JobAdmin(ReadOnlyAdmin):
    """Jobs, newest first."""

    account_path = "account_id"
    list_display = ("id", "kind", "state", "account_id", "attempts", "progress_done", "progress_total", "created_at")
    list_filter = (known("state", JobState),)
    search_fields = ("id", "kind", "account_id", "error_id")
    date_hierarchy = "created_at"
    actions = ("cancel",)

    def has_cancel_permission(self, request: HttpRequest) -> bool:
        """Superusers may stop jobs."""
        return bool(request.user.is_active and request.user.is_superuser)

    @admin.action(description="Cancel the chosen jobs", permissions=["cancel"])
    def cancel(self, request: HttpRequest, queryset: QuerySet[Job]) -> None:
        """Cancel what waits, and ask what runs to stop."""
        for job_id in queryset.values_list("pk", flat=True):
            actions.request_cancel(job_id, clock.now())
        self.message_user(request, "Jobs that waited are cancelled; running ones were asked to stop.")


@admin.register(WorkerHeartbeat)
class WorkerHeartbeatAdmin(ReadOnlyAdmin):
    """Workers by their last sign of life."""

    list_display = ("id", "host", "pid", "started_at", "seen_at")
    search_fields = ("id", "host")
