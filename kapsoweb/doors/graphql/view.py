"""The view of `/graphql/`.

It is graphene-django's view for what that view is: a class that `as_view` gives a schema. Every step of a request is
the lab's own, for the library's steps accept forms, GET and text in the address, parse without limits, set cookies on
answers to machines, and put the text of any exception into the answer. GraphiQL, batches and subscriptions are not
there.
"""

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import graphene
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.utils.http import parse_header_parameters
from django.views.decorators.csrf import csrf_exempt
from graphene_django.views import GraphQLView
from graphql import DocumentNode, ExecutionResult, OperationDefinitionNode, execute

from kapsoweb.accounts.roles import Role
from kapsoweb.doors.access_rules import Access
from kapsoweb.doors.bodies import is_in_utf8, json_in, read_body
from kapsoweb.doors.errors import (
    InternalError,
    InvalidRequestError,
    MethodNotAllowedError,
    UnsupportedMediaTypeError,
    broken_fields,
    challenge_of,
)
from kapsoweb.doors.graphql import errors
from kapsoweb.doors.graphql.documents import read_document
from kapsoweb.doors.graphql.rules import check_rules
from kapsoweb.doors.graphql.sizes import check_sizes
from kapsoweb.doors.graphql.variables import check_commas, check_variable_values, check_variables
from kapsoweb.doors.limits import GRAPHQL_BODY_BYTES
from kapsoweb.foundation.errors import KapsoError

logger = logging.getLogger(__name__)

ContextOf = Callable[[HttpRequest], Any]

_MEDIA_TYPE = "application/json"
_KEYS = frozenset({"query", "variables", "operationName", "extensions"})


@dataclass(frozen=True)
class Asked:
    """A request's body: the text of the query, its variables, and which of its operations to execute."""

    query: str
    variables: Mapping[str, Any]
    operation: str | None


class GraphQLDoor(GraphQLView):
    """`context_of(request)` finds out who asks, and raises a `KapsoError` for nobody; resolvers get what it returns."""

    context_of: ContextOf | None = None  # `as_view` takes what the class has

    def __init__(self, *, schema: graphene.Schema, context_of: ContextOf) -> None:
        super().__init__(schema=schema, middleware=(), graphiql=False, batch=False)
        self.asker = context_of

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:  # noqa: ARG002 - Django's form
        """Answer one request."""
        try:
            refuse_by_headers(request)
            context = self.asker(request)
            result = self.execute(parse(read_body(request, GRAPHQL_BODY_BYTES)), context)
        except KapsoError as error:
            return _refusal(error)
        except Exception:
            logger.exception("a GraphQL request failed")
            return errors.refusal(InternalError("This is a fault of the lab and not of yours. It is in the lab's log."))
        return errors.answer(result.data, result.errors)

    def execute(self, asked: Asked, context: Any) -> ExecutionResult:
        """Check the query by its text, its size, the rules and its variables, in this order; then execute it."""
        schema = self.schema.graphql_schema
        check_variable_values(asked.variables)
        document = read_document(asked.query)
        check_sizes(schema, document, asked.variables)
        check_rules(schema, document)
        operation = _operation(document, asked.operation)
        if schema.get_root_type(operation.operation) is None:
            raise errors.UnknownOperationError("this lab has queries and mutations, and nothing to subscribe to.")
        check_variables(schema, operation, asked.variables)
        result = execute(
            schema,
            document,
            context_value=context,
            variable_values=dict(asked.variables),
            operation_name=asked.operation,
        )
        if not isinstance(result, ExecutionResult):
            raise TypeError("a resolver is asynchronous, and this view is not")
        return result


def graphql_view(schema: graphene.Schema, context_of: ContextOf) -> Callable[..., HttpResponse]:
    """The view of a schema. It checks tokens, sessions and forged requests itself, through `context_of`."""
    view: Any = csrf_exempt(login_not_required(GraphQLDoor.as_view(schema=schema, context_of=context_of)))
    view.access = Access(needs=Role.VIEWER)
    found: Callable[..., HttpResponse] = view
    return found


def refuse_by_headers(request: HttpRequest) -> None:
    """Refuse any method but POST, any body but JSON in UTF-8, and anything in the address's query."""
    if request.method != "POST":
        raise MethodNotAllowedError("this address takes POST alone. Nothing was changed.")
    media_type, parameters = parse_header_parameters(request.META.get("CONTENT_TYPE", ""))
    if media_type.lower() != _MEDIA_TYPE or not is_in_utf8(parameters):
        raise UnsupportedMediaTypeError(f"this address takes {_MEDIA_TYPE} in UTF-8 alone. Nothing was changed.")
    if request.META.get("QUERY_STRING"):
        raise InvalidRequestError("this address takes no query string; send all in the body. Nothing was changed.")


def parse(data: bytes) -> Asked:
    """The body of a request. Raises `UnreadableJsonError`, `VariablesTooLargeError` or `InvalidRequestError`."""
    check_commas(data)
    body = json_in(data, GRAPHQL_BODY_BYTES)
    if not isinstance(body, dict):
        raise InvalidRequestError("the body must be a JSON object with one query; several in a list are not taken.")
    fields = {key[:64]: ["is not known here; leave it out."] for key in body if key not in _KEYS}
    if not isinstance(body.get("query"), str):
        fields["query"] = ["is required, as text."]
    for key, kind, sentence in (
        ("variables", dict, "must be a JSON object."),
        ("operationName", str, "must be text."),
        ("extensions", dict, "must be a JSON object."),
    ):
        if not isinstance(body.get(key), kind | None):
            fields[key] = [sentence]
    if fields:
        raise broken_fields(fields)
    return Asked(body["query"], body.get("variables") or {}, body.get("operationName"))


def _operation(document: DocumentNode, name: str | None) -> OperationDefinitionNode:
    operations = [node for node in document.definitions if isinstance(node, OperationDefinitionNode)]
    found = [node for node in operations if name is None or (node.name is not None and node.name.value == name)]
    if len(found) == 1:
        return found[0]
    raise errors.UnknownOperationError(
        "the query has no operation of the name in `operationName`. Nothing was changed."
        if name is not None
        else "one operation is executed at a time: name it in `operationName`. Nothing was changed."
        if operations
        else "the query holds no operation. Nothing was changed."
    )


def _refusal(error: KapsoError) -> HttpResponse:
    response = errors.refusal(error)
    for name, value in challenge_of(error).items():
        response.headers[name] = value
    if isinstance(error, MethodNotAllowedError):
        response.headers["Allow"] = "POST"
    return response
