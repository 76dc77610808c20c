"""API tokens: made for a machine, shown once, good for a while, and revocable at any time."""

from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import QuerySet

from kapsoweb.accounts.access import access_record
from kapsoweb.accounts.actions.audit import record_audit
from kapsoweb.accounts.caller import Caller
from kapsoweb.accounts.errors import InvalidTokenError, NotAllowedError, RecordNotFound, TokenNameTakenError
from kapsoweb.accounts.models import ApiToken
from kapsoweb.accounts.roles import Role
from kapsoweb.accounts.secrets import TOKEN_PREFIX, digest_of, new_secret
from kapsoweb.foundation.canonical import check_text, is_storable
from kapsoweb.foundation.identifiers import new_id

MOST_DAYS = 365
MAX_TOKEN_NAME = 100
_SHOWN = len(TOKEN_PREFIX) + 6


def create_token(
    caller: Caller,
    *,
    name: str,
    role: Role,
    days: int,
    now: datetime,
    room: str = "",
    record_id: str = "",
) -> tuple[ApiToken, str]:
    """A token for the caller's account, and its secret, which is shown now and never again.

    Its role may not be above the caller's. With `room` and `record_id` it reaches that one record. A token made with a
    token lasts no longer than that one and reaches no more. Raises `InvalidTokenError`, `NotAllowedError`, or
    `RecordNotFound` for a record that the caller does not reach.
    """
    if not name.strip() or len(check_text(name, "the token's name")) > MAX_TOKEN_NAME:
        raise InvalidTokenError(f"a token's name must have 1 to {MAX_TOKEN_NAME} characters.", field="name")
    if isinstance(days, bool) or not 1 <= days <= MOST_DAYS:
        raise InvalidTokenError(f"a token lasts a whole number of days, 1 to {MOST_DAYS}.", field="days")
    if bool(room) != bool(record_id):
        raise InvalidTokenError("a token for one record needs its room and its id.", field="recordId")
    caller.require(role)
    if record_id:
        access_record(caller, room, record_id)
    elif caller.only is not None:
        raise NotAllowedError(
            "this token reaches one record only, so it makes tokens for that record only. Nothing was changed.",
            needed=role.value,
            role=caller.role.value,
        )
    secret = new_secret(TOKEN_PREFIX)
    with transaction.atomic():
        if caller.user_id is None and _same_name(caller, name).exists():
            raise TokenNameTakenError(
                "a token of this name was made here before, and reviews know it by its name; choose another.",
                field="name",
            )
        token = ApiToken.objects.create(
            id=new_id("tok"),
            account=caller.account,
            user_id=caller.user_id,
            made_with_id=caller.token_id,
            name=name,
            role=role,
            room=room,
            record_id=record_id,
            digest=digest_of(secret),
            beginning=secret[:_SHOWN],
            created_at=now,
            expires_at=min(now + timedelta(days=days), _end_of(caller) or now + timedelta(days=MOST_DAYS)),
        )
        record_audit(caller, "token.created", now=now, room=room, record_id=record_id, token=token.pk, role=role.value)
    return token, secret


def revoke_token(caller: Caller, token_id: str, *, now: datetime) -> ApiToken:
    """End a token at once, and those made with it; one that has ended stays as it is. Members their own, owners
    everybody's of the account.

    Raises `RecordNotFound` for every other.
    """
    with transaction.atomic():
        rows = tokens_of(caller).filter(pk=token_id) if is_storable(token_id) else ApiToken.objects.none()
        token = rows.select_for_update().first()
        if token is None:
            raise RecordNotFound(f"There is no token with the id {token_id!r} here.", tokenId=token_id)
        if not _own_tokens(caller, rows).filter(pk=token.pk).exists():
            caller.require(Role.OWNER)
        if token.revoked_at is None:
            token.revoked_at = now
            end_tokens(ApiToken.objects.filter(pk=token.pk), now)
            record_audit(caller, "token.revoked", now=now, token=token.pk)
    return token


def end_tokens(tokens: QuerySet[ApiToken], now: datetime) -> None:
    """Revoke the tokens that have not ended, those made with them, and so on."""
    ending = list(tokens.values_list("pk", flat=True))
    while ending:
        ApiToken.objects.filter(pk__in=ending, revoked_at=None).update(revoked_at=now)
        ending = list(ApiToken.objects.filter(made_with__in=ending).values_list("pk", flat=True))


def tokens_of(caller: Caller) -> QuerySet[ApiToken]:
    """The tokens that the caller may see and revoke, newest first: an owner's are all of the account."""
    rows = ApiToken.objects.filter(account=caller.account).order_by("-id")
    if caller.only is not None:
        rows = rows.filter(record_id=caller.only)
    return rows if caller.role.allows(Role.OWNER) else _own_tokens(caller, rows)


def _own_tokens(caller: Caller, rows: QuerySet[ApiToken]) -> QuerySet[ApiToken]:
    # A token that was made on the lab's own machine has no maker: it knows itself and no other of its kind.
    return rows.filter(pk=caller.token_id) if caller.user_id is None else rows.filter(user=caller.user_id)


def _same_name(caller: Caller, name: str) -> QuerySet[ApiToken]:
    return ApiToken.objects.filter(account=caller.account, user=None, name=name)


def _end_of(caller: Caller) -> datetime | None:
    """Until when what the caller makes may last; None where only the general limit holds."""
    if caller.token_id is None:
        return None
    return ApiToken.objects.values_list("expires_at", flat=True).get(pk=caller.token_id)
