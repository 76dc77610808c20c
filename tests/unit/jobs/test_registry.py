"""A kind of job has one handler."""

import pytest

from kapsoweb.jobs import registry
from kapsoweb.jobs.errors import UnknownKindError
from kapsoweb.jobs.running import Claim


def test_a_kind_finds_its_handler_until_it_is_forgotten() -> None:
    @registry.job("test.one")
    def handler(claim: Claim) -> None:
        pass

    try:
        assert registry.registration("test.one").handler is handler
    finally:
        registry.forget("test.one")
    with pytest.raises(UnknownKindError, match=r"test\.one"):
        registry.registration("test.one")


def test_a_second_handler_for_a_kind_is_refused_and_the_first_stays() -> None:
    def first(claim: Claim) -> None: ...

    def second(claim: Claim) -> None: ...

    registry.job("test.two")(first)
    try:
        registry.job("test.two")(first)  # a module that is loaded again
        with pytest.raises(ValueError, match="registered twice"):
            registry.job("test.two")(second)
        assert registry.registration("test.two").handler is first
    finally:
        registry.forget("test.two")
