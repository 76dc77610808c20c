"""Reads of accounts and of what they hold."""

from kapsoweb.accounts.models import LOCAL_SLUG, Account, Holding


def local_account() -> Account | None:
    """The account of the lab on one machine; None as long as nobody has needed it."""
    return Account.objects.filter(slug=LOCAL_SLUG).first()


def records_of(account: Account, room: str) -> list[Holding]:
    """All that the account holds of a room, by name."""
    return list(Holding.objects.filter(account=account, room=room).order_by("name"))
