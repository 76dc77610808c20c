"""Work wanted by several threads at once is done by one of them for all, and each gets its own result or error."""

import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import pytest

from kapsoweb.foundation.together import Together


class Gate:
    """A work whose first pass waits for the others to gather; doubles numbers and refuses negative ones."""

    def __init__(self) -> None:
        self.passes: list[list[int]] = []
        self.entered, self.opened = threading.Event(), threading.Event()

    def __call__(self, wanted: Sequence[int]) -> list[int]:
        self.passes.append(list(wanted))
        if len(self.passes) == 1:
            self.entered.set()
            assert self.opened.wait(10)
        if any(number < 0 for number in wanted):
            raise ValueError(f"no {min(wanted)}")
        return [2 * number for number in wanted]


def await_gathered(together: Together[int, int], others: int) -> None:
    deadline = time.monotonic() + 10
    while len(together._gathered) < others:
        assert time.monotonic() < deadline


def done_together(gate: Gate, first: int, others: Sequence[int]) -> list[int | str]:
    """What each call came to, with `others` gathered while the work for `first` was under way."""
    together = Together(gate)

    def call(number: int) -> int | str:
        try:
            return together(number)
        except ValueError as error:
            return str(error)

    with ThreadPoolExecutor(len(others) + 1) as pool:
        begun = pool.submit(call, first)
        assert gate.entered.wait(10)
        gathering = [pool.submit(call, number) for number in others]
        await_gathered(together, len(others))
        gate.opened.set()
        return [future.result(10) for future in (begun, *gathering)]


def test_one_call_is_done_alone() -> None:
    gate = Gate()
    gate.opened.set()
    assert Together(gate)(4) == 8
    assert gate.passes == [[4]]


def test_calls_that_gather_meanwhile_are_done_in_one_pass_and_each_gets_its_own() -> None:
    gate = Gate()
    assert done_together(gate, 1, [2, 3, 4]) == [2, 4, 6, 8]
    assert [sorted(wanted) for wanted in gate.passes] == [[1], [2, 3, 4]]


def test_nobody_fails_by_the_fault_of_another() -> None:
    gate = Gate()
    assert done_together(gate, 1, [2, -3, 4]) == [2, 4, "no -3", 8]
    assert [sorted(wanted) for wanted in gate.passes[:2]] == [[1], [-3, 2, 4]]
    assert sorted(gate.passes[2:]) == [[-3], [2], [4]]


def test_what_ends_a_process_is_not_tried_again() -> None:
    class Ending(BaseException):
        pass

    passes = []

    def work(wanted: Sequence[int]) -> list[int]:
        passes.append(wanted)
        raise Ending

    with pytest.raises(Ending):
        Together(work)(1)
    assert len(passes) == 1
