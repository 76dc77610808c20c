"""No body beyond the greatest limit gets as far as the lab."""

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from kapsoweb.doors.body_guard import BodyGuard
from kapsoweb.pages.errors import too_large_page

Message = Mapping[str, Any]
MOST = 100


def exchange(
    chunks: list[bytes],
    headers: list[tuple[bytes, bytes]] | None = None,
    page: Callable[[], str] | None = None,
    path: str = "/",
) -> tuple[list[Message], list[bytes]]:
    """What was answered to a body in these chunks, and the chunks that the application behind the guard was given."""
    sent: list[Message] = []
    given: list[bytes] = []
    waiting: list[Message] = [
        {"type": "http.request", "body": chunk, "more_body": number < len(chunks) - 1}
        for number, chunk in enumerate(chunks)
    ]

    async def receive() -> Message:
        return waiting.pop(0)

    async def send(message: Message) -> None:
        sent.append(message)

    async def application(scope: Any, receive: Any, send: Any) -> None:
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                return
            given.append(message["body"])
            if not message["more_body"]:
                break
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"done"})

    scope: dict[str, Any] = {"type": "http", "path": path, "headers": headers or []}
    asyncio.run(BodyGuard(application, MOST, page)(scope, receive, send))
    return sent, given


@pytest.mark.parametrize("chunks", [[b""], [b"a" * MOST], [b"a" * 50, b"b" * 50, b""]])
def test_a_body_within_the_limit_passes(chunks: list[bytes]) -> None:
    sent, given = exchange(chunks)
    assert sent[0]["status"] == 200
    assert given == chunks


def test_a_body_that_announces_too_much_is_not_received() -> None:
    sent, given = exchange([b"a"], [(b"Content-Length", str(MOST + 1).encode())])
    assert sent[0]["status"] == 413
    assert b'"id":"body-too-large"' in sent[1]["body"]
    assert given == []


def test_a_body_that_announces_nothing_is_cut_off() -> None:
    sent, given = exchange([b"a" * 60, b"b" * 60, b"c" * 60])
    assert sent[0]["status"] == 413
    assert given == [b"a" * 60]


@pytest.mark.parametrize("announced", [[], [(b"content-length", b"180")]])
def test_a_browser_sends_all_of_it_and_then_gets_a_page(announced: list[tuple[bytes, bytes]]) -> None:
    headers = [(b"accept", b"text/html,application/xhtml+xml"), *announced]
    sent, given = exchange([b"a" * 60, b"b" * 60, b"c" * 60], headers, lambda: "<h1>This is too large</h1>")
    assert [message["type"] for message in sent] == ["http.response.start", "http.response.body"]
    assert sent[0]["status"] == 413
    assert (b"content-type", b"text/html; charset=utf-8") in sent[0]["headers"]
    assert b"This is too large" in sent[1]["body"]
    assert sum(map(len, given)) <= MOST


def test_a_machine_is_answered_at_once_though_there_is_a_page() -> None:
    sent, _ = exchange([b"a" * 60] * 9, [(b"content-length", b"540"), (b"accept", b"*/*")], lambda: "<h1></h1>")
    assert (b"content-type", b"application/json") in sent[0]["headers"]


def test_a_machines_address_has_the_machines_answer_whatever_is_accepted() -> None:
    headers = [(b"content-length", b"540"), (b"accept", b"text/html")]
    sent, _ = exchange([b"a" * 60] * 9, headers, lambda: "<h1></h1>", "/api/v1/cyclotrons")
    assert (b"content-type", b"application/json") in sent[0]["headers"]


def test_what_a_browser_sends_is_not_read_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kapsoweb.doors.body_guard.FORGOTTEN_BODY_BYTES", 100)
    headers = [(b"content-length", b"6000"), (b"accept", b"text/html")]
    sent, _ = exchange([b"a" * 60] * 2 + [b""], headers, lambda: "<h1></h1>")
    assert sent[0]["status"] == 413


def test_the_page_says_what_is_allowed() -> None:
    assert "More was sent than the 40 MiB that any page takes." in too_large_page()


def test_what_is_no_request_passes() -> None:
    seen: list[str] = []

    async def application(scope: Any, receive: Any, send: Any) -> None:
        seen.append(scope["type"])

    asyncio.run(BodyGuard(application)({"type": "lifespan"}, None, None))  # type: ignore[arg-type]
    assert seen == ["lifespan"]
