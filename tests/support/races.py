"""Running the same work in threads that start together."""

import threading
from collections.abc import Callable
from typing import Any

from django.db import connections


def in_threads(count: int, work: Callable[[int], Any]) -> list[BaseException]:
    """Run `work(number)` in `count` threads, numbers from 0; what they raised. Their connections are closed."""
    start = threading.Barrier(count)
    raised: list[BaseException] = []

    def run(number: int) -> None:
        start.wait()
        try:
            work(number)
        except BaseException as error:  # noqa: BLE001 - the test looks at it
            raised.append(error)
        finally:
            connections.close_all()

    threads = [threading.Thread(target=run, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return raised
