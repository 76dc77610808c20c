"""Identifiers that the lab makes: opaque text, sortable by time of creation, safe in a URL."""

import secrets
import time

_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"  # Crockford's base 32, in lower case


def new_id(prefix: str) -> str:
    """`prefix_` and 26 characters: 48 bits of milliseconds since 1970, then 80 random bits (the layout of a ULID)."""
    number = (int(time.time() * 1000) << 80) | secrets.randbits(80)
    return prefix + "_" + "".join(_ALPHABET[(number >> shift) & 31] for shift in range(125, -1, -5))
