"""Every page fits 320 pixels, is readable in light and dark, works from the keyboard, without script, and on paper."""

import re
from typing import Any

import pytest
from django.urls import reverse
from playwright.sync_api import Browser, Page, expect

from cyclotron import queries
from cyclotron.actions import create_cyclotron
from cyclotron.core.definition import ClassifierDefinition, CyclotronDefinition
from cyclotron.core.imports import ImportColumns
from cyclotron.core.report import build_report
from cyclotron.core.scored import ScoredItem
from cyclotron.models import Item, Report
from cyclotron.store import Store
from cyclotron.workspace import Workspace
from kapsoweb.accounts.access import caller_of_user, local_caller
from kapsoweb.accounts.actions import create_sign_in_link
from kapsoweb.accounts.actions.invitations import invite
from kapsoweb.accounts.actions.members import rename_account
from kapsoweb.accounts.actions.tokens import create_token
from kapsoweb.accounts.caller import Door
from kapsoweb.accounts.roles import Role
from kapsoweb.doors.account_jobs import cancel_job
from kapsoweb.foundation import clock
from kapsoweb.jobs.running import run
from tests.support.contrast import PALE_TEXTS
from tests.support.held_cyclotrons import HELD_AT, held_cyclotron, hold, run_queued_jobs
from tests.support.held_out_reports import example_report, random_items, report_inputs
from tests.support.people import lab_owner, member

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

LONG_NAME = "a-name-of-sixty-four-letters-" + "x" * 35
MANY_LABELS = ("عاجل جدا", "פרסום", "complaint 😡", "y" * 64, *(f"topic {number}" for number in range(8)))


@pytest.fixture
def laboratory(live_server: Any) -> dict[str, str]:
    """Addresses of pages in all states: reports, one of twelve odd labels; files; jobs; items; the account's pages."""
    ready = held_cyclotron("screening")
    evaluate(ready)
    run_queued_jobs()
    report = queries.report_records(ready)[-1]
    waiting = held_cyclotron("never-evaluated", training=0, audit=2)
    odd = held_cyclotron(LONG_NAME, training=0, audit=2)
    evaluate(odd)
    odd_report = queries.report_records(odd)[-1]
    rewrite(odd_report, odd_document())
    running = held_cyclotron("running")
    evaluate(running)
    named = long_names()
    files = {state: brought_in(ready, state) for state in ("received", "started", "done", "stopped")}
    return {
        "create": reverse("cyclotron:create"),
        "imports": address(ready, "imports"),
        **{f"import {state}": address(ready, "import", file.id) for state, file in files.items()},
        "events": address(ready, "events"),
        "jobs": reverse("pages:jobs"),
        "job": reverse("pages:job", args=[files["stopped"].job_id]),
        "items": address(ready, "items"),
        "item": address(ready, "item", str(next(iter(queries.item_keys(ready, ["مرحبا/🧪/" + "x" * 480]).values())))),
        "review": address(ready, "review"),
        **{name: reverse(f"pages:{name}") for name in ("account", "members", "tokens", "audit")},
        "list": reverse("cyclotron:list"),
        "ready": address(ready),
        "report": address(ready, "report", report.id),
        "waiting": address(waiting),
        "odd": address(odd),
        "odd report": address(odd, "report", odd_report.id),
        "running": address(running),
        **{f"long names, {view}": address(named, view) for view in ("detail", "items", "review", "imports", "events")},
        "long names, item": address(named, "item", str(Item.objects.filter(cyclotron_id=named.cyclotron_id)[0].pk)),
        "missing": "/cyclotrons/missing/",
    }


def long_names() -> Store:
    """A cyclotron, its classifiers and labels, the account, a member and a token with the longest names there are."""
    now = clock.now()
    rename_account(local_caller(), name="N" * 100, now=now)
    somebody = caller_of_user(member("W" * 150), Door.BROWSER)
    create_token(somebody, name="T" * 100, role=Role.OWNER, days=1, now=now)
    invite(somebody, role=Role.VIEWER, note="M" * 100, days=1, now=now)
    labels = ("i" * 63 + "1", "W" * 64)
    classifiers = tuple(ClassifierDefinition(name * 64, labels, "Q" * 400) for name in "cdW")
    workspace = Workspace(somebody)
    held = workspace.create(name="N" * 64, definition=CyclotronDefinition("S" * 512, classifiers))
    for number in range(3):
        values = {"text": "X" * 3000, "K" * 300: "V" * 500}
        decided = workspace.decide(held.id, identity=f"{number}" + "W" * 511, values=values)
    workspace.review(
        held.id, identity="I" * 512, decision_id=decided.decision_id, label=labels[1], explanation="E" * 2000
    )
    return held.store


def brought_in(store: Store, state: str) -> queries.FileImportSummary:
    """A file of odd rows in one state: looked at, waiting, done or stopped."""
    workspace = Workspace(local_caller())
    rows = [f'{state}-{number},"نص طويل 🧪 {"word " * 40}",include' for number in range(3)]
    rows += [f'"مرحبا/🧪/{"x" * 480}",odd,exclude', *[f"torn {number}" for number in range(25)]]
    data = "\n".join(["id,text,label", *rows]).encode()
    name = f"{'a very long name of a file ' * 4}{state}{'y' * 60}.csv"
    found = workspace.upload(store.cyclotron_id, filename=name, data=data)
    if state == "received":
        return found
    columns = ImportColumns("id", ("text",), "label")
    found = workspace.start_import(store.cyclotron_id, found.id, columns=columns)
    if state == "done":
        run(found.job_id, "worker-of-the-test")
    if state == "stopped":
        cancel_job(local_caller(), found.job_id, clock.now())
    return found


def evaluate(store: Store) -> None:
    """Confirm an evaluation; its job is left in the queue where anything has to be asked."""
    overview = queries.overview(store, model="local/1", allow_live=True)
    assert overview.request_bound is not None
    Workspace(local_caller()).evaluate(store.cyclotron_id, confirmed_bound=overview.request_bound)


def rewrite(report: Report, document: dict[str, Any]) -> None:
    """Make a stored report another one, which no code of the product does."""
    report.items = document["items"]
    report.body = {key: value for key, value in document.items() if key != "items"}
    report.save()


def odd_document() -> dict[str, Any]:
    """Twelve labels, from right to left and with emoji and without an item; an identity of 512 characters."""
    items = random_items(120, labels=MANY_LABELS[:-1], seed=3)
    items.append(ScoredItem("مرحبا/🧪/" + "x" * 503, MANY_LABELS[0], None, "y" * 64, 2.0**40))
    inputs = report_inputs(items, labels=MANY_LABELS)
    return build_report(inputs)


def address(store: Store, view: str = "detail", *arguments: str) -> str:
    return reverse(f"cyclotron:{view}", args=[store.cyclotron_id, *arguments])


def test_no_page_scrolls_sideways_on_a_narrow_screen(
    page: Page, live_server: Any, sign_in: Page, laboratory: dict[str, str], expected_statuses: set[int]
) -> None:
    expected_statuses.add(404)
    for width in (320, 360, 640, 1280):
        page.set_viewport_size({"width": width, "height": 800})
        for name, where in laboratory.items():
            page.goto(live_server.url + where)
            excess = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
            assert excess == 0, f"{name} at {width} pixels"


def test_every_text_stands_out_from_its_ground_in_light_and_dark(
    page: Page, live_server: Any, sign_in: Page, laboratory: dict[str, str], expected_statuses: set[int]
) -> None:
    expected_statuses.add(404)
    for name, where in laboratory.items():
        page.goto(live_server.url + where)
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            assert page.evaluate(PALE_TEXTS) == [], f"{name}, {scheme}"
    page.context.clear_cookies()
    page.goto(live_server.url + "/sign-in/")
    assert page.evaluate(PALE_TEXTS) == []


def test_the_keyboard_reaches_everything_and_shows_where_it_is(page: Page, live_server: Any, sign_in: Page) -> None:
    page.goto(live_server.url + address(held_cyclotron()))
    reached = []
    for _ in range(30):
        page.keyboard.press("Tab")
        name, outline = page.evaluate(
            "() => [document.activeElement.textContent.trim(), getComputedStyle(document.activeElement).outlineStyle]"
        )
        if not name or page.evaluate("document.activeElement === document.body"):
            break
        assert outline == "solid", name
        reached.append(name)
    assert reached[0] == "Skip to the content"
    assert {"kapsoweb", "Cyclotrons", "Admin", "Sign out"} <= set(reached)
    assert any(re.match(r"Evaluate \(up to \d+ model requests\)", name) for name in reached)


def test_one_button_a_page_is_the_primary_one(
    page: Page, live_server: Any, sign_in: Page, laboratory: dict[str, str]
) -> None:
    with_one = ("ready", "waiting", "running", "odd", "create", "imports", "import received", "import stopped")
    for name in with_one:
        page.goto(live_server.url + laboratory[name])
        expect(page.locator("button.primary")).to_have_count(1)
        expect(page.locator("main h1")).to_have_count(1)


def test_a_running_evaluation_can_be_followed_without_script(browser: Browser, page: Page, live_server: Any) -> None:
    lab_owner()
    store = held_cyclotron()
    evaluate(store)
    context = browser.new_context(java_script_enabled=False)
    plain = context.new_page()
    plain.goto(f"{live_server.url}/sign-in/{create_sign_in_link(clock.now())}/")
    plain.goto(live_server.url + address(store))
    expect(plain.get_by_role("heading", name="Evaluation running")).to_be_visible()
    expect(plain.get_by_role("link", name="Reload now")).to_be_visible()
    assert plain.locator('meta[http-equiv="refresh"]').count() == 1
    run_queued_jobs()
    plain.get_by_role("link", name="Reload now").click()
    expect(plain.locator(".headline")).to_contain_text("Agrees with reviewers on")
    assert plain.locator('meta[http-equiv="refresh"]').count() == 0
    assert re.search(r"\d{4}, \d\d:\d\d UTC", plain.locator("time").first.inner_text())
    context.close()


def test_a_report_prints_on_two_pages(page: Page, live_server: Any, sign_in: Page) -> None:
    store = held_cyclotron()
    evaluate(store)
    run_queued_jobs()
    record = queries.report_records(store)[-1]
    rewrite(record, example_report())
    page.goto(live_server.url + address(store, "report", record.id))
    paper = page.pdf(format="A4", prefer_css_page_size=True)
    assert len(re.findall(rb"/Type\s*/Page\b", paper)) == 2


def test_times_become_local_and_keep_utc_in_their_title(browser: Browser, page: Page, live_server: Any) -> None:
    lab_owner()
    context = browser.new_context(timezone_id="Asia/Tokyo", locale="en-GB")
    far = context.new_page()
    far.goto(f"{live_server.url}/sign-in/{create_sign_in_link(clock.now())}/")
    far.goto(live_server.url + address(held_cyclotron(training=0, audit=2)))
    frozen = far.locator(".actions time")
    expect(frozen).to_have_attribute("title", "1 Mar 2026, 12:00:00 UTC")
    expect(frozen).to_have_text(re.compile("1 Mar 2026, 21:00"))
    context.close()


def test_classifiers_are_chosen_in_the_address(page: Page, live_server: Any, sign_in: Page) -> None:
    classifiers = tuple(ClassifierDefinition(name, ("a", "b"), "Which?") for name in ("topic", "how urgent?"))
    store = create_cyclotron(
        name="two", definition=CyclotronDefinition(seed="two", classifiers=classifiers), now=HELD_AT
    )
    hold(store, "two")
    page.goto(live_server.url + address(store))
    tabs = page.get_by_role("navigation", name="Classifiers")
    expect(tabs.locator("[aria-current=page]")).to_have_text("topic")
    tabs.get_by_role("link", name="how urgent?").click()
    expect(tabs.locator("[aria-current=page]")).to_have_text("how urgent?")
    assert page.url.endswith("?classifier=how%20urgent%3F")
