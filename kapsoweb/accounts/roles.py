"""The roles of an account's members and tokens, each with all that the ones before it may do."""

from collections.abc import Iterable
from enum import StrEnum


class Role(StrEnum):
    """What somebody may do in an account. Compared with `allows`, never as text."""

    VIEWER = "viewer"  # reads everything that the account holds
    REVIEWER = "reviewer"  # and reviews decisions, and undoes their own reviews
    OPERATOR = "operator"  # and creates, imports, decides, freezes, evaluates, and undoes anybody's review
    OWNER = "owner"  # and manages members, invitations and everybody's tokens

    def allows(self, needed: "Role") -> bool:
        """Whether this role may do what `needed` may."""
        return _ORDER[self] >= _ORDER[needed]


_ORDER = {role: place for place, role in enumerate(Role)}


def greatest(roles: Iterable[Role]) -> Role | None:
    """The role of them that may do most; None of none."""
    return max(roles, key=_ORDER.__getitem__, default=None)


def lesser(one: Role, other: Role) -> Role:
    """The role of the two that may do less."""
    return one if other.allows(one) else other
