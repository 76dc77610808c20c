"""What the values of an item may be. Source: spec held-out, section 1."""

from typing import Any

from cyclotron.core.errors import InvalidItemError
from kapsoweb.foundation.canonical import canonical_json, check_json

MAX_VALUES_BYTES = 1024 * 1024  # as canonical JSON


def check_values(values: dict[str, Any]) -> None:
    """Refuse values that no item may have: no JSON object, not storable, or too large. Raises `InvalidItemError`."""
    if not isinstance(values, dict):
        raise InvalidItemError("an item's values must be a JSON object.")
    check_json(values, "an item's values")
    if len(canonical_json(values)) > MAX_VALUES_BYTES:
        raise InvalidItemError(f"an item's values may have {MAX_VALUES_BYTES} bytes of JSON at most.")
