"""How a bench is run: prepared once, timed several times, and once more with its allocations traced."""

import statistics
import time
import tracemalloc
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Bench:
    """One piece of work that must stay fast.

    `prepare` makes the inputs, untimed, and returns the work. `against` names the bench that it is compared with.
    `slow` benches run only when asked for, once, and are traced in that one run (which costs work on large arrays next
    to nothing). `fresh` work leaves something behind and is prepared anew for every run. `queries` counts the database
    queries of one run, `ideal_seconds` are those in which nothing but the waiting that it cannot avoid would be done.
    """

    name: str
    prepare: Callable[[], Callable[[], object]]
    against: str
    repeats: int = 7
    slow: bool = False
    fresh: bool = False
    queries: Callable[[Callable[[], object]], int] | None = None
    ideal_seconds: float | None = None


@dataclass(frozen=True)
class Measurement:
    """Medians of the timed runs, in seconds by the clock and of this process's processor time (on a busy machine the
    better witness); peak of traced memory in bytes over what was there before the run; queries of one run, or None."""

    seconds: float
    processor_seconds: float
    runs: int
    peak_memory: int
    queries: int | None = None


def measure(bench: Bench) -> Measurement:
    """Run `bench`."""
    prepared = bench.prepare()

    def work() -> Callable[[], object]:
        return bench.prepare() if bench.fresh else prepared

    if bench.slow:
        tracemalloc.start()
        timed = [_timed(prepared)]
        peak = _peak()
    else:
        prepared()  # loads what is loaded on first use
        timed = [_timed(work()) for _ in range(bench.repeats)]
        traced = work()
        tracemalloc.start()
        traced()
        peak = _peak()
    by_clock, by_processor = (statistics.median(column) for column in zip(*timed, strict=True))
    return Measurement(by_clock, by_processor, len(timed), peak, bench.queries(work()) if bench.queries else None)


def measure_all(benches: Iterable[Bench], say: Callable[[str], None]) -> list[dict[str, Any]]:
    """Run the benches in turn; one JSON object each.

    `ratio` is this bench's processor time over that of the one it is `measuredAgainst` (null when that was not run):
    nothing here waits, and the clock would favour whichever ran while the machine was idle.
    """
    measured: dict[str, tuple[Bench, Measurement]] = {}
    for bench in benches:
        found = measure(bench)
        measured[bench.name] = (bench, found)
        say(f"{bench.name}: {found.seconds:.6f} s")
    return [_as_json(bench, found, measured) for bench, found in measured.values()]


def _as_json(bench: Bench, found: Measurement, measured: dict[str, tuple[Bench, Measurement]]) -> dict[str, Any]:
    other = measured.get(bench.against)
    return {
        "name": bench.name,
        "medianSeconds": found.seconds,
        "medianProcessorSeconds": found.processor_seconds,
        "runs": found.runs,
        "peakMemoryBytes": found.peak_memory,
        "ratio": found.processor_seconds / other[1].processor_seconds if other else None,
        "measuredAgainst": bench.against,
        "queries": found.queries,
        "shareOfIdealTime": bench.ideal_seconds / found.seconds if bench.ideal_seconds else None,
    }


def _timed(work: Callable[[], object]) -> tuple[float, float]:
    clock, processor = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - clock, time.process_time() - processor


def _peak() -> int:
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


def named(benches: Sequence[Bench], part: str) -> list[Bench]:
    """The benches whose name holds `part`, and those that they are measured against."""
    chosen = {bench.name for bench in benches if part in bench.name}
    chosen |= {bench.against for bench in benches if bench.name in chosen}
    return [bench for bench in benches if bench.name in chosen]
