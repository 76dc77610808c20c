"""A schema without a database, and a way to send it queries through the whole of the door's view."""

import json
from collections.abc import Mapping
from typing import Any

import graphene
from django.test import RequestFactory

from kapsoweb.doors.access_rules import PUBLIC
from kapsoweb.doors.graphql.fields import many, root_field
from kapsoweb.doors.graphql.pages import page_arguments, page_type
from kapsoweb.doors.graphql.scalars import JSON, BigInt, Time
from kapsoweb.doors.graphql.view import graphql_view
from kapsoweb.foundation.errors import KapsoError


class TornError(KapsoError):
    """An error of a room."""

    id = "torn"


class Row(graphene.ObjectType):
    """A row that holds a row of its kind, and some."""

    name = graphene.String()
    document = graphene.Field(JSON)
    child = graphene.Field(lambda: Row)
    children = many(lambda: Row)


RowPage = page_type(Row)
calls: list[str] = []


def _called(name: str, value: Any = None) -> Any:
    calls.append(name)
    return value


def _echo(_: Any, **given: Any) -> Any:
    calls.append("echo")
    return given


def _fault(_: Any) -> Any:
    raise RuntimeError("secret text of an item")


def _torn(_: Any) -> Any:
    raise TornError("it is torn; mend it.", thread=3)


class Query(graphene.ObjectType):
    """What the toy answers."""

    echo = root_field(
        JSON,
        PUBLIC,
        _echo,
        "What was given.",
        json=JSON(),
        big=BigInt(),
        time=Time(),
        whole=graphene.Int(),
        number=graphene.Float(),
        flag=graphene.Boolean(),
        text=graphene.String(),
        name=graphene.ID(),
    )
    row = root_field(Row, PUBLIC, lambda _: _called("row", {"name": "a", "children": []}), "A row.")
    rows = root_field(RowPage, PUBLIC, lambda _, **__: _called("rows", {"nodes": []}), "Rows.", **page_arguments())
    fault = root_field(Row, PUBLIC, _fault, "Fails.")
    torn = root_field(Row, PUBLIC, _torn, "Refuses.")


schema = graphene.Schema(query=Query)
_view = graphql_view(schema, lambda _: None)


def ask(query: str, variables: Mapping[str, Any] | None = None, **more: Any) -> tuple[int, Any]:
    """The status and the body of the answer; `calls` holds the fields that were resolved on the way."""
    calls.clear()
    body = json.dumps({"query": query, "variables": variables, **more})
    answer = _view(RequestFactory().post("/graphql/", body, content_type="application/json"))
    return answer.status_code, json.loads(answer.content)


def raw(body: str) -> str:
    """The id of the refusal of a body as it is."""
    calls.clear()
    answer = _view(RequestFactory().post("/graphql/", body.encode(), content_type="application/json"))
    assert answer.status_code == 400, answer.content[:200]
    assert calls == []
    found: str = json.loads(answer.content)["errors"][0]["extensions"]["id"]
    return found


def refused(query: str, variables: Mapping[str, Any] | None = None, **more: Any) -> tuple[str, Any]:
    """The id and the detail of the first error of a request that was refused before anything ran."""
    status, body = ask(query, variables, **more)
    assert status == 400, body
    assert set(body) == {"errors"}
    assert calls == []
    extensions = body["errors"][0]["extensions"]
    return extensions["id"], extensions["detail"]
