"""A decision model on 127.0.0.1 that speaks the chat-completions format, counts every call and misbehaves on demand.

It lives in a thread of the test's process; other processes reach it by its address: they ask `/v1/chat/completions`,
read `/count` and `/calls`, and post a behaviour to `/behaviour`. Its answers depend on the request alone.
"""

import hashlib
import json
import socket
import struct
import sys
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

from tests.support.chat_completions import Rule, answer, by_digest, completion


class Fault(StrEnum):
    """What the server does instead of answering well; `amount` is meant where a number is named."""

    STATUS = "status"  # answers with the status `amount`
    REDIRECT = "redirect"  # answers 307 to itself
    GARBAGE = "garbage"  # 200 with a body that is no JSON
    REPLY = "reply"  # a completion whose content is `content`
    BODY = "body"  # 200 with the body `content`
    HALF = "half"  # promises a body and closes half-way through it
    TRICKLE = "trickle"  # one byte of the body every `amount` milliseconds
    TRICKLE_HEAD = "trickle-head"  # one byte of the status line and headers every `amount` milliseconds
    SLOW = "slow"  # answers well after `amount` milliseconds
    HUGE = "huge"  # a well-formed answer padded to `amount` bytes
    WRONG_LABEL = "wrong-label"  # well-formed, with a label that is not declared
    HANG = "hang"  # answers well once it is released
    DROP = "drop"  # closes the connection without a word
    RESET = "reset"  # resets the connection
    NONE = "none"  # answers well


_BROKEN = frozenset({Fault.HALF, Fault.TRICKLE, Fault.TRICKLE_HEAD, Fault.DROP, Fault.RESET})


@dataclass(frozen=True)
class Behaviour:
    """A fault, and for how many calls it holds (None: for all), after so many that are answered well."""

    fault: Fault
    amount: int = 0
    content: str = ""
    times: int | None = None
    after: int = 0


@dataclass(frozen=True)
class Call:
    """One call: SHA-256 of its body, seconds of the monotonic clock, calls under way with it, and its headers."""

    fingerprint: str
    at: float
    at_once: int
    path: str
    headers: Mapping[str, str]


class LoopbackModel:
    """The server as a context manager. `rule` gives an answer's label; by default the text's digest chooses it."""

    def __init__(self, rule: Rule | None = None) -> None:
        self.rule = rule or by_digest
        self.calls: list[Call] = []
        self.requests: list[dict[str, Any]] = []
        self.most_at_once = 0
        self._at_once = 0
        self._behaviour: Behaviour | None = None
        self._changed = threading.Condition()
        self._released = threading.Event()
        self._closing = threading.Event()
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.model = self
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._closing.set()
        self._released.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    @property
    def address(self) -> str:
        """`http://127.0.0.1:PORT`, before any path."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def url(self) -> str:
        """The base URL that a client of chat completions is given."""
        return f"{self.address}/v1"

    @property
    def count(self) -> int:
        """Calls received since the start."""
        with self._changed:
            return len(self.calls)

    def behave(
        self, fault: Fault, *, amount: int = 0, content: str = "", times: int | None = None, after: int = 0
    ) -> None:
        """Answer `after` calls well, then misbehave in this way, for `times` calls or until told otherwise."""
        self._set(Behaviour(fault, amount, content, times, after))

    def release(self) -> None:
        """Let the calls that hang, and those to come that would, be answered."""
        self._released.set()

    def wait_for_calls(self, number: int, timeout_seconds: float = 10) -> bool:
        """Wait until that many calls have come in all; False when they did not come in time."""
        with self._changed:
            return self._changed.wait_for(lambda: len(self.calls) >= number, timeout_seconds)

    def _set(self, behaviour: Behaviour) -> None:
        with self._changed:
            self._behaviour = behaviour
            if behaviour.fault is Fault.HANG:
                self._released.clear()

    def _received(self, body: bytes, path: str, headers: Mapping[str, str]) -> Behaviour | None:
        """Count a call and say how to behave in it."""
        with self._changed:
            self._at_once += 1
            self.most_at_once = max(self.most_at_once, self._at_once)
            digest = hashlib.sha256(body).hexdigest()
            self.calls.append(Call(digest, time.monotonic(), self._at_once, path, headers))
            behaviour = self._behaviour
            if behaviour is not None and behaviour.after > 0:
                self._behaviour, behaviour = replace(behaviour, after=behaviour.after - 1), None
            elif behaviour is not None and behaviour.times is not None:
                left = behaviour.times - 1
                self._behaviour = replace(behaviour, times=left) if left > 0 else None
            self._changed.notify_all()
            return behaviour

    def _done(self) -> None:
        with self._changed:
            self._at_once -= 1


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 128
    model: LoopbackModel

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing where a client was killed in the middle of a word."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        model = self.server.model
        with model._changed:
            if self.path == "/count":
                value: Any = {"count": len(model.calls), "mostAtOnce": model.most_at_once}
            else:
                value = [asdict(call) for call in model.calls]
        self._send(200, json.dumps(value).encode())

    def do_POST(self) -> None:
        length = int(self.headers.get("Content-Length", 0))
        body = self.rfile.read(length)
        model = self.server.model
        if self.path == "/behaviour":
            wanted = json.loads(body)
            model._set(Behaviour(**wanted | {"fault": Fault(wanted["fault"])}))
            self._send(200, b"{}")
            return
        behaviour = model._received(body, self.path, dict(self.headers.items()))
        try:
            if len(body) < length:
                return  # its client was killed in the middle: a call all the same
            request = json.loads(body)
            model.requests.append(request)
            with suppress(OSError):  # the client may have gone away
                self._respond(behaviour, request)
        finally:
            model._done()

    def _respond(self, behaviour: Behaviour | None, request: Mapping[str, Any]) -> None:
        model = self.server.model
        behaviour = behaviour or Behaviour(Fault.NONE)
        fault, amount = behaviour.fault, behaviour.amount
        good = completion(answer(model.rule, request, wrong=fault is Fault.WRONG_LABEL))
        bodies = {
            Fault.GARBAGE: b"<html>this is no JSON</html>",
            Fault.REPLY: completion(behaviour.content),
            Fault.BODY: behaviour.content.encode(),
            Fault.HUGE: good + b" " * (amount - len(good)),
        }
        if fault is Fault.HANG:
            model._released.wait()
        if fault is Fault.SLOW:
            model._closing.wait(amount / 1000)
        if fault is Fault.STATUS:
            self._send(amount, b'{"error": {"message": "refused on purpose"}}')
        elif fault is Fault.REDIRECT:
            self._send(307, b"", {"Location": f"{model.url}/chat/completions"})
        elif fault in _BROKEN:
            self.close_connection = True
            self._break_off(fault, amount, good)
        else:
            self._send(200, bodies.get(fault, good))

    def _break_off(self, fault: Fault, milliseconds: int, good: bytes) -> None:
        """Begin an answer and do not finish it, or not in any time that a client would wait."""
        if fault is Fault.HALF:
            self._head(200, len(good))
            self.wfile.write(good[: len(good) // 2])
        elif fault is Fault.TRICKLE:
            self._head(200, len(good))
            self._trickle(good, milliseconds)
        elif fault is Fault.TRICKLE_HEAD:
            self._trickle(b"HTTP/1.1 200 OK\r\nX-Filler: " + b"x" * 1000, milliseconds)
        elif fault is Fault.RESET:
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.connection.close()

    def _trickle(self, content: bytes, milliseconds: int) -> None:
        for byte in content:
            self.wfile.write(bytes([byte]))
            if self.server.model._closing.wait(milliseconds / 1000):
                return

    def _send(self, status: int, body: bytes, headers: Mapping[str, str] | None = None) -> None:
        self._head(status, len(body), headers)
        self.wfile.write(body)

    def _head(self, status: int, length: int, headers: Mapping[str, str] | None = None) -> None:
        self.send_response(status)
        sent = {"Content-Type": "application/json", "Content-Length": str(length), "Set-Cookie": "seen=1"}
        for name, value in (sent | dict(headers or {})).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.flush()

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class names it so
        """Say nothing: a test's output is for its failures."""
