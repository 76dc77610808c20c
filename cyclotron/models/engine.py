"""Cyclotrons, classifiers, items, decisions, reviews, events and the answer cache. Source: spec, sections 1 and 4.

A large table has one index for each way in which it is read, and none that only begins another one: each costs every
write, and tempts PostgreSQL where its statistics know nothing of a cyclotron (see the migration of that name).
"""

from django.db import models
from django.db.models import F, Q

from cyclotron.core.draws import PARTITIONS, REASONS, SELECTIONS

DIGEST = 64
LABEL = 64
IDENTITY = 512


class StoredCyclotron(models.Model):
    """One AI decision about one kind of item, as its store holds it. `event_count` is the last event's sequence."""

    id = models.CharField(primary_key=True, max_length=40)
    name = models.CharField(max_length=64)
    seed = models.TextField()
    fingerprint = models.CharField(max_length=DIGEST)
    learn_every = models.PositiveIntegerField()
    event_count = models.PositiveBigIntegerField(default=0)
    created_at = models.DateTimeField()

    class Meta:
        verbose_name = "cyclotron"
        constraints = [
            models.CheckConstraint(condition=Q(learn_every__gte=1), name="cyclotron_learns_after_some_reviews"),
        ]

    def __str__(self) -> str:
        return self.name


class Classifier(models.Model):
    """One classifier of a cyclotron; `definition` is the JSON that the cyclotron's fingerprint covers.

    `training_reviews` counts the labels that were recorded and may teach, corrections included. Undoes are not taken
    off, so that learning which is due stays due.
    """

    cyclotron = models.ForeignKey(StoredCyclotron, on_delete=models.PROTECT, related_name="classifiers")
    position = models.PositiveSmallIntegerField()
    name = models.CharField(max_length=64)
    definition = models.JSONField()
    training_reviews = models.PositiveIntegerField(default=0)
    active_version = models.ForeignKey("Version", null=True, on_delete=models.PROTECT, related_name="+")
    active_ml_model = models.ForeignKey("MlModelRecord", null=True, on_delete=models.PROTECT, related_name="+")
    current_set = models.ForeignKey("HeldOutSet", null=True, on_delete=models.PROTECT, related_name="+")

    class Meta:
        ordering = ["cyclotron", "position"]
        constraints = [
            models.UniqueConstraint(fields=["cyclotron", "name"], name="classifier_name_once"),
            models.UniqueConstraint(fields=["cyclotron", "position"], name="classifier_position_once"),
        ]

    def __str__(self) -> str:
        return self.name


class Item(models.Model):
    """An item. `partition` and `selection_draw` follow from the seed and the identity and never change.

    `propensity` is the largest probability of selection that the item has been exposed to (None before a decision);
    `selected_because` is the reason for which it was first sent to review, or empty.
    """

    cyclotron = models.ForeignKey(StoredCyclotron, on_delete=models.PROTECT, related_name="items", db_index=False)
    identity = models.CharField(max_length=IDENTITY)
    values = models.JSONField()
    values_digest = models.CharField(max_length=DIGEST)
    partition = models.CharField(max_length=16)
    selection_draw = models.FloatField()
    propensity = models.FloatField(null=True)
    selected_because = models.CharField(max_length=16, blank=True, default="")
    created_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["cyclotron", "identity"], name="item_identity_once"),
            models.CheckConstraint(condition=~Q(identity=""), name="item_has_an_identity"),
            models.CheckConstraint(condition=Q(partition__in=PARTITIONS), name="item_in_a_partition"),
            models.CheckConstraint(
                condition=Q(propensity=None) | Q(propensity__gt=0, propensity__lte=1), name="item_propensity_is_one"
            ),
            models.CheckConstraint(condition=Q(selected_because__in=["", *REASONS]), name="item_selection_reason"),
        ]
        indexes = [
            models.Index(fields=["cyclotron", "id"], name="item_in_order"),
            models.Index(fields=["cyclotron", "partition"], name="item_by_partition"),
        ]

    def __str__(self) -> str:
        return self.identity


class Decision(models.Model):
    """One run of `decide` over an item: whether it was sent to review, why, and with what propensity.

    `foreign_digest` is the digest of all that was said of a decision made elsewhere, and empty for one made here.
    """

    id = models.CharField(primary_key=True, max_length=40)
    cyclotron = models.ForeignKey(StoredCyclotron, on_delete=models.PROTECT, related_name="decisions", db_index=False)
    item = models.ForeignKey(Item, on_delete=models.PROTECT, related_name="decisions")
    sent = models.BooleanField()
    reason = models.CharField(max_length=16, blank=True, default="")
    propensity = models.FloatField()
    decided_at = models.DateTimeField()
    foreign_digest = models.CharField(max_length=DIGEST, blank=True, default="")

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(propensity__gt=0, propensity__lte=1), name="decision_propensity_is_one"),
            models.CheckConstraint(
                condition=Q(sent=True, reason__in=REASONS) | Q(sent=False, reason=""),
                name="decision_sent_for_a_reason",
            ),
        ]
        indexes = [
            models.Index(fields=["cyclotron", "-id"], name="decision_newest"),
            models.Index(fields=["item", "-id"], name="decision_by_item"),
        ]

    def __str__(self) -> str:
        return self.id


class DecisionOutput(models.Model):
    """What one classifier decided; `refit` is the ML model's refit number (0 without one)."""

    decision = models.ForeignKey(Decision, on_delete=models.PROTECT, related_name="outputs", db_index=False)
    classifier = models.ForeignKey(Classifier, on_delete=models.PROTECT, related_name="+", db_index=False)
    label = models.CharField(max_length=LABEL)
    confidence = models.FloatField()
    probabilities = models.JSONField()
    version = models.PositiveIntegerField()
    refit = models.PositiveIntegerField()
    fingerprint = models.CharField(max_length=DIGEST)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["decision", "classifier"], name="output_once_a_classifier"),
            models.CheckConstraint(condition=Q(confidence__gte=0, confidence__lte=1), name="output_confidence"),
        ]

    def __str__(self) -> str:
        return self.label


class Review(models.Model):
    """A label (or a close without one) that a reviewer gave to a decision. `identity` is the caller's.

    Rows are never deleted: an undo sets `undone_at`. The latest review that is not undone is the one that counts.
    `taught` is set once a learning step has read a review that a person chose: an undo cannot unteach it.
    """

    cyclotron = models.ForeignKey(StoredCyclotron, on_delete=models.PROTECT, related_name="reviews", db_index=False)
    identity = models.CharField(max_length=IDENTITY)
    classifier = models.ForeignKey(Classifier, on_delete=models.PROTECT, related_name="reviews", db_index=False)
    item = models.ForeignKey(Item, on_delete=models.PROTECT, related_name="reviews")
    decision = models.ForeignKey(Decision, on_delete=models.PROTECT, related_name="reviews")
    label = models.CharField(max_length=LABEL, null=True)  # noqa: DJ001 - None is a close without a label
    explanation = models.TextField(blank=True, default="")
    reason_code = models.CharField(max_length=LABEL, blank=True, default="")
    reviewer = models.CharField(max_length=IDENTITY)
    selected_by = models.CharField(max_length=16)
    corrects = models.ForeignKey("self", null=True, on_delete=models.PROTECT, related_name="+")
    content_digest = models.CharField(max_length=DIGEST)
    taught = models.BooleanField(default=False)
    recorded_at = models.DateTimeField()
    undone_at = models.DateTimeField(null=True)
    undone_by = models.CharField(max_length=IDENTITY, blank=True, default="")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["cyclotron", "identity"], name="review_identity_once"),
            models.CheckConstraint(condition=~Q(identity=""), name="review_has_an_identity"),
            models.CheckConstraint(condition=Q(selected_by__in=SELECTIONS), name="review_selected_by_somebody"),
            models.CheckConstraint(condition=Q(label=None) | ~Q(label=""), name="review_label_or_none"),
            models.CheckConstraint(condition=Q(corrects=None) | ~Q(corrects=F("id")), name="review_corrects_another"),
        ]
        indexes = [
            models.Index(fields=["cyclotron", "-id"], name="review_newest"),
            models.Index(fields=["classifier", "item", "-id"], name="review_latest_of_item"),
        ]

    def __str__(self) -> str:
        return self.identity


class Event(models.Model):
    """Something that happened, with ids and labels only. `sequence` is a cursor without gaps within a cyclotron."""

    cyclotron = models.ForeignKey(StoredCyclotron, on_delete=models.PROTECT, related_name="events", db_index=False)
    sequence = models.PositiveBigIntegerField()
    kind = models.CharField(max_length=40)
    detail = models.JSONField()
    at = models.DateTimeField()

    class Meta:
        ordering = ["cyclotron", "sequence"]
        constraints = [
            models.UniqueConstraint(fields=["cyclotron", "sequence"], name="event_sequence_once"),
            models.CheckConstraint(condition=Q(sequence__gte=1), name="event_sequence_from_one"),
        ]

    def __str__(self) -> str:
        return f"{self.sequence} {self.kind}"


class CachedAnswer(models.Model):
    """A decision model's answer, stored once under the request's fingerprint; never overwritten."""

    cyclotron = models.ForeignKey(StoredCyclotron, on_delete=models.PROTECT, related_name="+", db_index=False)
    fingerprint = models.CharField(max_length=DIGEST)
    model = models.CharField(max_length=IDENTITY)
    endpoint_digest = models.CharField(max_length=DIGEST)
    input_digest = models.CharField(max_length=DIGEST)
    clock = models.CharField(max_length=40, blank=True, default="")
    answer = models.JSONField()
    tokens_in = models.PositiveBigIntegerField()
    tokens_out = models.PositiveBigIntegerField()
    created_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["cyclotron", "fingerprint"], name="answer_once")]
        indexes = [
            models.Index(fields=["cyclotron", "endpoint_digest", "input_digest"], name="answer_by_endpoint"),
        ]

    def __str__(self) -> str:
        return self.fingerprint
