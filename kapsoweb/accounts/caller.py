"""Somebody at a door: the account they act for, what they may do, and the name that the audit log gives them."""

from dataclasses import dataclass
from enum import StrEnum

from kapsoweb.accounts.errors import NotAllowedError
from kapsoweb.accounts.models import Account
from kapsoweb.accounts.roles import Role

COMMAND_LINE = "command line"  # the name of whoever works at the lab's own machine


class Door(StrEnum):
    """By which way a caller came in."""

    BROWSER = "browser"
    REST = "rest"
    GRAPHQL = "graphql"
    MCP = "mcp"
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

    def require_whole_account(self, needed: Role) -> None:
        """`require`, and refuse a token that reaches one record only: what is asked for concerns the account."""
        self.require(needed)
        if self.only is not None:
            raise NotAllowedError(
                "this token reaches one record only, and this concerns the whole account. Nothing was changed.",
                needed=needed.value,
                role=self.role.value,
            )
