"""Accounts, and what they hold."""

import re
from datetime import datetime

from django.db import IntegrityError, transaction

from kapsoweb.accounts.errors import InvalidNameError, NameTakenError, RecordHeldError
from kapsoweb.accounts.models import LOCAL_SLUG, NAME_PATTERN, Account, Holding
from kapsoweb.foundation.identifiers import new_id


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
