"""Static files under both kinds of server."""

import warnings
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from django.contrib.staticfiles import finders
from django.test import AsyncClient, Client

pytestmark = pytest.mark.services

PATH = "/static/admin/css/base.css"


def on_disk() -> bytes:
    found = finders.find("admin/css/base.css")
    assert isinstance(found, str)
    with open(found, "rb") as file:  # noqa: PTH123 - a finder gives text
        return file.read()


def test_a_static_file_is_served_whole_with_its_type_and_for_this_site_only(client: Client) -> None:
    answer = client.get(PATH)
    assert answer.content == on_disk()
    assert answer.headers["Content-Type"].startswith("text/css")
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert "Access-Control-Allow-Origin" not in answer.headers


def test_an_asynchronous_server_gets_it_without_a_warning() -> None:
    async def ask() -> Any:
        return await AsyncClient().get(PATH)

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert async_to_sync(ask)().content == on_disk()


def test_asking_for_the_head_again_or_for_a_part_is_answered_as_http_says(client: Client) -> None:
    whole = client.get(PATH)
    head = client.head(PATH)
    assert (head.status_code, head.content) == (200, b"")
    assert head.headers["Content-Length"] == str(len(whole.content))
    again = client.get(
        PATH,
        headers={"If-None-Match": whole.headers.get("ETag", ""), "If-Modified-Since": whole.headers["Last-Modified"]},
    )
    assert (again.status_code, again.content) == (304, b"")
    part = client.get(PATH, headers={"Range": "bytes=10-19"})
    assert (part.status_code, part.content) == (206, whole.content[10:20])
    assert client.post(PATH).status_code == 405


@pytest.mark.parametrize("path", ["/static/../manage.py", "/static/%2e%2e/manage.py", "/static/admin/css/none.css"])
def test_what_is_no_static_file_is_not_found(client: Client, path: str) -> None:
    assert client.get(path).status_code in {302, 404}
    assert b"execute_from_command_line" not in client.get(path).content
