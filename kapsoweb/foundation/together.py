"""Work that several threads want at the same moment, done by one of them for all."""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

Wanted = TypeVar("Wanted")
Made = TypeVar("Made")


@dataclass
class _Ticket(Generic[Wanted, Made]):
    wanted: Wanted
    made: Made | None = None
    error: BaseException | None = None
    done: bool = False


class Together(Generic[Wanted, Made]):
    """A function of one argument over a `work` that takes many at once and returns a result for each, in order.

    A call returns once its own work is done. While one thread works the others gather, and the next of them works for
    all that have: a transaction each becomes a transaction for all of them, and the busier it is the fewer there are.
    Where work for several raises an `Exception` it is done for each alone, so that nobody fails by another's fault;
    `work` must leave nothing behind when it raises.
    """

    def __init__(self, work: Callable[[Sequence[Wanted]], Sequence[Made]]) -> None:
        self._work = work
        self._turn = threading.Lock()
        self._gathering = threading.Lock()
        self._gathered: list[_Ticket[Wanted, Made]] = []

    def __call__(self, wanted: Wanted) -> Made:
        ticket = _Ticket[Wanted, Made](wanted)
        with self._gathering:
            self._gathered.append(ticket)
        with self._turn:
            if not ticket.done:  # whoever had the turn before may have worked for this call too
                with self._gathering:
                    tickets, self._gathered = self._gathered, []
                self._work_for(tickets)
        if ticket.error is not None:
            raise ticket.error
        return ticket.made  # type: ignore[return-value]  # None only where `work` made it

    def _work_for(self, tickets: Sequence[_Ticket[Wanted, Made]]) -> None:
        try:
            for ticket, made in zip(tickets, self._work([ticket.wanted for ticket in tickets]), strict=True):
                ticket.made, ticket.done = made, True
        except BaseException as error:  # noqa: BLE001 - raised by whoever it concerns
            if len(tickets) > 1 and isinstance(error, Exception):
                for ticket in tickets:
                    self._work_for([ticket])
                return
            for ticket in tickets:
                ticket.error, ticket.done = error, True
