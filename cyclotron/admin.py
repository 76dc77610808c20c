"""The cyclotron's tables in the admin: everything readable and searchable, nothing editable.

Frozen sets, permits and reports are evidence, and what they rest on (items, decisions, reviews, versions) may only
change through the actions that keep them true, so no row is added, changed or deleted here.
"""

from typing import Any

from django.contrib import admin
from django.db import models
from django.http import HttpRequest

from cyclotron.core.draws import PARTITIONS, REASONS, SELECTIONS
from cyclotron.models import (
    Assignment,
    CachedAnswer,
    Classifier,
    Decision,
    DecisionOutput,
    Evaluation,
    EvaluationRequest,
    Event,
    FileImport,
    HeldOutItem,
    HeldOutSet,
    ImportTally,
    Item,
    LearningStep,
    MlModelRecord,
    OutOfFoldAnswer,
    Permit,
    Report,
    Review,
    SkippedItem,
    StoredCyclotron,
    Version,
    WaitingItem,
)
from cyclotron.models.learning import LEARNING_OUTCOMES
from cyclotron.store import ROOM
from kapsoweb.accounts.models import Holding
from kapsoweb.readonly import ReadOnlyAdmin, known


class CyclotronTableAdmin(ReadOnlyAdmin):
    """A table whose rows belong to a cyclotron, and so to the account that holds it."""

    cyclotron_path = "cyclotron_id"

    def is_for_operators(self) -> bool:
        """Every cyclotron is held by an account."""
        return True

    def of_accounts(self, rows: "models.QuerySet[Any]", accounts: list[str]) -> "models.QuerySet[Any]":
        """The rows of the cyclotrons that the accounts hold."""
        held = Holding.objects.filter(room=ROOM, account_id__in=accounts).values("record_id")
        return rows.filter(**{f"{self.cyclotron_path}__in": held})


class LargeTableAdmin(CyclotronTableAdmin):
    """A table that may have a great many rows: no full count beside a search, related rows read in the same query."""

    show_full_result_count = False
    list_per_page = 50
    deferred: tuple[str, ...] = ()

    def get_queryset(self, request: HttpRequest) -> "models.QuerySet[Any]":
        """Rows without the large columns that a list does not show."""
        return super().get_queryset(request).defer(*self.deferred)


@admin.register(StoredCyclotron)
class CyclotronAdmin(CyclotronTableAdmin):
    """Cyclotrons."""

    cyclotron_path = "id"
    list_display = ("name", "id", "seed", "learn_every", "event_count", "created_at")
    search_fields = ("name", "id", "fingerprint")


@admin.register(Classifier)
class ClassifierAdmin(CyclotronTableAdmin):
    """Classifiers with what is active."""

    list_display = ("name", "cyclotron", "position", "active_version", "active_ml_model", "current_set")
    list_select_related = ("cyclotron", "active_version", "active_ml_model", "current_set")
    search_fields = ("name", "cyclotron__name", "cyclotron__id")


@admin.register(Version)
class VersionAdmin(LargeTableAdmin):
    """Versions."""

    cyclotron_path = "classifier__cyclotron_id"
    list_display = ("number", "classifier", "digest", "training_reviews", "created_at")
    list_select_related = ("classifier",)
    search_fields = ("digest", "classifier__name", "classifier__cyclotron__name")
    deferred = ("configuration",)


@admin.register(MlModelRecord)
class MlModelAdmin(CyclotronTableAdmin):
    """ML models."""

    cyclotron_path = "version__classifier__cyclotron_id"
    list_display = ("refit", "version", "digest", "fitted_on", "created_at")
    list_select_related = ("version",)
    search_fields = ("digest", "version__classifier__cyclotron__name")


@admin.register(LearningStep)
class LearningStepAdmin(CyclotronTableAdmin):
    """Learning steps: what was compared, and what came of it."""

    cyclotron_path = "classifier__cyclotron_id"
    list_display = (
        "number",
        "classifier",
        "outcome",
        "training_reviews",
        "active_accuracy",
        "candidate_accuracy",
        "development_items",
        "new_requests",
        "version",
        "refit",
    )
    list_filter = (known("outcome", LEARNING_OUTCOMES),)
    list_select_related = ("classifier",)
    search_fields = ("candidate_digest", "classifier__name", "classifier__cyclotron__name")


@admin.register(OutOfFoldAnswer)
class OutOfFoldAnswerAdmin(LargeTableAdmin):
    """Which answer a refit reads for an item that its version learned from."""

    cyclotron_path = "version__classifier__cyclotron_id"
    list_display = ("version", "item", "fingerprint")
    list_select_related = ("version", "item")
    search_fields = ("fingerprint", "item__identity")


@admin.register(Item)
class ItemAdmin(LargeTableAdmin):
    """Items."""

    list_display = ("identity", "cyclotron", "partition", "selected_because", "propensity", "created_at")
    list_filter = (known("partition", PARTITIONS), known("selected_because", ("", *REASONS)))
    list_select_related = ("cyclotron",)
    search_fields = ("identity", "values_digest", "cyclotron__name")
    deferred = ("values",)


@admin.register(Decision)
class DecisionAdmin(LargeTableAdmin):
    """Decisions."""

    list_display = ("id", "item", "sent", "reason", "propensity", "decided_at")
    list_filter = ("sent", known("reason", ("", *REASONS)))
    list_select_related = ("item",)
    search_fields = ("id", "item__identity")


@admin.register(DecisionOutput)
class DecisionOutputAdmin(LargeTableAdmin):
    """What each classifier decided."""

    cyclotron_path = "classifier__cyclotron_id"  # a cyclotron has few classifiers and many decisions
    list_display = ("decision", "classifier", "label", "confidence", "version", "refit")
    list_select_related = ("decision", "classifier")
    search_fields = ("decision__id", "fingerprint", "=label")


@admin.register(Review)
class ReviewAdmin(LargeTableAdmin):
    """Reviews, undone ones too."""

    list_display = ("identity", "item", "classifier", "label", "reviewer", "selected_by", "recorded_at", "undone_at")
    list_filter = (known("selected_by", SELECTIONS),)
    list_select_related = ("item", "classifier")
    search_fields = ("identity", "item__identity", "reviewer", "reason_code", "=label")


@admin.register(Event)
class EventAdmin(LargeTableAdmin):
    """Events."""

    list_display = ("sequence", "cyclotron", "kind", "at")
    list_select_related = ("cyclotron",)
    search_fields = ("kind", "cyclotron__name")


@admin.register(CachedAnswer)
class CachedAnswerAdmin(LargeTableAdmin):
    """Stored answers."""

    list_display = ("fingerprint", "cyclotron", "model", "tokens_in", "tokens_out", "created_at")
    list_select_related = ("cyclotron",)
    search_fields = ("fingerprint", "endpoint_digest", "input_digest", "model")
    deferred = ("answer",)


@admin.register(HeldOutSet)
class HeldOutSetAdmin(CyclotronTableAdmin):
    """Frozen sets."""

    list_display = ("id", "cyclotron", "classifier", "size", "label_counts", "frozen_at")
    list_select_related = ("cyclotron", "classifier")
    search_fields = ("id", "cyclotron__name")


@admin.register(HeldOutItem)
class HeldOutItemAdmin(LargeTableAdmin):
    """Frozen items."""

    cyclotron_path = "held_out_set__cyclotron_id"
    list_display = ("identity", "held_out_set", "position", "label", "propensity")
    list_select_related = ("held_out_set",)
    search_fields = ("identity", "held_out_set__id", "=label")
    deferred = ("values",)


@admin.register(Evaluation)
class EvaluationAdmin(CyclotronTableAdmin):
    """Evaluations with their bounds and permits."""

    list_display = (
        "id",
        "classifier",
        "state",
        "reason",
        "bound",
        "permits_taken",
        "unanswered",
        "started_at",
        "ended_at",
    )
    list_filter = ("state", "reason")
    list_select_related = ("classifier",)
    search_fields = ("id", "job_id", "held_out_set__id", "cyclotron__name")


@admin.register(EvaluationRequest)
class EvaluationRequestAdmin(CyclotronTableAdmin):
    """Which evaluation a caller's request id stands for."""

    list_display = ("request_id", "cyclotron", "evaluation")
    list_select_related = ("cyclotron", "evaluation")
    search_fields = ("request_id", "evaluation__id", "cyclotron__name")


@admin.register(Permit)
class PermitAdmin(LargeTableAdmin):
    """Permits: each call to a model, answered or lost."""

    cyclotron_path = "evaluation__cyclotron_id"
    list_display = ("evaluation", "number", "taken_at", "answered_at", "lost_to")
    list_select_related = ("evaluation",)
    search_fields = ("evaluation__id", "fingerprint", "=lost_to")


@admin.register(Report)
class ReportAdmin(LargeTableAdmin):
    """Reports as they were written."""

    list_display = ("id", "classifier", "held_out_set", "created_at")
    list_select_related = ("classifier", "held_out_set")
    search_fields = ("id", "held_out_set__id", "cyclotron__name")
    deferred = ("body", "items")


@admin.register(WaitingItem)
class WaitingItemAdmin(LargeTableAdmin):
    """Items that wait for a review."""

    list_display = ("item", "classifier", "sent_at")
    list_select_related = ("item", "classifier")
    search_fields = ("item__identity",)
    deferred = ("item__values",)


@admin.register(Assignment)
class AssignmentAdmin(LargeTableAdmin):
    """Items of review queues that a reviewer holds."""

    list_display = ("id", "item", "classifier", "reviewer", "held_since", "expires_at")
    list_select_related = ("item", "classifier")
    search_fields = ("id", "reviewer", "item__identity")
    deferred = ("item__values",)


@admin.register(SkippedItem)
class SkippedItemAdmin(LargeTableAdmin):
    """Items that a reviewer put off."""

    list_display = ("item", "classifier", "reviewer", "skipped_at")
    list_select_related = ("item", "classifier")
    search_fields = ("reviewer", "item__identity")
    deferred = ("item__values",)


@admin.register(FileImport)
class FileImportAdmin(LargeTableAdmin):
    """Files that were brought in; their content is not shown."""

    list_display = ("filename", "cyclotron", "created_by", "created_at", "recorded", "known", "bad", "ended_at")
    list_select_related = ("cyclotron",)
    search_fields = ("id", "filename", "created_by")
    deferred = ("content",)
    exclude = ("content",)


@admin.register(ImportTally)
class ImportTallyAdmin(LargeTableAdmin):
    """How many rows of each import were new."""

    cyclotron_path = "file_import__cyclotron_id"
    list_display = ("file_import", "recorded")
    list_select_related = ("file_import",)
    search_fields = ("file_import__id", "file_import__filename")
    deferred = ("file_import__content",)
