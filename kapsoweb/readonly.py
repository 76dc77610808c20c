"""The admin's base for tables that only `actions` may write: everything can be read and searched, nothing changed.

Each table says by which lookup its rows belong to an account. A visitor who is no superuser sees the rows of the
accounts that they operate; a table that belongs to none is for superusers.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, ClassVar

from django.contrib import admin
from django.contrib.admin.options import IncorrectLookupParameters
from django.db.models import QuerySet
from django.http import HttpRequest

from kapsoweb.foundation.canonical import is_storable

_EMPTY = "none"  # how a choice calls the empty text

if TYPE_CHECKING:
    _ModelAdmin = admin.ModelAdmin[Any]
else:
    _ModelAdmin = admin.ModelAdmin  # Django's class takes no type argument when it runs


def known(column: str, values: Iterable[str]) -> type[admin.SimpleListFilter]:
    """A filter by the values that a column can have; Django's own looks through the whole table for those it has."""
    choices = [(value or _EMPTY, value or _EMPTY) for value in values]

    class Known(admin.SimpleListFilter):
        """The filter."""

        title = column.replace("_", " ")
        parameter_name = column

        def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:  # noqa: ARG002
            """The choices."""
            return choices

        def queryset(self, request: HttpRequest, queryset: "QuerySet[Any]") -> "QuerySet[Any]":  # noqa: ARG002
            """The rows with the chosen value, or all."""
            if self.value() not in dict(choices):
                return queryset
            return queryset.filter(**{column: "" if self.value() == _EMPTY else self.value()})

    return Known


class ReadOnlyAdmin(_ModelAdmin):
    """Nobody adds, changes or deletes, a superuser neither. `account_path` leads to an account's id, or is None.

    `for_owners`: what every door shows to an account's owners alone.
    """

    account_path: ClassVar[str | None] = None
    for_owners: ClassVar[bool] = False

    def of_accounts(self, rows: "QuerySet[Any]", accounts: list[str]) -> "QuerySet[Any]":
        """Those of the rows that belong to one of the accounts."""
        return rows.none() if self.account_path is None else rows.filter(**{f"{self.account_path}__in": accounts})

    def is_for_operators(self) -> bool:
        """Whether anybody but a superuser may see the table."""
        return self.account_path is not None

    def get_queryset(self, request: HttpRequest) -> "QuerySet[Any]":
        """The rows that the visitor may see."""
        rows = super().get_queryset(request)
        if request.user.is_superuser:
            return rows
        return self.of_accounts(rows, self.admin_site.accounts_of(request, owned=self.for_owners))  # type: ignore[attr-defined]  # the lab's site

    def get_object(self, request: HttpRequest, object_id: str, from_field: str | None = None) -> Any:
        """A row of those; text that no database takes is the id of none."""
        return super().get_object(request, object_id, from_field) if is_storable(object_id) else None

    def get_changelist_instance(self, request: HttpRequest) -> Any:
        """The list; Django leads from filters that are none to the list without them."""
        if not all(is_storable(value) for values in request.GET.lists() for value in values[1]):
            raise IncorrectLookupParameters
        return super().get_changelist_instance(request)

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:  # noqa: ARG002 - Django passes it
        """Superusers every table; operators those whose rows belong to accounts."""
        return request.user.is_superuser or (self.is_for_operators() and self.admin_site.has_permission(request))

    def has_module_permission(self, request: HttpRequest) -> bool:
        """Whether the table stands in the index."""
        return self.has_view_permission(request)

    def has_add_permission(self, request: HttpRequest) -> bool:  # noqa: ARG002 - Django passes it
        """Rows are made by the lab."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:  # noqa: ARG002 - Django passes it
        """Rows are changed by the lab."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:  # noqa: ARG002 - Django passes it
        """Rows are evidence."""
        return False
