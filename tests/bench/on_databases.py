"""Benches that need a database, each in a process of its own: on SQLite, and on PostgreSQL where it is to be had.

`python -m tests.bench.on_databases SIZES [--only PART]` measures on the database server that DATABASE_URL names, in a
database that is gone afterwards, and prints a JSON list; `tests.bench` starts it. Each bench is measured against itself
at the smallest size: `ratio` says how its cost grows. Processor seconds are those of this side; what a database server
spends shows in the clock alone.
"""

import argparse
import contextlib
import importlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.bench.measuring import Bench, measure_all, named
from tests.support.services import NotToBeHad, Service, environment_of_a_part, postgresql

ROOT = Path(__file__).parents[2]
QUICK, FULL = (1_000, 10_000), (10_000, 100_000)
CALL_SECONDS, AT_ONCE, CALLS = 0.05, 8, 400  # of the evaluation that waits for a model

# Names, and the functions of `tests.bench.large_cyclotrons` that prepare the work, which need Django.
OF_A_SIZE = {
    "held-out overview": "overview",
    "panel page": "page",
    "held-out overview by REST": "by_rest",
    "freezing n eligible labels": "freezing",
    "freezing again": "freezing_again",
    "evaluation of n / 10 items from the cache": "from_the_cache",
    "first page of items": "first_items",
    "last page of items": "last_items",
    "taking one of n waiting items": "taking",
    "length of the queue": "queue",
}
WAITING = f"evaluation of {CALLS} calls of {CALL_SECONDS * 1000:.0f} ms, {AT_ONCE} at once"
ALTERED_BY_A_RUN = {"freezing n eligible labels"}


def benches_of(sizes: Sequence[int]) -> list[Bench]:
    """The benches of large cyclotrons at every size, and the one whose size is its calls."""
    benches = [
        Bench(
            f"{name}, n = {size:,}",
            _preparing(function, size),
            against=f"{name}, n = {sizes[0]:,}",
            repeats=5 if size <= QUICK[-1] else 3,
            fresh=name in ALTERED_BY_A_RUN,
            queries=_queries_of,
        )
        for size in sizes
        for name, function in OF_A_SIZE.items()
    ]
    ideal = CALLS * CALL_SECONDS / AT_ONCE
    prepare = _preparing("waiting_for_a_model", CALLS)
    return [*benches, Bench(WAITING, prepare, against=WAITING, repeats=3, fresh=True, ideal_seconds=ideal)]


def on_each_database(sizes: Sequence[int], part: str, say: Callable[[str], None]) -> list[dict[str, Any]]:
    """What was measured, each entry with the name of its `database`."""
    if not named(benches_of(sizes), part):
        return []
    measured = _on("SQLite", {}, sizes, part)
    with contextlib.ExitStack() as stack:
        try:
            services = {"DATABASE_URL": stack.enter_context(postgresql())}
        except NotToBeHad as missing:
            say(f"Not measured on PostgreSQL: {missing}")
            return measured
        return measured + _on("PostgreSQL", services, sizes, part)


def _on(database: str, services: Mapping[str, Service], sizes: Sequence[int], part: str) -> list[dict[str, Any]]:
    command = [sys.executable, "-m", "tests.bench.on_databases", *map(str, sizes), "--only", part]
    with tempfile.TemporaryDirectory(prefix="kapso-bench-") as home:
        environment = environment_of_a_part(services, home) | {
            "DJANGO_SETTINGS_MODULE": "kapsoweb.settings.test",
            "KAPSOWEB_LOG_LEVEL": "ERROR",
            "KAPSOWEB_BENCHED": database,
        }
        done = subprocess.run(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, check=True)
    measured: list[dict[str, Any]] = json.loads(done.stdout)
    return [{**each, "database": database} for each in measured]


def _preparing(function: str, size: int) -> Callable[[], Callable[[], object]]:
    def prepare() -> Callable[[], object]:
        work: Callable[[], object] = _large_cyclotrons(function)(size)
        return work

    return prepare


def _queries_of(work: Callable[[], object]) -> int:
    counted: int = _large_cyclotrons("queries_of")(work)
    return counted


def _large_cyclotrons(function: str) -> Callable[[Any], Any]:
    found: Callable[[Any], Any] = getattr(importlib.import_module("tests.bench.large_cyclotrons"), function)
    return found


@contextlib.contextmanager
def _database() -> Iterator[None]:
    """Django, on an empty database with all tables, as the tests have it."""
    import django

    django.setup()
    from django.test.utils import setup_databases, setup_test_environment, teardown_databases

    setup_test_environment()
    kept = setup_databases(verbosity=0, interactive=False)
    try:
        yield
    finally:
        teardown_databases(kept, verbosity=0)


def main() -> int:
    """Measure on one database."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.on_databases")
    parser.add_argument("sizes", nargs="+", type=int)
    parser.add_argument("--only", default="")
    chosen = parser.parse_args()

    def say(line: str) -> None:
        sys.stderr.write(f"{os.environ.get('KAPSOWEB_BENCHED', 'database')}: {line}\n")
        sys.stderr.flush()

    with _database():
        measured = measure_all(named(benches_of(chosen.sizes), chosen.only), say)
    sys.stdout.write(json.dumps(measured) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
