"""No body beyond the greatest limit gets as far as the lab."""

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest

from kapsoweb.doors.body_guard import BodyGuard

Message = Mapping[str, Any]
MOST = 100


def exchange(
    chunks: list[bytes], headers: list[tuple[bytes, bytes]] | None = None
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

    scope: dict[str, Any] = {"type": "http", "headers": headers or []}
    asyncio.run(BodyGuard(application, MOST)(scope, receive, send))
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


def test_what_is_no_request_passes() -> None:
    seen: list[str] = []

    async def application(scope: Any, receive: Any, send: Any) -> None:
        seen.append(scope["type"])

    asyncio.run(BodyGuard(application)({"type": "lifespan"}, None, None))  # type: ignore[arg-type]
    assert seen == ["lifespan"]
