"""Where the lab listens: 127.0.0.1 and nothing else, on one port."""

import os
import socket

from kapsoweb.foundation.whole_numbers import whole_number
from kapsoweb.lab.errors import BadPort, PortTaken

HOST = "127.0.0.1"
DEFAULT_PORT = 8000
_WANTED = "it must be a whole number from 1 to 65535, for example PORT=8001."


def chosen_port(given: int | None) -> int:
    """`given`, or else `PORT`, or else 8000. Raises `BadPort` when it is no whole number from 1 to 65535."""
    return port_of_the_environment() if given is None else checked_port(given)


def port_of_the_environment() -> int:
    """`PORT`, or 8000. Raises `BadPort` when it is no whole number from 1 to 65535."""
    text = os.environ.get("PORT", "").strip()
    if not text:
        return DEFAULT_PORT
    port = whole_number(text)
    if port is None:
        raise BadPort(f"PORT is {text!r}; {_WANTED}")
    return checked_port(port)


def checked_port(port: int) -> int:
    """`port` itself. Raises `BadPort` when it is not from 1 to 65535."""
    if not 1 <= port <= 65535:
        raise BadPort(f"The port is {port}; {_WANTED}")
    return port


def require_free(port: int) -> None:
    """Raise `PortTaken` when somebody listens on `port`, `BadPort` when this account may not."""
    with socket.socket() as probe:
        # As the web server will bind it: connections of an earlier lab that are still closing do not count.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except PermissionError:
            raise BadPort(f"This account may not listen on port {port}; choose one above 1023: PORT=8000.") from None
        except OSError:
            other = port + 1 if port < 65535 else DEFAULT_PORT
            raise PortTaken(
                f"Port {port} of {HOST} is taken by another program; end that, or choose another port: PORT={other}."
            ) from None
