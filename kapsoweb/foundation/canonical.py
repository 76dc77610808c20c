"""Canonical JSON and digests: the same value always has the same bytes, so that identity can be a digest.

Canonical form: UTF-8, keys sorted by code point, no white space, no escapes beyond JSON's own. Refused: NaN and
infinities, whole numbers of more than `MAX_DIGITS` digits, non-text keys, NUL and lone surrogates (PostgreSQL cannot
store either), nesting beyond `MAX_DEPTH`, and any type that JSON lacks. The strict reader of JSON has the same limits.
"""

import hashlib
import json
import math
from typing import Any

from kapsoweb.foundation.errors import KapsoError

MAX_DEPTH = 64
MAX_DIGITS = 300  # every such whole number is a finite float too
_TOO_LONG = 10**MAX_DIGITS


class UnreadableValueError(KapsoError):
    """A value that cannot be stored as JSON everywhere."""

    id = "unreadable-value"


def is_storable(text: str) -> bool:
    """Whether a database here can store a text, and so could hold a record under it."""
    return "\x00" not in text and not any("\ud800" <= character <= "\udfff" for character in text)


def check_text(text: str, where: str = "value") -> str:
    """Return `text` unless it is no text, or holds a NUL or a lone surrogate, which no database here can store."""
    if not isinstance(text, str):
        raise UnreadableValueError(f"{where} must be text.", where=where)
    if "\x00" in text:
        raise UnreadableValueError(f"{where} holds a NUL character; remove it.", where=where)
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise UnreadableValueError(
            f"{where} holds half of a surrogate pair; it is not valid Unicode text.", where=where
        ) from None
    return text


def check_json(value: Any, where: str = "value", depth: int = 0) -> Any:
    """Return `value` unless some part of it is not plain, finite, storable JSON."""
    if depth > MAX_DEPTH:
        raise UnreadableValueError(f"{where} is nested deeper than {MAX_DEPTH} levels.", where=where)
    if value is None:
        return value
    if isinstance(value, bool | int):
        if not -_TOO_LONG < value < _TOO_LONG:
            raise UnreadableValueError(f"{where} holds a whole number of more than {MAX_DIGITS} digits.", where=where)
        return value
    if isinstance(value, str):
        return check_text(value, where)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise UnreadableValueError(f"{where} holds a number that is not finite.", where=where)
        return value
    if isinstance(value, list | tuple):
        for item in value:
            check_json(item, where, depth + 1)
        return value
    if isinstance(value, dict):
        for key, item in value.items():
            if not isinstance(key, str):
                raise UnreadableValueError(f"{where} has a key that is not text.", where=where)
            check_text(key, f"a key of {where}")
            check_json(item, where, depth + 1)
        return value
    raise UnreadableValueError(f"{where} holds a {type(value).__name__}, which JSON lacks.", where=where)


def canonical_json(value: Any) -> bytes:
    """The canonical bytes of a JSON value (see the module's text)."""
    check_json(value)
    return json.dumps(value, ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":")).encode()


def digest(value: Any) -> str:
    """SHA-256 of the canonical bytes, as 64 hexadecimal digits."""
    return hashlib.sha256(canonical_json(value)).hexdigest()


def digest_of_parts(*parts: str) -> str:
    """SHA-256 over parts that are digests or other short text, each preceded by its length, as 64 hexadecimal digits.

    Cheaper than `digest` where one part changes and the others are known, and free of ambiguity at the joints.
    """
    joined = hashlib.sha256()
    for part in parts:
        encoded = part.encode()
        joined.update(f"{len(encoded)}:".encode())
        joined.update(encoded)
    return joined.hexdigest()
