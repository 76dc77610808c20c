"""Accounts in the admin: to read and to search. Writing is for `actions`, which keep the rules."""

from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.contrib.auth.admin import GroupAdmin, UserAdmin
from django.contrib.auth.models import Group, User
from django.db.models import QuerySet
from django.http import HttpRequest

from kapsoweb.accounts.caller import Door
from kapsoweb.accounts.models import Account, ApiToken, AuditEntry, Holding, Invitation, Membership, SignInLink
from kapsoweb.readonly import ReadOnlyAdmin, known

if TYPE_CHECKING:
    _ModelAdmin = admin.ModelAdmin[Any]
    _UserAdmin = UserAdmin[User]
else:
    _ModelAdmin, _UserAdmin = admin.ModelAdmin, UserAdmin  # Django's classes take no type argument when they run


class OfTheLabAdmin(_ModelAdmin):
    """One of Django's own tables: whoever may not see it finds no row in it.

    Django asks for a row before it asks whether a visitor may see it, and so would tell which rows there are.
    """

    def get_queryset(self, request: HttpRequest) -> "QuerySet[Any]":
        """All rows, or none."""
        rows = super().get_queryset(request)
        return rows if self.has_view_or_change_permission(request) else rows.none()


admin.site.unregister((User, Group))


@admin.register(User)
class LabUserAdmin(OfTheLabAdmin, _UserAdmin):
    """Users, for whoever runs the lab."""


@admin.register(Group)
class LabGroupAdmin(OfTheLabAdmin, GroupAdmin):
    """Groups, for whoever runs the lab."""


@admin.register(Account)
class AccountAdmin(ReadOnlyAdmin):
    """Accounts by slug."""

    account_path = "id"
    list_display = ("slug", "name", "id", "created_at")
    search_fields = ("slug", "name", "id")


@admin.register(Holding)
class HoldingAdmin(ReadOnlyAdmin):
    """What each account holds, and where it is stored."""

    account_path = "account_id"
    list_display = ("name", "room", "account", "store", "record_id", "created_at")
    list_filter = ("room", "store")
    list_select_related = ("account",)
    search_fields = ("name", "record_id", "account__slug")


@admin.register(Membership)
class MembershipAdmin(ReadOnlyAdmin):
    """Who may do what in each account."""

    account_path = "account_id"
    list_display = ("user", "account", "role", "created_at")
    list_filter = ("role",)
    list_select_related = ("user", "account")
    search_fields = ("user__username", "account__slug")


@admin.register(Invitation)
class InvitationAdmin(ReadOnlyAdmin):
    """Invitations; their secrets are not stored."""

    for_owners = True
    account_path = "account_id"
    list_display = ("id", "account", "role", "note", "created_by", "created_at", "expires_at", "used_at", "revoked_at")
    list_select_related = ("account",)
    search_fields = ("id", "note", "used_by")
    exclude = ("token_digest",)


@admin.register(ApiToken)
class ApiTokenAdmin(ReadOnlyAdmin):
    """API tokens by how they begin; their secrets are not stored."""

    for_owners = True
    account_path = "account_id"
    list_display = ("name", "beginning", "account", "user", "role", "expires_at", "revoked_at", "last_used_at")
    list_filter = ("role",)
    list_select_related = ("account", "user")
    search_fields = ("name", "beginning", "user__username")
    exclude = ("digest",)


@admin.register(AuditEntry)
class AuditEntryAdmin(ReadOnlyAdmin):
    """What was done, newest first."""

    for_owners = True
    account_path = "account_id"
    list_display = ("at", "actor", "door", "action", "room", "record_id", "account")
    list_filter = (known("door", Door),)
    list_select_related = ("account",)
    search_fields = ("actor", "action", "=room", "record_id")
    show_full_result_count = False


@admin.register(SignInLink)
class SignInLinkAdmin(ReadOnlyAdmin):
    """When links were made and used; their tokens are not stored."""

    list_display = ("created_at", "expires_at", "used_at")
    exclude = ("token_digest",)
