"""The supervisor behind `make lab`, run for real: its processes, its signals, its refusals."""

import http.client
import json
import os
import re
import signal
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from kapsoweb.lab.processes import RESTARTS
from tests.support.running_lab import ENDLESS, RunningLab, is_alive, start_lab, wait_until

pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks at processes through /proc (Linux)")

UP = "Ctrl-C ends it"
SECONDS_TO_END = 12


def get(lab: RunningLab, path: str) -> tuple[int, bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", lab.port, timeout=10)
    try:
        connection.request("GET", path)
        response = connection.getresponse()
        return response.status, response.read()
    finally:
        connection.close()


def is_ready(lab: RunningLab) -> bool:
    try:
        return get(lab, "/readyz")[0] == 200
    except ConnectionError:
        return False


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningLab]:
    """One lab that is up, for the tests that leave it up."""
    with start_lab(tmp_path_factory.mktemp("lab") / "home") as lab:
        lab.wait_until_it_says(UP)
        yield lab


def test_it_says_where_it_is_once_it_is_ready(lab: RunningLab) -> None:
    assert get(lab, "/readyz")[0] == 200
    said = "\n".join(lab.said)
    assert f"http://127.0.0.1:{lab.port}/\n" in said
    link = rf"http://127\.0\.0\.1:{lab.port}/sign-in/\S{{20,}}/"
    assert re.search(rf"Become the lab.s owner at {link} ", said)
    assert said.index("demonstration loaded") < said.index("Starting web and worker")


def test_its_state_is_closed_to_other_accounts_of_the_machine(lab: RunningLab) -> None:
    assert lab.home.stat().st_mode & 0o077 == 0


def test_it_listens_on_the_loopback_address_only(lab: RunningLab) -> None:
    with socket.socket() as other, pytest.raises(ConnectionRefusedError):
        other.connect(("127.0.0.2", lab.port))


def test_a_second_lab_on_the_same_home_is_refused_and_the_first_goes_on(lab: RunningLab) -> None:
    children = lab.children()
    for port in (lab.port, None):
        with start_lab(lab.home, port=port) as second:
            assert second.wait_for_end() == 3
            (message,) = second.said
            assert f"http://127.0.0.1:{lab.port}/" in message
            assert "KAPSOWEB_HOME=" in message
    assert lab.children() == children
    assert is_ready(lab)


def test_a_port_that_is_taken_is_refused_before_anything_is_made(lab: RunningLab, tmp_path: Path) -> None:
    with start_lab(tmp_path / "home", port=lab.port) as second:
        assert second.wait_for_end() == 3
        (message,) = second.said
        assert f"PORT={lab.port + 1}" in message
    assert not (tmp_path / "home" / "lab.sqlite3").exists()


def test_a_killed_worker_is_started_again_and_the_web_goes_on(lab: RunningLab) -> None:
    before = lab.children()
    os.kill(before["worker"], signal.SIGKILL)
    assert "worker.log" in lab.wait_until_it_says(r"worker process was killed by SIGKILL; starting it again \(1 of 3\)")
    wait_until(lambda: lab.children().keys() == {"web", "worker"})
    after = lab.children()
    assert after["web"] == before["web"]
    assert after["worker"] != before["worker"]
    wait_until(lambda: is_ready(lab))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=lambda number: number.name)
def test_a_signal_ends_everything_cleanly_and_the_home_is_free_again(tmp_path: Path, number: signal.Signals) -> None:
    with start_lab(tmp_path / "home") as lab:
        lab.wait_until_it_says(UP)
        children = lab.children()
        assert children.keys() == {"web", "worker"}
        asked = time.monotonic()
        if number is signal.SIGINT:
            os.killpg(lab.process.pid, number)  # as a terminal does
        else:
            lab.process.send_signal(number)
        assert lab.wait_for_end() == 0
        assert time.monotonic() - asked < SECONDS_TO_END
        assert not any(is_alive(pid) for pid in children.values())
        assert lab.said[-1] == "The lab has ended."
        assert "Traceback" not in "\n".join(lab.said)
    logs = "".join(log.read_text() for log in (lab.home / "logs").iterdir())
    assert "Traceback" not in logs
    logged = [json.loads(line) for line in logs.splitlines() if line.startswith("{")]
    assert any(line["message"].endswith(" ready.") and line["level"] == "INFO" for line in logged)
    assert (lab.home / "lab.lock").read_text() == ""


def test_no_process_outlives_a_supervisor_that_was_killed(tmp_path: Path) -> None:
    with start_lab(tmp_path / "home") as lab:
        lab.wait_until_it_says(UP)
        children = lab.children()
        lab.process.kill()
        wait_until(lambda: not any(is_alive(pid) for pid in children.values()))
    with start_lab(lab.home, port=lab.port) as second:
        second.wait_until_it_says(UP)
        assert is_ready(second)


def test_a_process_that_keeps_ending_ends_the_lab_with_its_last_lines(tmp_path: Path) -> None:
    with start_lab(tmp_path / "home") as lab:
        lab.wait_until_it_says(UP)
        worker = lab.children()["worker"]
        for count in range(1, RESTARTS + 1):
            wait_until(lambda: "web" in lab.children())
            os.kill(lab.children()["web"], signal.SIGKILL)
            lab.wait_until_it_says(rf"web process was killed by SIGKILL; starting it again \({count} of {RESTARTS}\)")
        wait_until(lambda: "web" in lab.children())
        os.kill(lab.children()["web"], signal.SIGKILL)
        assert lab.wait_for_end() == 1
        assert any("web process was killed by SIGKILL" in line and "3 times already" in line for line in lab.said)
        assert any("web.log" in line for line in lab.said)
        assert "Traceback" not in "\n".join(lab.said)
        assert not is_alive(worker)


def test_ctrl_c_while_the_demonstration_loads_ends_without_starting_anything(tmp_path: Path) -> None:
    with start_lab(tmp_path / "home", load=ENDLESS) as lab:
        lab.wait_until_it_says("demonstration begun")
        lab.process.send_signal(signal.SIGINT)
        assert lab.wait_for_end() == 0
        assert "the next start goes on from here" in lab.said[-1]
        assert "Traceback" not in "\n".join(lab.said)
    assert not (lab.home / "logs").exists()
    with start_lab(lab.home) as second:
        second.wait_until_it_says(UP)


def test_a_port_that_is_no_port_is_refused_with_an_example(tmp_path: Path) -> None:
    with start_lab(tmp_path / "home", port=70000) as lab:
        assert lab.wait_for_end() == 2
        assert "PORT=8001" in lab.said[-1]


def test_a_home_that_cannot_be_made_is_refused_with_the_way_out(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with start_lab(tmp_path / "file" / "home") as lab:
        assert lab.wait_for_end() == 2
        assert "KAPSOWEB_HOME" in lab.said[-1]
        assert "Traceback" not in "\n".join(lab.said)
