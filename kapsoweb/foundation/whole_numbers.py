"""Whole numbers that somebody wrote in an address, a form or a setting."""

_MOST_DIGITS = 18  # whatever has as many fits the database


def whole_number(text: str) -> int | None:
    """The number that a text of up to 18 ASCII digits writes; None for any other text, a sign or a space included."""
    return int(text) if text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS else None
