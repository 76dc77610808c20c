"""`python -m tests.studies NAME [--seeds N] [--to FOLDER] [--redraw]`: repeat one of the studies in `docs/studies`.

Writes NAME.json and draws NAME.svg from it; progress goes to standard error. `--redraw` draws what was found before.
A study is a module of this package with a NAME, a number of SEEDS, `study(seeds, say)`, which returns JSON, and
`plot(found, figure)`.
"""

import argparse
import json
import platform
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

import matplotlib
from matplotlib.figure import Figure

from tests.studies import coverage, real_labels, weighting, wire_counts

ROOT = Path(__file__).parents[2]
STUDIES = {each.NAME: each for each in (real_labels, coverage, weighting, wire_counts)}
MEASURED_WITH = ("numpy", "scipy", "scikit-learn")


def say(line: str) -> None:
    """Tell a person how far it is."""
    sys.stderr.write(line + "\n")
    sys.stderr.flush()


def main() -> int:
    """Run the study that the command line names."""
    parser = argparse.ArgumentParser(prog="python -m tests.studies", description="Measure the lab's own error.")
    parser.add_argument("name", choices=sorted(STUDIES))
    parser.add_argument("--seeds", metavar="N", type=int, help="fewer seeds, for a first look")
    parser.add_argument("--to", metavar="FOLDER", type=Path, default=ROOT / "docs/studies")
    parser.add_argument("--redraw", action="store_true", help="only draw what NAME.json holds")
    chosen = parser.parse_args()
    module = STUDIES[chosen.name]
    record = chosen.to / f"{module.NAME}.json"
    if not chosen.redraw:
        found = {
            "study": module.NAME,
            "computedFrom": _computed_from(),
            **module.study(chosen.seeds or module.SEEDS, say),
        }
        chosen.to.mkdir(parents=True, exist_ok=True)
        record.write_text(json.dumps(_rounded(found), indent=1) + "\n")
    draw(json.loads(record.read_text()), module.plot, record.with_suffix(".svg"))
    return 0


def draw(found: dict[str, Any], plot: Any, place: Path) -> None:
    """The study's picture; the same figures give the same bytes."""
    matplotlib.rcParams.update(
        {
            "svg.hashsalt": "kapsoweb",
            "svg.fonttype": "none",
            "axes.spines.top": False,
            "axes.spines.right": False,
            "font.size": 9,
        }
    )
    figure = Figure(layout="constrained")
    plot(found, figure)
    figure.savefig(place, metadata={"Date": None})


def _computed_from() -> dict[str, Any]:
    commit = subprocess.run(
        ["git", "describe", "--always", "--dirty"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return {
        "code": commit.stdout.strip(),
        "python": platform.python_version(),
        **{name: version(name) for name in MEASURED_WITH},
    }


def _rounded(value: Any) -> Any:
    """Numbers at six significant digits, which is more than any error here allows."""
    if isinstance(value, float):
        return float(f"{value:.6g}")
    if isinstance(value, dict):
        return {key: _rounded(each) for key, each in value.items()}
    return [_rounded(each) for each in value] if isinstance(value, list | tuple) else value


if __name__ == "__main__":
    sys.exit(main())
