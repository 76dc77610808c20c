"""Secrets that are shown once and kept as digests: sign-in links, invitations and API tokens."""

import hashlib
import secrets

_BYTES = 32
TOKEN_PREFIX = "kapso_"  # noqa: S105 - lets people and scanners know an API token when they see one


def new_secret(prefix: str = "") -> str:
    """A fresh secret of 256 bits, safe in addresses."""
    return prefix + secrets.token_urlsafe(_BYTES)


def digest_of(secret: str) -> str:
    """SHA-256 of a secret, in hexadecimal."""
    return hashlib.sha256(secret.encode("utf-8", "replace")).hexdigest()
