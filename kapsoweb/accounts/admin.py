"""Accounts in the admin: to read and to search. Writing is for `actions`, which keep the rules."""

from django.contrib import admin

from kapsoweb.accounts.models import Account, Holding, SignInLink
from kapsoweb.readonly import ReadOnlyAdmin


@admin.register(Account)
class AccountAdmin(ReadOnlyAdmin):
    """Accounts by slug."""

    list_display = ("slug", "name", "id", "created_at")
    search_fields = ("slug", "name", "id")


@admin.register(Holding)
class HoldingAdmin(ReadOnlyAdmin):
    """What each account holds, and where it is stored."""

    list_display = ("name", "room", "account", "store", "record_id", "created_at")
    list_filter = ("room", "store")
    list_select_related = ("account",)
    search_fields = ("name", "record_id", "account__slug")


@admin.register(SignInLink)
class SignInLinkAdmin(ReadOnlyAdmin):
    """When links were made and used; their tokens are not stored."""

    list_display = ("created_at", "expires_at", "used_at")
    exclude = ("token_digest",)
