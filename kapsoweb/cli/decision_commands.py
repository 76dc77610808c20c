"""`kapsoweb cyclotron import-decisions`: decisions that were made elsewhere, from a file of one JSON object a line."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from cyclotron.actions.importing import MOST_AT_ONCE, ForeignDecision
from cyclotron.api.decisions import ForeignDecisionInput, foreign_decision
from cyclotron.store import ROOM
from cyclotron.workspace import Workspace
from kapsoweb.accounts.access import access_record_by_name, local_caller
from kapsoweb.cli.documents import UnusableFileError, read_bytes
from kapsoweb.cli.output import Progress, Result
from kapsoweb.doors.rest.serializers import read_values
from kapsoweb.foundation.errors import KapsoError
from kapsoweb.foundation.strict_json import read_json

Lines = Sequence[tuple[int, ForeignDecision]]  # each with the number of its line


def import_decisions(given: argparse.Namespace) -> Result:
    """Bring a file in, 500 lines at a time, each time all or none. The same file again goes on where it stopped.

    A line that cannot be read refuses the file before anything is brought in.
    """
    caller = local_caller()
    cyclotron_id = access_record_by_name(caller, ROOM, given.name).record_id
    lines = _read(Path(given.file))
    workspace = Workspace(caller)
    progress = Progress("decisions")
    recorded = known = 0
    for start in range(0, len(lines), MOST_AT_ONCE):
        some = lines[start : start + MOST_AT_ONCE]
        try:
            done = workspace.import_decisions(cyclotron_id, [decision for _, decision in some])
        except KapsoError as error:
            raise _of_the_file(error, given.file, some, before=recorded + known) from error
        recorded += done.recorded
        known += done.known
        progress(start + len(some), len(lines))
    return Result(
        {"name": given.name, "recorded": recorded, "known": known},
        (f"{recorded} decisions recorded, {known} known already.",),
    )


def _read(path: Path) -> Lines:
    """The decisions of a file. Raises `UnusableFileError` with the first line that holds none."""
    found = []
    for number, line in enumerate(read_bytes(path).splitlines(), start=1):
        if not line.strip():
            continue
        try:
            values = read_values(ForeignDecisionInput, read_json(line, where=str(path)))
        except KapsoError as error:
            raise _unusable(path, number, error) from error
        found.append((number, foreign_decision(values)))
    if not found:
        raise UnusableFileError(f"{path} holds no decision.", file=str(path))
    return found


def _unusable(path: Path, number: int, error: KapsoError) -> UnusableFileError:
    fields = error.detail.get("fields")
    rule = ", ".join(fields) if fields else error.detail.get("rule", error.id)
    return UnusableFileError(
        f"{path}, line {number}: no decision can be read from it ({rule}). Nothing was brought in.",
        file=str(path),
        line=number,
        **({"fields": fields} if fields else {"rule": rule}),
    )


def _of_the_file(error: KapsoError, file: str, some: Lines, *, before: int) -> KapsoError:
    """The same refusal, with the place that it has in the file."""
    place = error.detail.get("place")
    first, last = (some[place][0],) * 2 if isinstance(place, int) else (some[0][0], some[-1][0])
    where = f"line {first}" if first == last else f"lines {first} to {last}"
    kept = f"The {before} decisions before are kept." if before else "Nothing was brought in."
    return type(error)(f"{file}, {where}: {error.message} {kept}", **{**error.detail, "file": file, "line": first})
