"""Reviewing by keyboard, as people do it: item after item, two at once, with undo, at rest while somebody writes."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Browser, Page, expect

from cyclotron.actions import create_cyclotron
from cyclotron.models import HeldItem, Review
from cyclotron.store import Store
from kapsoweb.accounts.roles import Role
from tests.support.cyclotrons import NOW, Workbench, definition
from tests.support.held_cyclotrons import hold
from tests.support.people import member

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

PHRASE = "a long enough phrase"


@pytest.fixture
def store() -> Store:
    made = create_cyclotron(name="queue", definition=definition(), now=NOW)
    bench = Workbench(made)
    for number in range(24):
        bench.decide(f"item-{number:02d}", values={"text": f"נייר {number} 📄 <i>paper</i>", "year": 1998})
    return hold(made, "queue")


def reviewer(page: Page, base: str, name: str) -> None:
    user: User = member(name, Role.REVIEWER)
    user.set_password(PHRASE)
    user.save()
    page.goto(f"{base}/sign-in/")
    page.get_by_label("User name", exact=True).fill(name)
    page.get_by_label("Password", exact=True).fill(PHRASE)
    page.get_by_role("button", name="Sign in").click()


def start(page: Page, base: str, store: Store) -> None:
    page.goto(f"{base}/cyclotrons/{store.cyclotron_id}/review/")
    page.get_by_role("button", name="Start reviewing").click()
    expect(page.locator("#answer-form")).to_be_visible()


def press(page: Page, key: str) -> None:
    with page.expect_navigation():
        page.keyboard.press(key)


@pytest.fixture
def second(browser: Browser) -> Iterator[Page]:
    context = browser.new_context()
    yield context.new_page()
    context.close()


def test_twenty_items_are_reviewed_by_keyboard_and_the_last_is_taken_back(
    page: Page, live_server: Any, store: Store
) -> None:
    reviewer(page, live_server.url, "ada")
    start(page, live_server.url, store)
    expect(page.locator(".item-text")).to_have_text("נייר 0 📄 <i>paper</i>")
    for number in range(20):
        expect(page.locator("#item-title")).to_contain_text(f"item-{number:02d}")
        press(page, "1" if number % 2 else "2")
    expect(page.locator(".tally")).to_contain_text(
        "4 items wait, 1 of them in somebody's hands; 20 reviewed, 20 by you."
    )
    labels = list(Review.objects.order_by("id").values_list("label", flat=True))
    assert labels == ["exclude", "include"] * 10
    press(page, "u")
    expect(page.locator("#item-title")).to_contain_text("item-19")
    expect(page.get_by_role("status")).to_contain_text("Your last answer is taken back")
    press(page, "s")
    expect(page.locator("#item-title")).to_contain_text("item-20")
    press(page, "0")
    assert Review.objects.get(item__identity="item-20").label is None
    assert Review.objects.exclude(undone_at=None).get().item.identity == "item-19"


def test_keys_rest_in_fields_and_can_be_switched_off(page: Page, live_server: Any, store: Store) -> None:
    reviewer(page, live_server.url, "ada")
    start(page, live_server.url, store)
    page.get_by_label("Explanation").press_sequentially("1 2 us 0")
    page.get_by_label("Reason code").press_sequentially("s1")
    page.keyboard.press("Tab")
    page.keyboard.press("Control+1")
    page.get_by_label("Keys:").uncheck()
    page.keyboard.press("1")
    assert not Review.objects.exists()
    page.reload()
    expect(page.get_by_label("Keys:")).not_to_be_checked()
    page.get_by_label("Keys:").check()
    page.get_by_label("Explanation").fill("it says so")
    page.get_by_label("Reason code").fill("dose")
    page.get_by_role("button", name="1 include").click()
    expect(page.get_by_role("status")).to_contain_text("Recorded")
    review = Review.objects.get()
    assert (review.label, review.explanation, review.reason_code) == ("include", "it says so", "dose")


def test_what_the_classifier_decided_can_be_kept_folded(page: Page, live_server: Any, store: Store) -> None:
    reviewer(page, live_server.url, "ada")
    start(page, live_server.url, store)
    expect(page.get_by_text("The review program sent it.")).to_be_visible()
    page.get_by_text("What the classifier decided").click()
    press(page, "1")
    expect(page.get_by_text("What the classifier decided")).to_be_visible()
    expect(page.get_by_text("The review program sent it.")).to_be_hidden()


def test_two_reviewers_are_never_shown_one_item(page: Page, second: Page, live_server: Any, store: Store) -> None:
    for each, name in ((page, "ada"), (second, "ben")):
        reviewer(each, live_server.url, name)
        start(each, live_server.url, store)
    for _ in range(10):
        shown = [each.locator("#item-title").inner_text() for each in (page, second)]
        assert shown[0] != shown[1]
        press(page, "1")
        press(second, "2")
    assert Review.objects.count() == 20
    assert Review.objects.values("item").distinct().count() == 20


def test_a_reviewer_whose_visit_ended_loses_nothing(page: Page, live_server: Any, store: Store) -> None:
    reviewer(page, live_server.url, "ada")
    start(page, live_server.url, store)
    press(page, "1")
    held = HeldItem.objects.get().id
    page.context.clear_cookies()
    page.goto(f"{live_server.url}/cyclotrons/{store.cyclotron_id}/review/")
    page.get_by_label("User name", exact=True).fill("ada")
    page.get_by_label("Password", exact=True).fill(PHRASE)
    page.get_by_role("button", name="Sign in").click()
    expect(page.locator("#item-title")).to_contain_text("item-01")
    assert HeldItem.objects.get().id == held
    assert Review.objects.count() == 1


@pytest.mark.parametrize("width", [360, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pages_of_items_fit_their_window(page: Page, live_server: Any, store: Store, width: int, scheme: Any) -> None:
    reviewer(page, live_server.url, "ada")
    start(page, live_server.url, store)
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": width, "height": 800})
    base = f"{live_server.url}/cyclotrons/{store.cyclotron_id}"
    key = HeldItem.objects.get().item_id
    for where in ("/review/", "/items/", f"/items/{key}/"):
        page.goto(base + where)
        assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth"), where
