"""A limit on request bodies before anything of the lab sees them.

Django under ASGI writes a whole body to a temporary file before it looks for a view, so a limit in the view comes too
late for the disk. The views' own limits are smaller.
"""

import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from kapsoweb.doors.limits import ANY_BODY_BYTES

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
    """An ASGI application around another, which never sees a body of more than `most` bytes."""

    def __init__(self, application: Application, most: int = ANY_BODY_BYTES) -> None:
        self.application = application
        self.most = most

    async def __call__(self, scope: dict[str, Any], receive: Receive, send: Send) -> None:
        """Pass on, or answer 413 as soon as the announced or the received length is too much."""
        if scope["type"] != "http":
            await self.application(scope, receive, send)
            return
        if _announced(scope) > self.most:
            await _refuse(send)
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
            await _refuse(send)


def _announced(scope: dict[str, Any]) -> int:
    for name, value in scope.get("headers", ()):
        if name.lower() == b"content-length" and value.isdigit():
            return int(value)
    return 0


async def _refuse(send: Send) -> None:
    body = json.dumps(_REFUSAL, separators=(",", ":")).encode()
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        (b"cache-control", b"no-store"),
        (b"connection", b"close"),  # what is left of the body is not read
    ]
    await send({"type": "http.response.start", "status": 413, "headers": headers})
    await send({"type": "http.response.body", "body": body})
