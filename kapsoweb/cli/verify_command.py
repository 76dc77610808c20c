"""`kapsoweb cyclotron verify`: needs a report and nothing else."""

import argparse
from pathlib import Path

from cyclotron.core.verification import verify_report
from kapsoweb.cli.documents import read_bytes
from kapsoweb.cli.output import DONE, FAILED, Result


def verify(given: argparse.Namespace) -> Result:
    """Recompute what follows from the report's items; exit code 1 when something differs."""
    found = verify_report(read_bytes(Path(given.name)))
    lines = [
        f"{'ok  ' if check.ok else 'DIFF'} {check.name}"
        + ("" if check.ok else f": follows {check.expected!r}, says {check.found!r}")
        for check in found.checks
    ]
    wrong = sum(not check.ok for check in found.checks)
    lines.append(f"{len(found.checks) - wrong} of {len(found.checks)} checks hold.")
    lines += ["A report alone cannot show:", *(f"- {sentence}" for sentence in found.cannot_know)]
    return Result(found.as_json(), tuple(lines), FAILED if wrong else DONE)
