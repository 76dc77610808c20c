"""One lab on one home: a lock that the system itself releases when its holder ends, however that happens."""

import contextlib
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path

from kapsoweb.lab.errors import HomeInUse, HomeUnusable


@contextlib.contextmanager
def sole_lab(home: Path, address: str) -> Iterator[None]:
    """Hold the lock of `home` for the duration; `address` tells a second lab where the first one is.

    Raises `HomeInUse` at once when another lab holds it, `HomeUnusable` when the folder cannot be written.
    """
    path = home / "lab.lock"
    try:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise HomeUnusable(
            f"{path} cannot be written ({error.strerror}); set KAPSOWEB_HOME to another folder."
        ) from None
    with os.fdopen(handle, "r+", encoding="utf-8") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise HomeInUse(
                f"A lab already runs on {home}: {file.read().strip() or 'it is just starting'}. "
                "Use that one, end it with Ctrl-C, or give this one a home of its own: KAPSOWEB_HOME=FOLDER PORT=8001."
            ) from None
        file.truncate(0)
        file.write(f"{address} (process {os.getpid()})\n")
        file.flush()
        yield
        file.truncate(0)
