"""What the house promises about the repository itself, as far as a machine can see it."""

import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ROOMS = ("kapsoweb", "cyclotron", "bank", "grading", "serving")
REQUIREMENTS = ("requirements.txt", "requirements-dev.txt")


def tracked(*patterns: str) -> list[Path]:
    """The files that git keeps; a checkout owned by somebody else is read all the same."""
    listing = subprocess.run(
        ["git", "-c", "safe.directory=*", "ls-files", "-z", "--", *patterns],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    return [path for name in listing.split("\0") if name and (path := ROOT / name).is_file()]


def room_code() -> list[Path]:
    return tracked(*(f"{room}/*.py" for room in ROOMS))


def lines(path: Path) -> Iterator[tuple[str, str]]:
    """Each line with the place that a message names it by; a picture has none."""
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return
    for number, line in enumerate(text.splitlines(), start=1):
        yield f"{path.relative_to(ROOT)}:{number}", line


def pins(name: str) -> dict[str, list[str]]:
    """Each pinned requirement of a file (`package==version`, in lower case) with its hashes."""
    found: dict[str, list[str]] = {}
    current: list[str] = []
    for line in (ROOT / name).read_text(encoding="utf-8").splitlines():
        text = line.strip().removesuffix("\\").strip()
        if text.startswith("--hash="):
            current.append(text)
        elif text:
            current = found.setdefault(text.lower(), [])
    return found


@pytest.mark.parametrize("name", REQUIREMENTS)
def test_every_requirement_is_one_release_with_its_hashes(name: str) -> None:
    entries = pins(name)
    assert len(entries) > 20
    for requirement, hashes in entries.items():
        assert re.fullmatch(r"[a-z0-9][a-z0-9._-]*==[a-z0-9.!+_-]+( ; .+)?", requirement), requirement
        assert hashes, f"{name}: {requirement} has no hash"
        assert all(re.fullmatch(r"--hash=sha256:[0-9a-f]{64}", entry) for entry in hashes), requirement


@pytest.mark.parametrize("name", REQUIREMENTS)
def test_requirements_name_no_place_to_fetch_from(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    for word in ("://", "--index", "--extra-index", "--find-links", "--trusted-host", " @ "):
        assert word not in text, f"{name} holds {word}"


def test_every_dependency_of_the_project_is_pinned() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    wanted = {
        "requirements.txt": [*project["project"]["dependencies"], *project["build-system"]["requires"]],
        "requirements-dev.txt": [
            *project["project"]["dependencies"],
            *project["project"]["optional-dependencies"]["dev"],
        ],
    }
    for name, dependencies in wanted.items():
        pinned = {requirement.split("==")[0] for requirement in pins(name)}
        for dependency in dependencies:
            package = re.match(r"[A-Za-z0-9._-]+", dependency)
            assert package is not None, dependency
            assert re.sub(r"[-_.]+", "-", package[0]).lower() in pinned, f"{name} lacks {dependency}: run make lock"


def test_what_the_lab_runs_on_is_what_the_tests_run_on() -> None:
    developing = pins("requirements-dev.txt")
    for requirement, hashes in pins("requirements.txt").items():
        assert developing.get(requirement) == hashes, f"{requirement} differs between the files: run make lock"


def test_the_readme_can_be_read_in_one_go() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) < 100


def test_no_file_of_a_room_is_longer_than_400_lines() -> None:
    written = [path for path in room_code() if path.parent.name != "migrations"]  # those are generated
    long = {path.relative_to(ROOT): count for path in written if (count := len(list(lines(path)))) > 400}
    assert not long


def test_nothing_is_left_for_later_in_the_code() -> None:
    # Put together here, so that this file does not hold the words that it looks for.
    marks = re.compile(r"\b(" + "|".join(("TO" + "DO", "FIX" + "ME", "XX" + "X", "HA" + "CK")) + r")\b")
    found = [
        place
        for path in tracked("*.py", "*.html", "*.css", "*.js", "Makefile", ".ci/*")
        for place, line in lines(path)
        if marks.search(line)
    ]
    assert not found


def test_no_code_is_commented_out() -> None:
    linter = [sys.executable, "-m", "ruff", "check", "--isolated", "--no-cache", "--select", "ERA", "--quiet"]
    answer = subprocess.run([*linter, *tracked("*.py")], cwd=ROOT, capture_output=True, text=True, check=False)
    assert answer.returncode == 0, answer.stdout + answer.stderr


def test_no_tracked_file_knows_the_machine_that_it_was_written_on() -> None:
    places = re.compile("(?<![A-Za-z0-9_.-])/" + "(work|root|home|Users)" + "/[A-Za-z0-9_.]")
    registries = re.compile("pypi" + r"\.org|" + "files\\.python" + "hosted|registry\\.npm" + "js", re.IGNORECASE)
    found = [
        place for path in tracked() for place, line in lines(path) if places.search(line) or registries.search(line)
    ]
    assert not found
