"""Reads of accounts, their members and what was done in them."""

from datetime import datetime

from django.contrib.auth.models import User
from django.db.models import Exists, OuterRef, Q, QuerySet

from kapsoweb.accounts.caller import Caller
from kapsoweb.accounts.models import LOCAL_SLUG, Account, AuditEntry, Invitation, Membership
from kapsoweb.accounts.roles import Role


def local_account() -> Account | None:
    """The account of the lab on one machine; None as long as nobody has needed it."""
    return Account.objects.filter(slug=LOCAL_SLUG).first()


def local_owner() -> User | None:
    """The oldest owner of the local account who may still sign in; None before the first visit."""
    owners = Membership.objects.filter(account__slug=LOCAL_SLUG, role=Role.OWNER, user__is_active=True)
    oldest = owners.select_related("user").order_by("created_at", "id").first()
    return oldest.user if oldest else None


def members(caller: Caller) -> QuerySet[Membership]:
    """The members of the caller's account, longest first."""
    caller.require_whole_account(Role.VIEWER)
    return Membership.objects.filter(account=caller.account).select_related("user").order_by("created_at", "id")


def invitations(caller: Caller) -> QuerySet[Invitation]:
    """The account's invitations, newest first. Owners."""
    caller.require_whole_account(Role.OWNER)
    return Invitation.objects.filter(account=caller.account).order_by("-id")


def open_invitations(now: datetime) -> QuerySet[Invitation]:
    """The invitations of all accounts that can still be followed: unused, in time, and their maker still an owner."""
    owns = Membership.objects.filter(
        account_id=OuterRef("account_id"), user_id=OuterRef("user_id"), role=Role.OWNER, user__is_active=True
    )
    unused = Invitation.objects.filter(used_at=None, revoked_at=None, expires_at__gt=now)
    return unused.filter(Q(user=None) | Exists(owns))


def accounts_of(user_id: int) -> QuerySet[Membership]:
    """A user's places in accounts, by the account's name."""
    return Membership.objects.filter(user_id=user_id).select_related("account").order_by("account__name", "id")


def roles_of(user_id: int) -> dict[str, Role]:
    """A user's roles by the ids of their accounts."""
    places = Membership.objects.filter(user_id=user_id).values_list("account_id", "role")
    return {account_id: Role(role) for account_id, role in places}


def audit_entries(caller: Caller) -> QuerySet[AuditEntry]:
    """What was done in the caller's account, newest first. Owners."""
    caller.require_whole_account(Role.OWNER)
    return AuditEntry.objects.filter(account=caller.account).order_by("-id")
