"""What the tests of the command line share."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.arrivals import write_rows
from tests.support.command_line import Run, in_this_process


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """`run("cyclotron", "status", "NAME", "--json")` runs the command in this process."""
    return in_this_process(capsys.readouterr)


@pytest.fixture
def create(run: Run) -> Callable[..., None]:
    """Creates the cyclotron `tried`, without learning unless `learn_every` is given."""

    def create(name: str = "tried", learn_every: int = 1_000_000) -> None:
        arguments = ("--labels", "include,exclude", "--positive", "include", "--question", "Is it about attention?")
        done = run("cyclotron", "create", name, *arguments, "--seed", "seed-1", "--learn-every", learn_every)
        assert done.code == 0, done.err

    return create


@pytest.fixture
def labelled(tmp_path: Path) -> Path:
    """A file of 26 labelled rows: id, text, label."""
    return write_rows(tmp_path / "labelled.csv", 26)
