"""Writes of the accounts room: a local lab's account, holding a record, and signing the owner in by one-time link."""

import re
from datetime import datetime, timedelta
from typing import Any

from django.contrib.auth.hashers import make_password
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction

from kapsoweb.accounts import queries
from kapsoweb.accounts.caller import Caller
from kapsoweb.accounts.errors import InvalidNameError, NameTakenError, RecordHeldError, SignInLinkError
from kapsoweb.accounts.models import LOCAL_SLUG, NAME_PATTERN, Account, AuditEntry, Holding, Membership, SignInLink
from kapsoweb.accounts.roles import Role
from kapsoweb.accounts.secrets import digest_of, new_secret
from kapsoweb.foundation.canonical import check_json
from kapsoweb.foundation.identifiers import new_id

OWNER = "owner"
LINK_LIFETIME = timedelta(hours=12)


def make_local_account(now: datetime) -> Account:
    """Make the account of the lab on one machine; the one there is when several callers are first."""
    try:
        with transaction.atomic():
            return Account.objects.create(id=new_id("acc"), name="Local lab", slug=LOCAL_SLUG, created_at=now)
    except IntegrityError:
        return Account.objects.get(slug=LOCAL_SLUG)  # another caller made it in between


def check_name(name: str) -> str:
    """Return `name` unless it breaks the rule: 1 to 64 of letters, digits, `.`, `_`, `-`; a letter or digit first."""
    if not re.match(NAME_PATTERN, name):
        raise InvalidNameError(
            f"{name[:80]!r} is no name for a record: use 1 to 64 of A-Z, a-z, 0-9, '.', '_' and '-', "
            "beginning with a letter or a digit."
        )
    return name


def hold_record(*, account: Account, room: str, name: str, store: str, record_id: str, now: datetime) -> Holding:
    """Give `account` the hold on a record: `record_id` in the database alias `store`, under `name` in `room`.

    Raises `InvalidNameError`, `NameTakenError` when the account uses the name already, or `RecordHeldError`.
    """
    check_name(name)
    try:
        with transaction.atomic():
            return Holding.objects.create(
                account=account, room=room, name=name, store=store, record_id=record_id, created_at=now
            )
    except IntegrityError:
        if not Holding.objects.filter(account=account, room=room, name=name).exists():
            raise RecordHeldError(
                f"The {room} {record_id!r} is held already, and a record is held once.", room=room, recordId=record_id
            ) from None
        raise NameTakenError(
            f"There is a {room} named {name!r} already; choose another name or use that one.", room=room, name=name
        ) from None


def owner(now: datetime) -> User:
    """The user that a local lab's sign-in link signs in: a superuser without a usable password, made on demand."""
    rights = {"is_staff": True, "is_superuser": True, "password": make_password(None)}
    with transaction.atomic():
        user, _ = User.objects.get_or_create(username=OWNER, defaults=rights)
        account = queries.local_account() or make_local_account(now)
        Membership.objects.get_or_create(account=account, user=user, defaults={"role": Role.OWNER, "created_at": now})
    return user


def record_audit(
    caller: Caller, action: str, *, now: datetime, room: str = "", record_id: str = "", **detail: Any
) -> AuditEntry:
    """Write down who did what. Call it in the transaction of the action itself; `detail` has ids, labels and counts."""
    return AuditEntry.objects.create(
        account=caller.account,
        at=now,
        actor=caller.actor,
        door=caller.door,
        token_id=caller.token_id or "",
        action=action,
        room=room,
        record_id=record_id,
        detail=check_json(detail, "an audit entry's detail"),
    )


def create_sign_in_link(now: datetime) -> str:
    """A token that signs the owner in once, within 12 hours of `now`. Only its SHA-256 is stored."""
    token = new_secret()
    SignInLink.objects.create(token_digest=digest_of(token), created_at=now, expires_at=now + LINK_LIFETIME)
    return token


def use_sign_in_link(token: str, now: datetime) -> User:
    """The user the token signs in; the token is spent by this call.

    Raises `SignInLinkError` when it is unknown, spent or too old. Two calls at once have one winner: the row is
    taken by one conditional update.
    """
    usable = SignInLink.objects.filter(token_digest=digest_of(token), used_at__isnull=True, expires_at__gt=now)
    taken = usable.update(used_at=now)
    if not taken:
        raise SignInLinkError("This sign-in link is unknown, used or too old; ask the lab for a new one.")
    return owner(now)
