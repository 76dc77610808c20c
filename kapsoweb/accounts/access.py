"""The only way to a record on behalf of somebody. A missing record and another account's are one and the same error.

Whether the record is there is asked before whether the caller may do what they want with it, so that a role tells
nothing about what other accounts hold.
"""

from datetime import datetime, timedelta

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.db.models import QuerySet

from kapsoweb.accounts import queries
from kapsoweb.accounts.actions.holding import make_local_account
from kapsoweb.accounts.caller import COMMAND_LINE, Caller, Door
from kapsoweb.accounts.errors import RecordNotFound, UnknownTokenError
from kapsoweb.accounts.models import Account, ApiToken, Holding, Membership
from kapsoweb.accounts.roles import Role, lesser
from kapsoweb.accounts.secrets import digest_of
from kapsoweb.foundation import clock
from kapsoweb.foundation.canonical import is_storable

_LAST_USE_EVERY = timedelta(minutes=1)  # a busy token is not written at each request


def local_account() -> Account:
    """The account of the lab on one machine; the first call has it made."""
    return queries.local_account() or make_local_account(clock.now())


def local_caller(door: Door = Door.COMMAND_LINE) -> Caller:
    """Whoever works at the lab's own machine: they hold its database, so they may do everything in its account."""
    return Caller(account=local_account(), role=Role.OWNER, actor=COMMAND_LINE, door=door)


def caller_of_user(user: AbstractBaseUser | AnonymousUser, door: Door, account_id: str | None = None) -> Caller:
    """A signed-in user in the account `account_id`, or in the first that they are a member of.

    Raises `RecordNotFound` for a visitor, and for an account that they are no member of.
    """
    if not (user.is_authenticated and user.is_active):
        raise RecordNotFound("There is no account for a visitor who has not signed in; sign in first.")
    places = Membership.objects.filter(user_id=user.pk).select_related("account").order_by("account__name", "id")
    if account_id is not None:
        places = places.filter(account_id=account_id) if is_storable(account_id) else places.none()
    place = places.first()
    if place is None:
        raise RecordNotFound("There is no account here for you; ask an owner of one for an invitation.")
    return Caller(
        account=place.account, role=Role(place.role), actor=user.get_username(), door=door, user_id=int(user.pk)
    )


def caller_of_token(secret: str, door: Door, now: datetime) -> Caller:
    """Whoever carries an API token; its last use is noted. Raises `UnknownTokenError`."""
    valid = ApiToken.objects.filter(digest=digest_of(secret), revoked_at=None, expires_at__gt=now)
    token = valid.select_related("account", "user").first()
    role = _role_of(token) if token is not None else None
    if token is None or role is None:
        raise UnknownTokenError("This API token is unknown, revoked or too old; make another one.")
    if token.last_used_at is None or token.last_used_at < now - _LAST_USE_EVERY:
        ApiToken.objects.filter(pk=token.pk).update(last_used_at=now)
    maker = token.user.get_username() if token.user else COMMAND_LINE
    return Caller(
        account=token.account,
        role=role,
        actor=f"{maker} (token {token.name})",
        door=door,
        user_id=token.user_id,
        token_id=token.pk,
        only=token.record_id or None,
    )


def access_record(caller: Caller, room: str, record_id: str, *, needs: Role = Role.VIEWER) -> Holding:
    """The account's hold on the record of that id in `room`.

    Raises `RecordNotFound`, or `NotAllowedError` when the record is there and the caller's role is below `needs`.
    """
    holding = _held(caller, room, record_id=record_id)
    if holding is None:
        raise RecordNotFound(f"There is no {room} with the id {record_id!r} here.", room=room, recordId=record_id)
    caller.require(needs)
    return holding


def access_record_by_name(caller: Caller, room: str, name: str, *, needs: Role = Role.VIEWER) -> Holding:
    """The account's hold on the record of that name in `room`; raises as `access_record` does."""
    holding = _held(caller, room, name=name)
    if holding is None:
        raise RecordNotFound(f"There is no {room} named {name!r} here.", room=room, name=name)
    caller.require(needs)
    return holding


def access_records(caller: Caller, room: str) -> QuerySet[Holding]:
    """All of a room that the caller reaches, by name."""
    return access_all(caller).filter(room=room)


def access_all(caller: Caller) -> QuerySet[Holding]:
    """All that the caller reaches, of whatever room, by name."""
    rows = Holding.objects.filter(account=caller.account).order_by("room", "name")
    return rows if caller.only is None else rows.filter(record_id=caller.only)


def _held(caller: Caller, room: str, **wanted: str) -> Holding | None:
    """The hold that is wanted; text that no database takes names no record, and is not looked up."""
    if not all(is_storable(text) for text in wanted.values()):
        return None
    return access_records(caller, room).filter(**wanted).first()


def _role_of(token: ApiToken) -> Role | None:
    """What a token may do now; None when its maker has left the account or the lab."""
    if token.user is None:
        return Role(token.role)
    place = Membership.objects.filter(account_id=token.account_id, user=token.user).first()
    if place is None or not token.user.is_active:
        return None
    return lesser(Role(token.role), Role(place.role))
