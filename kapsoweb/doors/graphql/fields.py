"""The fields of Query and Mutation: each with the rule that says who may use it, beside the function that answers it.

A root field is a plain function from a caller and the field's arguments to what the schema shows. Its `Access` is held
before the function runs, as far as the rule knows; what concerns a record is checked where the record is reached, so
that another account's answers as a missing one.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any, TypeVar

import graphene
from graphene.types.inputobjecttype import InputObjectTypeContainer
from graphql import GraphQLResolveInfo, GraphQLSchema

from kapsoweb.doors.access_rules import Access, access_of, hold
from kapsoweb.foundation.wording import camel_case

Resolver = TypeVar("Resolver", bound=Callable[..., Any])


def root_field(
    kind: Any, rule: Access, answer: Callable[..., Any], description: str, **arguments: Any
) -> graphene.Field:
    """A field of Query or Mutation: its type, who may use it, and `answer(context, **arguments)`.

    The context is whatever the view found behind the request: the `Caller`, in the lab.
    """

    @wraps(answer)
    def resolve(_: Any, info: GraphQLResolveInfo, **given: Any) -> Any:
        hold(rule, info.context)
        return answer(info.context, **given)

    resolve.access = rule  # type: ignore[attr-defined]  # functions are open to attributes
    return graphene.Field(kind, args=arguments, resolver=resolve, description=description)


def costs(units: int) -> Callable[[Resolver], Resolver]:
    """Declare what a field counts in the cost of a query, where that is not the field's rows."""

    def declare(resolver: Resolver) -> Resolver:
        resolver.cost = units  # type: ignore[attr-defined]  # functions are open to attributes
        return resolver

    return declare


def many(kind: Any, description: str | None = None) -> graphene.Field:
    """A field that holds a list without nulls, and is not null itself."""
    return graphene.Field(graphene.NonNull(graphene.List(graphene.NonNull(kind))), description=description)


def many_given(kind: Any, **said: Any) -> graphene.List:
    """An argument or input field that holds a list without nulls."""
    return graphene.List(graphene.NonNull(kind), **said)


def as_sent(value: Any) -> Any:
    """A value of an input type as JSON of its sender's: names in camelCase, and nothing that was left out."""
    if isinstance(value, InputObjectTypeContainer):  # and no value of the type JSON
        return {camel_case(name): as_sent(inner) for name, inner in value.items()}
    return [as_sent(inner) for inner in value] if isinstance(value, list) else value


@dataclass(frozen=True)
class RootField:
    """A field of Query or Mutation with its rule, or None where it has none."""

    operation: str
    name: str
    access: Access | None


def root_fields(schema: GraphQLSchema) -> list[RootField]:
    """All that a request can begin with."""
    roots = (("query", schema.query_type), ("mutation", schema.mutation_type))
    return [
        RootField(operation, name, access_of(field.resolve))
        for operation, root in roots
        if root is not None
        for name, field in root.fields.items()
    ]
