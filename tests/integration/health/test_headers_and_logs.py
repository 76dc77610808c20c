"""What every answer carries, and what the log says of it."""

import json
import logging
import re
from collections.abc import Iterator
from io import StringIO

import pytest
from django.test import AsyncClient, Client
from pythonjsonlogger.json import JsonFormatter

from kapsoweb.logs import ContextFilter, job_context

pytestmark = pytest.mark.services

KEPT = "a-request.from_outside-1"


@pytest.fixture
def log() -> Iterator[StringIO]:
    """What the lab's own handler would write."""
    stream = StringIO()
    handler = logging.StreamHandler(stream)
    handler.addFilter(ContextFilter())
    handler.setFormatter(JsonFormatter("%(levelname)s %(name)s %(message)s %(request_id)s %(job_id)s"))
    logging.getLogger().addHandler(handler)
    yield stream
    logging.getLogger().removeHandler(handler)


def directives(policy: str) -> dict[str, list[str]]:
    return {words[0]: words[1:] for words in (part.split() for part in policy.split(";"))}


def test_a_browser_is_told_to_load_nothing_but_the_labs_own_files(client: Client) -> None:
    policy = directives(client.get("/healthz").headers["Content-Security-Policy"])
    assert policy.pop("default-src") == ["'none'"]
    assert policy.pop("frame-ancestors") == ["'none'"]
    assert policy.pop("base-uri") == ["'none'"]
    assert set(policy) == {"script-src", "style-src", "img-src", "font-src", "connect-src", "form-action"}
    assert all(sources == ["'self'"] for sources in policy.values())


def test_other_headers_that_close_a_page(client: Client) -> None:
    headers = client.get("/healthz").headers
    assert headers["X-Frame-Options"] == "DENY"
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "same-origin"
    assert headers["Cross-Origin-Opener-Policy"] == "same-origin"
    assert headers["Cross-Origin-Resource-Policy"] == "same-origin"
    assert "camera=()" in headers["Permissions-Policy"]


def test_a_well_formed_request_id_is_kept_and_echoed(client: Client) -> None:
    assert client.get("/healthz", headers={"X-Request-ID": KEPT}).headers["X-Request-ID"] == KEPT


@pytest.mark.parametrize("offered", ["", "short", "a" * 65, "two words here", "new\nline-and-more", '{"json": true}'])
def test_any_other_request_id_is_replaced(client: Client, offered: str) -> None:
    echoed = client.get("/healthz", headers={"X-Request-ID": offered}).headers["X-Request-ID"]
    assert re.fullmatch(r"[0-9a-f]{32}", echoed)


async def _ask_async() -> str:
    answer = await AsyncClient().get("/healthz", headers={"X-Request-ID": KEPT})
    return str(answer.headers["X-Request-ID"])


def test_the_asynchronous_door_keeps_request_ids_as_well() -> None:
    from asgiref.sync import async_to_sync

    assert async_to_sync(_ask_async)() == KEPT


def test_a_refused_address_is_logged_with_its_requests_id_and_without_its_query(client: Client, log: StringIO) -> None:
    client.post("/healthz?token=hidden-word", headers={"X-Request-ID": KEPT})
    lines = [json.loads(line) for line in log.getvalue().splitlines()]
    assert [line["request_id"] for line in lines] == [KEPT]
    assert "hidden-word" not in log.getvalue()


def test_what_a_job_logs_carries_its_id_and_what_follows_does_not(log: StringIO) -> None:
    logger = logging.getLogger("kapsoweb.tests")
    with job_context("job_1"):
        logger.warning("inside")
    logger.warning("outside")
    assert [json.loads(line)["job_id"] for line in log.getvalue().splitlines()] == ["job_1", ""]
