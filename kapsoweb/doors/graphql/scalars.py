"""Scalars of the lab: JSON as it is, whole numbers of any size, and moments."""

import math
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, NoReturn

import graphene
from graphql import (
    BooleanValueNode,
    FloatValueNode,
    GraphQLError,
    IntValueNode,
    ListValueNode,
    NullValueNode,
    ObjectValueNode,
    StringValueNode,
    ValueNode,
    VariableNode,
)

from kapsoweb.foundation.canonical import MAX_DEPTH, MAX_DIGITS, UnreadableValueError, check_json


class ScalarError(GraphQLError):
    """A value is not of a scalar; the message repeats nothing of it."""


class JSON(graphene.Scalar):
    """Any JSON value: an object, a list, text, a number, true, false or null.

    Whole numbers are exact, up to 300 digits. An object may not repeat a key, and nothing may be nested deeper than 64
    levels. A literal may hold variables.
    """

    @staticmethod
    def serialize(value: Any) -> Any:
        """What the lab gives out, as it is."""
        return check_json(value, "an answer")

    @staticmethod
    def parse_value(value: Any) -> Any:
        """The value of a variable."""
        try:
            return check_json(value, "a value of type JSON")
        except UnreadableValueError as error:
            raise ScalarError(error.message) from None

    @staticmethod
    def parse_literal(node: ValueNode, variables: Mapping[str, Any] | None = None) -> Any:
        """The value of a literal, with the values of the variables in it (null while the literal is only checked)."""
        return JSON.parse_value(_of_literal(node, variables or {}, 0))


class BigInt(graphene.Scalar):
    """A whole number, exact beyond the 32 bits of Int; a JSON number."""

    @staticmethod
    def serialize(value: Any) -> int:
        """What the lab gives out, as it is."""
        if isinstance(value, bool) or not isinstance(value, int):
            raise TypeError(f"a whole number is needed, not {type(value).__name__}")
        return value

    @staticmethod
    def parse_value(value: Any) -> int:
        """The value of a variable; neither text nor a flag is a number."""
        if isinstance(value, bool) or not isinstance(value, int):
            raise ScalarError("a whole number is needed.")
        return value

    @staticmethod
    def parse_literal(node: ValueNode, _: Mapping[str, Any] | None = None) -> int:
        """The value of a literal."""
        if not isinstance(node, IntValueNode):
            raise ScalarError("a whole number is needed.")
        return _whole(node)


class Time(graphene.Scalar):
    """A moment in UTC, as ISO 8601 with Z: `2026-03-01T12:00:00Z`. The lab gives moments out and takes none."""

    @staticmethod
    def serialize(value: Any) -> str:
        """The text of a moment that knows its offset."""
        if not isinstance(value, datetime) or value.tzinfo is None:
            raise TypeError(f"a moment with its offset is needed, not {type(value).__name__}")
        return value.astimezone(UTC).replace(tzinfo=None).isoformat() + "Z"

    @staticmethod
    def parse_value(value: Any) -> NoReturn:  # noqa: ARG004 - the library's own form
        """No argument is a moment."""
        raise ScalarError("the lab takes no moments.")

    @staticmethod
    def parse_literal(node: ValueNode, _: Mapping[str, Any] | None = None) -> NoReturn:  # noqa: ARG004 - as above
        """No argument is a moment."""
        raise ScalarError("the lab takes no moments.")


def _of_literal(node: ValueNode, variables: Mapping[str, Any], depth: int) -> Any:
    if depth > MAX_DEPTH:
        raise ScalarError(f"a value of type JSON is nested deeper than {MAX_DEPTH} levels.")
    match node:
        case ListValueNode():
            found: Any = [_of_literal(value, variables, depth + 1) for value in node.values]
        case ObjectValueNode():
            found = _object(node, variables, depth)
        case VariableNode():
            found = variables.get(node.name.value)
        case StringValueNode() | BooleanValueNode():
            found = node.value
        case IntValueNode():
            found = _whole(node)
        case FloatValueNode():
            found = _finite(node)
        case NullValueNode():
            found = None
        case _:
            raise ScalarError("a value of type JSON holds a bare word; text stands in quotes.")
    return found


def _object(node: ObjectValueNode, variables: Mapping[str, Any], depth: int) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for field in node.fields:
        name = field.name.value
        if name in found:
            raise ScalarError("an object of type JSON repeats a key.")
        found[name] = _of_literal(field.value, variables, depth + 1)
    return found


def _whole(node: IntValueNode) -> int:
    if len(node.value.removeprefix("-")) > MAX_DIGITS:
        raise ScalarError(f"a whole number has more than {MAX_DIGITS} digits.")
    return int(node.value)


def _finite(node: FloatValueNode) -> float:
    value = float(node.value)
    if not math.isfinite(value):
        raise ScalarError("a number is not finite.")
    return value
