"""From nothing to a cyclotron that learned from a file: create, upload, look, confirm, watch, stop and go on."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.urls import reverse
from playwright.sync_api import Browser, Page, expect

from cyclotron.models import FileImport, Item, Review
from cyclotron.store import Store
from kapsoweb.accounts.actions import create_sign_in_link
from kapsoweb.accounts.models import Holding
from kapsoweb.foundation import clock
from kapsoweb.jobs import claims
from kapsoweb.jobs.models import Job
from tests.support.cyclotrons import workbench
from tests.support.held_cyclotrons import hold, run_queued_jobs

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

Written = Callable[..., Path]


@pytest.fixture
def screening_file(tmp_path: Path) -> Written:
    """`screening_file(rows=30, bad=0) -> path`: a file like those of systematic reviews, one in three included."""

    def write(rows: int = 30, bad: int = 0) -> Path:
        lines = ["pubmedID,title,abstracts,label1"]
        for number in range(rows):
            label = "I" if number % 3 == 0 else "E" if number % 3 == 1 else str(number % 7)
            lines.append(
                f'{1000 + number},"Attention in study {number}, مرحبا","of children 🧪 number {number}",{label}'
            )
        lines += ["a torn row"] * bad
        path = tmp_path / "screening.csv"
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return path

    return write


@pytest.fixture
def store() -> Store:
    """A cyclotron without items that the local account holds."""
    return hold(workbench().store, "tried")


def where(live_server: Any, store: Store, view: str = "imports") -> str:
    return f"{live_server.url}{reverse(f'cyclotron:{view}', args=[store.cyclotron_id])}"


def upload(page: Page, address: str, path: Path) -> None:
    page.goto(address)
    page.get_by_label("CSV file").set_input_files(path)
    page.get_by_role("button", name="Upload and look at it").click()
    expect(page.get_by_role("heading", name="What would come in")).to_be_visible()


def choose(page: Page) -> None:
    """Say what the labels of a screening file mean, as the page answers to each choice."""
    page.get_by_label("I", exact=True).select_option("include")
    expect(page.locator("#preview .headline")).to_contain_text("10 of 30 rows can come in.")
    page.get_by_label("Any other value").select_option("exclude")
    expect(page.locator("#preview .headline")).to_contain_text("30 of 30 rows can come in.")


def test_from_an_empty_lab_to_a_cyclotron_that_learned(
    page: Page, live_server: Any, sign_in: Page, screening_file: Written
) -> None:
    page.get_by_role("link", name="Create the first one").click()
    page.get_by_label("Name").fill("adhd")
    page.get_by_label("Question").fill("Is it about attention?")
    page.get_by_label("Labels").fill("include\nexclude")
    page.get_by_label("Positive label").fill("include")
    page.get_by_text("More", exact=True).click()
    page.get_by_label("Learn after this many reviews").fill("5")
    page.get_by_role("button", name="Create the cyclotron").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("adhd")
    page.get_by_role("link", name="Import a file").click()
    upload(page, page.url, screening_file())
    choose(page)
    page.get_by_role("button", name="Import 30 rows (up to 30 model requests)").click()
    expect(page.get_by_role("heading", name="Import waiting")).to_be_visible()
    expect(page.get_by_role("link", name="Jobs 1 under way")).to_be_visible()
    page.evaluate("window.sameDocument = true")
    run_queued_jobs()
    expect(page.locator(".headline")).to_have_text("30 rows recorded, 0 known before, 0 bad.")
    expect(page.get_by_text("learning step")).to_be_visible()
    expect(page.get_by_role("status")).to_have_text("Import finished. 30 rows recorded.")
    expect(page.get_by_role("link", name="Jobs", exact=True)).to_be_visible()
    assert page.evaluate("window.sameDocument") is True
    assert Item.objects.count() == Review.objects.count() == 30
    page.get_by_role("link", name="measure what was learned").click()
    expect(page.get_by_role("button", name=re.compile(r"^Freeze [1-9]"))).to_be_enabled()


def test_an_error_in_the_form_loses_nothing_and_leads_to_its_field(
    page: Page, live_server: Any, sign_in: Page, expected_statuses: set[int]
) -> None:
    expected_statuses.add(400)
    page.goto(live_server.url + reverse("cyclotron:create"))
    page.get_by_label("Name").fill("not a name!")
    page.get_by_label("Question").fill("هل هو عاجل؟")
    page.get_by_label("Labels").fill("نعم\nلا")
    page.get_by_role("button", name="Create the cyclotron").click()
    expect(page.get_by_role("alert")).to_contain_text("Not created")
    expect(page.get_by_label("Question")).to_have_value("هل هو عاجل؟")
    page.get_by_role("alert").get_by_role("link", name="Name").click()
    expect(page.get_by_label("Name")).to_be_focused()
    expect(page.get_by_label("Name")).to_have_accessible_description(re.compile("is no name for a record"))
    assert not Holding.objects.exists()


def test_a_choice_keeps_the_keyboard_where_it_is_and_lands_in_the_address(
    page: Page, live_server: Any, sign_in: Page, store: Store, screening_file: Written
) -> None:
    upload(page, where(live_server, store), screening_file())
    page.get_by_label("I", exact=True).focus()
    page.keyboard.press("i")  # the first option that begins so
    expect(page.locator("#preview .headline")).to_contain_text("10 of 30")
    expect(page.get_by_label("I", exact=True)).to_be_focused()
    assert "=include" in page.url
    page.reload()
    expect(page.get_by_label("I", exact=True)).to_have_value("include")
    page.get_by_label("No column is the label").check()
    expect(page.get_by_role("button", name="Import 30 rows (up to 30 model requests)")).to_be_enabled()
    expect(page.get_by_text("wait in the review queue")).to_be_visible()
    page.go_back()
    expect(page.locator("#preview .headline")).to_contain_text("10 of 30")


def test_a_rate_keeps_the_keyboard_where_it_is(
    page: Page, live_server: Any, sign_in: Page, store: Store, screening_file: Written
) -> None:
    upload(page, where(live_server, store), screening_file())
    page.get_by_label("No column is the label").check()
    expect(page.get_by_text("wait in the review queue")).to_be_visible()
    page.get_by_text("More: how much is sent to review").click()
    for rate in ("0.5", "1"):
        page.get_by_label("Review rate").fill(rate)
        with page.expect_response(re.compile(f"review_rate={rate}&")):
            page.keyboard.press("Tab")
        expect(page.get_by_label("Audit rate")).to_be_focused()
        expect(page.get_by_label("Review rate")).to_have_value(rate)
    page.get_by_label("Review rate").fill("often")
    page.keyboard.press("Tab")
    expect(page.get_by_text("Enter a number from 0 to 1.")).to_be_visible()
    expect(page.locator("#start-import")).to_have_count(0)


def test_everything_works_without_script(
    browser: Browser, page: Page, live_server: Any, sign_in: Page, store: Store, screening_file: Written
) -> None:
    context = browser.new_context(java_script_enabled=False)
    plain = context.new_page()
    plain.goto(f"{live_server.url}/sign-in/{create_sign_in_link(clock.now())}/")
    upload(plain, where(live_server, store), screening_file(bad=45))
    plain.get_by_label("I", exact=True).select_option("include")
    plain.get_by_label("Any other value").select_option("exclude")
    plain.get_by_role("button", name="Look again").click()
    expect(plain.locator("#preview .headline")).to_contain_text("30 of 75")
    plain.get_by_role("navigation", name="Pages of bad rows").get_by_role("link", name="Next").click()
    expect(plain.get_by_text("Page 2 of 3")).to_be_visible()
    expect(plain.get_by_label("I", exact=True)).to_have_value("include")
    plain.get_by_role("button", name="Import 30 rows").click()
    expect(plain.get_by_role("heading", name="Import waiting")).to_be_visible()
    assert plain.locator('meta[http-equiv="refresh"]').count() == 1
    run_queued_jobs()
    plain.get_by_role("link", name="Reload now").click()
    expect(plain.locator(".headline")).to_have_text("30 rows recorded, 0 known before, 45 bad.")
    with plain.expect_download() as download:
        plain.get_by_role("link", name="Download them as CSV").click()
    assert download.value.suggested_filename == "screening-bad-rows.csv"
    assert len(download.value.path().read_text().splitlines()) == 46
    context.close()


def test_an_import_that_was_cancelled_goes_on_where_it_stood(
    page: Page,
    live_server: Any,
    sign_in: Page,
    store: Store,
    screening_file: Written,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    upload(page, where(live_server, store), screening_file())
    choose(page)
    page.get_by_role("button", name="Import 30 rows").click()
    expect(page.get_by_role("heading", name="Import waiting")).to_be_visible()
    asked = iter([False] * 12)
    with monkeypatch.context() as patched:
        patched.setattr(claims.Claim, "cancel_requested", lambda self: next(asked, True))
        run_queued_jobs()
    Job.objects.update(cancel_requested_at=clock.now())
    expect(page.get_by_role("heading", name="Import stopped")).to_be_visible()
    expect(page.get_by_text("12 rows recorded and kept. 18 rows left, for up to 18 model requests.")).to_be_visible()
    page.get_by_role("button", name="Go on").click()
    expect(page.get_by_role("heading", name=re.compile("Import (waiting|running)"))).to_be_visible()
    run_queued_jobs()
    expect(page.locator(".headline")).to_have_text("30 rows recorded, 0 known before, 0 bad.")
    assert Job.objects.count() == 1


def test_two_clicks_are_one_import_and_a_second_tab_is_told(
    page: Page,
    live_server: Any,
    sign_in: Page,
    store: Store,
    screening_file: Written,
    expected_statuses: set[int],
) -> None:
    expected_statuses.add(409)
    upload(page, where(live_server, store), screening_file())
    choose(page)
    other = page.context.new_page()
    other.goto(page.url)
    other.get_by_label("No column is the label").check()
    expect(other.get_by_text("wait in the review queue")).to_be_visible()
    page.get_by_role("button", name="Import 30 rows").dblclick()
    expect(page.get_by_role("heading", name="Import waiting")).to_be_visible()
    other.get_by_role("button", name="Import 30 rows").click()
    expect(other.get_by_role("alert")).to_contain_text("Not done; nothing was changed")
    expect(other.get_by_role("heading", name="Import waiting")).to_be_visible()
    assert Job.objects.count() == 1


def test_a_file_beyond_the_limit_is_refused_before_it_is_sent(
    page: Page, live_server: Any, sign_in: Page, store: Store, tmp_path: Path
) -> None:
    large = tmp_path / "large.csv"
    with large.open("wb") as file:
        file.truncate(33 * 2**20)
    page.goto(where(live_server, store))
    page.get_by_label("CSV file").set_input_files(large)
    expect(page.get_by_text("This file is larger than that; split it.")).to_be_visible()
    page.get_by_role("button", name="Upload and look at it").click()
    expect(page.get_by_label("CSV file")).to_be_focused()
    expect(page.get_by_label("CSV file")).to_have_accessible_description(re.compile("larger than that"))
    assert not FileImport.objects.exists()


def test_a_file_that_cannot_be_read_says_where(
    page: Page, live_server: Any, sign_in: Page, store: Store, tmp_path: Path, expected_statuses: set[int]
) -> None:
    expected_statuses.add(400)
    torn = tmp_path / "torn.csv"
    torn.write_text('id,text\n1,"never closed\n')
    page.goto(where(live_server, store))
    page.get_by_label("CSV file").set_input_files(torn)
    page.get_by_role("button", name="Upload and look at it").click()
    expect(page.get_by_role("alert")).to_contain_text("The quote that opens on line 2 is never closed")
    expect(page.get_by_role("alert")).to_contain_text("invalid-csv, line 2")


def test_a_real_file_of_screening_decisions_comes_in(
    page: Page, live_server: Any, sign_in: Page, store: Store, screening_data: Path
) -> None:
    upload(page, where(live_server, store), screening_data / "adhd.csv")
    page.get_by_label("I", exact=True).select_option("include")
    expect(page.locator("#preview .headline")).to_contain_text("84 of 851 rows can come in.")
    page.get_by_label("Any other value").select_option("exclude")
    page.get_by_role("button", name="Import 851 rows (up to 851 model requests)").click()
    expect(page.get_by_role("heading", name="Import waiting")).to_be_visible()
    run_queued_jobs()
    expect(page.locator(".headline")).to_have_text("851 rows recorded, 0 known before, 0 bad.")
