"""Versions, ML models and learning steps. Source: spec held-out, sections 3 and 4."""

from django.db import models
from django.db.models import Q

from cyclotron.models.engine import DIGEST, Classifier, Item

LEARNING_OUTCOMES = ("promoted", "refitted", "kept")


class Version(models.Model):
    """A configuration that was active once: version 1 from the definition, later ones promoted by learning.

    `digest` is the endpoint's (labels, question and configuration), the part of a request that a version decides.
    """

    classifier = models.ForeignKey(Classifier, on_delete=models.PROTECT, related_name="versions")
    number = models.PositiveIntegerField()
    configuration = models.JSONField()
    digest = models.CharField(max_length=DIGEST)
    training_reviews = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField()

    class Meta:
        ordering = ["classifier", "number"]
        constraints = [
            models.UniqueConstraint(fields=["classifier", "number"], name="version_number_once"),
            models.CheckConstraint(condition=Q(number__gte=1), name="version_number_from_one"),
        ]

    def __str__(self) -> str:
        return f"version {self.number}"


class MlModelRecord(models.Model):
    """A fitted ML model of a version: plain numbers. `refit` counts the fits of that version, from 1."""

    version = models.ForeignKey(Version, on_delete=models.PROTECT, related_name="ml_models")
    refit = models.PositiveIntegerField()
    numbers = models.JSONField()
    digest = models.CharField(max_length=DIGEST)
    fitted_on = models.PositiveIntegerField()
    created_at = models.DateTimeField()

    class Meta:
        verbose_name = "ML model"
        ordering = ["version", "refit"]
        constraints = [
            models.UniqueConstraint(fields=["version", "refit"], name="refit_number_once"),
            models.CheckConstraint(condition=Q(refit__gte=1), name="refit_number_from_one"),
        ]

    def __str__(self) -> str:
        return f"refit {self.refit}"


class OutOfFoldAnswer(models.Model):
    """For an item that a version was proposed from: the request whose answer did not know the item's label.

    A refit of the version reads these answers for the items that it learned from, and the version's own for later ones.
    """

    version = models.ForeignKey(Version, on_delete=models.PROTECT, related_name="out_of_fold_answers", db_index=False)
    item = models.ForeignKey(Item, on_delete=models.PROTECT, related_name="+")
    fingerprint = models.CharField(max_length=DIGEST)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["version", "item"], name="out_of_fold_once")]

    def __str__(self) -> str:
        return self.fingerprint


class LearningStep(models.Model):
    """One pass of learning: from how many training reviews, what was compared on development, and what came of it.

    Balanced accuracies are shares 0..1 on the development partition, None where it holds no label.
    """

    classifier = models.ForeignKey(Classifier, on_delete=models.PROTECT, related_name="learning_steps")
    number = models.PositiveIntegerField()
    training_reviews = models.PositiveIntegerField()
    outcome = models.CharField(max_length=16)
    version = models.PositiveIntegerField()
    refit = models.PositiveIntegerField()
    candidate_digest = models.CharField(max_length=DIGEST, blank=True, default="")
    active_accuracy = models.FloatField(null=True)
    candidate_accuracy = models.FloatField(null=True)
    development_items = models.PositiveIntegerField()
    new_requests = models.PositiveIntegerField()
    created_at = models.DateTimeField()

    class Meta:
        ordering = ["classifier", "number"]
        constraints = [
            models.UniqueConstraint(fields=["classifier", "number"], name="learning_step_once"),
            models.CheckConstraint(condition=Q(outcome__in=LEARNING_OUTCOMES), name="learning_step_outcome"),
        ]

    def __str__(self) -> str:
        return f"learning step {self.number}"
