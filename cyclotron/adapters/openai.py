"""A decision model behind an OpenAI-compatible chat-completions endpoint.

One try for each request: no retries, no redirects, no proxies from the environment. No error holds the item's text, the
body of a reply or the key. Source: spec held-out, section 4.
"""

import asyncio
import base64
import concurrent.futures
import json
import os
import threading
from collections.abc import Coroutine
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Any, NoReturn

import httpx

from cyclotron.core.configuration import Answer, DecisionRequest
from cyclotron.core.errors import InvalidDefinitionError, ModelError, ModelRefusedError
from cyclotron.core.prompt import answer_schema, build_prompt
from cyclotron.core.reply import UnreadableReplyError, read_chat_completion

MAX_REPLY_BYTES = 1 << 20
_REFUSALS = frozenset({401, 403, 404})
_WAIT_BEYOND_DEADLINE = 5.0


class InvalidEndpointError(InvalidDefinitionError):
    """A model's address, name or key cannot be used."""

    id = "invalid-model-endpoint"


class OpenAIModel:
    """Asks `model` at `base_url` (what stands before `/chat/completions`). Safe to call from several threads.

    `identity` is the address without credentials and query, and the model's name. Credentials in the address are sent
    by basic authentication when there is no `api_key`; an empty key sends none. `timeout_seconds` bounds the whole
    exchange, from the look-up of the host's name to the last byte of the reply, however slowly it trickles.
    """

    def __init__(
        self,
        base_url: str,
        model: str,
        api_key: str,
        *,
        timeout_seconds: float = 60,
        concurrency: int = 8,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self._url, identity, credentials = _address(base_url)
        if not model.strip():
            raise InvalidEndpointError("the model needs a name.")
        self.identity = f"openai:{identity}:{model}"
        self.concurrency = concurrency
        self._model = model
        self._headers = {"Accept-Encoding": "identity", "Content-Type": "application/json", "User-Agent": "kapsoweb"}
        authorization = f"Bearer {api_key}" if api_key else credentials
        if authorization:
            if not authorization.isascii() or not authorization.isprintable():
                raise InvalidEndpointError(
                    "the model's key may hold printable ASCII characters only; check its setting."
                )
            self._headers["Authorization"] = authorization
        self._timeout_seconds = timeout_seconds
        self._transport = transport
        self._wire: _Wire | None = None
        self._lock = threading.Lock()

    def answer(self, request: DecisionRequest) -> Answer:
        """Ask once. Raises `ModelRefusedError` for 401, 403 and 404, otherwise `ModelError`; `detail` has `code`:
        `timeout`, `connection`, `too-large`, `unreadable` (with `reason`) or `http-` and the status."""
        status, body = self._exchange(self._content(request))
        if status in _REFUSALS:
            raise ModelRefusedError(
                f"the model's endpoint refuses every request as configured (HTTP {status}); check its address, the "
                "model's name and the key.",
                code=f"http-{status}",
            )
        if status != httpx.codes.OK:
            _fail(f"the model's endpoint answered with HTTP {status}; try again later.", code=f"http-{status}")
        try:
            return read_chat_completion(body, request.endpoint)
        except UnreadableReplyError as error:
            _fail(
                f"the model's reply is not a usable answer ({error.reason}); try again or use another model.",
                code="unreadable",
                reason=error.reason,
            )

    def close(self) -> None:
        """Close the connections; requests under way fail. A later `answer` opens anew."""
        with self._lock:
            wire, self._wire = self._wire, None
        if wire is not None:
            wire.close()

    def _content(self, request: DecisionRequest) -> bytes:
        prompt = build_prompt(request)
        schema = {"name": "decision", "strict": True, "schema": answer_schema(request.endpoint)}
        payload = {
            "model": self._model,
            "temperature": 0,
            "messages": [{"role": "system", "content": prompt.system}, {"role": "user", "content": prompt.user}],
            "response_format": {"type": "json_schema", "json_schema": schema},
        }
        return json.dumps(payload, ensure_ascii=False, separators=(",", ":")).encode()

    def _exchange(self, content: bytes) -> tuple[int, bytes]:
        """Status and body of the one exchange; the body of anything but a 200 is not read."""
        wire = self._opened()
        try:
            return wire.run(self._send(wire.client, content), self._timeout_seconds + _WAIT_BEYOND_DEADLINE)
        except (TimeoutError, httpx.TimeoutException):
            limit = f"{self._timeout_seconds:g} seconds"
            _fail(f"the model's endpoint did not answer within {limit}; try again or allow more time.", code="timeout")
        except (httpx.HTTPError, httpx.StreamError, OSError, UnicodeError, concurrent.futures.CancelledError):
            _fail("the connection to the model's endpoint failed; check that it runs.", code="connection")

    async def _send(self, client: httpx.AsyncClient, content: bytes) -> tuple[int, bytes]:
        async with (
            asyncio.timeout(self._timeout_seconds),
            client.stream("POST", self._url, content=content, headers=self._headers) as response,
        ):
            if response.status_code != httpx.codes.OK:
                return response.status_code, b""
            if response.headers.get("Content-Encoding", "identity") != "identity":
                _fail("the model's endpoint sent a compressed reply, unasked.", code="unreadable", reason="encoding")
            body = bytearray()
            async for chunk in response.aiter_raw():
                body += chunk
                if len(body) > MAX_REPLY_BYTES:
                    _fail(f"the model's reply is larger than {MAX_REPLY_BYTES:,} bytes.", code="too-large")
            return response.status_code, bytes(body)

    def _opened(self) -> "_Wire":
        """The one wire of this process, made at the first call (a process that was forked makes its own)."""
        with self._lock:
            if self._wire is None or self._wire.process_id != os.getpid():
                self._wire = _Wire(self._transport, self.concurrency)
            return self._wire


class _Wire:
    """One HTTP client on an event loop of its own thread.

    Only there can a deadline end an exchange wherever it stands; a blocking client's limits start again at each byte.
    """

    def __init__(self, transport: httpx.AsyncBaseTransport | None, concurrency: int) -> None:
        self.process_id = os.getpid()
        self.client = httpx.AsyncClient(
            transport=transport,
            trust_env=False,
            follow_redirects=False,
            timeout=None,  # noqa: S113 - the deadline of the exchange is the limit
            limits=httpx.Limits(max_connections=None, max_keepalive_connections=concurrency),
            cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),  # an answer may not depend on an earlier one
        )
        self._loop = asyncio.new_event_loop()
        self._lock = threading.Lock()
        self._closed = False
        threading.Thread(target=self._serve, name="decision-model", daemon=True).start()

    def run(self, exchange: Coroutine[Any, Any, tuple[int, bytes]], timeout_seconds: float) -> tuple[int, bytes]:
        """Wait in the calling thread for an exchange on the loop; one that is no longer waited for is cancelled."""
        with self._lock:
            if self._closed:
                exchange.close()
                raise ConnectionError
            future = asyncio.run_coroutine_threadsafe(exchange, self._loop)
        try:
            return future.result(timeout_seconds)
        finally:
            future.cancel()

    def close(self) -> None:
        """Cancel what is under way, close the connections, end the thread."""
        with self._lock:
            self._closed = True
        asyncio.run_coroutine_threadsafe(self._shut(), self._loop).result(_WAIT_BEYOND_DEADLINE)
        self._loop.call_soon_threadsafe(self._loop.stop)

    def _serve(self) -> None:
        try:
            self._loop.run_forever()
        finally:
            self._loop.close()

    async def _shut(self) -> None:
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)
        await self.client.aclose()


def _address(base_url: str) -> tuple[httpx.URL, str, str | None]:
    """The address to post to, the address that names the endpoint, and the credentials in it as a header's value."""
    try:
        url = httpx.URL(base_url.strip())
    except httpx.InvalidURL:
        raise InvalidEndpointError("the model's address is no URL.") from None
    if url.scheme not in ("http", "https") or not url.host:
        raise InvalidEndpointError("the model's address must start with http:// or https:// and name a host.")
    plain = url.copy_with(username=None, password=None, query=None, fragment=None, path=url.path.rstrip("/") or "/")
    credentials = None
    if url.userinfo:
        pair = base64.b64encode(f"{url.username}:{url.password}".encode()).decode()
        credentials = f"Basic {pair}"
    post = plain.copy_with(path=plain.path.rstrip("/") + "/chat/completions", query=url.query or None)
    return post, str(plain).rstrip("/"), credentials


def _fail(message: str, **detail: str) -> NoReturn:
    """Raise a `ModelError` that brings along no earlier exception, whose text might hold what it was about."""
    raise ModelError(message, **detail) from None
