"""Strict fields: text is text, a number is a number and finite, a flag is a flag; nothing is converted or trimmed.

The sentences of refusals never repeat what was sent.
"""

import math
import re
from collections.abc import Iterable
from typing import Any

from rest_framework import serializers

from kapsoweb.foundation.canonical import MAX_DEPTH, UnreadableValueError, check_json, is_storable

MOST_WHOLE = 2**31 - 1  # what a database's integer holds
_NOT_NULL = "must not be null."
_REQUIRED = "is required."


class _Strict(serializers.Field):  # type: ignore[type-arg]  # a base for fields of several types
    """Names the sentences that every field has in common."""

    default_error_messages = {"required": _REQUIRED, "null": _NOT_NULL}  # noqa: RUF012 - the framework's own form


class TextField(_Strict, serializers.CharField):
    """Text of 1 (or, with `allow_blank`, 0) to `max_length` characters that every database can store."""

    default_error_messages = {  # noqa: RUF012 - the framework's own form
        "invalid": "must be text.",
        "blank": "must not be empty.",
        "unstorable": "holds a NUL character or half of a surrogate pair.",
        "max_length": "may have {max_length} characters at most.",
    }

    def __init__(self, *, max_length: int, **kwargs: Any) -> None:
        super().__init__(max_length=max_length, trim_whitespace=False, **kwargs)

    def run_validation(self, data: Any = serializers.empty) -> Any:
        """Refuse empty text before the framework, which would take white space for it."""
        if data == "" and not self.allow_blank:
            self.fail("blank")
        return serializers.Field.run_validation(self, data)

    def to_internal_value(self, data: Any) -> str:
        """The text."""
        if not isinstance(data, str):
            self.fail("invalid")
        if not is_storable(data):
            self.fail("unstorable")
        text: str = data
        return text


class WholeNumberField(_Strict, serializers.IntegerField):
    """A whole number within bounds; `from_text` reads it from a query, in plain digits."""

    default_error_messages = {  # noqa: RUF012 - the framework's own form
        "invalid": "must be a whole number.",
        "max_value": "must be {max_value} or less.",
        "min_value": "must be {min_value} or more.",
    }

    def __init__(
        self, *, min_value: int = 0, max_value: int = MOST_WHOLE, from_text: bool = False, **kwargs: Any
    ) -> None:
        self.from_text = from_text
        super().__init__(min_value=min_value, max_value=max_value, **kwargs)

    def to_internal_value(self, data: Any) -> int:
        """The number."""
        if self.from_text:
            if not isinstance(data, str) or not re.fullmatch(r"-?[0-9]{1,20}", data):
                self.fail("invalid")
            return int(data)
        if isinstance(data, bool) or not isinstance(data, int):
            self.fail("invalid")
        return int(data)


class NumberField(_Strict, serializers.FloatField):
    """A finite number, as JSON writes it; a flag is none."""

    default_error_messages = {  # noqa: RUF012 - the framework's own form
        "invalid": "must be a finite number.",
        "max_value": "must be {max_value} or less.",
        "min_value": "must be {min_value} or more.",
    }

    def to_internal_value(self, data: Any) -> float:
        """The number."""
        if isinstance(data, bool) or not isinstance(data, int | float) or not math.isfinite(data):
            self.fail("invalid")
        return float(data)


class FlagField(_Strict, serializers.BooleanField):
    """True or false and nothing that might mean either; `from_text` reads the words from a query."""

    default_error_messages = {"invalid": "must be true or false."}  # noqa: RUF012 - the framework's own form

    def __init__(self, *, from_text: bool = False, **kwargs: Any) -> None:
        self.from_text = from_text
        super().__init__(**kwargs)

    def to_internal_value(self, data: Any) -> bool:
        """The flag."""
        if self.from_text and data in ("true", "false"):
            return bool(data == "true")
        if self.from_text or not isinstance(data, bool):
            self.fail("invalid")
        return bool(data)


class WordField(_Strict, serializers.ChoiceField):
    """One of a few words."""

    default_error_messages = {"invalid_choice": "must be one of: {words}."}  # noqa: RUF012 - the framework's own form

    def __init__(self, words: Iterable[str], **kwargs: Any) -> None:
        self.words = tuple(str(word) for word in words)
        super().__init__(choices=[(word, word) for word in self.words], **kwargs)

    def to_internal_value(self, data: Any) -> str:
        """The word."""
        if not isinstance(data, str) or data not in self.words:
            self.fail("invalid_choice", words=", ".join(self.words))
        return str(data)


class TimeField(_Strict, serializers.DateTimeField):
    """A moment: ISO 8601, in UTC, with Z. For answers; requests carry no times."""


class ObjectField(_Strict, serializers.DictField):
    """A JSON object as it is."""

    default_error_messages = {  # noqa: RUF012 - the framework's own form
        "not_a_dict": "must be a JSON object.",
        "unstorable": f"holds what cannot be stored, or is nested deeper than {MAX_DEPTH} levels.",
    }

    def to_internal_value(self, data: Any) -> dict[str, Any]:
        """The object."""
        if not isinstance(data, dict):
            self.fail("not_a_dict")
        try:
            check_json(data)
        except UnreadableValueError:
            self.fail("unstorable")
        return dict(data)


class ListField(_Strict, serializers.ListField):
    """A list whose elements are checked one by one."""

    default_error_messages = {  # noqa: RUF012 - the framework's own form
        "not_a_list": "must be a list.",
        "empty": "must not be empty.",
        "min_length": "must have {min_length} elements or more.",
        "max_length": "may have {max_length} elements at most.",
    }

    def to_internal_value(self, data: Any) -> list[Any]:
        """The elements."""
        if not isinstance(data, list):
            self.fail("not_a_list")
        found: list[Any] = super().to_internal_value(data)
        return found


class MapField(_Strict, serializers.DictField):
    """A JSON object whose keys are free and whose values are all of one kind."""

    default_error_messages = {"not_a_dict": "must be a JSON object."}  # noqa: RUF012 - the framework's own form

    def __init__(self, *, child: Any, max_length: int, **kwargs: Any) -> None:
        self.max_length = max_length
        super().__init__(child=child, **kwargs)

    def to_internal_value(self, data: Any) -> dict[str, Any]:
        """The object."""
        if not isinstance(data, dict):
            self.fail("not_a_dict")
        if len(data) > self.max_length:
            raise serializers.ValidationError(f"may have {self.max_length} keys at most.")
        found: dict[str, Any] = super().to_internal_value(data)
        return found
