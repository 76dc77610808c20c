"""The root of every room's error tree.

An error has a stable `id` (kebab-case, part of the public interface), a message that says what is wrong, where, and
what to do about it, and a JSON-ready `detail`. The doors translate `kind` into an HTTP status, a GraphQL error
or an exit code; no door inspects messages.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any


class Kind(StrEnum):
    """What sort of refusal an error is; each door maps it once."""

    INVALID = "invalid"  # the input is wrong: HTTP 400, exit 2
    UNAUTHENTICATED = "unauthenticated"  # nobody knows who asks: HTTP 401, exit 2
    MISSING = "missing"  # no such record, or not yours: HTTP 404, exit 2
    CONFLICT = "conflict"  # the world moved, or a name is taken: HTTP 409, exit 3
    REFUSED = "refused"  # a guard said no before anything was spent: HTTP 403, exit 3
    FAILED = "failed"  # the work itself failed: HTTP 502, exit 1


class KapsoError(Exception):
    """Base of all errors a person or a program may see. Never carries item text."""

    id: str = "error"
    kind: Kind = Kind.INVALID

    def __init__(self, message: str, **detail: Any) -> None:
        super().__init__(message)
        self.message = message
        self.detail: Mapping[str, Any] = detail

    def as_json(self) -> dict[str, Any]:
        """`{"id", "message", "detail"}`: the one error shape of every door."""
        return {"id": self.id, "message": self.message, "detail": dict(self.detail)}
