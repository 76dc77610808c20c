"""The lists of an account's pages: all rows are reached page by page, and filters stand in the address."""

import re
from collections.abc import Iterable
from datetime import datetime
from html import unescape

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from kapsoweb.accounts.access import local_account
from kapsoweb.accounts.actions import record_audit
from kapsoweb.accounts.actions.invitations import invite
from kapsoweb.accounts.actions.tokens import create_token
from kapsoweb.accounts.caller import Caller
from kapsoweb.accounts.models import Membership
from kapsoweb.accounts.roles import Role
from kapsoweb.doors.limits import PAGE_DEFAULT
from tests.support.held_cyclotrons import held_cyclotron
from tests.support.people import JOINED_AT, caller, member, other_account

pytestmark = [pytest.mark.services, pytest.mark.django_db]

MANY = 2 * PAGE_DEFAULT + 3


@pytest.fixture
def ada() -> Caller:
    return caller(Role.OWNER, name="ada")


@pytest.fixture
def client(ada: Caller) -> Client:
    client = Client()
    client.force_login(User.objects.get(pk=ada.user_id))
    return client


def body_of(client: Client, where: str) -> str:
    answer = client.get(where)
    assert answer.status_code == 200
    return unescape(answer.content.decode())


def way(body: str, words: str) -> str | None:
    """Where the link of those words leads."""
    found = re.search(rf'<a href="([^"]+)"[^>]*>{words}</a>', body)
    return found.group(1) if found else None


def walked(client: Client, where: str, pattern: str, onward: str) -> list[list[str]]:
    """What each page shows of a pattern, following the link to the next one."""
    pages: list[list[str]] = []
    following: str | None = where
    while following is not None:
        body = body_of(client, following)
        pages.append(re.findall(pattern, body))
        following = way(body, onward)
    return pages


def everything_once(pages: list[list[str]], wanted: Iterable[str]) -> bool:
    shown = [row for page in pages for row in page]
    return [len(page) for page in pages] == [PAGE_DEFAULT, PAGE_DEFAULT, 3] and sorted(shown) == sorted(wanted)


def test_every_token_is_reached_and_can_be_revoked(client: Client, ada: Caller, moment: datetime) -> None:
    for number in range(MANY):
        create_token(ada, name=f"token-{number:03}", role=Role.VIEWER, days=9, now=moment)
    pages = walked(client, reverse("pages:tokens"), r'scope="row"><bdi>(token-\d+)', "Earlier")
    assert everything_once(pages, (f"token-{number:03}" for number in range(MANY)))


def test_every_member_is_reached_and_counted(client: Client) -> None:
    users = User.objects.bulk_create(User(username=f"user-{number:03}") for number in range(MANY - 1))
    Membership.objects.bulk_create(
        Membership(account=local_account(), user=user, role=Role.VIEWER, created_at=JOINED_AT) for user in users
    )
    pages = walked(client, reverse("pages:members"), r'scope="row"><bdi>([\w-]+)', "More")
    assert everything_once(pages, ["ada", *(user.username for user in users)])
    assert f"{MANY} members of" in body_of(client, reverse("pages:members"))


def test_every_invitation_is_reached_beside_the_members(client: Client, ada: Caller, moment: datetime) -> None:
    for number in range(MANY):
        invite(ada, role=Role.VIEWER, note=f"note-{number:03}", days=9, now=moment)
    pages = walked(client, reverse("pages:members"), r'scope="row"><bdi>(note-\d+)', "Earlier")
    assert everything_once(pages, (f"note-{number:03}" for number in range(MANY)))


@pytest.mark.parametrize("name", ["tokens", "members", "audit"])
@pytest.mark.parametrize("after", ["\x00", "9" * 40, "-1", "x", "٣", "1.5", "tok_"])
def test_a_place_that_no_list_has_shows_a_page_all_the_same(client: Client, name: str, after: str) -> None:
    where = reverse(f"pages:{name}")
    assert client.get(where, {"after": after, "invitations-after": after}).status_code == 200


def test_the_audit_log_is_narrowed_step_by_step_and_widened_again(
    client: Client, ada: Caller, moment: datetime
) -> None:
    held = held_cyclotron("screening")
    ben = caller(Role.OPERATOR, name="ben@example.org")
    stranger = caller(Role.OWNER, other_account(), "eve")
    record_audit(ada, "set.frozen", now=moment, room="cyclotron", record_id=held.cyclotron_id, rows=1)
    record_audit(ben, "set.frozen", now=moment, room="cyclotron", record_id=held.cyclotron_id, rows=2)
    record_audit(ben, "review.recorded", now=moment, room="cyclotron", record_id=held.cyclotron_id, rows=3)
    record_audit(ben, "member.joined", now=moment, rows=4)
    record_audit(stranger, "set.frozen", now=moment, room="cyclotron", record_id=held.cyclotron_id, rows=5)

    def rows(where: str) -> list[str]:
        return re.findall(r"rows (\d)", body_of(client, where))

    log = reverse("pages:audit")
    assert rows(log) == ["4", "3", "2", "1"]
    about = way(body_of(client, log), "<bdi>screening</bdi>")
    assert about == f"{log}?record={held.cyclotron_id}"
    assert rows(about) == ["3", "2", "1"]
    by = way(body_of(client, about), "<bdi>ben@example.org</bdi>")
    assert by is not None
    assert rows(by) == ["3", "2"]
    of = way(body_of(client, by), "<code>set.frozen</code>")
    assert of is not None
    assert rows(of) == ["2"]
    assert "Only the record <strong><bdi>screening</bdi></strong>" in body_of(client, of)
    wider = way(body_of(client, of), "Every actor")
    assert wider is not None
    assert rows(wider) == ["2", "1"]
    assert rows(f"{log}?door=rest") == []
    assert rows(f"{log}?action=%00&actor=%00&record=%00&door=none") == ["4", "3", "2", "1"]


def test_the_audit_log_goes_on_with_what_it_is_narrowed_to(client: Client, ada: Caller, moment: datetime) -> None:
    for number in range(MANY):
        record_audit(ada, "item.decided", now=moment, number=f"n{number:03}")
        record_audit(ada, "set.frozen", now=moment)
    where = f"{reverse('pages:audit')}?action=item.decided"
    pages = walked(client, where, r"number (n\d+)", "Earlier")
    assert everything_once(pages, (f"n{number:03}" for number in range(MANY)))
    second = way(body_of(client, where), "Earlier")
    assert second is not None
    assert way(body_of(client, second), "Newest") == where


@pytest.mark.parametrize("name", ["tokens", "members", "audit", "account"])
def test_a_page_asks_as_much_of_the_database_for_many_rows_as_for_few(
    client: Client, ada: Caller, moment: datetime, name: str
) -> None:
    def asked() -> int:
        with CaptureQueriesContext(connection) as ran:
            client.get(reverse(f"pages:{name}"))
        return len(ran)

    def add(count: int) -> None:
        for number in range(count):
            create_token(ada, name=f"{count}-{number}", role=Role.VIEWER, days=9, now=moment)
            invite(ada, role=Role.VIEWER, note="", days=9, now=moment)
            member(f"user-{count}-{number}", Role.VIEWER)

    add(1)
    few = asked()
    add(20)
    assert asked() == few
    assert few <= 16
