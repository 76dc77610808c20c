"""How every command is called, and how errors look."""

import re

import pytest

from kapsoweb.accounts.models import SignInLink
from kapsoweb.cli import main
from tests.support.command_line import Run

pytestmark = [pytest.mark.services, pytest.mark.django_db]


@pytest.mark.parametrize(
    "arguments",
    [
        ("cyclotron",),
        ("unknown",),
        ("\udcff",),
        ("a\x00",),
        ("cyclotron", "unknown"),
        ("cyclotron", "status"),
        ("cyclotron", "status", "a", "b"),
        ("cyclotron", "status", "a", "--unknown"),
        ("cyclotron", "status", "a", "--\udcff"),
        ("cyclotron", "create", "a"),
        ("cyclotron", "create", "a", "--labels", "x,y"),
        ("cyclotron", "create", "a", "--labels", "x,y", "--question"),
        ("cyclotron", "replay", "a"),
        ("cyclotron", "replay", "a", "rows.csv", "--id", "id"),
        ("cyclotron", "evaluate", "a"),
        ("cyclotron", "report", "a", "--format", "xml"),
        ("cyclotron", "verify"),
        ("sign-in-link", "--port", "x"),
        ("worker", "--threads", "x"),
        ("worker", "--threads", "0"),
    ],
    ids=repr,
)
def test_bad_usage_is_one_document_and_exit_code_2(run: Run, arguments: tuple[str, ...]) -> None:
    refused = run(*arguments, "--json")
    assert (refused.code, refused.error["id"]) == (2, "bad-usage")
    assert refused.err.startswith("kapsoweb: ")
    plain = run(*arguments)
    assert (plain.code, plain.out) == (2, "")


def test_without_a_command_the_help_is_shown_and_that_is_bad_usage(run: Run) -> None:
    shown = run()
    assert shown.code == 2
    assert "cyclotron" in shown.out + shown.err


@pytest.mark.parametrize("arguments", [("--help",), ("cyclotron", "--help"), ("cyclotron", "evaluate", "--help")])
def test_help_is_no_error(arguments: tuple[str, ...]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 0


def test_an_option_is_written_out_so_that_a_document_is_asked_for_or_not(run: Run) -> None:
    refused = run("cyclotron", "list", "--js")
    assert refused.code == 2


def test_a_sign_in_link_is_printed_as_text_and_as_a_document(run: Run) -> None:
    first = run("sign-in-link", "--port", 8123)
    assert first.code == 0
    assert re.fullmatch(r"http://127\.0\.0\.1:8123/sign-in/[\w-]+/\n", first.out)
    second = run("sign-in-link", "--json")
    assert second.document.keys() == {"link"}
    assert second.document["link"] != first.out.strip()
    assert SignInLink.objects.count() == 2


@pytest.mark.parametrize("port", [0, -1, 65536, 10**30])
def test_a_port_that_is_none_is_bad_input(run: Run, port: int) -> None:
    refused = run("sign-in-link", f"--port={port}", "--json")
    assert refused.code == 2
    assert not SignInLink.objects.exists()
