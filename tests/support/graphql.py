"""The GraphQL door as a program, or a page, meets it."""

import json
from collections.abc import Mapping
from typing import Any

from django.contrib.auth.models import User
from django.test import Client

from tests.support.api import token

ADDRESS = "/graphql/"


class GraphQL:
    """A program with a token (or none, with ""): sends queries, gets answers. `given` makes a token for it."""

    def __init__(self, secret: str | None = None, **given: Any) -> None:
        self.secret = token(**given) if secret is None else secret
        self._client = Client(raise_request_exception=False)

    def send(self, body: Any = None, *, raw: bytes | None = None, **headers: str) -> Any:
        """The answer to a body; `raw` is sent as it is, `body` as JSON; headers are named with underscores."""
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        if self.secret:
            sent.setdefault("Authorization", f"Bearer {self.secret}")
        kind = sent.pop("Content-Type", "application/json")
        data = json.dumps(body).encode() if raw is None else raw
        return self._client.generic("POST", ADDRESS, data, content_type=kind, headers=sent)

    def ask(self, query: str, variables: Mapping[str, Any] | None = None, operation: str | None = None) -> Any:
        """The answer to a query."""
        return self.send({"query": query, "variables": variables, "operationName": operation})

    def data(self, query: str, **variables: Any) -> Any:
        """The data of a query that is answered whole."""
        answer = self.ask(query, variables)
        body = answer.json()
        assert answer.status_code == 200, body
        assert "errors" not in body, body
        return body["data"]

    def field_error(self, query: str, **variables: Any) -> tuple[list[str | int], str]:
        """The path and the error's id of the one field that was refused."""
        answer = self.ask(query, variables)
        body = answer.json()
        assert answer.status_code == 200, body
        (error,) = body["errors"]
        assert set(error) == {"message", "path", "extensions"}, error
        assert set(error["extensions"]) == {"id", "detail"}, error
        return error["path"], error["extensions"]["id"]


class Page(GraphQL):
    """A page of the lab: somebody's session, with or without the token against forged requests."""

    def __init__(self, user: User, *, forged: bool = False) -> None:
        super().__init__("")
        self._client = Client(enforce_csrf_checks=True, raise_request_exception=False)
        self._client.force_login(user)
        if not forged:
            token_of_page = "t" * 32
            self._client.cookies["kapsoweb_csrf"] = token_of_page
            self._client.defaults["HTTP_X_CSRFTOKEN"] = token_of_page


def refusal(answer: Any) -> tuple[int, str]:
    """The status and the error's id of a request that was refused before its operation began."""
    body = answer.json()
    assert set(body) == {"errors"}, body
    for error in body["errors"]:
        assert set(error) - {"locations"} == {"message", "extensions"}, error
        assert set(error["extensions"]) == {"id", "detail"}, error
    assert answer.headers["Content-Type"] == "application/json"
    assert answer.headers["Cache-Control"] == "no-store"
    assert "Set-Cookie" not in answer.headers
    ids = {error["extensions"]["id"] for error in body["errors"]}
    assert len(ids) == 1, body
    return answer.status_code, ids.pop()
