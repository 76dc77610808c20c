"""The accounts room as a Django app."""

from django.apps import AppConfig


class AccountsConfig(AppConfig):
    """Tables are prefixed `kapso_accounts_`."""

    name = "kapsoweb.accounts"
    label = "kapso_accounts"
    verbose_name = "Accounts"
