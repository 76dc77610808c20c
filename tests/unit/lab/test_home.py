from pathlib import Path

import pytest

from kapsoweb.lab.errors import HomeInUse, HomeUnusable
from kapsoweb.lab.home import sole_lab


def test_a_home_has_one_lab_at_a_time_and_the_second_learns_where_the_first_is(tmp_path: Path) -> None:
    with sole_lab(tmp_path, "http://127.0.0.1:8000/"):
        with (
            pytest.raises(HomeInUse, match=r"http://127\.0\.0\.1:8000/ \(process \d+\)"),
            sole_lab(tmp_path, "http://127.0.0.1:8001/"),
        ):
            pytest.fail("two labs on one home")
        assert "8000" in (tmp_path / "lab.lock").read_text()
    with sole_lab(tmp_path, "http://127.0.0.1:8001/"):
        assert "8001" in (tmp_path / "lab.lock").read_text()


def test_the_home_is_free_again_after_an_error(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError), sole_lab(tmp_path, "http://127.0.0.1:8000/"):
        raise RuntimeError
    with sole_lab(tmp_path, "http://127.0.0.1:8000/"):
        pass


def test_what_a_killed_lab_left_in_the_lock_does_not_hold_up_the_next(tmp_path: Path) -> None:
    (tmp_path / "lab.lock").write_text("http://127.0.0.1:8000/ (process 123456789012)\n")
    with sole_lab(tmp_path, "http://127.0.0.1:8001/"):
        assert (tmp_path / "lab.lock").read_text().startswith("http://127.0.0.1:8001/ (process ")


def test_a_home_that_is_no_folder_is_unusable(tmp_path: Path) -> None:
    (tmp_path / "home").write_text("")
    with pytest.raises(HomeUnusable, match="KAPSOWEB_HOME"), sole_lab(tmp_path / "home", "http://127.0.0.1:8000/"):
        pytest.fail("locked a file as a home")
