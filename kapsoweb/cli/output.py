"""What a command prints: its result on standard output, everything else on standard error."""

import json
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TextIO

from kapsoweb.foundation.errors import KapsoError, Kind

DONE, FAILED, BAD_USAGE, REFUSED = 0, 1, 2, 3
EXIT_CODES = {
    Kind.INVALID: BAD_USAGE,
    Kind.MISSING: BAD_USAGE,
    Kind.CONFLICT: REFUSED,
    Kind.REFUSED: REFUSED,
    Kind.FAILED: FAILED,
}
PROGRESS_SECONDS = 1.0


@dataclass(frozen=True)
class Result:
    """A command's result: JSON for `--json`, lines for a person, the exit code, or a whole document as text."""

    document: Mapping[str, Any]
    lines: tuple[str, ...]
    exit_code: int = DONE


def show(result: Result, *, as_json: bool) -> int:
    """Print a result and return its exit code."""
    if as_json:
        write(_json(result.document))
    else:
        for line in result.lines:
            write(line)
    return result.exit_code


def show_error(error: KapsoError, *, as_json: bool) -> int:
    """Print an error in its one shape and return its exit code."""
    say(f"kapsoweb: {error.message} [{error.id}]")
    if as_json:
        write(_json({"error": error.as_json()}))
    return EXIT_CODES[error.kind]


def write(text: str) -> None:
    """One line on standard output."""
    sys.stdout.write(_encodable(text, sys.stdout) + "\n")


def say(text: str) -> None:
    """One line on standard error."""
    sys.stderr.write(_encodable(text, sys.stderr) + "\n")
    sys.stderr.flush()


def _json(document: Mapping[str, Any]) -> str:
    """A document as JSON that standard output can take, with escapes where it cannot take a character."""
    text = json.dumps(document, ensure_ascii=False, allow_nan=False, indent=2)
    if _encodable(text, sys.stdout) == text:
        return text
    return json.dumps(document, allow_nan=False, indent=2)


def _encodable(text: str, stream: TextIO) -> str:
    """The text with an escape for each character that a stream's encoding lacks: an argument may be no UTF-8."""
    encoding = stream.encoding or "utf-8"
    return text.encode(encoding, "backslashreplace").decode(encoding)


@dataclass
class Progress:
    """Progress on standard error, at most once a second: what is being done, how far, how long so far."""

    what: str
    started: float = field(default_factory=time.monotonic)
    said: float = 0.0

    def __call__(self, done: int, total: int) -> None:
        """Say that `done` of `total` are through."""
        now = time.monotonic()
        if now - self.said < PROGRESS_SECONDS and done < total:
            return
        self.said = now
        say(f"{self.what}: {done} of {total} ({now - self.started:.0f} s)")
