"""The only way to a record on behalf of somebody. A missing record and another account's are one and the same error."""

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser

from kapsoweb.accounts import actions, queries
from kapsoweb.accounts.errors import RecordNotFound
from kapsoweb.accounts.models import Account, Holding
from kapsoweb.foundation import clock
from kapsoweb.foundation.canonical import is_storable


def local_account() -> Account:
    """The account of the lab on one machine; the first call has it made."""
    return queries.local_account() or actions.make_local_account(clock.now())


def account_of(user: AbstractBaseUser | AnonymousUser) -> Account:
    """The account a signed-in user acts for; `RecordNotFound` for anybody else."""
    if not (user.is_authenticated and user.is_active):
        raise RecordNotFound("There is no account for a visitor who has not signed in; sign in first.")
    return local_account()


def access_record(account: Account, room: str, record_id: str) -> Holding:
    """The account's hold on the record of that id in `room`, or `RecordNotFound`."""
    holding = _held(account, room, record_id=record_id)
    if holding is None:
        raise RecordNotFound(f"There is no {room} with the id {record_id!r} here.", room=room, recordId=record_id)
    return holding


def access_record_by_name(account: Account, room: str, name: str) -> Holding:
    """The account's hold on the record of that name in `room`, or `RecordNotFound`."""
    holding = _held(account, room, name=name)
    if holding is None:
        raise RecordNotFound(f"There is no {room} named {name!r} here.", room=room, name=name)
    return holding


def _held(account: Account, room: str, **wanted: str) -> Holding | None:
    """The hold that is wanted; text that no database takes names no record, and is not looked up."""
    if not all(is_storable(text) for text in wanted.values()):
        return None
    return Holding.objects.filter(account=account, room=room, **wanted).first()
