"""Fixtures of the fault tests: a counting model on the loopback, and workers that die on purpose."""

from collections.abc import Iterator

import pytest

from tests.support.evaluation_trials import FaultyWorkers, faulty_workers, silent_bell
from tests.support.frozen_cyclotrons import learns_from_questions
from tests.support.loopback_model import LoopbackModel


@pytest.fixture
def server() -> Iterator[LoopbackModel]:
    """A model that does better once version 2 asks its supporting questions."""
    with LoopbackModel(learns_from_questions) as server:
        yield server


@pytest.fixture(scope="module")
def workers(django_db_setup: None) -> Iterator[FaultyWorkers]:
    """Worker processes for one test module, each with the fault that the test gives it."""
    with faulty_workers() as workers:
        yield workers


@pytest.fixture(name="silent_bell")
def _silent_bell() -> Iterator[None]:
    """No bell rings: the test starts each worker by itself."""
    with silent_bell():
        yield
