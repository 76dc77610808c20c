"""The transport of a lab on one machine: a folder in which every message is a file, taken whole or not at all.

Kombu's own makes a message's file and then writes it, and takes files without looking whether they are written: a
worker that meets an empty one ends. It also moves messages through the machine's folder for temporary files, which is
often another file system, where two workers can take the same one. Here a message appears by a rename and is taken by a
rename, both inside its folder. Why folders: docs/decisions/the-database-is-the-queue.md.
"""

import logging
import os
from pathlib import Path
from queue import Empty
from time import monotonic
from typing import Any
from uuid import uuid4

from kombu.transport import TRANSPORT_ALIASES, filesystem
from kombu.utils.encoding import bytes_to_str, str_to_bytes
from kombu.utils.json import dumps, loads

logger = logging.getLogger(__name__)

SCHEME = "folders"


class Channel(filesystem.Channel):
    """Kombu's channel with another way to put and to get a message."""

    def _queue_bind(self, exchange: str, routing_key: str, pattern: str, queue: str) -> None:
        """Bind, in a table that is there whole before anybody can read it."""
        table: Path = self._exchange_file(exchange)
        if not table.exists():
            table.parent.mkdir(exist_ok=True)
            new = table.with_name(f".{uuid4()}.new")
            new.write_bytes(b"[]")
            try:
                os.link(new, table)
            except FileExistsError:
                pass  # another process was first
            finally:
                new.unlink()
        super()._queue_bind(exchange, routing_key, pattern, queue)

    def _put(self, queue: str, payload: Any, **kwargs: Any) -> None:  # type: ignore[override] # noqa: ARG002
        folder = Path(self.data_folder_out)
        name = f"{round(monotonic() * 1000)}_{uuid4()}.{queue}.msg"
        new = folder / f".{name}.new"
        new.write_bytes(str_to_bytes(dumps(payload)))
        new.rename(folder / name)

    def _get(self, queue: str, timeout: float | None = None) -> Any:  # noqa: ARG002 - kombu may pass one
        for file in sorted(Path(self.data_folder_in).iterdir()):
            if file.name.partition(".")[2] != f"{queue}.msg":
                continue
            taken = file.with_name(f".{file.name}.taken")
            try:
                file.rename(taken)
            except FileNotFoundError:
                continue  # another worker was first
            content = taken.read_bytes()
            taken.unlink()
            try:
                return loads(bytes_to_str(content))
            except ValueError:
                logger.warning("a message in the transport's folder could not be read and was dropped")
        raise Empty


class Transport(filesystem.Transport):
    """The transport of `folders://localhost`."""

    Channel = Channel


def register() -> None:
    """Make the scheme known to kombu."""
    TRANSPORT_ALIASES[SCHEME] = f"{__name__}:Transport"
