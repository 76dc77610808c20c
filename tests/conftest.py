"""Fixtures that every test may use."""

from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from kapsoweb.jobs import registry
from kapsoweb.jobs.registry import Handler
from tests.support.fixtures import browser_type_launch_args, screening_data

__all__ = ["browser_type_launch_args", "moment", "register_job", "screening_data"]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Pages last: Playwright leaves an event loop running in this thread, in which tests of async code cannot run."""
    items.sort(key=lambda item: item.get_closest_marker("browser") is not None)


@pytest.fixture
def moment() -> datetime:
    """A fixed moment, aware, in UTC."""
    return datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


@pytest.fixture
def register_job(monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    """`register_job(handler, kind="test.work") -> kind`: a handler for the length of one test."""
    monkeypatch.setattr(registry, "_handlers", dict(registry._handlers))

    def register(handler: Handler, kind: str = "test.work") -> str:
        registry.job(kind)(handler)
        return kind

    return register
