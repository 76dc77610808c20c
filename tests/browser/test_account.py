"""Becoming the owner, inviting somebody, and making an API token, as people do it: with script, and without."""

import re
from typing import Any

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Browser, Page, expect

from kapsoweb.accounts.actions import create_sign_in_link
from kapsoweb.accounts.models import ApiToken, Membership
from kapsoweb.accounts.roles import Role
from kapsoweb.foundation import clock
from tests.support.held_cyclotrons import held_cyclotron
from tests.support.people import lab_owner, member

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

PHRASE = "a long enough phrase"


def choose_a_user(page: Page, name: str, password: str = PHRASE, again: str | None = None) -> None:
    page.get_by_label("User name").fill(name)
    page.get_by_label("Password", exact=True).fill(password)
    page.get_by_label("The password again").fill(password if again is None else again)


def give_the_password(page: Page, name: str) -> None:
    page.get_by_label("User name", exact=True).fill(name)
    page.get_by_label("Password", exact=True).fill(PHRASE)
    page.get_by_role("button", name="Sign in").click()


def test_the_first_visitor_becomes_the_owner(page: Page, live_server: Any, expected_statuses: set[int]) -> None:
    held_cyclotron("demonstration")
    link = f"{live_server.url}/sign-in/{create_sign_in_link(clock.now())}/"
    page.goto(link)
    expect(page.get_by_role("heading", level=1)).to_have_text("Become the owner of this lab")
    expected_statuses.add(400)
    choose_a_user(page, "ada", "short")
    page.get_by_role("button", name="Become the owner").click()
    problems = page.get_by_role("alert")
    expect(problems).to_contain_text("at least 12 characters")
    problems.get_by_role("link").first.click()
    expect(page.get_by_label(re.compile("password", re.IGNORECASE)).and_(page.locator(":focus"))).to_be_visible()
    expect(page.get_by_label("User name")).to_have_value("ada")
    choose_a_user(page, "ada")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Cyclotrons")
    expect(page.get_by_role("link", name="demonstration")).to_be_visible()
    expect(page.get_by_role("link", name="Local lab")).to_have_attribute("title", "Local lab: ada, owner")
    page.get_by_role("button", name="Sign out").click()
    expected_statuses.add(403)
    page.goto(link)
    expect(page.get_by_role("heading", level=1)).to_have_text("This sign-in link does not work")


def test_an_owner_invites_and_a_stranger_joins(browser: Browser, page: Page, live_server: Any, sign_in: Page) -> None:
    page.get_by_role("link", name="Local lab").click()
    page.get_by_role("link", name="Members").click()
    page.get_by_label("Role", exact=True).select_option("reviewer")
    page.get_by_label("Whom it is for").fill("Ben, يونس")
    page.get_by_role("button", name="Make an invitation").click()
    link = page.locator("#secret").inner_text()
    expect(page.get_by_role("cell", name="open until")).to_be_visible()

    context = browser.new_context()
    ben = context.new_page()
    ben.goto(link)
    expect(ben.get_by_role("heading", level=1)).to_have_text("Join Local lab")
    expect(ben.locator("main")).to_contain_text("You are invited as reviewer")
    choose_a_user(ben, "ben")
    ben.get_by_role("button", name="Join the account").click()
    expect(ben.get_by_role("heading", level=1)).to_have_text("Cyclotrons")
    ben.goto(f"{live_server.url}/account/members/")
    expect(ben.get_by_text("Owners of the account invite members")).to_be_visible()
    expect(ben.get_by_role("button", name="Make an invitation")).to_have_count(0)
    ben.goto(link)
    expect(ben.get_by_role("heading", level=1)).to_have_text("This invitation does not work")
    context.close()

    page.goto(f"{live_server.url}/account/members/")
    expect(page.locator("#secret")).to_have_count(0)
    expect(page.get_by_role("cell", name="used by ben")).to_be_visible()
    page.get_by_label("Role of ben").select_option("operator")
    page.get_by_role("button", name="Change the role of ben").click()
    expect(page.get_by_label("Role of ben")).to_have_value("operator")
    page.get_by_role("link", name="Remove ben").click()
    page.get_by_label("The user name, to be sure").fill("ben")
    page.get_by_role("button", name="Remove the member").click()
    expect(page.get_by_role("rowheader", name="ben", exact=True)).to_have_count(0)
    assert not Membership.objects.filter(user__username="ben").exists()


def test_somebody_who_has_a_user_signs_in_first_and_comes_back(page: Page, live_server: Any, sign_in: Page) -> None:
    page.goto(f"{live_server.url}/account/members/")
    page.get_by_role("button", name="Make an invitation").click()
    link = page.locator("#secret").inner_text()
    eve = User.objects.create_user("eve", password=PHRASE)
    page.get_by_role("button", name="Sign out").click()
    page.goto(link)
    page.get_by_role("main").get_by_role("link", name="sign in").click()
    give_the_password(page, "eve")
    expect(page).to_have_url(link)
    page.get_by_role("button", name="Join the account").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Cyclotrons")
    assert Membership.objects.get(user=eve).role == Role.VIEWER


def test_a_token_is_made_copied_and_revoked(page: Page, live_server: Any, sign_in: Page) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"], origin=live_server.url)
    held_cyclotron("screening")
    page.goto(f"{live_server.url}/account/tokens/")
    expect(page.get_by_text("No token yet.")).to_be_visible()
    page.get_by_label("Name").fill("nightly import")
    page.get_by_label("Reaches").select_option("only the cyclotron screening")
    page.get_by_role("button", name="Make a token").click()
    secret = page.locator("#secret").inner_text()
    page.get_by_role("button", name="Copy the token").click()
    expect(page.get_by_text("Copied.")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == secret
    example = page.locator("#new-token pre").inner_text()
    assert f'"Authorization: Bearer {secret}" {live_server.url}/api/v1/me' in example
    page.goto(f"{live_server.url}/account/tokens/")
    expect(page.locator("main")).not_to_contain_text(secret)
    page.get_by_role("button", name="Revoke nightly import").click()
    expect(page.get_by_role("cell", name="revoked")).to_be_visible()
    assert ApiToken.objects.get().revoked_at is not None


def test_a_token_is_made_without_script(browser: Browser, page: Page, live_server: Any) -> None:
    lab_owner()
    context = browser.new_context(java_script_enabled=False)
    plain = context.new_page()
    plain.goto(f"{live_server.url}/sign-in/{create_sign_in_link(clock.now())}/")
    plain.goto(f"{live_server.url}/account/tokens/")
    plain.get_by_role("button", name="Make a token").click()
    expect(plain.get_by_role("alert")).to_contain_text("Give it a name.")
    plain.get_by_label("Name").fill("nightly")
    plain.get_by_role("button", name="Make a token").click()
    expect(plain.locator("#secret")).to_have_text(re.compile("^kapso_"))
    expect(plain.get_by_role("button", name="Copy the token")).to_be_hidden()
    context.close()


def test_members_work_in_the_account_that_they_choose(page: Page, live_server: Any, sign_in: Page) -> None:
    held_cyclotron("screening")
    page.goto(f"{live_server.url}/account/")
    page.locator("#new-form").get_by_label("Name").fill("Night shift")
    page.get_by_role("button", name="Create an account").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Night shift")
    page.get_by_role("link", name="Cyclotrons").click()
    expect(page.get_by_role("link", name="screening")).to_have_count(0)
    page.get_by_role("link", name="Night shift").click()
    page.get_by_role("button", name="Work here in Local lab").click()
    expect(page.get_by_role("link", name="screening")).to_be_visible()


def test_a_changed_password_is_said_and_ends_other_visits(browser: Browser, page: Page, live_server: Any) -> None:
    user = member("ada")
    user.set_password(PHRASE)
    user.save()
    context = browser.new_context()
    visits = [page, context.new_page()]
    for visit in visits:
        visit.goto(f"{live_server.url}/sign-in/")
        give_the_password(visit, "ada")
        expect(visit.get_by_role("heading", level=1)).to_have_text("Cyclotrons")
    page.goto(f"{live_server.url}/account/password/")
    page.get_by_label("Present password").fill(PHRASE)
    for label in ("New password", "The new password again"):
        page.get_by_label(label, exact=True).fill(f"{PHRASE} anew")
    page.get_by_role("button", name="Change the password").click()
    expect(page.get_by_role("status")).to_contain_text("Your password is changed.")
    visits[1].reload()
    expect(visits[1].get_by_role("heading", level=1)).to_have_text("Sign in")
    context.close()
