"""Files that a command reads and writes, with errors that name the file."""

import os
from pathlib import Path

from kapsoweb.foundation.canonical import check_text
from kapsoweb.foundation.errors import KapsoError

MAX_TEXT_BYTES = 1024 * 1024
MAX_DOCUMENT_BYTES = 256 * 1024 * 1024


class UnusableFileError(KapsoError):
    """A file cannot be read or written, or does not hold what it should."""

    id = "unusable-file"


def read_bytes(path: Path, most: int = MAX_DOCUMENT_BYTES) -> bytes:
    """A file's bytes, up to `most` of them."""
    try:
        with path.open("rb") as stream:
            data = stream.read(most + 1)
    except OSError as error:
        raise UnusableFileError(f"{path} cannot be read: {error.strerror}.", file=str(path)) from error
    except ValueError as error:
        raise UnusableFileError(f"{str(path)!r} is no name of a file.", file=str(path)) from error
    if len(data) > most:
        raise UnusableFileError(f"{path} has more than {most:,} bytes.", file=str(path))
    return data


def read_text(path: Path, what: str) -> str:
    """A file's UTF-8 text."""
    try:
        return check_text(read_bytes(path, MAX_TEXT_BYTES).decode("utf-8-sig"), what)
    except UnicodeDecodeError as error:
        raise UnusableFileError(f"{path} is not UTF-8 text (byte {error.start}).", file=str(path)) from error


def write_text(path: Path, text: str) -> None:
    """Write a file whole or not at all."""
    try:
        part = path.with_name(f"{path.name}.{os.getpid()}.part")
        try:
            part.write_text(text, encoding="utf-8", newline="")
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)
    except OSError as error:
        raise UnusableFileError(f"{path} cannot be written: {error.strerror}.", file=str(path)) from error
    except ValueError as error:
        raise UnusableFileError(f"{str(path)!r} is no name of a file.", file=str(path)) from error
