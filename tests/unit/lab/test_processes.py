import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from kapsoweb.lab import processes
from kapsoweb.lab.errors import KeepsEnding
from kapsoweb.lab.processes import Process, end_all, web_and_worker
from tests.support.running_lab import is_alive, wait_until


@pytest.fixture
def stubborn(tmp_path: Path) -> Iterator[Process]:
    """A process that runs and ignores a polite request to end."""
    process = Process("stubborn", ["tests.support.stubborn"], tmp_path / "stubborn.log")
    process.start()
    wait_until(lambda: "running" in process.log.read_text())
    yield process
    process.wait_for_end(0, lambda: True)


def test_a_process_that_does_not_end_when_asked_is_killed_in_time(
    stubborn: Process, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(processes, "END_SECONDS", 0.3)
    pid = stubborn.pid
    assert pid is not None
    end_all([stubborn], lambda: False)
    assert not is_alive(pid)


def test_somebody_impatient_does_not_wait(stubborn: Process) -> None:
    asked = time.monotonic()
    end_all([stubborn], lambda: True)
    assert time.monotonic() - asked < processes.END_SECONDS / 2


def test_ending_what_was_never_started_does_nothing(tmp_path: Path) -> None:
    process = Process("web", ["json.tool"], tmp_path / "web.log")
    end_all([process], lambda: False)
    assert process.pid is None


def test_a_process_that_ends_at_once_is_given_up_with_the_reason_it_wrote(tmp_path: Path) -> None:
    process = Process("web", ["no_such_module"], tmp_path / "web.log")
    process.start()
    said: list[str] = []

    def keep_up_until_given_up() -> bool:
        process.keep_up(said.append)
        return False

    with pytest.raises(KeepsEnding, match="No module named no_such_module"):
        wait_until(keep_up_until_given_up)
    assert [line[: line.index(";")] for line in said] == ["The web process ended with exit code 1"] * 3


def test_restarts_long_ago_do_not_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "RESTARTS_WITHIN_SECONDS", 0.0)
    process = Process("web", ["no_such_module"], tmp_path / "web.log")
    process.start()
    said: list[str] = []

    def kept_up_more_often_than_allowed_at_once() -> bool:
        process.keep_up(said.append)
        return len(said) > processes.RESTARTS

    wait_until(kept_up_more_often_than_allowed_at_once)
    process.wait_for_end(0, lambda: True)


def test_a_long_log_is_put_aside_and_a_short_one_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "_LOG_BYTES", 10)
    logs = tmp_path / "logs"
    logs.mkdir()
    (logs / "web.log").write_text("more than ten bytes")
    (logs / "worker.log").write_text("few")
    web_and_worker(tmp_path, 8000)
    assert sorted(path.name for path in logs.iterdir()) == ["web.log.1", "worker.log"]
