import signal
from collections.abc import Iterator

import pytest

from kapsoweb.lab.stopping import Stop

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@pytest.fixture
def stop() -> Iterator[Stop]:
    """A listening Stop; the handlers of the test run come back afterwards."""
    before = {number: signal.getsignal(number) for number in SIGNALS}
    stop = Stop()
    stop.listen()
    yield stop
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_is_remembered_and_interrupts_nothing(stop: Stop, number: signal.Signals) -> None:
    signal.raise_signal(number)
    assert stop.requested
    assert not stop.is_impatient()


def test_a_second_signal_means_impatience(stop: Stop) -> None:
    signal.raise_signal(signal.SIGINT)
    signal.raise_signal(signal.SIGTERM)
    assert stop.is_impatient()


def test_long_work_is_interrupted_by_the_first_signal_only(stop: Stop) -> None:
    undone = []

    def work() -> None:
        try:
            signal.raise_signal(signal.SIGTERM)
        finally:
            signal.raise_signal(signal.SIGTERM)  # must not cut short what undoes the work
            undone.append("all of it")

    with pytest.raises(KeyboardInterrupt), stop.interrupting():
        work()
    assert undone == ["all of it"]


def test_long_work_does_not_begin_after_a_signal(stop: Stop) -> None:
    signal.raise_signal(signal.SIGINT)
    begun = False
    with pytest.raises(KeyboardInterrupt), stop.interrupting():
        begun = True
    assert not begun


def test_a_signal_after_long_work_interrupts_nothing(stop: Stop) -> None:
    with stop.interrupting():
        pass
    signal.raise_signal(signal.SIGINT)
    assert stop.requested
