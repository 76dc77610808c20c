"""Addresses with parameters."""

from collections.abc import Mapping

from django.utils.http import urlencode


def with_parameters(address: str, parameters: Mapping[str, str | None]) -> str:
    """The address with those parameters that have a value."""
    query = urlencode({name: value for name, value in parameters.items() if value})
    return f"{address}?{query}" if query else address
