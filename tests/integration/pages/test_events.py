"""The page of a cyclotron's events: newest first, by kinds and by a cursor in the address."""

import re
from html import unescape

import pytest
from django.http import HttpResponseBase
from django.test import Client
from django.urls import reverse

from cyclotron import queries
from cyclotron.actions.events import append_event
from cyclotron.core.errors import InvalidPageError
from cyclotron.models import Event
from cyclotron.store import Store
from kapsoweb.accounts.roles import Role
from kapsoweb.doors.limits import PAGE_DEFAULT
from tests.support.frozen_cyclotrons import frozen_cyclotron
from tests.support.held_cyclotrons import HELD_AT, held_cyclotron, hold
from tests.support.people import member, other_account

pytestmark = [pytest.mark.services, pytest.mark.django_db]


@pytest.fixture
def store() -> Store:
    """A cyclotron with the events of its making and 120 more."""
    made = held_cyclotron(training=0, audit=2, development=0)
    with made.transaction():
        locked = made.lock()
        for number in range(120):
            append_event(made, locked, kind="learning-interval-set", detail={"learnEvery": number + 1}, now=HELD_AT)
    return made


@pytest.fixture
def viewer(client: Client) -> Client:
    client.force_login(member("vera", Role.VIEWER))
    return client


def where(store: Store) -> str:
    return reverse("cyclotron:events", args=[store.cyclotron_id])


def numbers(answer: HttpResponseBase) -> list[int]:
    """The sequence numbers on the page, from top to bottom."""
    return [int(text) for text in re.findall(r'data-name="Number">([\d,]+)<', answer.getvalue().decode())]


def links(answer: HttpResponseBase) -> dict[str, str]:
    """The pager's links by their words."""
    pager = answer.getvalue().decode().partition('class="pager"')[2].partition("</nav>")[0]
    return {words: unescape(address) for address, words in re.findall(r'href="([^"]+)"[^>]*>(\w+)<', pager)}


def test_the_newest_come_first_and_every_event_is_on_one_page(viewer: Client, store: Store) -> None:
    newest = Event.objects.count()
    page = viewer.get(where(store))
    seen = numbers(page)
    assert seen == list(range(newest, newest - PAGE_DEFAULT, -1))
    assert set(links(page)) == {"Earlier"}
    while "Earlier" in links(page):
        page = viewer.get(where(store) + links(page)["Earlier"].removeprefix(where(store)))
        seen += numbers(page)
    assert sorted(set(seen)) == list(range(1, newest + 1))
    assert "Created" in page.content.decode()
    assert set(links(page)) == {"Newest", "Later"}


def test_a_kind_in_the_address_shows_that_kind_alone_and_stays_while_paging(viewer: Client, store: Store) -> None:
    page = viewer.get(where(store), {"kind": "learning"})
    assert 'aria-current="true">learning<' in page.content.decode()
    assert numbers(page)
    earlier = links(page)["Earlier"]
    assert "kind=learning" in earlier
    reviews = viewer.get(where(store), {"kind": "reviews"})
    assert len(numbers(reviews)) == 2
    assert links(reviews) == {}


@pytest.mark.parametrize("after", ["", "x", "-1", "9" * 400, "1.5"])
def test_a_cursor_that_is_none_shows_the_newest(viewer: Client, store: Store, after: str) -> None:
    answer = viewer.get(where(store), {"after": after, "kind": "no such kind"})
    assert answer.status_code == 200
    assert numbers(answer)[0] == Event.objects.count()


def test_a_cursor_beyond_the_end_says_that_nothing_is_there_and_leads_back(viewer: Client, store: Store) -> None:
    answer = viewer.get(where(store), {"after": "99999"})
    assert numbers(answer) == []
    assert set(links(answer)) == {"Earlier"}


def test_the_events_of_another_account_are_missing_to_the_letter(viewer: Client) -> None:
    theirs = hold(frozen_cyclotron(training=0, audit=2, development=0), "theirs", other_account())
    answers = [viewer.get(where(each)) for each in (theirs, Store("default", "cy_nobody_has_this"))]
    assert [answer.status_code for answer in answers] == [404, 404]
    assert answers[0].content == answers[1].content


def test_a_window_of_no_rows_is_refused(store: Store) -> None:
    with pytest.raises(InvalidPageError):
        queries.event_window(store, limit=0)


def test_no_event_shows_what_an_item_says(viewer: Client, store: Store) -> None:
    assert "in study" not in viewer.get(where(store)).content.decode()
