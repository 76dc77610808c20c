"""Accounts, what they hold, and one-time sign-in links. Only `actions` writes these rows."""

from django.core.validators import RegexValidator
from django.db import models

NAME_PATTERN = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}\Z"
LOCAL_SLUG = "local"  # of the one account that a lab on one machine has


class Account(models.Model):
    """Somebody on whose behalf records are held; every record of every room is reached through one."""

    id = models.CharField(primary_key=True, max_length=40, editable=False)
    name = models.CharField(max_length=100)
    slug = models.SlugField(max_length=64, unique=True)
    created_at = models.DateTimeField()

    class Meta:
        ordering = ("slug",)

    def __str__(self) -> str:
        return self.name


class Holding(models.Model):
    """An account's hold on one record of a room: the store (a database alias) that has it, and its id there."""

    account = models.ForeignKey(Account, on_delete=models.PROTECT, related_name="holdings")
    room = models.CharField(max_length=32)
    name = models.CharField(max_length=64, validators=[RegexValidator(NAME_PATTERN)])
    store = models.CharField(max_length=100)
    record_id = models.CharField(max_length=64)
    created_at = models.DateTimeField()

    class Meta:
        ordering = ("account", "room", "name")
        constraints = (
            models.UniqueConstraint(fields=("account", "room", "name"), name="kapso_holding_name_once"),
            models.UniqueConstraint(fields=("room", "store", "record_id"), name="kapso_holding_record_once"),
            models.CheckConstraint(
                condition=~models.Q(room="") & ~models.Q(name="") & ~models.Q(store="") & ~models.Q(record_id=""),
                name="kapso_holding_complete",
            ),
        )

    def __str__(self) -> str:
        return f"{self.room} {self.name}"


class SignInLink(models.Model):
    """A link that signs the lab's owner in once. Only the SHA-256 of its token is kept."""

    token_digest = models.CharField(max_length=64, unique=True)
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("-created_at",)
        constraints = (
            models.CheckConstraint(
                condition=models.Q(expires_at__gt=models.F("created_at")), name="kapso_sign_in_expires_later"
            ),
        )

    def __str__(self) -> str:
        return f"sign-in link of {self.created_at:%Y-%m-%d %H:%M}"
