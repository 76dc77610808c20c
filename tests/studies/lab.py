"""Work for a study, side by side, each process with a lab of its own where one is wanted."""

import atexit
import multiprocessing
import os
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ProcessPoolExecutor, as_completed
from typing import TypeVar

Given = TypeVar("Given")
Found = TypeVar("Found")


def begin(services: Mapping[str, str] | None = None) -> None:
    """Set Django up on an empty database of this process's own, gone when it ends: SQLite where none is given.

    `services` maps DATABASE_URL and REDIS_URL to servers in which this process may make what it likes.
    """
    for name in ("DATABASE_URL", "REDIS_URL"):
        os.environ.pop(name, None)
    os.environ |= {"DJANGO_SETTINGS_MODULE": "kapsoweb.settings.test", "KAPSOWEB_LOG_LEVEL": "ERROR"}
    os.environ |= services or {}
    import django

    django.setup()
    from django.test.utils import setup_databases, setup_test_environment, teardown_databases

    setup_test_environment()
    atexit.register(teardown_databases, setup_databases(verbosity=0, interactive=False), verbosity=0)


def side_by_side(
    work: Callable[[Given], Found], given: Iterable[Given], say: Callable[[str], None], *, with_lab: bool = False
) -> list[Found]:
    """`work` of each input, as many at once as there are processors; the results in the order of the inputs."""
    inputs = list(given)
    with ProcessPoolExecutor(
        os.cpu_count(), mp_context=multiprocessing.get_context("spawn"), initializer=begin if with_lab else None
    ) as pool:
        begun = [pool.submit(work, each) for each in inputs]
        for number, done in enumerate(as_completed(begun), start=1):
            done.result()
            say(f"{number} of {len(inputs)}")
        return [each.result() for each in begun]
