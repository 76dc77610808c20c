"""The folder that holds a local lab's state, and the secret made once inside it."""

import os
import secrets
import tempfile
from pathlib import Path

SECRET_BYTES = 50


def prepare_home(home: Path) -> Path:
    """Create `home` and its parents where they are missing, closed to other users of the machine; return it."""
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    return home


def read_or_create_secret(path: Path) -> str:
    """The secret in `path`, made on the first call with mode 0600.

    Safe when several processes start at once: a complete file is written beside `path` and linked into place, and a
    link never replaces what is already there, so all of them read the one that came first.
    """
    if not path.exists():
        handle, draft = tempfile.mkstemp(prefix=".secret-", dir=path.parent)  # mkstemp makes it 0600
        try:
            with os.fdopen(handle, "w", encoding="ascii") as file:
                file.write(secrets.token_urlsafe(SECRET_BYTES))
            os.link(draft, path)
        except FileExistsError:
            pass  # another process was first; its secret is the one
        finally:
            Path(draft).unlink()
    secret = path.read_text(encoding="ascii").strip()
    if len(secret) < SECRET_BYTES:
        raise ValueError(f"The secret in {path} is too short to be safe; remove the file and a new one is made.")
    return secret
