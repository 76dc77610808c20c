"""Fixtures for what lies outside the repository: real labels and a browser."""

import os
from pathlib import Path
from typing import Any

import pytest

from tests.support.services import NotToBeHad, chromium


@pytest.fixture(scope="session")
def screening_data() -> Path:
    """The folder of real screening decisions (adhd.csv and others) below KAPSOWEB_TEST_DATA."""
    named = os.environ.get("KAPSOWEB_TEST_DATA")
    if not named:
        pytest.skip("real labels: set KAPSOWEB_TEST_DATA to the folder that holds drug-class-review/adhd.csv")
    folder = Path(named).resolve() / "drug-class-review"
    if not (folder / "adhd.csv").is_file():
        pytest.fail(f"KAPSOWEB_TEST_DATA is {named}, which holds no drug-class-review/adhd.csv")
    return folder


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args: dict[str, Any]) -> dict[str, Any]:
    """Playwright drives the Chromium of the machine, so that nothing is downloaded."""
    try:
        path = chromium()
    except NotToBeHad as missing:
        pytest.skip(str(missing))
    return {**browser_type_launch_args, "executable_path": str(path)}
