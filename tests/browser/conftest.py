"""Pages driven in Chromium against a live server; any error, refused content or foreign request fails the test."""

import os
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import ConsoleMessage, Page, Request, Response

from kapsoweb.accounts.actions import create_sign_in_link
from kapsoweb.foundation import clock
from tests.support.people import lab_owner

# Playwright keeps an event loop in the test's thread, where Django would otherwise refuse its database.
os.environ.setdefault("DJANGO_ALLOW_ASYNC_UNSAFE", "true")

QUIET = ("--disable-background-networking", "--disable-component-update", "--disable-sync", "--no-first-run")


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args: dict[str, Any]) -> dict[str, Any]:
    """The machine's Chromium, without what it does on its own."""
    return {**browser_type_launch_args, "args": [*browser_type_launch_args.get("args", []), *QUIET]}


@pytest.fixture
def expected_statuses() -> set[int]:
    """Statuses of 400 and above that the test means to see; it adds to this set."""
    return set()


@pytest.fixture(autouse=True)
def nothing_goes_wrong(page: Page, live_server: Any, expected_statuses: set[int]) -> Iterator[None]:
    """Fail on console errors, uncaught exceptions, refused content, failing answers and requests to other hosts."""
    faults: list[str] = []

    def hear(message: ConsoleMessage) -> None:
        # Chromium also reports a failing answer here; those are judged by their status below.
        if message.type in {"error", "warning"} and "Failed to load resource" not in message.text:
            faults.append(f"console: {message.text}")

    def answered(response: Response) -> None:
        if response.status >= 400 and response.status not in expected_statuses:
            faults.append(f"{response.status} for {response.url}")

    def asked(request: Request) -> None:
        if not request.url.startswith(live_server.url):
            faults.append(f"asked elsewhere: {request.url}")

    page.on("console", hear)
    page.on("pageerror", lambda error: faults.append(f"exception: {error}"))
    page.on("response", answered)
    page.on("request", asked)
    yield
    assert faults == []


@pytest.fixture
def sign_in(page: Page, live_server: Any) -> Page:
    """The page after signing in by a fresh link as the lab's owner."""
    lab_owner()
    page.goto(f"{live_server.url}/sign-in/{create_sign_in_link(clock.now())}/")
    return page
