"""The review queue: which items wait, who holds which of them, and who has skipped which. Source: spec, section 1."""

from django.db import models
from django.db.models import F, Q

from cyclotron.models.engine import IDENTITY, Classifier, Decision, Item, StoredCyclotron


class WaitingItem(models.Model):
    """An item that was sent to review and has no active review of the classifier.

    This follows from items and reviews. It is kept beside them, by whatever sends, reviews or undoes, because the head
    of the queue would else be found only by passing over all that has been reviewed. `sent_at`: when it was first sent.
    """

    cyclotron = models.ForeignKey(StoredCyclotron, on_delete=models.PROTECT, related_name="+", db_index=False)
    classifier = models.ForeignKey(Classifier, on_delete=models.PROTECT, related_name="+", db_index=False)
    item = models.ForeignKey(Item, on_delete=models.PROTECT, related_name="waiting", db_index=False)
    sent_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["classifier", "item"], name="item_waits_once_a_classifier")]
        indexes = [models.Index(fields=["classifier", "sent_at", "item"], name="waiting_item_next")]

    def __str__(self) -> str:
        return str(self.item_id)


class Assignment(models.Model):
    """An item that one reviewer holds until `expires_at`. Its id becomes the identity of the review that answers it.

    The row outlives its time until somebody else is given the item, so that a late answer nobody minds still counts.
    """

    id = models.CharField(primary_key=True, max_length=40)
    cyclotron = models.ForeignKey(StoredCyclotron, on_delete=models.PROTECT, related_name="+")
    classifier = models.ForeignKey(Classifier, on_delete=models.PROTECT, related_name="+")
    item = models.ForeignKey(Item, on_delete=models.PROTECT, related_name="+")
    decision = models.ForeignKey(Decision, on_delete=models.PROTECT, related_name="+")
    reviewer = models.CharField(max_length=IDENTITY)
    held_since = models.DateTimeField()
    expires_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["classifier", "item"], name="item_held_by_one_reviewer"),
            models.UniqueConstraint(fields=["classifier", "reviewer"], name="reviewer_holds_one_item"),
            models.CheckConstraint(condition=Q(expires_at__gt=F("held_since")), name="assignment_expires_later"),
        ]

    def __str__(self) -> str:
        return self.id


class SkippedItem(models.Model):
    """An item that a reviewer would rather see later."""

    cyclotron = models.ForeignKey(StoredCyclotron, on_delete=models.PROTECT, related_name="+")
    classifier = models.ForeignKey(Classifier, on_delete=models.PROTECT, related_name="+")
    item = models.ForeignKey(Item, on_delete=models.PROTECT, related_name="+")
    reviewer = models.CharField(max_length=IDENTITY)
    skipped_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["classifier", "item", "reviewer"], name="item_skipped_once_a_reviewer"),
        ]
        indexes = [models.Index(fields=["classifier", "reviewer", "skipped_at"], name="skipped_item_next")]

    def __str__(self) -> str:
        return f"{self.item_id} by {self.reviewer}"
