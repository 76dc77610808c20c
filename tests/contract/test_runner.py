"""The runner behind `make test` never says more than what happened."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

# The sample needs no plugin, and each takes its time to load.
QUICK = [
    f"-pno:{plugin}" for plugin in ("django", "playwright", "base_url", "hypothesispytest", "anyio", "cacheprovider")
]

EVERY_END = """
import pytest

def test_passes(): pass
def test_fails(): raise RuntimeError
@pytest.mark.skip(reason="never runs")
def test_is_skipped(): pass
@pytest.fixture
def broken(): raise RuntimeError
def test_errs(broken): pass
@pytest.mark.services
def test_of_services_passes(): pass
@pytest.mark.faults
def test_of_faults_passes(): pass
"""
DIFFERS = """
import os, pytest

@pytest.mark.services
def test_sees_only_its_own_services():
    assert os.environ.get("DATABASE_URL") is None
"""
DIES = """
import os, pytest

@pytest.mark.services
def test_takes_the_process_down():
    if "DATABASE_URL" in os.environ:
        os._exit(0)
"""


def run(folder: Path, tests: str, *arguments: str, **more: str) -> tuple[int, list[str]]:
    """The exit code and the lines of a run over one file of tests, with addresses instead of services."""
    (folder / "test_sample.py").write_text(tests)
    (folder / "pytest.ini").write_text("[pytest]\nmarkers =\n services: s\n faults: f\n browser: b\n")
    environment = {name: value for name, value in os.environ.items() if name not in {"CI", "PYTEST_ADDOPTS"}}
    environment |= {
        "DATABASE_URL": f"sqlite:///{folder / 'elsewhere.sqlite3'}",
        "REDIS_URL": "redis://127.0.0.1:1/0",
        "KAPSOWEB_TEST_DATA": str(folder),
        "KAPSOWEB_CHROMIUM": sys.executable,
        **more,
    }
    answer = subprocess.run(
        [sys.executable, "-m", "tests.run", "-q", *QUICK, "-c", str(folder / "pytest.ini"), str(folder), *arguments],
        cwd=ROOT,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    return answer.returncode, answer.stdout.splitlines()


def test_the_last_line_is_the_sum_of_both_parts_and_an_error_is_a_failure(tmp_path: Path) -> None:
    code, said = run(tmp_path, EVERY_END)
    assert code == 1
    assert said[-1] == "5 passed, 2 failed, 1 skipped"  # 3 and 2 in part 1, 2 in part 2


def test_it_ends_with_0_only_when_every_test_passed(tmp_path: Path) -> None:
    assert run(tmp_path, EVERY_END, "-k", "passes")[0] == 0


def test_a_failure_in_the_second_part_alone_fails_the_run(tmp_path: Path) -> None:
    code, said = run(tmp_path, DIFFERS)
    assert (code, said[-1]) == (1, "1 passed, 1 failed, 0 skipped")


def test_a_run_that_was_taken_down_is_no_success(tmp_path: Path) -> None:
    code, said = run(tmp_path, DIES)
    assert (code, said[-1]) == (1, "1 passed, 0 failed, 0 skipped")


def test_no_test_at_all_is_a_failure(tmp_path: Path) -> None:
    code, said = run(tmp_path, EVERY_END, "-k", "no_such_test")
    assert (code, said[-1]) == (1, "0 passed, 0 failed, 0 skipped")


def test_the_callers_marks_hold_in_both_parts(tmp_path: Path) -> None:
    code, said = run(tmp_path, EVERY_END, "-m", "services")
    assert (code, said[-1]) == (0, "2 passed, 0 failed, 0 skipped")


@pytest.mark.parametrize(
    ("variable", "way_out"), [("KAPSOWEB_TEST_DATA", "set KAPSOWEB_TEST_DATA"), ("KAPSOWEB_CHROMIUM", "Chromium")]
)
def test_what_is_missing_fails_ci_before_any_test(tmp_path: Path, variable: str, way_out: str) -> None:
    missing = {"KAPSOWEB_TEST_DATA": "", "KAPSOWEB_CHROMIUM": "/no/such/browser"}[variable]
    code, said = run(tmp_path, EVERY_END, **{"CI": "true", variable: missing})
    assert code == 1
    assert way_out in said[-1]
    assert not any("passed" in line for line in said)


def test_without_ci_the_rest_runs_and_what_was_left_out_is_told(tmp_path: Path) -> None:
    code, said = run(tmp_path, EVERY_END, "-k", "passes", KAPSOWEB_CHROMIUM="/no/such/browser")
    assert code == 0
    assert said[-3] == "Not run here:"
    assert said[-2].startswith("browser tests: ")
