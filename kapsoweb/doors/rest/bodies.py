"""Bodies of requests to the REST door: strict JSON, a CSV file, or a form that carries one."""

import io
from collections.abc import Mapping
from dataclasses import dataclass
from typing import IO, Any, NoReturn

from django.core.exceptions import RequestDataTooBig, TooManyFieldsSent, TooManyFilesSent
from django.core.files.uploadhandler import MemoryFileUploadHandler
from django.http.multipartparser import MultiPartParser as DjangoMultiPartParser
from django.http.multipartparser import MultiPartParserError
from django.utils.http import parse_header_parameters
from rest_framework.negotiation import DefaultContentNegotiation
from rest_framework.parsers import BaseParser
from rest_framework.request import Request

from kapsoweb.doors.bodies import is_in_utf8, json_in, read_body
from kapsoweb.doors.errors import UnreadableFormError, UnsupportedMediaTypeError
from kapsoweb.doors.limits import JSON_BODY_BYTES


@dataclass(frozen=True)
class SentFile:
    """A file as it was sent: its bytes, its name (empty where none was said) and a form's other fields."""

    data: bytes
    filename: str
    fields: Mapping[str, str]


class ApiRequest(Request):
    """The framework's request, whose body is read into memory once, and never beyond what its view takes."""

    def _load_stream(self) -> None:
        data = read_body(self._request, body_limit(self.parser_context or {}))
        self._stream = io.BytesIO(data) if data else None  # type: ignore[assignment]  # None: no body, as the framework


def body_limit(context: Mapping[str, Any]) -> int:
    """The most bytes that the view behind a parser's context takes."""
    return int(getattr(context.get("view"), "body_bytes", JSON_BODY_BYTES))


class ExactTypes(DefaultContentNegotiation):
    """A body is of the type that it names: a pattern such as `*/*` names none."""

    def select_parser(self, request: Request, parsers: Any) -> Any:
        """The parser of exactly that type, or None."""
        named = str(request.content_type).partition(";")[0].strip(" \t").lower()
        return next((parser for parser in parsers if parser.media_type == named), None)


class JsonParser(BaseParser):
    """The one strict reader of JSON (see `kapsoweb.foundation.strict_json`)."""

    media_type = "application/json"

    def parse(
        self, stream: IO[Any], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> Any:
        """The value. Raises `UnreadableJsonError`."""
        _refuse_other_charsets(media_type)
        return json_in(stream.read(), body_limit(parser_context or {}))


class CsvParser(BaseParser):
    """A CSV file as the whole body; its content is for the reader of CSV to judge."""

    media_type = "text/csv"

    def parse(
        self,
        stream: IO[Any],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,  # noqa: ARG002 - the framework passes it
    ) -> Any:
        """The `SentFile`, without a name."""
        _refuse_other_charsets(media_type)
        return SentFile(stream.read(), "", {})


class FormParser(BaseParser):
    """A form with one file in the field `file`, and text in others."""

    media_type = "multipart/form-data"

    def parse(
        self,
        stream: IO[Any],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,  # noqa: ARG002 - the framework passes it
    ) -> Any:
        """The `SentFile`: the file and the form's other fields. Raises `UnreadableFormError`."""
        data = stream.read()
        meta = {"CONTENT_TYPE": media_type or "", "CONTENT_LENGTH": len(data)}
        try:
            fields, files = DjangoMultiPartParser(meta, io.BytesIO(data), [_InMemory()], "utf-8").parse()
        except (MultiPartParserError, TooManyFieldsSent, TooManyFilesSent, RequestDataTooBig, UnicodeError):
            _unreadable("it is not multipart/form-data as RFC 7578 has it")
        names = [*fields, *files]
        if len(names) != len(set(names)) or any(len(kept) != 1 for _, kept in [*fields.lists(), *files.lists()]):
            _unreadable("it holds a field twice")
        if list(files) != ["file"]:
            _unreadable("it needs one file, in the field `file`")
        sent: Any = files["file"]
        return SentFile(sent.read(), sent.name or "", {name: str(fields[name]) for name in fields})


class _InMemory(MemoryFileUploadHandler):
    """Keeps a file in memory whatever its size: the whole body is there already, and was held to its limit."""

    def handle_raw_input(self, *args: Any, **kwargs: Any) -> None:  # noqa: ARG002 - Django passes them
        """Always the handler that keeps the file."""
        self.activated = True


def _refuse_other_charsets(media_type: str | None) -> None:
    _, parameters = parse_header_parameters(media_type or "")
    if not is_in_utf8(parameters):
        raise UnsupportedMediaTypeError("this address reads UTF-8 and no other encoding. Nothing was changed.")


def _unreadable(why: str) -> NoReturn:
    raise UnreadableFormError(f"the form cannot be read: {why}. Nothing was changed.")
