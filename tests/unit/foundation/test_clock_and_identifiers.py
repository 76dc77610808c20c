"""Moments are aware and in UTC; identifiers are opaque, sortable and safe in a URL."""

import re
from datetime import UTC, datetime, timedelta

import pytest

from kapsoweb.foundation import clock
from kapsoweb.foundation.errors import KapsoError, Kind
from kapsoweb.foundation.identifiers import new_id


def test_now_is_aware_in_utc_and_close_to_the_systems_clock() -> None:
    moment = clock.now()
    assert moment.utcoffset() == timedelta(0)
    assert abs(datetime.now(UTC) - moment) < timedelta(minutes=1)


def test_an_identifier_has_its_prefix_and_26_characters_that_cannot_be_confused() -> None:
    assert re.fullmatch(r"job_[0-9a-hjkmnp-tv-z]{26}", new_id("job"))


def test_a_thousand_identifiers_are_a_thousand_different_ones() -> None:
    assert len({new_id("job") for _ in range(1000)}) == 1000


def test_a_later_identifier_sorts_after_an_earlier_one(monkeypatch: pytest.MonkeyPatch) -> None:
    moments = iter([1_000.0, 1_000.001, 2_000.0, 2_000_000_000.0, 4_000_000_000.0])
    monkeypatch.setattr("kapsoweb.foundation.identifiers.time.time", lambda: next(moments))
    made = [new_id("job") for _ in range(5)]
    assert made == sorted(made)


def test_an_error_has_one_shape_at_every_door() -> None:
    error = KapsoError("No such shelf; choose another.", shelf=3)
    assert error.as_json() == {"id": "error", "message": "No such shelf; choose another.", "detail": {"shelf": 3}}
    assert error.kind is Kind.INVALID
