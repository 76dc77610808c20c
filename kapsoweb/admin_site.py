"""The admin's site: open to whoever runs the lab, and to operators for the rows of the accounts that they operate.

A superuser sees every account's rows. Another account's row answers to an operator as one that does not exist.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any, ClassVar, TypeVar, cast

from django.contrib.admin import AdminSite
from django.contrib.admin.exceptions import DisallowedModelAdminLookup, DisallowedModelAdminToField
from django.contrib.admin.views.main import ERROR_FLAG
from django.contrib.auth.forms import AuthenticationForm
from django.http import HttpRequest, HttpResponseBase, HttpResponseRedirect

from kapsoweb.accounts.queries import roles_of
from kapsoweb.accounts.roles import Role

View = TypeVar("View", bound=Callable[..., HttpResponseBase])

_FOUND = "kapsoweb_roles"  # of a request: every table of the index asks who is there


class LabAdminSite(AdminSite):
    """Says who may look, and at which accounts."""

    site_header = site_title = "kapsoweb"
    index_title = "Tables"
    # Django's own form lets staff in only; who may look is for `has_permission`, whichever way they signed in.
    login_form: ClassVar[type[AuthenticationForm]] = AuthenticationForm  # type: ignore[misc]

    def has_permission(self, request: HttpRequest) -> bool:
        """Superusers, and operators and owners of some account."""
        return request.user.is_active and (request.user.is_superuser or bool(self.accounts_of(request)))

    def admin_view(self, view: View, cacheable: bool = False) -> View:
        """A view of the admin. What its query may not ask for leads to the page without it, as a filter that is none
        does; Django's own answer to it puts a fault into the log that anybody could fill.
        """

        @wraps(view)
        def led_back(request: HttpRequest, *arguments: Any, **named: Any) -> HttpResponseBase:
            try:
                return view(request, *arguments, **named)
            except (DisallowedModelAdminLookup, DisallowedModelAdminToField):
                return HttpResponseRedirect(f"{request.path}?{ERROR_FLAG}=1")

        return super().admin_view(cast("View", led_back), cacheable)

    def accounts_of(self, request: HttpRequest, *, owned: bool = False) -> list[str]:
        """The ids of the accounts whose rows a visitor without every right may see: operated ones, or `owned` ones."""
        needed = Role.OWNER if owned else Role.OPERATOR
        return [account for account, role in _roles(request).items() if role.allows(needed)]


def _roles(request: HttpRequest) -> dict[str, Role]:
    """The visitor's roles by account, read once for a request and whoever is at it."""
    if request.user.pk is None:
        return {}
    key = int(request.user.pk)
    found: tuple[int, dict[str, Role]] | None = getattr(request, _FOUND, None)
    if found is None or found[0] != key:
        found = key, roles_of(key)
        setattr(request, _FOUND, found)
    return found[1]
