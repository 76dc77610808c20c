import socket

import pytest

from kapsoweb.lab.address import port_of_the_environment, require_free
from kapsoweb.lab.errors import BadPort, PortTaken


@pytest.mark.parametrize(("text", "port"), [("", 8000), ("  ", 8000), ("1", 1), (" 8001 ", 8001), ("65535", 65535)])
def test_port_is_a_number_and_8000_when_nothing_is_said(monkeypatch: pytest.MonkeyPatch, text: str, port: int) -> None:
    monkeypatch.setenv("PORT", text)
    assert port_of_the_environment() == port


def test_port_is_8000_without_the_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PORT", raising=False)
    assert port_of_the_environment() == 8000


@pytest.mark.parametrize("text", ["0", "65536", "-1", "80a", "8000.0", "٨٠٠٠", "²", "http"])
def test_anything_else_is_refused_with_an_example(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv("PORT", text)
    with pytest.raises(BadPort, match="PORT=8001"):
        port_of_the_environment()


def test_a_port_somebody_listens_on_is_refused_with_the_next_one() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        with pytest.raises(PortTaken, match=f"PORT={port + 1 if port < 65535 else 8000}"):
            require_free(port)


def test_a_port_of_a_closed_connection_is_free() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        client = socket.create_connection(("127.0.0.1", port))
        accepted, _ = server.accept()
        accepted.close()  # the side that closes first keeps the port in TIME_WAIT
        client.close()
    require_free(port)
