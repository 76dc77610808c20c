"""Signing in and out, and the pages that errors get."""

import re

import pytest
from django.test import Client, RequestFactory
from django.urls import URLPattern, URLResolver, get_resolver, reverse

from kapsoweb.accounts.actions import create_sign_in_link
from kapsoweb.doors.statuses import STATUS_OF_KIND
from kapsoweb.foundation import clock
from kapsoweb.foundation.errors import KapsoError, Kind
from kapsoweb.pages import errors
from tests.support.people import lab_owner, member

pytestmark = [pytest.mark.services, pytest.mark.django_db]

OPEN_TO_STRANGERS = {
    "healthz",
    "readyz",
    "sign-in/",
    "sign-in/<str:token>/",
    "invitations/<str:secret>/",
    "admin/",
    "api/v1/schema",
    "api/v1/schema/",
}


def test_a_link_signs_in_once_and_then_says_what_to_do(client: Client) -> None:
    lab_owner()
    where = reverse("pages:sign-in-by-link", args=[create_sign_in_link(clock.now())])
    assert client.get(where).headers["Location"] == "/"
    assert client.get("/", follow=True).status_code == 200
    again = Client().get(where)
    assert again.status_code == 403
    assert "kapsoweb sign-in-link" in again.content.decode()
    assert again.headers["Cache-Control"].startswith("max-age=0")


@pytest.mark.parametrize("token", ["nonsense", "x" * 5000, "%00", "ü"])
def test_a_token_that_is_none_is_refused_without_a_fault(client: Client, token: str) -> None:
    answer = client.get(f"/sign-in/{token}/")
    assert answer.status_code == 403
    assert "_auth_user_id" not in client.session


@pytest.mark.parametrize("following", ["https://elsewhere.example/", "//elsewhere.example/", "javascript:alert(1)"])
def test_the_way_on_after_signing_in_never_leaves_this_site(client: Client, following: str) -> None:
    somebody = member("somebody")
    somebody.set_password("correct horse")
    somebody.save()
    fields = {"username": "somebody", "password": "correct horse", "next": following}
    answer = client.post(reverse("pages:sign-in"), fields)
    assert answer.headers["Location"] == "/"


def test_the_way_on_is_followed_within_this_site(client: Client) -> None:
    somebody = member("somebody")
    somebody.set_password("correct horse")
    somebody.save()
    fields = {"username": "somebody", "password": "correct horse", "next": "/cyclotrons/?page=2"}
    assert client.post(reverse("pages:sign-in"), fields).headers["Location"] == "/cyclotrons/?page=2"


def test_a_wrong_password_is_said_without_saying_which_part_is_wrong(client: Client) -> None:
    somebody = member("somebody")
    somebody.set_password("correct horse")
    somebody.save()
    bodies = [
        client.post(reverse("pages:sign-in"), {"username": name, "password": "wrong"}).content.decode()
        for name in ("somebody", "nobody")
    ]
    for body in bodies:
        assert "Not signed in." in body
        assert 'role="alert"' in body


def test_signing_out_takes_a_form_and_ends_the_visit(client: Client) -> None:
    client.force_login(member("somebody"))
    assert client.get(reverse("pages:sign-out")).status_code == 405
    assert client.post(reverse("pages:sign-out")).headers["Location"] == "/sign-in/"
    assert client.get("/").headers["Location"].startswith("/sign-in/")


def test_a_part_of_a_page_that_outlived_its_visit_leads_the_browser_to_sign_in(client: Client) -> None:
    answer = client.get(
        "/cyclotrons/cy_1/evaluations/ev_1/",
        headers={"HX-Request": "true", "HX-Current-URL": "http://testserver/cyclotrons/cy_1/"},
        follow=True,
    )
    assert answer.headers["HX-Redirect"] == "/sign-in/?next=/cyclotrons/cy_1/"


def patterns(resolver: URLResolver, prefix: str = "") -> list[str]:
    found: list[str] = []
    for entry in resolver.url_patterns:
        where = prefix + str(entry.pattern)
        if isinstance(entry, URLPattern):
            found.append(where)
        elif where != "admin/":  # the admin asks for a password of its own
            found += patterns(entry, where)
    return found


def test_every_address_but_sign_in_and_health_asks_a_stranger_to_sign_in(client: Client) -> None:
    asked = 0
    for pattern in patterns(get_resolver()):
        if pattern in OPEN_TO_STRANGERS:
            continue
        where = "/" + re.sub(r"<(slug|str):\w+>", "x", re.sub(r"<int:\w+>", "1", pattern))
        answer = client.get(where)
        if answer.status_code == 302:
            assert answer.headers["Location"].startswith("/sign-in/"), where
        else:
            assert answer.status_code in {401, 404, 405}, where
        asked += 1
    assert asked > 5


def test_an_unknown_address_gets_the_page_for_it(client: Client) -> None:
    answer = client.get("/no/such/address/")
    assert answer.status_code == 404
    assert "There is no such page" in answer.content.decode()


@pytest.mark.parametrize(("kind", "status"), [(kind, STATUS_OF_KIND[kind]) for kind in Kind])
def test_an_error_that_leaves_a_view_gets_the_status_of_its_kind(kind: Kind, status: int) -> None:
    error = KapsoError("nothing is here.")
    error.kind = kind
    answer = errors.refused(RequestFactory().get("/"), error)
    assert answer.status_code == status
    if kind is Kind.MISSING:
        assert answer.content == errors.not_found(RequestFactory().get("/"), Exception()).content
    else:
        assert "Nothing is here." in answer.content.decode()


def test_a_fault_gets_a_page_that_needs_no_database(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*arguments: object) -> None:
        raise ZeroDivisionError

    client.raise_request_exception = False
    client.force_login(member("somebody"))
    monkeypatch.setattr("cyclotron.views.lists.Workspace", broken)
    answer = client.get(reverse("cyclotron:list"))
    assert answer.status_code == 500
    assert "internal-error" in answer.content.decode()
    assert "ZeroDivisionError" not in answer.content.decode()


def test_pages_allow_neither_inline_styles_nor_scripts(client: Client) -> None:
    answer = client.get(reverse("pages:sign-in"))
    policy = answer.headers["Content-Security-Policy"]
    assert "unsafe" not in policy
    assert "default-src 'none'" in policy
    body = answer.content.decode()
    assert " style=" not in body
    assert "<style" not in body
