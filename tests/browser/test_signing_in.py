"""Signing in by link and by password, as a person does it."""

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from kapsoweb.accounts.actions import create_sign_in_link
from kapsoweb.accounts.roles import Role
from kapsoweb.foundation import clock
from tests.support.people import lab_owner, member

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_a_link_leads_to_the_list_and_works_once(page: Page, live_server: Any, expected_statuses: set[int]) -> None:
    lab_owner()
    link = f"{live_server.url}/sign-in/{create_sign_in_link(clock.now())}/"
    page.goto(link)
    expect(page.get_by_role("heading", level=1)).to_have_text("Cyclotrons")
    expect(page.get_by_text("kapsoweb cyclotron create")).to_be_visible()
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Sign in")
    expected_statuses.add(403)
    page.goto(link)
    expect(page.get_by_role("heading", level=1)).to_have_text("This sign-in link does not work")
    expect(page.get_by_text("kapsoweb sign-in-link")).to_be_visible()


def test_a_password_leads_back_to_the_page_that_was_asked_for(page: Page, live_server: Any) -> None:
    somebody = member("somebody")
    somebody.set_password("correct horse")
    somebody.save()
    page.goto(f"{live_server.url}/cyclotrons/?page=1")
    page.get_by_label("User name", exact=True).fill("somebody")
    page.get_by_label("Password", exact=True).fill("wrong")
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("Not signed in.")
    page.get_by_label("User name", exact=True).fill("somebody")
    page.get_by_label("Password", exact=True).fill("correct horse")
    page.get_by_role("button", name="Sign in").click()
    expect(page).to_have_url(f"{live_server.url}/cyclotrons/?page=1")


def test_only_operators_are_offered_the_admin(page: Page, live_server: Any, sign_in: Page) -> None:
    expect(page.get_by_role("link", name="Admin")).to_be_visible()
    for role, offers in ((Role.OPERATOR, 1), (Role.REVIEWER, 0)):
        page.get_by_role("button", name="Sign out").click()
        somebody = member(role.value, role)
        somebody.set_password("correct horse")
        somebody.save()
        page.get_by_label("User name", exact=True).fill(role.value)
        page.get_by_label("Password", exact=True).fill("correct horse")
        page.get_by_role("button", name="Sign in").click()
        expect(page.get_by_role("link", name="Cyclotrons")).to_be_visible()
        expect(page.get_by_role("link", name="Admin")).to_have_count(offers)
