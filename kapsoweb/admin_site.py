"""The admin's site: open to whoever runs the lab, and to operators for the rows of the accounts that they operate.

A superuser sees every account's rows. Another account's row answers to an operator as one that does not exist.
"""

from django.contrib.admin import AdminSite
from django.http import HttpRequest

from kapsoweb.accounts.queries import accounts_with
from kapsoweb.accounts.roles import Role


class LabAdminSite(AdminSite):
    """Says who may look, and at which accounts."""

    site_header = site_title = "kapsoweb"
    index_title = "Tables"

    def has_permission(self, request: HttpRequest) -> bool:
        """Superusers, and operators and owners of some account."""
        return request.user.is_active and (request.user.is_superuser or bool(self.accounts_of(request)))

    def accounts_of(self, request: HttpRequest, *, owned: bool = False) -> list[str]:
        """The ids of the accounts whose rows a visitor without every right may see: operated ones, or `owned` ones."""
        roles = (Role.OWNER,) if owned else (Role.OPERATOR, Role.OWNER)
        return [] if request.user.pk is None else accounts_with(request.user.pk, roles)
