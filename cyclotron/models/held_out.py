"""Held-out sets, evaluations, permits and reports. Source: spec held-out, sections 2 to 6."""

from typing import Any

from django.db import models
from django.db.models import F, Q

from cyclotron.models.engine import DIGEST, IDENTITY, LABEL, Classifier, StoredCyclotron

EVALUATION_STATES = ("running", "done", "interrupted")


class HeldOutSet(models.Model):
    """A frozen set. Its id is a digest of its content; it and its items are written once."""

    id = models.CharField(primary_key=True, max_length=DIGEST)
    cyclotron = models.ForeignKey(StoredCyclotron, on_delete=models.PROTECT, related_name="held_out_sets")
    classifier = models.ForeignKey(Classifier, on_delete=models.PROTECT, related_name="held_out_sets")
    frozen_at = models.DateTimeField()
    size = models.PositiveIntegerField()
    label_counts = models.JSONField()

    class Meta:
        ordering = ["-frozen_at"]
        constraints = [models.CheckConstraint(condition=Q(size__gte=1), name="held_out_set_not_empty")]

    def __str__(self) -> str:
        return self.id[:12]


class HeldOutItem(models.Model):
    """A frozen item: a copy of its values, its label and its selection propensity. `position` is identity order."""

    held_out_set = models.ForeignKey(HeldOutSet, on_delete=models.PROTECT, related_name="items", db_index=False)
    position = models.PositiveIntegerField()
    identity = models.CharField(max_length=IDENTITY)
    values = models.JSONField()
    values_digest = models.CharField(max_length=DIGEST)
    input_digest = models.CharField(max_length=DIGEST)
    label = models.CharField(max_length=LABEL)
    propensity = models.FloatField()

    class Meta:
        ordering = ["held_out_set", "position"]
        constraints = [
            models.UniqueConstraint(fields=["held_out_set", "position"], name="held_out_position_once"),
            models.UniqueConstraint(fields=["held_out_set", "identity"], name="held_out_identity_once"),
            models.CheckConstraint(condition=Q(propensity__gt=0, propensity__lte=1), name="held_out_propensity_is_one"),
        ]

    def __str__(self) -> str:
        return self.identity


class Evaluation(models.Model):
    """One confirmed evaluation: what is compared, how many permits it has, and how it ended.

    `fence` is the fencing token of the claim that runs it; a permit is given to the newest claim only. The row keeps
    what both endpoints were when it was confirmed, so that learning which goes on meanwhile changes neither column.
    """

    id = models.CharField(primary_key=True, max_length=40)
    cyclotron = models.ForeignKey(StoredCyclotron, on_delete=models.PROTECT, related_name="evaluations")
    classifier = models.ForeignKey(Classifier, on_delete=models.PROTECT, related_name="evaluations")
    held_out_set = models.ForeignKey(HeldOutSet, on_delete=models.PROTECT, related_name="evaluations")
    comparison_digest = models.CharField(max_length=DIGEST)
    model = models.CharField(max_length=IDENTITY)
    minimum_per_label = models.PositiveIntegerField()
    before_version = models.ForeignKey("Version", on_delete=models.PROTECT, related_name="+")
    after_version = models.ForeignKey("Version", on_delete=models.PROTECT, related_name="+")
    after_ml_model = models.ForeignKey("MlModelRecord", null=True, on_delete=models.PROTECT, related_name="+")
    bound = models.PositiveIntegerField()
    permits_taken = models.PositiveIntegerField(default=0)
    total = models.PositiveIntegerField()
    state = models.CharField(max_length=16, default="running")
    cancel_requested = models.BooleanField(default=False)
    reason = models.CharField(max_length=40, blank=True, default="")
    unanswered = models.PositiveIntegerField(default=0)
    fence = models.PositiveBigIntegerField(default=0)
    job_id = models.CharField(max_length=40, blank=True, default="")
    started_at = models.DateTimeField()
    seen_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["classifier"], condition=Q(state="running"), name="evaluation_running_once"
            ),
            models.CheckConstraint(condition=Q(permits_taken__lte=F("bound")), name="evaluation_within_its_bound"),
            models.CheckConstraint(condition=Q(state__in=EVALUATION_STATES), name="evaluation_state"),
            models.CheckConstraint(
                condition=Q(state="running", ended_at=None) | (~Q(state="running") & Q(ended_at__isnull=False)),
                name="evaluation_ended_when_not_running",
            ),
        ]
        indexes = [models.Index(fields=["classifier", "-id"], name="evaluation_newest")]

    def __str__(self) -> str:
        return self.id


class EvaluationRequest(models.Model):
    """A caller's `requestId` and the evaluation that it stands for, whether it started that one or found it running.

    `content_digest` covers what was asked with it. Never changed, so that a repetition always gets the same evaluation.
    """

    cyclotron = models.ForeignKey(StoredCyclotron, on_delete=models.PROTECT, related_name="+", db_index=False)
    request_id = models.CharField(max_length=IDENTITY)
    content_digest = models.CharField(max_length=DIGEST)
    evaluation = models.ForeignKey(Evaluation, on_delete=models.PROTECT, related_name="requests")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["cyclotron", "request_id"], name="evaluation_request_id_once"),
            models.CheckConstraint(condition=~Q(request_id=""), name="evaluation_request_id_given"),
        ]

    def __str__(self) -> str:
        return self.request_id


class Permit(models.Model):
    """The right to make one call to a model, taken before the call and never given back."""

    evaluation = models.ForeignKey(Evaluation, on_delete=models.PROTECT, related_name="permits", db_index=False)
    number = models.PositiveIntegerField()
    fingerprint = models.CharField(max_length=DIGEST)
    taken_at = models.DateTimeField()
    answered_at = models.DateTimeField(null=True)
    lost_to = models.CharField(max_length=40, blank=True, default="")

    class Meta:
        ordering = ["evaluation", "number"]
        constraints = [
            models.UniqueConstraint(fields=["evaluation", "number"], name="permit_number_once"),
            models.CheckConstraint(condition=Q(number__gte=1), name="permit_number_from_one"),
            models.CheckConstraint(condition=Q(answered_at=None) | Q(lost_to=""), name="permit_answered_or_lost"),
        ]

    def __str__(self) -> str:
        return f"permit {self.number}"


class Report(models.Model):
    """A held-out report as it was written.

    `body` is the document without its `items`, which are kept apart: lists and histories show many reports and no item.
    """

    id = models.CharField(primary_key=True, max_length=40)
    cyclotron = models.ForeignKey(StoredCyclotron, on_delete=models.PROTECT, related_name="reports")
    classifier = models.ForeignKey(Classifier, on_delete=models.PROTECT, related_name="reports")
    held_out_set = models.ForeignKey(HeldOutSet, on_delete=models.PROTECT, related_name="reports")
    evaluation = models.OneToOneField(Evaluation, on_delete=models.PROTECT, related_name="report")
    body = models.JSONField()
    items = models.JSONField()
    created_at = models.DateTimeField()

    class Meta:
        indexes = [models.Index(fields=["classifier", "-id"], name="report_newest")]

    def __str__(self) -> str:
        return self.id

    @property
    def document(self) -> dict[str, Any]:
        """The whole report, as the schema describes it."""
        return {**self.body, "items": self.items}
