"""Accounts, what they hold, who may do what in them, and what was done. Only `actions` writes these rows."""

from datetime import datetime

from django.conf import settings
from django.core.validators import RegexValidator
from django.db import models
from django.db.models import F, Q

from kapsoweb.accounts.roles import Role

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


class Membership(models.Model):
    """A user's place in an account."""

    account = models.ForeignKey(Account, on_delete=models.PROTECT, related_name="memberships")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="memberships")
    role = models.CharField(max_length=16, choices=[(role.value, role.value) for role in Role])
    created_at = models.DateTimeField()

    class Meta:
        ordering = ("account", "created_at", "id")
        constraints = (
            models.UniqueConstraint(fields=("account", "user"), name="kapso_member_once"),
            models.CheckConstraint(condition=Q(role__in=list(Role)), name="kapso_member_role_known"),
        )

    def __str__(self) -> str:
        return f"{self.user} in {self.account}"


class Invitation(models.Model):
    """A link that makes whoever follows it a member, once. Only the SHA-256 of its token is kept.

    It works as long as `user`, who made it, is an owner; one made on the lab's own machine has no maker.
    """

    id = models.CharField(primary_key=True, max_length=40, editable=False)
    account = models.ForeignKey(Account, on_delete=models.PROTECT, related_name="invitations")
    role = models.CharField(max_length=16, choices=[(role.value, role.value) for role in Role])
    note = models.CharField(max_length=100, blank=True, default="")  # whom it is for
    token_digest = models.CharField(max_length=64, unique=True)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.CASCADE, related_name="invitations")
    created_by = models.CharField(max_length=200)
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True, blank=True)
    used_by = models.CharField(max_length=200, blank=True, default="")
    revoked_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("-created_at", "-id")
        constraints = (
            models.CheckConstraint(condition=Q(role__in=list(Role)), name="kapso_invitation_role_known"),
            models.CheckConstraint(condition=Q(expires_at__gt=F("created_at")), name="kapso_invitation_expires_later"),
            models.CheckConstraint(
                condition=Q(used_at=None) | Q(revoked_at=None), name="kapso_invitation_used_or_revoked"
            ),
        )

    def __str__(self) -> str:
        return f"invitation {self.id}"


class ApiToken(models.Model):
    """A machine's way into one account. Only the SHA-256 of the token is kept, and its first characters to know it by.

    It may do what its `role` and its maker's present role both allow; one made on the lab's own machine has no maker,
    and a name of its own for ever, for by it reviews know who gave them. `made_with` is the token that made it, if one
    did: it ends with that one.
    `record_id` names the one record that it reaches, or is empty for all.
    """

    id = models.CharField(primary_key=True, max_length=40, editable=False)
    account = models.ForeignKey(Account, on_delete=models.PROTECT, related_name="tokens")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.CASCADE, related_name="api_tokens")
    made_with = models.ForeignKey("self", null=True, on_delete=models.PROTECT, related_name="made")
    name = models.CharField(max_length=100)
    role = models.CharField(max_length=16, choices=[(role.value, role.value) for role in Role])
    room = models.CharField(max_length=32, blank=True, default="")
    record_id = models.CharField(max_length=64, blank=True, default="")
    digest = models.CharField(max_length=64, unique=True)
    beginning = models.CharField(max_length=16)
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    revoked_at = models.DateTimeField(null=True, blank=True)
    last_used_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("-created_at", "-id")
        verbose_name = "API token"
        constraints = (
            models.CheckConstraint(condition=Q(role__in=list(Role)), name="kapso_token_role_known"),
            models.CheckConstraint(condition=Q(expires_at__gt=F("created_at")), name="kapso_token_expires_later"),
            models.UniqueConstraint(fields=("account", "name"), condition=Q(user=None), name="kapso_token_name_once"),
            models.CheckConstraint(
                condition=(Q(room="") & Q(record_id="")) | (~Q(room="") & ~Q(record_id="")),
                name="kapso_token_scope_complete",
            ),
        )

    def __str__(self) -> str:
        return f"{self.name} ({self.beginning}…)"

    def state_at(self, now: datetime) -> str:
        """`revoked`, `expired` or `good`."""
        if self.revoked_at is not None:
            return "revoked"
        return "expired" if self.expires_at <= now else "good"


class AuditEntry(models.Model):
    """Who did what, when and by which door, with ids and labels only. Rows are never changed or deleted."""

    account = models.ForeignKey(Account, on_delete=models.PROTECT, related_name="audit_entries")
    at = models.DateTimeField()
    actor = models.CharField(max_length=300)
    door = models.CharField(max_length=16)
    token_id = models.CharField(max_length=40, blank=True, default="")
    action = models.CharField(max_length=64)
    room = models.CharField(max_length=32, blank=True, default="")
    record_id = models.CharField(max_length=64, blank=True, default="")
    detail = models.JSONField(default=dict)

    class Meta:
        ordering = ("-id",)
        verbose_name_plural = "audit entries"
        indexes = (models.Index(fields=("account", "-id"), name="kapso_audit_newest"),)

    def __str__(self) -> str:
        return f"{self.actor}: {self.action}"


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
