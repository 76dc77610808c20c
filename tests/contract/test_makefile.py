"""What a newcomer meets in the Makefile before anything is installed."""

import os
import re
import shutil
import stat
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROMISED = ("setup", "lab", "test", "check", "bench", "study", "lock", "clean")


@pytest.fixture
def fresh(tmp_path: Path) -> Path:
    """A folder as a fresh checkout has it, as far as the Makefile looks."""
    for name in ("Makefile", "requirements.txt", "requirements-dev.txt", "pyproject.toml"):
        shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path


def make(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    # What a make above this one left in the environment would change how this one speaks.
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
    return subprocess.run(
        ["make", *arguments], cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=60
    )


def interpreter(folder: Path, version: str, exit_code: int) -> Path:
    """A stand-in for a Python of `version` that fails whatever it is asked with `exit_code`."""
    path = folder / "python"
    path.write_text(f'#!/bin/sh\n[ "$1" = --version ] && echo "Python {version}" && exit 0\nexit {exit_code}\n')
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def test_make_alone_lists_every_target_with_what_it_does(fresh: Path) -> None:
    answer = make(fresh)
    assert answer.returncode == 0
    for target in PROMISED:
        assert re.search(rf"^  {target} +\S+ \S+", answer.stdout, re.MULTILINE), target
    assert not (fresh / ".venv").exists()


def test_every_target_that_is_no_file_says_so() -> None:
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    phony = re.findall(r"^\.PHONY: (.+)$", text, re.MULTILINE)
    targets = re.findall(r"^([a-z-]+):", text, re.MULTILINE)
    assert set(targets) == set(phony[0].split())


@pytest.mark.parametrize("target", ["setup", "lab", "test", "check"])
def test_a_python_that_is_too_old_is_named_with_the_way_out(fresh: Path, target: str) -> None:
    answer = make(fresh, target, f"PYTHON={interpreter(fresh, '3.9.2', 1)}")
    assert answer.returncode != 0
    assert "needs Python 3.11 or newer" in answer.stderr
    assert "Python 3.9.2" in answer.stderr
    assert f"make {target} PYTHON=" in answer.stderr
    assert not (fresh / ".venv").exists()


def test_a_python_that_is_not_there_is_named_with_the_way_out(fresh: Path) -> None:
    answer = make(fresh, "setup", "PYTHON=no-such-python")
    assert answer.returncode != 0
    assert "'no-such-python' was not found" in answer.stderr
    assert "PYTHON=" in answer.stderr


def test_a_second_setup_has_nothing_to_do_and_a_changed_requirement_installs_again(fresh: Path) -> None:
    binaries = fresh / ".venv" / "bin"
    binaries.mkdir(parents=True)
    record = fresh / "asked"
    python = binaries / "python"
    python.write_text(f'#!/bin/sh\necho "$@" >> {record}\n')
    python.chmod(0o755)
    assert make(fresh, "setup").returncode == 0
    first = record.read_text().splitlines()
    assert [("--require-hashes -r requirements.txt" in line, "--no-deps" in line) for line in first] == [
        (True, False),
        (False, True),
    ]
    assert make(fresh, "setup").returncode == 0
    assert record.read_text().splitlines() == first
    later = (fresh / ".venv" / ".requirements-installed").stat().st_mtime + 10
    os.utime(fresh / "requirements.txt", (later, later))
    assert make(fresh, "setup").returncode == 0
    assert len(record.read_text().splitlines()) == 2 * len(first)


def test_an_installation_that_fails_is_tried_again_next_time(fresh: Path) -> None:
    binaries = fresh / ".venv" / "bin"
    binaries.mkdir(parents=True)
    (binaries / "python").write_text("#!/bin/sh\nexit 1\n")
    (binaries / "python").chmod(0o755)
    assert make(fresh, "setup").returncode != 0
    assert not list((fresh / ".venv").glob(".*-installed"))
