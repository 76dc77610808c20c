"""The way into a lab on one machine: one-time links, and the owner that the first of them makes."""

from datetime import datetime, timedelta

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import QuerySet

from kapsoweb.accounts import queries
from kapsoweb.accounts.actions.audit import record_audit
from kapsoweb.accounts.actions.holding import make_local_account
from kapsoweb.accounts.actions.users import save_new_user
from kapsoweb.accounts.caller import Caller, Door
from kapsoweb.accounts.errors import OwnerExistsError, SignInLinkError
from kapsoweb.accounts.models import Account, Membership, SignInLink
from kapsoweb.accounts.roles import Role
from kapsoweb.accounts.secrets import digest_of, new_secret

LINK_LIFETIME = timedelta(hours=12)


def create_sign_in_link(now: datetime) -> str:
    """A token that signs the owner in once, within 12 hours of `now`. Only its SHA-256 is stored."""
    token = new_secret()
    SignInLink.objects.create(token_digest=digest_of(token), created_at=now, expires_at=now + LINK_LIFETIME)
    return token


def use_sign_in_link(token: str, now: datetime) -> User:
    """The owner of the local account, whom the token signs in; it is spent by this call.

    Raises `SignInLinkError` when it is unknown, spent or too old, or while there is no owner (it is then kept for
    `create_first_owner`). Two calls at once have one winner: the row is taken by one conditional update.
    """
    with transaction.atomic():
        owner = queries.local_owner()
        if owner is None:
            raise SignInLinkError("This lab has no owner yet; open the link and become it.")
        _spend(token, now)
        caller = _caller(owner, queries.local_account() or make_local_account(now))
        record_audit(caller, "member.signed-in", now=now, by="link")
    return owner


def create_first_owner(token: str, user: User, now: datetime) -> User:
    """Save `user`, with a password set, as the owner of the local account, who also runs the lab; the token is spent.

    Raises `SignInLinkError`, `UserNameTakenError`, or `OwnerExistsError` when there is an owner: of callers at once
    one becomes it, and the others' tokens are not spent.
    """
    with transaction.atomic():
        account = queries.local_account() or make_local_account(now)
        Account.objects.select_for_update().get(pk=account.pk)
        if queries.local_owner() is not None:
            raise OwnerExistsError("This lab has an owner already; open the link again to be signed in.")
        _spend(token, now)
        user.is_staff = user.is_superuser = True
        save_new_user(user)
        Membership.objects.create(account=account, user=user, role=Role.OWNER, created_at=now)
        record_audit(_caller(user, account), "account.owned", now=now)
    return user


def check_sign_in_link(token: str, now: datetime) -> None:
    """Raise `SignInLinkError` unless the token could be used now; it is not spent."""
    if not _usable(token, now).exists():
        raise _refused()


def _spend(token: str, now: datetime) -> None:
    if not _usable(token, now).update(used_at=now):
        raise _refused()


def _usable(token: str, now: datetime) -> "QuerySet[SignInLink]":
    return SignInLink.objects.filter(token_digest=digest_of(token), used_at__isnull=True, expires_at__gt=now)


def _refused() -> SignInLinkError:
    return SignInLinkError("This sign-in link is unknown, used or too old; ask the lab for a new one.")


def _caller(user: User, account: Account) -> Caller:
    return Caller(account=account, role=Role.OWNER, actor=user.get_username(), door=Door.BROWSER, user_id=user.pk)
