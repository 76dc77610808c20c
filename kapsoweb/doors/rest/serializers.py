"""Strict serializers: camelCase outside and snake_case inside, unknown keys refused by name; queries; pages.

A serializer describes requests and answers alike: answers are rows or dataclasses whose attributes its fields name.
"""

from typing import Any, cast
from urllib.parse import unquote_to_bytes

from django.http import HttpRequest
from rest_framework import serializers

from kapsoweb.doors.errors import QueryTooLongError, UnreadableQueryError
from kapsoweb.doors.limits import CURSOR_CHARACTERS, PAGE_DEFAULT, PAGE_MOST, QUERY_CHARACTERS
from kapsoweb.doors.rest.errors import invalid_fields
from kapsoweb.doors.rest.fields import TextField, WholeNumberField
from kapsoweb.foundation.wording import camel_case

_UNKNOWN = "is not known here; leave it out."
_LONGEST_KEY_SHOWN = 64


class StrictSerializer(serializers.Serializer[Any]):
    """Fields are declared in snake_case, read and written in camelCase, and are all that a body may hold."""

    default_error_messages = {"invalid": "must be a JSON object.", "null": "must not be null."}  # noqa: RUF012

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        """The declared fields under the names that they have outside."""
        fields = {}
        for name, field in super().get_fields().items():
            outside = camel_case(name)
            if outside != name and field.source is None:
                field.source = name
            fields[outside] = field
        return fields

    def to_internal_value(self, data: Any) -> Any:
        """The values by their names inside."""
        if not isinstance(data, dict):
            raise serializers.ValidationError({"non_field_errors": [self.error_messages["invalid"]]})
        unknown = {key[:_LONGEST_KEY_SHOWN]: [_UNKNOWN] for key in data if key not in self.fields}
        try:
            values = super().to_internal_value(data)
        except serializers.ValidationError as error:
            raise serializers.ValidationError({**cast("dict[str, Any]", error.detail), **unknown}) from None
        if unknown:
            raise serializers.ValidationError(unknown)
        return values


def read_values(form: type[StrictSerializer], data: Any) -> dict[str, Any]:
    """The values of a body or query of that form. Raises `InvalidRequestError`, which names every bad field."""
    read = form(data=data)
    if not read.is_valid():
        raise invalid_fields(read.errors)
    values: dict[str, Any] = read.validated_data
    return values


class NoQuery(StrictSerializer):
    """Of an address that takes no query."""


class PageQuery(StrictSerializer):
    """Of a list: how many rows, and from where."""

    limit = WholeNumberField(
        min_value=1,
        max_value=PAGE_MOST,
        from_text=True,
        default=PAGE_DEFAULT,
        help_text="The most rows that the page holds.",
    )
    cursor = TextField(
        max_length=CURSOR_CHARACTERS,
        required=False,
        help_text="What `next` of the page before holds; it is good for the same list and filters only.",
    )


def read_query(request: HttpRequest, form: type[StrictSerializer]) -> dict[str, Any]:
    """The query of a request, strictly: UTF-8, nothing twice, nothing unknown."""
    text = str(request.META.get("QUERY_STRING", ""))
    if len(text) > QUERY_CHARACTERS:
        raise QueryTooLongError(
            f"the query string has more than the {QUERY_CHARACTERS:,} characters that are read.", limit=QUERY_CHARACTERS
        )
    try:
        unquote_to_bytes(text.encode("latin-1", "replace")).decode("utf-8")
    except UnicodeDecodeError:
        raise UnreadableQueryError("the query string is not UTF-8 text.") from None
    twice = sorted(name[:_LONGEST_KEY_SHOWN] for name, values in request.GET.lists() if len(values) > 1)
    if twice:
        raise UnreadableQueryError("the query string says something twice.", names=twice)
    return read_values(form, {name: request.GET[name] for name in request.GET})


def many(form: type[StrictSerializer], *, at_least: int = 0, at_most: int | None = None, **given: Any) -> Any:
    """A field that holds a list of such values."""
    return form(many=True, min_length=at_least, max_length=at_most, **given)  # type: ignore[call-arg]  # the list's


def page_of(row: type[StrictSerializer], name: str) -> type[StrictSerializer]:
    """The serializer of a page of such rows: `items`, and `next`, the cursor to go on with or null at the end."""
    fields = {
        "items": many(row),
        "next": TextField(
            max_length=CURSOR_CHARACTERS, allow_null=True, help_text="The cursor of the next page; null on the last."
        ),
        "__doc__": "A page of a list.",
        "__module__": row.__module__,
    }
    return cast("type[StrictSerializer]", type(name, (StrictSerializer,), fields))
