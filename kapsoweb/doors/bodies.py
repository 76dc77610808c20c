"""Bodies of requests at every door: read once under a limit, in UTF-8, and as JSON by the one strict reader."""

from collections.abc import Mapping
from typing import Any, NoReturn

from django.http import HttpRequest
from django.http.request import UnreadablePostError

from kapsoweb.doors.errors import BodyTooLargeError, UnreadableBodyError
from kapsoweb.doors.limits import JSON_DEPTH
from kapsoweb.foundation.strict_json import read_json

_UTF8 = frozenset({"utf-8", "utf8"})


def read_body(request: HttpRequest, limit: int) -> bytes:
    """The body, of `limit` bytes at most. Raises `BodyTooLargeError` or `UnreadableBodyError`."""
    announced = request.META.get("CONTENT_LENGTH") or ""
    length = int(announced) if announced.isascii() and announced.isdigit() else None
    if length is not None and length > limit:
        _too_large(limit)
    try:
        # Chunked bodies announce no length: one byte more than is allowed tells that there is too much.
        data: bytes = request.read(limit + 1 if length is None else length)
    except UnreadablePostError:
        raise UnreadableBodyError("the body ended before its announced length. Nothing was changed.") from None
    if len(data) > limit:
        _too_large(limit)
    return data


def json_in(data: bytes, limit: int) -> Any:
    """The value that a body of `limit` bytes at most writes as JSON. Raises `UnreadableJsonError`."""
    return read_json(data, where="the body", max_bytes=limit, max_depth=JSON_DEPTH)


def is_in_utf8(parameters: Mapping[str, str]) -> bool:
    """Whether a content type's parameters name no other encoding."""
    return parameters.get("charset", "utf-8").lower() in _UTF8


def _too_large(limit: int) -> NoReturn:
    raise BodyTooLargeError(
        f"the body is larger than the {limit:,} bytes that this address takes. Nothing was changed.", limit=limit
    )
