"""Somebody from elsewhere, who asks for every address of the lab by every method, and what there is to ask for."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from http.cookies import SimpleCookie
from typing import Any

from django.apps import apps
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

from kapsoweb.accounts.roles import Role
from tests.support.api import token
from tests.support.operations import MOVES_BY_ITSELF, OPERATIONS
from tests.support.people import member

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
ARGUMENT = re.compile(r"<(?:\w+:)?(\w+)>")

# The id, of those that a whole cyclotron has, which fills an argument of an address.
RECORDS = {
    "cyclotron_id": "cyclotronId",
    "key": "itemKey",
    "item_key": "itemKey",
    "assignment_id": "assignmentId",
    "import_id": "importId",
    "evaluation_id": "evaluationId",
    "report_id": "reportId",
    "job_id": "jobId",
    "token_id": "tokenId",
    "member_id": "memberId",
    "invitation_id": "invitationId",
}

_FORM = {"label": "include", "role": "viewer", "name": "somebody", "review": "r", "classifier": ""}
_CHANGING_HEADERS = {"X-Request-ID", "Date", "Expires", "Content-Security-Policy", "Content-Length"}
_NONCE_OR_FORM_TOKEN = re.compile(r'(nonce|name="csrfmiddlewaretoken" value|X-CSRFToken)[="\s:]+[^"]+')
_BODIES = {(each.method, each.path.strip("/")): each for each in OPERATIONS.values()}


@dataclass(frozen=True)
class Seen:
    """An answer without what differs from one answer to the next."""

    status: int
    headers: tuple[tuple[str, str], ...]
    cookies: frozenset[str]
    body: str


def seen(answer: Any, *ids: str) -> Seen:
    """An answer without what always differs; where it says one of `ids`, it says ID."""
    body = _NONCE_OR_FORM_TOKEN.sub("", answer.content.decode("utf-8", "replace"))
    headers = {name: value for name, value in answer.headers.items() if name not in _CHANGING_HEADERS}
    if ids:
        named = re.compile(rf"(?<![0-9A-Za-z_])({'|'.join(map(re.escape, ids))})(?![0-9A-Za-z_])")
        body = named.sub("ID", body)
        headers = {name: named.sub("ID", value) for name, value in headers.items()}
    return Seen(answer.status_code, tuple(sorted(headers.items())), frozenset(answer.cookies), body)


def walk(resolver: URLResolver | None = None, prefix: str = "") -> Iterator[tuple[str, URLPattern]]:
    """Every address as its patterns write it, with its pattern."""
    for entry in (resolver or get_resolver()).url_patterns:
        where = prefix + str(entry.pattern)
        if isinstance(entry, URLPattern):
            yield where, entry
        else:
            yield from walk(entry, where)


def filled(where: str, ids: Mapping[str, str]) -> str:
    """An address with these ids of a whole cyclotron for its arguments."""
    return "/" + ARGUMENT.sub(lambda found: ids[RECORDS[found.group(1)]], where)


def absent(key: str) -> str:
    """An id of the same form that nothing has."""
    return "9" * max(9, len(key)) if key.isdigit() else key[:-6] + "000000"


class Stranger:
    """A member of the local account with a session, which the pages see, and a token, which the REST door sees."""

    def __init__(self, role: Role) -> None:
        user = member("stranger", role)
        self._client = Client(raise_request_exception=False)
        self._client.force_login(user)
        self._session = self._client.cookies.output(header="").strip()
        self._secret = token(role, user=user)

    def ask(self, address: str, method: str, where: str = "") -> Any:
        """One answer. The address was made from `where`, by which examples of the REST door's bodies are found."""
        self._client.cookies = SimpleCookie(self._session)  # no message of an earlier answer
        if not address.startswith("/api/"):
            data: dict[str, Any] = {"data": _FORM} if method == "POST" else {}
            return getattr(self._client, method.lower())(address, **data)
        known = _BODIES.get((method, _as_the_schema_writes(where)))
        body = b"" if known is None or known.body is None else known.body
        kind = known.kind if known is not None and body else ""
        headers = {"Authorization": f"Bearer {self._secret}"}
        sent = body if isinstance(body, bytes) else json.dumps(body).encode()
        return self._client.generic(method, address, sent, content_type=kind, headers=headers)

    def ask_all(self, addresses: Iterable[str], ids: Mapping[str, str]) -> dict[tuple[str, str], Seen]:
        """What each address with these ids says to each method."""
        return {
            (where, method): seen(self.ask(filled(where, ids), method, where))
            for where in addresses
            for method in METHODS
        }


def all_rows() -> dict[str, list[Any]]:
    """Every row of every table but sessions, which a page's visit may touch."""
    return {
        model._meta.label: list(
            model._default_manager.order_by("pk").values_list(
                *(field.attname for field in model._meta.concrete_fields if field.name not in MOVES_BY_ITSELF)
            )
        )
        for model in apps.get_models()
        if model._meta.app_label != "sessions"
    }


def _as_the_schema_writes(where: str) -> str:
    """An address of the REST door as its schema has it: `{cyclotronId}` for `<str:cyclotron_id>`."""
    return ARGUMENT.sub(lambda found: "{" + RECORDS[found.group(1)] + "}", where).strip("/")
