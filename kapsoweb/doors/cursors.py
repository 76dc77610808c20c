"""Opaque cursors: where a page of a list ended, as text that only the lab can make and only the same list takes.

A cursor is signed together with its list's name, so one that was made up, changed or taken from another list is
refused, and so is another spelling of the same bytes. It holds the key of a row and no content.
"""

import base64
import binascii
import json

from django.utils.crypto import constant_time_compare, salted_hmac

from kapsoweb.doors.limits import CURSOR_CHARACTERS
from kapsoweb.foundation.errors import KapsoError

_SALT = "kapsoweb.doors.cursors"
_SIGNATURE_BYTES = 16


class InvalidCursorError(KapsoError):
    """A cursor that no page of this list ended with."""

    id = "invalid-cursor"


def make_cursor(of: str, key: int | str) -> str:
    """The cursor of the page of the list `of` whose last row has `key`.

    `of` names the list and all that decides which rows it has: its record and its filters.
    """
    payload = json.dumps(key, ensure_ascii=True).encode()
    return _written(_signature(of, payload) + payload)


def read_cursor(of: str, cursor: str) -> int | str:
    """The key in a cursor of the list `of`. Raises `InvalidCursorError`."""
    if len(cursor) <= CURSOR_CHARACTERS and cursor.isascii():
        try:
            raw = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
        except binascii.Error:
            raw = b""
        signature, payload = raw[:_SIGNATURE_BYTES], raw[_SIGNATURE_BYTES:]
        if payload and cursor == _written(raw) and constant_time_compare(signature, _signature(of, payload)):
            key: int | str = json.loads(payload)
            return key
    raise InvalidCursorError("this is no cursor of this list; begin without one, and go on with what `next` holds.")


def _written(raw: bytes) -> str:
    """The one spelling of a cursor's bytes."""
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")


def _signature(of: str, payload: bytes) -> bytes:
    # The list's name is led by its length: no name and payload can be read as another pair.
    signed = f"{len(of)}:{of}:".encode("utf-8", "surrogatepass") + payload
    return salted_hmac(_SALT, signed, algorithm="sha256").digest()[:_SIGNATURE_BYTES]
