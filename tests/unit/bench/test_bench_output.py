"""`make bench` prints one JSON object, with every bench's time, memory and ratio."""

import json
import subprocess
import sys
from pathlib import Path

from tests.bench.measuring import Bench, measure_all, named

ROOT = Path(__file__).parents[3]


def test_a_bench_says_how_long_how_much_memory_and_compared_with_what() -> None:
    said: list[str] = []
    benches = [
        Bench("large", lambda: lambda: bytes(10**6), against="small", repeats=3),
        Bench("small", lambda: lambda: bytes(10), against="large", repeats=3),
        Bench("alone", lambda: lambda: None, against="not run", slow=True),
    ]
    large, small, alone = measure_all(benches, said.append)
    assert 10**6 <= large["peakMemoryBytes"] < 10**6 + 10**5
    assert large["ratio"] == large["medianProcessorSeconds"] / small["medianProcessorSeconds"]
    assert (large["measuredAgainst"], large["runs"]) == ("small", 3)
    assert (alone["ratio"], alone["runs"]) == (None, 1)
    assert len(said) == 3


def test_choosing_a_bench_brings_what_it_is_measured_against() -> None:
    benches = [Bench(name, lambda: lambda: None, against=other) for name, other in (("a", "b"), ("b", "a"), ("c", "a"))]
    assert [bench.name for bench in named(benches, "c")] == ["a", "c"]


def test_standard_output_is_one_json_object() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.bench", "--only", "sign test"], cwd=ROOT, capture_output=True, check=True
    )
    printed = json.loads(done.stdout)
    assert {bench["name"] for bench in printed["benches"]} == {
        "sign test, 5,000 pairs",
        "SciPy's binomtest, 5,000 pairs",
    }
    assert printed["full"] is False
