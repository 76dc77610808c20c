"""What is a GraphQL request, and who may send one."""

import json
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client

from kapsoweb.accounts.models import ApiToken, Membership
from kapsoweb.accounts.roles import Role
from kapsoweb.doors import limits
from kapsoweb.foundation import clock
from tests.support.api import token
from tests.support.graphql import ADDRESS, GraphQL, Page, refusal
from tests.support.operations import everything
from tests.support.people import caller, member, other_account

pytestmark = [pytest.mark.services, pytest.mark.django_db]

ME = "{me{role actor tokenId only account{slug}}}"
CREATE = """
mutation($name:String!){createCyclotron(cyclotron:{name:$name, seed:"s", classifiers:[
  {name:"screening", labels:["include","exclude"], question:"Is it?"}]}){id}}
"""


def test_a_token_says_who_it_is() -> None:
    secret = token(Role.OPERATOR, user=member("ada"))
    assert GraphQL(secret).data(ME)["me"] == {
        "role": "operator",
        "actor": "ada (token test)",
        "tokenId": ApiToken.objects.get().pk,
        "only": None,
        "account": {"slug": "local"},
    }


def test_a_page_says_whose_session_it_is() -> None:
    assert Page(member("ada", Role.REVIEWER)).data(ME)["me"] == {
        "role": "reviewer",
        "actor": "ada",
        "tokenId": None,
        "only": None,
        "account": {"slug": "local"},
    }


@pytest.mark.parametrize("header", ["", "Basic YTpi", "Token x", "Bearer", "Bearer kapso_unknown", "BearerX abc"])
def test_a_bad_authorization_header_is_refused_and_never_falls_back_to_the_session(header: str) -> None:
    page = Page(member("ada"))
    answer = page.send({"query": ME}, Authorization=header)
    assert refusal(answer) == (401, "token-refused")
    assert answer.headers["WWW-Authenticate"] == 'Bearer realm="kapsoweb", error="invalid_token"'


def test_unknown_revoked_and_expired_tokens_get_one_answer() -> None:
    late = token(expires_at=clock.now() - timedelta(seconds=1))
    answers = {GraphQL(secret).send({"query": ME}).content for secret in ("kapso_x", token(revoked=True), late)}
    assert len(answers) == 1
    assert b"token-refused" in answers.pop()


def test_nobody_is_refused_before_anything_is_read() -> None:
    answer = GraphQL("").send(raw=b"{")
    assert refusal(answer) == (401, "not-authenticated")
    assert answer.headers["WWW-Authenticate"] == 'Bearer realm="kapsoweb"'


def test_a_user_without_an_account_is_refused() -> None:
    user = member("ada")
    Membership.objects.all().delete()
    assert refusal(Page(user).send({"query": ME})) == (404, "record-not-found")


def test_a_bearer_request_is_judged_by_its_token_though_a_session_is_there() -> None:
    page = Page(member("ada", Role.OWNER), forged=True)
    viewer = token(Role.VIEWER, other_account())
    found = page.send({"query": ME}, Authorization=f"bearer {viewer}").json()["data"]["me"]
    assert (found["role"], found["account"]["slug"]) == ("viewer", "other")


def test_a_session_needs_the_token_against_forged_requests_even_to_read() -> None:
    page = Page(member("ada"), forged=True)
    before = everything()
    for query in (ME, CREATE):
        assert refusal(page.send({"query": query, "variables": {"name": "x"} if query == CREATE else {}})) == (
            403,
            "csrf-refused",
        )
    assert everything() == before


def test_a_session_from_another_site_is_refused() -> None:
    page = Page(member("ada"))
    assert refusal(page.send({"query": ME}, Origin="https://elsewhere.example")) == (403, "csrf-refused")
    assert page.send({"query": ME}, Origin="http://testserver").status_code == 200


@pytest.mark.parametrize("given", ["", "u" * 32, "x"])
def test_a_wrong_token_against_forged_requests_is_refused(given: str) -> None:
    page = Page(member("ada"))
    assert refusal(page.send({"query": ME}, X_CSRFToken=given)) == (403, "csrf-refused")


@pytest.mark.parametrize("method", ["GET", "HEAD", "PUT", "PATCH", "DELETE", "OPTIONS"])
def test_the_address_takes_post_alone(method: str) -> None:
    secret = token()
    answer = Client().generic(method, f"{ADDRESS}?query={{me{{role}}}}", headers={"Authorization": f"Bearer {secret}"})
    assert answer.status_code == 405
    assert answer.headers["Allow"] == "POST"
    if method != "HEAD":
        assert refusal(answer) == (405, "method-not-allowed")


def test_nothing_is_read_from_the_address() -> None:
    secret = token()
    answer = Client().post(
        f"{ADDRESS}?query={{me{{role}}}}", "{}", "application/json", headers={"Authorization": f"Bearer {secret}"}
    )
    assert refusal(answer) == (400, "invalid-request")


def test_the_address_is_good_without_its_slash() -> None:
    answer = Client().post(
        "/graphql", json.dumps({"query": ME}), "application/json", headers={"Authorization": f"Bearer {token()}"}
    )
    assert answer.status_code == 200


@pytest.mark.parametrize(
    ("kind", "raw"),
    [
        ("application/x-www-form-urlencoded", b"query={me{role}}"),
        (
            "multipart/form-data; boundary=x",
            b'--x\r\nContent-Disposition: form-data; name="query"\r\n\r\n{me{role}}\r\n--x--',
        ),
        ("application/graphql", ME.encode()),
        ("text/plain", json.dumps({"query": ME}).encode()),
        ("application/json; charset=utf-16", json.dumps({"query": ME}).encode("utf-16")),
        ("", json.dumps({"query": ME}).encode()),
    ],
)
def test_a_body_of_another_kind_is_refused(kind: str, raw: bytes) -> None:
    for sender in (GraphQL(), Page(member("ada"))):
        assert refusal(sender.send(raw=raw, Content_Type=kind)) == (415, "unsupported-media-type")


@pytest.mark.parametrize(
    ("raw", "found"),
    [
        (b" ", "unreadable-json"),
        (b"{", "unreadable-json"),
        (b'{"query": "{me{role}}", "query": "{me{role}}"}', "unreadable-json"),
        (b'{"query": "{me{role}}", "variables": {"a": NaN}}', "unreadable-json"),
        (b'{"query": "{me{role}}", "variables": {"a": 1e999}}', "unreadable-json"),
        (b'{"query": "{me{role}}", "variables": {"a": "\\u0000"}}', "unreadable-json"),
        (b'{"query": "{me{role}}", "variables": {"\\ud800": 1}}', "unreadable-json"),
        (b'{"query": "{me{role}}", "variables": {"a": "\\udc00"}}', "unreadable-json"),
        (b'{"query": "\xff"}', "unreadable-json"),
        (b"\xef\xbb\xbf{}", "unreadable-json"),
        (b"[" * 100_000, "unreadable-json"),
        (b'{"query": "{me{role}}", "variables": {"a": ' + b"[" * 70 + b"]" * 70 + b"}}", "unreadable-json"),
        (b"null", "invalid-request"),
        (b"[]", "invalid-request"),
        (b'[{"query": "{me{role}}"}, {"query": "{me{role}}"}]', "invalid-request"),
        (b"{}", "invalid-request"),
        (b'{"query": null}', "invalid-request"),
        (b'{"query": 5}', "invalid-request"),
        (b'{"query": "{me{role}}", "variables": []}', "invalid-request"),
        (b'{"query": "{me{role}}", "variables": "{}"}', "invalid-request"),
        (b'{"query": "{me{role}}", "operationName": 1}', "invalid-request"),
        (b'{"query": "{me{role}}", "extensions": 1}', "invalid-request"),
        (b'{"query": "{me{role}}", "id": "1"}', "invalid-request"),
    ],
)
def test_a_body_that_is_no_request_is_refused(raw: bytes, found: str) -> None:
    assert refusal(GraphQL().send(raw=raw)) == (400, found)


def test_a_body_may_say_null_for_what_it_does_not_need() -> None:
    body = {"query": ME, "variables": None, "operationName": None, "extensions": None}
    assert GraphQL().send(body).status_code == 200


def test_a_body_beyond_the_limit_is_refused_whether_it_says_so_or_not() -> None:
    raw = b'{"query": "' + b" " * limits.GRAPHQL_BODY_BYTES + b'"}'
    program = GraphQL()
    assert refusal(program.send(raw=raw)) == (413, "body-too-large")
    assert refusal(program.send(raw=b"{}", Content_Length=str(2**40))) == (413, "body-too-large")


def test_a_fault_of_the_door_is_told_in_the_one_shape(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any) -> None:
        raise RuntimeError("secret")

    monkeypatch.setattr("kapsoweb.doors.graphql.view.read_document", broken)
    answer = GraphQL().send({"query": ME})
    assert refusal(answer) == (500, "internal-error")
    assert b"secret" not in answer.content


def test_there_is_no_page_for_people_to_try_queries_on() -> None:
    client = Client()
    client.force_login(member("ada"))
    answer = client.get(ADDRESS, headers={"Accept": "text/html"})
    assert answer.status_code == 405
    assert answer.headers["Content-Type"] == "application/json"


def test_an_operation_may_be_asked_for_by_anybody_who_reads_and_done_by_those_who_may() -> None:
    caller(Role.VIEWER)
    assert GraphQL(role=Role.VIEWER).field_error(CREATE, name="x") == (["createCyclotron"], "not-allowed")
    assert GraphQL(role=Role.OPERATOR).data(CREATE, name="x")["createCyclotron"]["id"]
