"""Requests that came with an idempotency key. Only `rest.idempotency` writes these rows, and drops them after a day."""

from django.db import models
from django.db.models import Q

from kapsoweb.accounts.models import Account


class RequestState(models.TextChoices):
    """Where a request stands: under way, carried out with its answer kept, or carried out with an answer not kept."""

    RUNNING = "running"
    DONE = "done"
    NOT_KEPT = "not-kept"


class KeyedRequest(models.Model):
    """A request of one token (or user) under a key that its sender chose.

    `digest` covers method, address and content. `fence` grows each time the row is taken over, so that whoever was
    thought dead can neither keep an answer nor free the key. `needs` is the greatest role that the request took; below
    it the answer is not given again, and it is empty where none was asked for. `answer` is the JSON text that was sent.
    """

    account = models.ForeignKey(Account, on_delete=models.PROTECT, related_name="+")
    sender = models.CharField(max_length=64)
    key = models.CharField(max_length=255)
    digest = models.CharField(max_length=64)
    state = models.CharField(max_length=16, choices=RequestState.choices, default=RequestState.RUNNING)
    fence = models.PositiveIntegerField(default=1)
    status = models.PositiveSmallIntegerField(null=True)
    needs = models.CharField(max_length=16, blank=True, default="")
    answer = models.TextField(blank=True, default="")
    created_at = models.DateTimeField(db_index=True)

    class Meta:
        ordering = ("-id",)
        constraints = (
            models.UniqueConstraint(fields=("account", "sender", "key"), name="kapso_keyed_request_once"),
            models.CheckConstraint(condition=~Q(sender="") & ~Q(key=""), name="kapso_keyed_request_complete"),
            models.CheckConstraint(condition=Q(state__in=RequestState.values), name="kapso_keyed_request_state_known"),
            models.CheckConstraint(
                condition=Q(state=RequestState.RUNNING, status=None) | ~Q(state=RequestState.RUNNING),
                name="kapso_keyed_request_running_has_no_status",
            ),
        )

    def __str__(self) -> str:
        return f"{self.sender} {self.key}"
