"""The page about limits says what the code says."""

import re
from datetime import timedelta
from pathlib import Path

import pytest

from kapsoweb.doors import limits

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "limits.md").read_text(encoding="utf-8")
ROW = re.compile(r"^\| `([A-Z_]+)` \| ([0-9,.]+)(?: ([A-Za-z]+))? \|", re.MULTILINE)
IN_CODE = {name: value for name, value in vars(limits).items() if name.isupper()}
ON_THE_PAGE = {name: (float(number.replace(",", "")), unit) for name, number, unit in ROW.findall(PAGE)}
UNITS = {"MiB": 2**20, "KiB": 2**10, "hours": 3600, "minutes": 60, "seconds": 1}


def test_every_limit_is_on_the_page_and_no_other() -> None:
    assert list(ON_THE_PAGE) == list(IN_CODE)


@pytest.mark.parametrize("name", IN_CODE)
def test_a_limit_on_the_page_is_the_one_in_the_code(name: str) -> None:
    number, unit = ON_THE_PAGE[name]
    value = IN_CODE[name]
    measured = value.total_seconds() if isinstance(value, timedelta) else value
    assert number * UNITS.get(unit, 1) == measured
