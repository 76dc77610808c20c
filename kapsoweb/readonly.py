"""The admin's base for tables that only `actions` may write: everything can be read and searched, nothing changed."""

from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.http import HttpRequest

if TYPE_CHECKING:
    _ModelAdmin = admin.ModelAdmin[Any]
else:
    _ModelAdmin = admin.ModelAdmin  # Django's class takes no type argument when it runs


class ReadOnlyAdmin(_ModelAdmin):
    """Nobody adds, changes or deletes, a superuser neither."""

    def has_add_permission(self, request: HttpRequest) -> bool:  # noqa: ARG002 - Django passes it
        """Rows are made by the lab."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:  # noqa: ARG002 - Django passes it
        """Rows are changed by the lab."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:  # noqa: ARG002 - Django passes it
        """Rows are evidence."""
        return False
