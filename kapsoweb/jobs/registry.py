"""Which function does which kind of job. Each app registers its own in its `jobs` module."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kapsoweb.jobs.errors import UnknownKindError

if TYPE_CHECKING:
    from kapsoweb.jobs.claims import Claim
    from kapsoweb.jobs.models import Job

Handler = Callable[["Claim"], dict[str, Any] | None]
Abandoned = Callable[["Job"], None]


@dataclass(frozen=True)
class Registration:
    """A kind's handler, and what to do when a job of the kind ends without its handler having the last word."""

    kind: str
    handler: Handler
    abandoned: Abandoned | None


_registrations: dict[str, Registration] = {}


def job(kind: str, *, abandoned: Abandoned | None = None) -> Callable[[Handler], Handler]:
    """Register the decorated `handler(claim) -> dict | None` for `kind`; the dict (plain JSON) becomes `job.result`.

    A handler may be started again at any point of its work after a crash, so each of its steps must stand being
    repeated. It raises a `KapsoError` to fail with its id, `JobCancelled` to end as cancelled.

    `abandoned(job)` is called, in the transaction that ends the job, when the job ends outside its handler: cancelled
    while it waited, or given up after too many claims.
    """

    def register(handler: Handler) -> Handler:
        known = _registrations.get(kind)
        if known is not None and known.handler is not handler:
            raise ValueError(f"The job kind {kind!r} is registered twice: by {known.handler} and by {handler}.")
        _registrations[kind] = Registration(kind, handler, abandoned)
        return handler

    return register


def registration(kind: str) -> Registration:
    """The registration for `kind`, or `UnknownKindError`."""
    try:
        return _registrations[kind]
    except KeyError:
        known = ", ".join(sorted(_registrations)) or "none"
        raise UnknownKindError(f"No handler is registered for the job kind {kind!r}; there are: {known}.") from None


def forget(kind: str) -> None:
    """Take a registration back, for a host that loads and unloads kinds."""
    _registrations.pop(kind, None)
