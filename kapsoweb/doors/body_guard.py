"""A limit on request bodies before anything of the lab sees them.

Django under ASGI writes a whole body to a temporary file before it looks for a view, so a limit in the view comes too
late for the disk. The views' own limits are smaller. A browser hears an answer only once it has sent everything, or
shows a connection that was reset: what it sends too much is read and forgotten, up to a limit of its own.
"""

import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from kapsoweb.doors.limits import ANY_BODY_BYTES, FORGOTTEN_BODY_BYTES
from kapsoweb.doors.statuses import ADDRESSES

Message = Mapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[dict[str, Any], Receive, Send], Awaitable[None]]

_REFUSAL = {
    "error": {
        "id": "body-too-large",
        "message": f"the body is larger than the {ANY_BODY_BYTES:,} bytes that any address takes. Nothing was changed.",
        "detail": {"limit": ANY_BODY_BYTES},
    }
}


class BodyGuard:
    """An ASGI application around another, which never sees a body of more than `most` bytes.

    `page` makes the HTML that a browser is answered with; every other client gets the machines' one shape of error.
    """

    def __init__(
        self, application: Application, most: int = ANY_BODY_BYTES, page: Callable[[], str] | None = None
    ) -> None:
        self.application = application
        self.most = most
        self.page = page

    async def __call__(self, scope: dict[str, Any], receive: Receive, send: Send) -> None:
        """Pass on, or answer 413 as soon as the announced or the received length is too much."""
        if scope["type"] != "http":
            await self.application(scope, receive, send)
            return
        if _announced(scope) > self.most:
            await self._refuse(scope, receive, send)
            return
        seen = 0
        refused = False
        answered = False

        async def counted() -> Message:
            nonlocal seen, refused
            message = await receive()
            seen += len(message.get("body", b""))
            if seen > self.most:
                refused = True
                return {"type": "http.disconnect"}  # the application gives up, and what it wrote is dropped
            return message

        async def watched(message: Message) -> None:
            nonlocal answered
            answered = True
            await send(message)

        await self.application(scope, counted, watched)
        if refused and not answered:
            await self._refuse(scope, receive, send)

    async def _refuse(self, scope: Mapping[str, Any], receive: Receive, send: Send) -> None:
        for_a_browser = b"text/html" in _header(scope, b"accept") and not scope.get("path", "").startswith(ADDRESSES)
        if self.page is None or not for_a_browser:
            await _answer(send, b"application/json", json.dumps(_REFUSAL, separators=(",", ":")).encode())
            return
        await _forget(receive)
        await _answer(send, b"text/html; charset=utf-8", self.page().encode())


def _announced(scope: Mapping[str, Any]) -> int:
    value = _header(scope, b"content-length")
    return int(value) if value.isdigit() else 0


def _header(scope: Mapping[str, Any], wanted: bytes) -> bytes:
    for name, value in scope.get("headers", ()):
        if name.lower() == wanted:
            found: bytes = value
            return found
    return b""


async def _forget(receive: Receive) -> None:
    """Read what is left of a body and keep none of it, until it ends or is beyond all measure."""
    left = FORGOTTEN_BODY_BYTES
    while left > 0:
        message = await receive()
        if message["type"] != "http.request" or not message.get("more_body", False):
            return
        left -= len(message.get("body", b""))


async def _answer(send: Send, kind: bytes, body: bytes) -> None:
    headers = [
        (b"content-type", kind),
        (b"content-length", str(len(body)).encode()),
        (b"cache-control", b"no-store"),
        (b"content-security-policy", b"default-src 'none'; style-src 'self'; img-src 'self'"),
        (b"connection", b"close"),  # what is left of the body is not read
    ]
    await send({"type": "http.response.start", "status": 413, "headers": headers})
    await send({"type": "http.response.body", "body": body})
