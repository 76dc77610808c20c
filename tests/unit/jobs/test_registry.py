"""A kind of job has one handler."""

from collections.abc import Callable

import pytest

from kapsoweb.jobs import registry
from kapsoweb.jobs.errors import UnknownKindError
from kapsoweb.jobs.running import Claim


def test_a_kind_finds_its_handler_and_no_other_kind_does(register_job: Callable[..., str]) -> None:
    def handler(claim: Claim) -> None: ...

    register_job(handler, "test.one")
    assert registry.handler_of("test.one") is handler
    with pytest.raises(UnknownKindError, match=r"test\.two"):
        registry.handler_of("test.two")


def test_a_second_handler_for_a_kind_is_refused_and_the_first_stays(register_job: Callable[..., str]) -> None:
    def first(claim: Claim) -> None: ...

    def second(claim: Claim) -> None: ...

    register_job(first)
    kind = register_job(first)  # a module that is loaded again
    with pytest.raises(ValueError, match="registered twice"):
        register_job(second)
    assert registry.handler_of(kind) is first
