"""Reviewing by keyboard, as people do it: item after item, two at once, with undo, at rest while somebody writes."""

import itertools
import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from playwright.sync_api import Browser, Page, expect

from cyclotron.actions import create_cyclotron
from cyclotron.models import Assignment, Review
from cyclotron.store import Store
from kapsoweb.accounts.roles import Role
from tests.support.contrast import PALE_TEXTS
from tests.support.cyclotrons import NOW, Workbench, classifier, definition
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
    sign_in_as(page, name)


def sign_in_as(page: Page, name: str) -> None:
    page.get_by_label("User name", exact=True).fill(name)
    page.get_by_label("Password", exact=True).fill(PHRASE)
    page.get_by_role("button", name="Sign in").click()


def start(page: Page, base: str, store: Store) -> None:
    page.goto(f"{base}/cyclotrons/{store.cyclotron_id}/review/")
    page.get_by_role("button", name="Start reviewing").click()
    expect(page.locator("#answer-form")).to_be_visible()


def press(page: Page, key: str) -> None:
    page.locator("#answer-form[data-keys=ready]").wait_for()
    with page.expect_navigation():
        page.keyboard.press(key)


def assignment() -> Assignment:
    return Assignment.objects.select_related("item").get()


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
    expect(page.locator(".tally")).to_have_text("4 items wait; 20 reviewed. You have reviewed 20 in this visit.")
    labels = list(Review.objects.order_by("id").values_list("label", flat=True))
    assert labels == ["exclude", "include"] * 10
    expect(page.get_by_text("Undo last takes back “\u2068include\u2069” on “\u2068item-19\u2069”.")).to_be_visible()
    press(page, "u")
    expect(page.locator("#item-title")).to_contain_text("item-19")
    expect(page.get_by_role("status")).to_contain_text("Taken back: “\u2068include\u2069” on “\u2068item-19\u2069”.")
    press(page, "s")
    expect(page.locator("#item-title")).to_contain_text("item-20")
    press(page, "0")
    assert Review.objects.get(item__identity="item-20").label is None
    assert Review.objects.exclude(undone_at=None).get().item.identity == "item-19"


def test_the_next_item_has_the_focus_and_is_said_with_what_was_recorded(
    page: Page, live_server: Any, store: Store
) -> None:
    reviewer(page, live_server.url, "ada")
    start(page, live_server.url, store)
    press(page, "1")
    card = page.locator("#item")
    expect(card).to_be_focused()
    expect(card).to_have_accessible_name("Item item-01")
    expect(card).to_have_accessible_description(re.compile("Recorded: .*include"))
    assert page.evaluate("document.getElementById('item').getBoundingClientRect().top") == pytest.approx(0, abs=1)
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="item-01")).to_be_focused()


def test_a_key_that_is_pressed_twice_answers_one_item(page: Page, live_server: Any, store: Store) -> None:
    reviewer(page, live_server.url, "ada")
    start(page, live_server.url, store)
    page.locator("#answer-form[data-keys=ready]").wait_for()
    for _ in range(2):
        page.keyboard.press("1")
    expect(page.locator("#item-title")).to_contain_text("item-01")
    page.keyboard.press("1")  # lands on the next item before anybody can have read it
    page.locator("#answer-form[data-keys=ready]").wait_for()
    page.reload()
    expect(page.locator("#item-title")).to_contain_text("item-01")
    assert Review.objects.get().item.identity == "item-00"


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


def test_enter_in_a_field_gives_no_label(page: Page, live_server: Any, store: Store) -> None:
    reviewer(page, live_server.url, "ada")
    start(page, live_server.url, store)
    page.get_by_label("Reason code").press("Enter")
    page.goto(f"{live_server.url}/cyclotrons/{store.cyclotron_id}/items/{assignment().item_id}/")
    page.get_by_label("Reason code").press("Enter")
    page.reload()
    assert not Review.objects.exists()


def test_a_decision_that_is_to_stay_hidden_is_told_once_the_item_is_answered(
    page: Page, live_server: Any, store: Store
) -> None:
    reviewer(page, live_server.url, "ada")
    start(page, live_server.url, store)
    shares = page.get_by_role("table", name="Probability of each label")
    expect(shares).to_be_visible()
    page.get_by_label("Hide the decision until I have answered").check()
    expect(shares).to_be_hidden()
    press(page, "1")
    expect(page.get_by_label("Hide the decision until I have answered")).to_be_checked()
    expect(shares).to_be_hidden()
    expect(page.get_by_text("Sent by the review program.")).to_be_visible()
    expect(page.get_by_role("status")).to_contain_text("the classifier had decided", ignore_case=True)
    page.get_by_text("What the classifier decided").click()
    expect(shares).to_be_visible()
    page.reload()
    expect(shares).to_be_hidden()
    page.get_by_label("Hide the decision until I have answered").uncheck()
    page.reload()
    expect(shares).to_be_visible()


def test_the_page_works_by_its_buttons_without_script(
    browser: Browser, page: Page, live_server: Any, store: Store
) -> None:
    context = browser.new_context(java_script_enabled=False)
    plain = context.new_page()
    reviewer(plain, live_server.url, "ada")
    start(plain, live_server.url, store)
    expect(plain.get_by_role("table", name="Probability of each label")).to_be_visible()
    expect(plain.locator("kbd").first).to_be_hidden()
    plain.get_by_label("Explanation").fill("it says so")
    plain.get_by_role("button", name="include").click()
    expect(plain.locator("#item-title")).to_contain_text("item-01")
    plain.get_by_role("button", name="Skip").click()
    expect(plain.locator("#item-title")).to_contain_text("item-02")
    plain.get_by_role("button", name="Undo last").click()
    expect(plain.locator("#item-title")).to_contain_text("item-00")
    assert Review.objects.exclude(undone_at=None).get().explanation == "it says so"
    context.close()


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
    held = assignment().id
    page.get_by_label("Explanation").fill("a long thought")
    page.get_by_label("Reason code").fill("dose")
    page.context.clear_cookies(name=settings.SESSION_COOKIE_NAME)
    page.get_by_role("button", name="include").click()
    sign_in_as(page, "ada")
    expect(page.locator("#item-title")).to_contain_text("item-01")
    expect(page.get_by_label("Explanation")).to_have_value("a long thought")
    assert (assignment().id, Review.objects.count()) == (held, 1)
    page.get_by_role("button", name="include").click()
    expect(page.locator("#item-title")).to_contain_text("item-02")
    expect(page.get_by_label("Explanation")).to_have_value("")
    review = Review.objects.get(identity=held)
    assert (review.explanation, review.reason_code) == ("a long thought", "dose")


def test_labels_stay_within_reach_of_a_text_without_end_and_leave_it_room(
    page: Page, live_server: Any, store: Store
) -> None:
    labels = ("عاجل جدا", "y" * 64, *(f"topic {number}" for number in range(11)))
    many = create_cyclotron(name="many", definition=definition(classifier(labels=labels), seed="many"), now=NOW)
    Workbench(many).decide("x" * 512, values={"text": "word " * 200_000})
    hold(many, "many")
    reviewer(page, live_server.url, "ada")
    for width, height in ((1280, 800), (360, 740)):
        page.set_viewport_size({"width": width, "height": height})
        page.goto(f"{live_server.url}/cyclotrons/{many.cyclotron_id}/review/")
        if page.get_by_role("button", name="Start reviewing").is_visible():
            page.get_by_role("button", name="Start reviewing").click()
        bar = page.locator(".verdicts").bounding_box()
        assert bar is not None
        assert bar["y"] + bar["height"] <= height
        assert bar["height"] <= 0.46 * height
        page.get_by_role("button", name="topic 10").scroll_into_view_if_needed()
        expect(page.get_by_role("button", name="topic 10")).to_be_in_viewport()
        page.get_by_label("Explanation").focus()
        field = page.get_by_label("Explanation").bounding_box()
        assert field is not None
        assert field["y"] + field["height"] <= bar["y"]


@pytest.mark.parametrize("width", [360, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pages_of_items_fit_their_window_and_are_readable(
    page: Page, live_server: Any, store: Store, width: int, scheme: Any
) -> None:
    reviewer(page, live_server.url, "ada")
    start(page, live_server.url, store)
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": width, "height": 800})
    base = f"{live_server.url}/cyclotrons/{store.cyclotron_id}"
    for where in ("/review/", "/items/", f"/items/{assignment().item_id}/"):
        page.goto(base + where)
        assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth"), where
        assert page.evaluate(PALE_TEXTS) == [], where


def test_headings_come_in_order_and_every_field_has_a_name(page: Page, live_server: Any, store: Store) -> None:
    reviewer(page, live_server.url, "ada")
    start(page, live_server.url, store)
    base = f"{live_server.url}/cyclotrons/{store.cyclotron_id}"
    for where in ("/review/", "/items/", f"/items/{assignment().item_id}/"):
        page.goto(base + where)
        levels = [int(each.evaluate("element => element.tagName[1]")) for each in page.locator("h1, h2, h3, h4").all()]
        assert levels[0] == 1
        assert all(next_ <= level + 1 for level, next_ in itertools.pairwise(levels)), (where, levels)
        for field in page.locator("main :is(input:not([type=hidden]), select, textarea)").all():
            assert field.evaluate("element => element.labels.length") == 1, field
        reached = 0
        page.keyboard.press("Tab")
        while page.evaluate("document.activeElement !== document.body"):
            assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid", where
            reached += 1
            page.keyboard.press("Tab")
        assert reached > 15, where
