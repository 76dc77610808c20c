"""The variables of a request, checked before anything runs, in sentences that repeat nothing of what was sent."""

import re
from collections.abc import Mapping
from typing import Any, NoReturn

from graphql import (
    GraphQLError,
    GraphQLSchema,
    OperationDefinitionNode,
    VariableDefinitionNode,
    is_non_null_type,
    type_from_ast,
)
from graphql.utilities import coerce_input_value

from kapsoweb.doors.graphql.errors import InvalidVariablesError, VariablesTooLargeError
from kapsoweb.doors.graphql.scalars import ScalarError
from kapsoweb.doors.limits import GRAPHQL_ERRORS, GRAPHQL_VARIABLE_VALUES

_NAME_CHARACTERS = 64  # of a name that a refusal repeats
_SENTENCE_CHARACTERS = 300
_COMMAS_BESIDE = 3  # between the four keys that a request may have
_TEXT = re.compile(rb'"(?:[^"\\]++|\\.)*+(?:"|\Z)', re.DOTALL)  # one that never closes goes to the end: no second try


class _EnoughFaults(Exception):  # noqa: N818 - a signal
    """As many faults are known as one refusal names."""


def check_commas(data: bytes) -> None:
    """Refuse a body with more values than one request may hold before any of them is made: an estimate that lets pass
    whatever `check_variable_values` would. Raises `VariablesTooLargeError`.
    """
    if data.count(b",") <= GRAPHQL_VARIABLE_VALUES:
        return
    commas = end = 0
    for text in _TEXT.finditer(data):
        commas += data.count(b",", end, text.start())
        end = text.end()
        if commas > GRAPHQL_VARIABLE_VALUES + _COMMAS_BESIDE:
            break
    if commas + data.count(b",", end) > GRAPHQL_VARIABLE_VALUES + _COMMAS_BESIDE:
        _too_many()


def check_variable_values(variables: Mapping[str, Any]) -> None:
    """Refuse more values than one request may hold. Raises `VariablesTooLargeError`."""
    count = 0
    level: list[Any] = [variables]
    while level:
        below: list[Any] = []
        for value in level:
            inner = value.values() if isinstance(value, Mapping) else value
            count += len(inner)
            if count > GRAPHQL_VARIABLE_VALUES:
                _too_many()
            below.extend(each for each in inner if isinstance(each, Mapping | list))
        level = below


def check_variables(schema: GraphQLSchema, operation: OperationDefinitionNode, variables: Mapping[str, Any]) -> None:
    """Refuse variables that the operation does not declare, lacks, or declares of another type.

    Raises `InvalidVariablesError`.
    """
    faults = _Faults()
    declared = {node.variable.name.value: node for node in operation.variable_definitions}
    try:
        for name in variables:
            if name not in declared:
                faults.add(f"${name[:_NAME_CHARACTERS]}", "is not declared by the operation; leave it out.")
        for name, node in declared.items():
            _check(schema, name, node, variables, faults)
    except _EnoughFaults:
        pass
    if faults.found:
        named = ", ".join(list(faults.found)[:5])
        raise InvalidVariablesError(f"variables break a rule: {named}. Nothing was changed.", variables=faults.found)


def _too_many() -> NoReturn:
    raise VariablesTooLargeError(
        f"the variables hold more than the {GRAPHQL_VARIABLE_VALUES:,} values that are allowed. Nothing was changed.",
        most=GRAPHQL_VARIABLE_VALUES,
    )


class _Faults:
    def __init__(self) -> None:
        self.found: dict[str, list[str]] = {}
        self.count = 0

    def add(self, place: str, sentence: str) -> None:
        self.found.setdefault(place, []).append(sentence)
        self.count += 1
        if self.count >= GRAPHQL_ERRORS:
            raise _EnoughFaults


def _check(
    schema: GraphQLSchema, name: str, node: VariableDefinitionNode, variables: Mapping[str, Any], faults: _Faults
) -> None:
    kind: Any = type_from_ast(schema, node.type)
    if name not in variables:
        if is_non_null_type(kind) and node.default_value is None:
            faults.add(f"${name}", "is required.")
        return

    def on_error(path: list[str | int], _: Any, error: GraphQLError) -> None:
        place = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path)
        faults.add(f"${name}{place}", _sentence(error))

    coerce_input_value(variables[name], kind, on_error)


def _sentence(error: GraphQLError) -> str:
    """The library's sentence where it speaks of types and fields alone; what it says of a leaf holds the leaf."""
    if isinstance(error, ScalarError):
        return error.message
    if error.message.startswith(("Expected", "Field", "Exactly")):
        return error.message.split(". ", 1)[0].rstrip(".")[:_SENTENCE_CHARACTERS] + "."
    kind, is_leaf, _ = error.message.partition(" cannot represent")
    return f"must be of the type {kind}." if is_leaf and kind.isidentifier() else "is not of its type."
