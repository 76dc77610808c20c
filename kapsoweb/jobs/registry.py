"""Which function does which kind of job. Each app registers its own in its `jobs` module."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kapsoweb.jobs.errors import UnknownKindError

if TYPE_CHECKING:
    from kapsoweb.jobs.claims import Claim


@dataclass(frozen=True)
class Stopped:
    """What a handler returns that was told to stop and left some of its work; `result` (plain JSON) says what."""

    result: dict[str, Any] | None = None


Handler = Callable[["Claim"], dict[str, Any] | Stopped | None]

_handlers: dict[str, Handler] = {}
_repeatable: set[str] = set()


def job(kind: str, *, repeatable: bool = False) -> Callable[[Handler], Handler]:
    """Register the decorated `handler(claim) -> dict | None` for `kind`; the dict (plain JSON) becomes `job.result`.

    A handler may be started again at any point of its work after a crash, so each of its steps must stand being
    repeated. It raises a `KapsoError` to fail with its id. One that stops because of `claim.cancel_requested()`
    returns `Stopped`, and its job ends as cancelled; one that was asked too late and did all of its work returns like
    any other. A `repeatable` kind may be started again once it has failed or was cancelled, and then goes on where it
    stood.
    """

    def register(handler: Handler) -> Handler:
        known = _handlers.get(kind)
        if known is not None and known is not handler:
            raise ValueError(f"The job kind {kind!r} is registered twice: by {known} and by {handler}.")
        _handlers[kind] = handler
        if repeatable:
            _repeatable.add(kind)
        return handler

    return register


def handler_of(kind: str) -> Handler:
    """The handler registered for `kind`, or `UnknownKindError`."""
    try:
        return _handlers[kind]
    except KeyError:
        known = ", ".join(sorted(_handlers)) or "none"
        raise UnknownKindError(f"No handler is registered for the job kind {kind!r}; there are: {known}.") from None


def is_repeatable(kind: str) -> bool:
    """Whether a job of that kind may be started again after it failed or was cancelled."""
    return kind in _repeatable
