"""A wish to end, from a terminal's Ctrl-C, a closed terminal or `kill`."""

import contextlib
import signal
from collections.abc import Iterator
from types import FrameType


class Stop:
    """Remembers that somebody asked to end, and whether they asked twice.

    Where only a flag is looked at, a signal never cuts a step in half; inside `interrupting()` it raises
    KeyboardInterrupt, for long work that undoes itself.
    """

    def __init__(self) -> None:
        self.requested = False
        self.impatient = False
        self._raising = False

    def listen(self) -> None:
        """Take over SIGINT, SIGTERM and SIGHUP, also where a shell had SIGINT ignored."""
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self._receive)

    def is_impatient(self) -> bool:
        """True after the second signal: what still runs is then killed rather than waited for."""
        return self.impatient

    @contextlib.contextmanager
    def interrupting(self) -> Iterator[None]:
        """Inside, a signal raises KeyboardInterrupt, as one that came before does at once."""
        if self.requested:
            raise KeyboardInterrupt
        self._raising = True
        try:
            yield
        finally:
            self._raising = False

    def _receive(self, number: int, frame: FrameType | None) -> None:  # noqa: ARG002 - the shape of a handler
        self.impatient = self.requested
        self.requested = True
        if self._raising and not self.impatient:
            raise KeyboardInterrupt
