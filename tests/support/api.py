"""The REST door as a program meets it: tokens of any role, and a client that carries one."""

import json
from datetime import datetime, timedelta
from typing import Any

from django.test import Client

from cyclotron.store import ROOM
from kapsoweb.accounts.access import local_account
from kapsoweb.accounts.models import Account, ApiToken
from kapsoweb.accounts.roles import Role
from kapsoweb.accounts.secrets import TOKEN_PREFIX, digest_of, new_secret
from kapsoweb.foundation import clock
from kapsoweb.foundation.identifiers import new_id

API = "/api/v1"
CHANGING_HEADERS = frozenset({"X-Request-ID", "Date"})


def token(
    role: Role = Role.OWNER,
    account: Account | None = None,
    *,
    only: str = "",
    user: Any = None,
    expires_at: datetime | None = None,
    revoked: bool = False,
) -> str:
    """The secret of a new token of that role in `account` (the local one unless said); `only` is a record's id."""
    secret = new_secret(TOKEN_PREFIX)
    now = clock.now()
    account = account or local_account()
    others = ApiToken.objects.filter(account=account, user=user).count()
    ApiToken.objects.create(
        id=new_id("tok"),
        account=account,
        user=user,
        name=f"test {others + 1}" if others else "test",  # names of tokens without a maker are unique
        role=role,
        room=ROOM if only else "",
        record_id=only,
        digest=digest_of(secret),
        beginning=secret[:12],
        created_at=now - timedelta(days=1),
        expires_at=expires_at or now + timedelta(days=1),
        revoked_at=now if revoked else None,
    )
    return secret


class Program:
    """A program with a token (or none, with ""): sends JSON, gets answers; addresses are below `/api/v1`."""

    def __init__(self, secret: str | None = None, **given: Any) -> None:
        self.secret = token(**given) if secret is None else secret
        self._client = Client(raise_request_exception=False)

    def call(
        self,
        method: str,
        address: str,
        body: Any = None,
        *,
        raw: bytes | None = None,
        kind: str = "application/json",
        query: dict[str, Any] | None = None,
        **headers: str,
    ) -> Any:
        """The answer to one request; `raw` is sent as it is, `body` as JSON; headers are named with underscores."""
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        if self.secret:
            sent.setdefault("Authorization", f"Bearer {self.secret}")
        data = raw if raw is not None else b"" if body is None else json.dumps(body).encode()
        where = address if address.startswith("/") else f"{API}/{address}"
        return self._client.generic(
            method, where, data, content_type=kind if data else "", query_params=query, headers=sent
        )

    def get(self, address: str, **query: Any) -> Any:
        """GET."""
        return self.call("GET", address, query=query)

    def post(self, address: str, body: Any = None, **given: Any) -> Any:
        """POST."""
        return self.call("POST", address, body, **given)

    def patch(self, address: str, body: Any = None, **given: Any) -> Any:
        """PATCH."""
        return self.call("PATCH", address, body, **given)

    def delete(self, address: str, **given: Any) -> Any:
        """DELETE."""
        return self.call("DELETE", address, **given)


def refusal(answer: Any) -> tuple[int, str]:
    """The status and error id of an answer, once it has the one shape of errors."""
    body = answer.json()
    assert set(body) == {"error"}, body
    assert set(body["error"]) == {"id", "message", "detail"}, body
    assert answer.headers["Content-Type"] == "application/json"
    assert answer.headers["Cache-Control"] == "no-store"
    return answer.status_code, body["error"]["id"]


def seen(answer: Any) -> tuple[int, dict[str, str], bytes]:
    """All that tells one answer from another: status, headers without those that always change, and body."""
    headers = {name: value for name, value in answer.headers.items() if name not in CHANGING_HEADERS}
    return answer.status_code, headers, answer.content
