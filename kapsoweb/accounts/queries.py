"""Reads of what an account holds."""

from kapsoweb.accounts.models import Account, Holding


def records_of(account: Account, room: str) -> list[Holding]:
    """All that the account holds of a room, by name."""
    return list(Holding.objects.filter(account=account, room=room).order_by("name"))
