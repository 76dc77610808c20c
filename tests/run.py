"""Run every test on SQLite and the filesystem transport, then what touches services again on PostgreSQL and Redis.

`python -m tests.run [pytest's arguments]`; the last line is the sum of both runs. Exit code 0 when every test passed,
1 when one failed or none ran, 130 after Ctrl-C. With CI=true nothing may be missing.
"""

import argparse
import contextlib
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import NoReturn
from xml.etree import ElementTree

from tests.support.services import NotToBeHad, Service, chromium, environment_of_a_part, postgresql, redis_server

ROOT = Path(__file__).resolve().parents[1]
_TEARDOWN_SECONDS = 30.0
_NOTHING_SELECTED = 5  # pytest's exit code


@dataclass(frozen=True)
class Counts:
    """How the tests of one or more pytest runs ended; an error in a fixture is a failure."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0

    def __add__(self, other: "Counts") -> "Counts":
        return Counts(self.passed + other.passed, self.failed + other.failed, self.skipped + other.skipped)


@dataclass(frozen=True)
class Part:
    """One pytest run; `broken` when it ended without telling how its tests ended."""

    counts: Counts
    broken: bool


def main(argv: Sequence[str]) -> int:
    """Run both parts with pytest's arguments `argv`; the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.run", allow_abbrev=False, epilog="The rest goes to pytest.")
    parser.add_argument("-m", dest="marks", metavar="MARKEXPR", help="only tests with these marks, in both parts")
    options, arguments = parser.parse_known_args(argv)
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _interrupt)
    try:
        with contextlib.ExitStack() as stack:
            return _run(stack, options.marks, arguments)
    except KeyboardInterrupt:
        _say("Interrupted; everything that this run started is stopped.")
        return 130


def _run(stack: contextlib.ExitStack, marks: str | None, arguments: Sequence[str]) -> int:
    missing: list[str] = []
    services: dict[str, Service] = {}
    for variable, service in (("DATABASE_URL", postgresql), ("REDIS_URL", redis_server)):
        try:
            services[variable] = stack.enter_context(service())
        except NotToBeHad as reason:
            missing.append(f"{'PostgreSQL' if variable == 'DATABASE_URL' else 'Redis'} tests: {reason}")
    selection = [f"({marks})"] if marks else []
    try:
        chromium()
    except NotToBeHad as reason:
        missing.append(f"browser tests: {reason}")
        selection.append("not browser")
    if not os.environ.get("KAPSOWEB_TEST_DATA"):
        missing.append("tests on real labels: set KAPSOWEB_TEST_DATA to the folder of drug-class-review/adhd.csv")
    if missing and os.environ.get("CI") == "true":
        _say("CI runs every test, but here these cannot be run:", *missing)
        return 1

    place = stack.enter_context(tempfile.TemporaryDirectory(prefix="kapso-tests-"))
    _say("Part 1: everything, on SQLite and the filesystem transport.")
    parts = [_pytest(place, "embedded", {}, selection, arguments)]
    if services:
        where = ", ".join(service.origin for service in services.values())
        _say(f"Part 2: what touches services, on {where}.")
        parts.append(_pytest(place, "services", services, ["(services or faults)", *selection], arguments))

    total = sum((part.counts for part in parts), Counts())
    if missing:
        _say("Not run here:", *missing)
    if total == Counts():
        _say("No test ran.")
    _say(f"{total.passed} passed, {total.failed} failed, {total.skipped} skipped")
    return int(total.failed > 0 or total == Counts() or any(part.broken for part in parts))


def _pytest(
    place: str, name: str, services: Mapping[str, Service], selection: Sequence[str], arguments: Sequence[str]
) -> Part:
    home = Path(place, name)
    home.mkdir()
    results = Path(place, f"{name}.xml")
    marks = ["-m", " and ".join(selection)] if selection else []
    # With a terminal, its Ctrl-C reaches pytest as well as this process (and a debugger can read from it). Without one,
    # pytest gets a group of its own, so that a signal meant for both arrives there once: by way of this process.
    terminal = sys.stdin.isatty()
    process = subprocess.Popen(
        [sys.executable, "-m", "pytest", f"--junitxml={results}", *marks, *arguments],
        cwd=ROOT,
        env=environment_of_a_part(services, str(home)),
        process_group=None if terminal else 0,
    )
    try:
        code = process.wait()
    except KeyboardInterrupt as interrupt:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # a second Ctrl-C must not leave the services behind
        if not terminal or interrupt.args:
            process.send_signal(signal.SIGINT)
        _await_teardown(process)
        raise
    if code == _NOTHING_SELECTED:
        return Part(Counts(), broken=False)
    return Part(_read(results), broken=code not in {0, 1} or not results.is_file())


def _await_teardown(process: subprocess.Popen[bytes]) -> None:
    try:
        process.wait(_TEARDOWN_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _read(results: Path) -> Counts:
    if not results.is_file():
        return Counts()
    total = Counts()
    for suite in ElementTree.parse(results).getroot().iter("testsuite"):
        failed = int(suite.get("failures", "0")) + int(suite.get("errors", "0"))
        skipped = int(suite.get("skipped", "0"))
        total += Counts(int(suite.get("tests", "0")) - failed - skipped, failed, skipped)
    return total


def _interrupt(number: int, frame: FrameType | None) -> NoReturn:
    raise KeyboardInterrupt(number)


def _say(*lines: str) -> None:
    sys.stdout.write("\n".join(lines) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
