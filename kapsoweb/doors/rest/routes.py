"""Addresses of the REST door: each is good with and without a slash at its end, and no answer is a redirect."""

from collections.abc import Callable
from typing import Any

from django.urls import URLPattern, path


def route(address: str, view: Callable[..., Any], name: str) -> list[URLPattern]:
    """The patterns of an address that is written without a slash at its end; the schema shows that one."""
    return [path(address, view, name=name), path(f"{address}/", view)]
