"""Reads of accounts."""

from kapsoweb.accounts.models import LOCAL_SLUG, Account


def local_account() -> Account | None:
    """The account of the lab on one machine; None as long as nobody has needed it."""
    return Account.objects.filter(slug=LOCAL_SLUG).first()
