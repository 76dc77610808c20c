"""People for tests: users who are members of an account, strangers with an account of their own, and their callers."""

from datetime import UTC, datetime

from django.contrib.auth.models import User

from kapsoweb.accounts.access import caller_of_user, local_account
from kapsoweb.accounts.caller import Caller, Door
from kapsoweb.accounts.models import Account, Membership
from kapsoweb.accounts.roles import Role

JOINED_AT = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


def member(name: str = "somebody", role: Role = Role.OWNER, account: Account | None = None) -> User:
    """A user of that name with that role in `account` (the local one unless said)."""
    user, _ = User.objects.get_or_create(username=name)
    Membership.objects.create(account=account or local_account(), user=user, role=role, created_at=JOINED_AT)
    return user


def lab_owner(name: str = "owner") -> User:
    """The owner of the local account, who runs the lab."""
    user, made = User.objects.get_or_create(username=name, defaults={"is_staff": True, "is_superuser": True})
    return member(name) if made else user


def other_account(slug: str = "other") -> Account:
    """An account beside the local one."""
    return Account.objects.create(id=f"acc_{slug}", name=slug.title(), slug=slug, created_at=JOINED_AT)


def caller(role: Role = Role.OWNER, account: Account | None = None, name: str = "") -> Caller:
    """A new member of that role, at the browser's door."""
    account = account or local_account()
    return caller_of_user(member(name or f"{role}-of-{account.slug}", role, account), Door.BROWSER, account.pk)
