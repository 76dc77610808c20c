"""Somebody at a door: the account they act for, what they may do, and the name that the audit log gives them."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from enum import StrEnum

from kapsoweb.accounts.errors import NotAllowedError
from kapsoweb.accounts.models import Account
from kapsoweb.accounts.roles import Role

COMMAND_LINE = "command line"  # the name of whoever works at the lab's own machine
_noted: ContextVar[list[Role] | None] = ContextVar("roles that were asked for", default=None)


class Door(StrEnum):
    """By which way a caller came in."""

    BROWSER = "browser"
    REST = "rest"
    GRAPHQL = "graphql"
    COMMAND_LINE = "command-line"
    PYTHON = "python"


@dataclass(frozen=True)
class Caller:
    """One account, seen with one role. `only` is the id of the one record that a scoped token reaches, or None.

    `actor` is who reviews and audit entries name: a user's name, or a user's name and the token's.
    """

    account: Account
    role: Role
    actor: str
    door: Door
    user_id: int | None = None
    token_id: str | None = None
    only: str | None = None

    def require(self, needed: Role) -> None:
        """Raise `NotAllowedError` unless the role may do what `needed` may."""
        if not self.role.allows(needed):
            raise NotAllowedError(
                f"this needs the role {needed.value} in the account, and yours is {self.role.value}. "
                "Nothing was changed; ask an owner of the account.",
                needed=needed.value,
                role=self.role.value,
            )
        _note(needed)

    def may(self, needed: Role) -> bool:
        """Whether the role may do what `needed` may, for a rule that says no in words of its own."""
        allowed = self.role.allows(needed)
        if allowed:
            _note(needed)
        return allowed

    def require_whole_account(self, needed: Role) -> None:
        """`require`, and refuse a token that reaches one record only: what is asked for concerns the account."""
        self.require(needed)
        if self.only is not None:
            raise NotAllowedError(
                "this token reaches one record only, and this concerns the whole account. Nothing was changed.",
                needed=needed.value,
                role=self.role.value,
            )


@contextmanager
def noting_roles() -> Iterator[list[Role]]:
    """The roles that callers are asked for inside the block and have: what it takes to do again what is done there."""
    roles: list[Role] = []
    token = _noted.set(roles)
    try:
        yield roles
    finally:
        _noted.reset(token)


def _note(role: Role) -> None:
    roles = _noted.get()
    if roles is not None:
        roles.append(role)
