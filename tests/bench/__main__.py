"""`python -m tests.bench [--full] [--only PART] [--sizes N ...]`: one JSON object on standard output, progress on
standard error.

Benches live in the modules `tests/bench/bench_*.py`, each of which has `BENCHES`; those of `tests.bench.on_databases`
run on each database.
"""

import argparse
import importlib
import json
import os
import platform
import sys
from importlib.metadata import version
from pathlib import Path

from tests.bench import on_databases
from tests.bench.measuring import Bench, measure_all, named


def all_benches() -> list[Bench]:
    """Every bench, module by module in the order of their names."""
    modules = sorted(path.stem for path in Path(__file__).parent.glob("bench_*.py"))
    return [bench for module in modules for bench in importlib.import_module(f"tests.bench.{module}").BENCHES]


def say(line: str) -> None:
    """Tell a person how far it is."""
    sys.stderr.write(line + "\n")
    sys.stderr.flush()


def main() -> int:
    """Run the benches that the command line asks for."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description="Measure what must stay fast.")
    parser.add_argument("--full", action="store_true", help="also the slow rivals, and larger cyclotrons (minutes)")
    parser.add_argument(
        "--only", metavar="PART", default="", help="only benches whose name holds PART, and their rivals"
    )
    parser.add_argument("--sizes", metavar="N", nargs="+", type=int, help="items of the large cyclotrons")
    chosen = parser.parse_args()
    benches = [bench for bench in named(all_benches(), chosen.only) if chosen.full or not bench.slow]
    measured = measure_all(benches, say)
    sizes = chosen.sizes or (on_databases.FULL if chosen.full else on_databases.QUICK)
    measured += on_databases.on_each_database(sizes, chosen.only, say)
    result = {
        "python": platform.python_version(),
        "versions": {name: version(name) for name in ("numpy", "scipy", "scikit-learn", "jsonschema")},
        "processors": os.cpu_count(),
        "loadAverage": os.getloadavg()[0],
        "full": chosen.full,
        "benches": measured,
    }
    sys.stdout.write(json.dumps(result, indent=2) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
