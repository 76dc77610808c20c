import http.server
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from kapsoweb.lab.readiness import what_is_missing
from tests.support.services import free_port


@contextmanager
def answering(status: int, body: bytes) -> Iterator[int]:
    """A server that gives one answer to everything; its port."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        log_message: Callable[..., None] = lambda *_: None

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield server.server_address[1]
        finally:
            server.shutdown()
            thread.join()


def test_nothing_is_missing_when_the_lab_says_that_it_is_ready() -> None:
    with answering(200, b"{}") as port:
        assert what_is_missing(port) is None


def test_what_is_missing_is_told_in_the_words_of_the_lab() -> None:
    checks = {"database": {"ok": True, "says": "answers"}, "worker": {"ok": False, "says": "no worker was seen"}}
    with answering(503, json.dumps({"status": "not-ready", "checks": checks}).encode()) as port:
        assert what_is_missing(port) == "worker: no worker was seen"


@pytest.mark.parametrize("body", [b"", b"<html>", b"[]", b"{}", b'{"checks": [1]}', b'{"checks": {"worker": 1}}'])
def test_an_answer_that_cannot_be_read_is_told_by_its_status(body: bytes) -> None:
    with answering(500, body) as port:
        assert what_is_missing(port) == "/readyz answered with status 500"


def test_a_web_process_that_does_not_listen_yet_is_missing() -> None:
    assert "no answer" in (what_is_missing(free_port()) or "")
