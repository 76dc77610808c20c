"""The admin's site: open to whoever runs the lab, and to operators for the rows of the accounts that they operate.

A superuser sees every account's rows. Another account's row answers to an operator as one that does not exist.
"""

from typing import ClassVar

from django.contrib.admin import AdminSite
from django.contrib.auth.forms import AuthenticationForm
from django.http import HttpRequest

from kapsoweb.accounts.queries import roles_of
from kapsoweb.accounts.roles import Role

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
