"""`kapsoweb` as a process with a home of its own: a new home, bytes that are no text, closed pipes, Ctrl-C."""

import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.arrivals import write_rows
from tests.support.command_line import PROGRAM, ROOT, as_a_process
from tests.support.held_out_reports import EXAMPLE_PATH

# A process with its own home and SQLite file: another database would change nothing here.
CREATE = ("--labels", "include,exclude", "--question", "Is it about attention?")
COLUMNS = ("--id", "id", "--text", "text", "--label", "label")


def learned(home: Path) -> list[Any]:
    """Versions, fits and decisions in a home's database, without ids and times."""
    with sqlite3.connect(home / "lab" / "lab.sqlite3") as connection:
        return [
            connection.execute(query).fetchall()
            for query in (
                "SELECT number, digest, configuration FROM kapso_cyclotron_version ORDER BY number",
                "SELECT digest, numbers, fitted_on FROM kapso_cyclotron_mlmodelrecord ORDER BY id",
                "SELECT label, confidence, version, refit, fingerprint FROM kapso_cyclotron_decisionoutput ORDER BY id",
            )
        ]


def test_a_new_home_is_made_and_every_step_to_a_verified_report_runs_in_a_process_of_its_own(tmp_path: Path) -> None:
    rows, report = write_rows(tmp_path / "rows.csv", 40), tmp_path / "report.json"
    created = as_a_process(tmp_path, "cyclotron", "create", "tried", *CREATE, "--learn-every", 7, "--seed", "seed-1")
    assert created.code == 0, created.err
    assert created.err == f"Bringing the lab's database in {tmp_path / 'lab'} up to date.\n"
    assert (tmp_path / "lab").stat().st_mode & 0o077 == 0
    done = as_a_process(tmp_path, "cyclotron", "replay", "tried", rows, *COLUMNS, "--json")
    assert (done.code, done.document["recorded"]) == (0, 40), done.err
    assert as_a_process(tmp_path, "cyclotron", "freeze", "tried").code == 0
    bound = as_a_process(tmp_path, "cyclotron", "bound", "tried", "--json").document["requestBound"]
    refused = as_a_process(tmp_path, "cyclotron", "evaluate", "tried", "--confirm", bound + 1, "--json")
    assert (refused.code, refused.error["detail"]["requestBound"]) == (3, bound)
    evaluated = as_a_process(tmp_path, "cyclotron", "evaluate", "tried", "--confirm", bound, "--json")
    assert evaluated.code == 0, evaluated.err
    assert re.fullmatch(r"(requests answered: \d+ of \d+ \(\d+ s\)\n)+", evaluated.err)
    assert evaluated.document["report"]["cost"]["newRequests"] == bound
    assert as_a_process(tmp_path, "cyclotron", "report", "tried", "--output", report).code == 0
    assert json.loads(report.read_text()) == evaluated.document["report"]
    assert as_a_process(tmp_path, "cyclotron", "verify", report).code == 0


def test_a_replay_that_ctrl_c_stopped_goes_on_and_ends_as_one_that_ran_through_whatever_the_hash_seed(
    tmp_path: Path,
) -> None:
    rows = write_rows(tmp_path / "rows.csv", 40)
    settings = (*CREATE, "--learn-every", 7, "--seed", "seed-1")
    one, other = tmp_path / "one", tmp_path / "other"
    for home in (one, other):
        home.mkdir()
        assert as_a_process(home, "cyclotron", "create", "tried", *settings).code == 0
    assert as_a_process(one, "cyclotron", "replay", "tried", rows, *COLUMNS, PYTHONHASHSEED="1").code == 0
    stopped = as_a_process(
        other, "cyclotron", "replay", "tried", rows, *COLUMNS, "--json", PYTHONHASHSEED="2", after_rows=17
    )
    assert (stopped.code, stopped.out) == (1, "")
    assert "interrupted" in stopped.err
    assert "Traceback" not in stopped.err
    rest = as_a_process(other, "cyclotron", "replay", "tried", rows, *COLUMNS, "--json", PYTHONHASHSEED="3")
    assert (rest.code, rest.document["known"] + rest.document["recorded"]) == (0, 40)
    assert rest.document["known"] == 17
    assert learned(one) == learned(other)
    assert len(learned(one)[0]) > 1


def test_a_report_is_verified_without_a_home_or_a_database(tmp_path: Path) -> None:
    done = as_a_process(
        tmp_path, "cyclotron", "verify", EXAMPLE_PATH, "--json", DATABASE_URL="postgres://nowhere:1/none"
    )
    assert (done.code, done.document["ok"]) == (0, True)
    assert list(tmp_path.iterdir()) == []


def test_an_argument_that_is_no_utf_8_is_shown_with_escapes_and_never_ends_in_a_traceback(tmp_path: Path) -> None:
    refused = as_a_process(tmp_path, "cyclotron", "verify", os.fsdecode(b"\xff\xfe.json"), "--json")
    assert (refused.code, refused.error["id"]) == (2, "unusable-file")
    unknown = as_a_process(tmp_path, "cyclotron", "verify", EXAMPLE_PATH, os.fsdecode(b"\xff"), "--json")
    assert (unknown.code, unknown.error["id"]) == (2, "bad-usage")
    for done in (refused, unknown):
        assert "Traceback" not in done.err


def test_a_terminal_that_knows_ascii_alone_gets_escapes_and_whole_documents(tmp_path: Path) -> None:
    refused = as_a_process(
        tmp_path, "cyclotron", "verify", "caf\u00e9\U0001f600.json", "--json", PYTHONIOENCODING="ascii"
    )
    assert refused.code == 2
    assert refused.error["detail"]["file"] == "caf\u00e9\U0001f600.json"


def test_a_home_that_cannot_be_made_is_said_in_words(tmp_path: Path) -> None:
    (tmp_path / "lab").write_text("a file in the way")
    refused = as_a_process(tmp_path, "cyclotron", "list", "--json")
    assert refused.code in (1, 2)
    assert "KAPSOWEB_HOME" in refused.error["message"]
    assert "Traceback" not in refused.err


def test_a_database_that_is_no_database_is_said_in_words(tmp_path: Path) -> None:
    (tmp_path / "lab").mkdir()
    (tmp_path / "lab" / "lab.sqlite3").write_text("not a database, but text that somebody put here" * 100)
    refused = as_a_process(tmp_path, "cyclotron", "list", "--json")
    assert (refused.code, refused.error["id"]) == (1, "database-not-ready")
    assert "Traceback" not in refused.err


def test_a_reader_that_has_left_is_no_traceback(tmp_path: Path) -> None:
    read, write = os.pipe()
    os.close(read)
    try:
        process = subprocess.run(
            [sys.executable, "-c", PROGRAM, "cyclotron", "verify", str(EXAMPLE_PATH), "--json"],
            cwd=ROOT,
            stdout=write,
            stderr=subprocess.PIPE,
            check=False,
            timeout=60,
            preexec_fn=lambda: signal.signal(signal.SIGPIPE, signal.SIG_IGN),
        )
    finally:
        os.close(write)
    assert process.returncode == 1
    assert process.stderr == b""


@pytest.mark.parametrize("argument", ["", "x" * 100_000])
def test_an_argument_of_any_length_is_an_argument(tmp_path: Path, argument: str) -> None:
    refused = as_a_process(tmp_path, "cyclotron", "verify", argument, "--json")
    assert (refused.code, refused.error["id"]) == (2, "unusable-file")


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("KAPSOWEB_JOB_LEASE_SECONDS", "soon"),
        ("KAPSOWEB_SWEEP_SECONDS", "0"),
        ("KAPSOWEB_LOG_LEVEL", "LOUD"),
        ("DATABASE_URL", "garbage"),
        ("DJANGO_SETTINGS_MODULE", "kapsoweb.settings.nowhere"),
    ],
)
def test_a_setting_that_cannot_be_used_is_named_and_nothing_is_made(tmp_path: Path, setting: str, value: str) -> None:
    home = tmp_path / "home"
    settings = {"DJANGO_SETTINGS_MODULE": "kapsoweb.settings.local", "KAPSOWEB_HOME": str(home), setting: value}
    ended = subprocess.run(
        [
            sys.executable,
            "-c",
            "import sys; from kapsoweb.cli import main; sys.exit(main())",
            "cyclotron",
            "list",
            "--json",
        ],
        env={"PATH": os.environ["PATH"], **settings},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 2
    error = json.loads(ended.stdout)["error"]
    assert error["id"] == "not-configured"
    assert setting in error["message"]
    assert "Traceback" not in ended.stderr
    assert not (home / "lab.sqlite3").exists()
