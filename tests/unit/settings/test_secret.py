"""A local lab's secret is made once, whoever comes first."""

import os
import threading
from pathlib import Path

import pytest

from kapsoweb.settings.home import read_or_create_secret


def test_a_secret_is_made_once_and_closed_to_others(tmp_path: Path) -> None:
    path = tmp_path / "secret-key"
    secret = read_or_create_secret(path)
    assert read_or_create_secret(path) == secret
    assert path.stat().st_mode & 0o777 == 0o600
    assert len(secret) >= 50
    assert [one.name for one in tmp_path.iterdir()] == ["secret-key"]


def test_two_labs_have_two_secrets(tmp_path: Path) -> None:
    assert read_or_create_secret(tmp_path / "one") != read_or_create_secret(tmp_path / "two")


def test_callers_that_are_first_together_read_one_secret(tmp_path: Path) -> None:
    barrier = threading.Barrier(8)
    seen: list[str] = []

    def first() -> None:
        barrier.wait(30)
        seen.append(read_or_create_secret(tmp_path / "secret-key"))

    threads = [threading.Thread(target=first) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert len(seen) == 8
    assert len(set(seen)) == 1
    assert [one.name for one in tmp_path.iterdir()] == ["secret-key"]


def test_a_writer_that_comes_second_takes_the_firsts_secret(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "secret-key"
    link = os.link

    def overtaken(source: str, target: Path) -> None:
        path.write_text("f" * 60, encoding="ascii")
        link(source, target)

    monkeypatch.setattr("kapsoweb.settings.home.os.link", overtaken)
    assert read_or_create_secret(path) == "f" * 60


def test_a_damaged_secret_is_refused_with_what_to_do(tmp_path: Path) -> None:
    path = tmp_path / "secret-key"
    path.write_text("", encoding="ascii")
    with pytest.raises(ValueError, match="remove the file"):
        read_or_create_secret(path)
