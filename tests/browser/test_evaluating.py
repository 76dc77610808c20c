"""The panel in use: confirm by the button, watch, cancel, read the report; and the states in which it is off."""

import re
from typing import Any

import pytest
from django.urls import reverse
from playwright.sync_api import Page, expect
from pytest_django.fixtures import Settings

from cyclotron import queries
from cyclotron.actions import create_cyclotron
from cyclotron.adapters.local import LocalModel
from cyclotron.core.configuration import Answer, DecisionRequest
from cyclotron.core.errors import ModelError
from cyclotron.models import Evaluation
from cyclotron.store import Store
from tests.support.frozen_cyclotrons import FROZEN_AT, definition
from tests.support.held_cyclotrons import held_cyclotron, hold, run_queued_jobs

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

EVALUATE = re.compile(r"^Evaluate \(up to \d+ model requests\)$")


class FailingModel(LocalModel):
    """Brings no answer for the first `failures` requests."""

    def __init__(self, failures: int) -> None:
        super().__init__()
        self.failures = failures

    def answer(self, request: DecisionRequest) -> Answer:
        if self.failures > 0:
            self.failures -= 1
            raise ModelError("the model did not answer.")
        return super().answer(request)


def address(live_server: Any, store: Store) -> str:
    return f"{live_server.url}{reverse('cyclotron:detail', args=[store.cyclotron_id])}"


def bound_of(page: Page) -> int:
    """The number on the button."""
    return int(re.sub(r"\D", "", page.get_by_role("button", name=EVALUATE).inner_text()))


def test_pressing_the_button_leads_to_a_report_without_reloading(page: Page, live_server: Any, sign_in: Page) -> None:
    store = held_cyclotron()
    page.goto(address(live_server, store))
    expect(page.get_by_text("Not evaluated yet.")).to_be_visible()
    bound = bound_of(page)
    assert bound > 0
    page.get_by_role("button", name=EVALUATE).click()
    expect(page.get_by_role("heading", name="Evaluation running")).to_be_visible()
    expect(page.get_by_text(f"0 of {bound} confirmed requests used")).to_be_visible()
    expect(page.get_by_text("No worker is alive")).to_be_visible()
    expect(page.get_by_role("button", name=EVALUATE)).to_be_disabled()
    expect(page.get_by_text("An evaluation is running.")).to_be_visible()
    page.evaluate("window.sameDocument = true")
    assert run_queued_jobs() == 1
    expect(page.locator(".headline")).to_contain_text("Agrees with reviewers on")
    expect(page.get_by_role("heading", name="Evaluation running")).to_have_count(0)
    assert page.evaluate("window.sameDocument") is True
    expect(page.get_by_role("status")).to_contain_text("Evaluation finished. Agrees with reviewers on")
    expect(page.get_by_role("button", name="Evaluate (up to 0 model requests)")).to_be_enabled()
    assert Evaluation.objects.get().permits_taken <= bound


def test_the_report_leads_to_the_items_behind_its_numbers(page: Page, live_server: Any, sign_in: Page) -> None:
    store = held_cyclotron()
    page.goto(address(live_server, store))
    page.get_by_role("button", name=EVALUATE).click()
    run_queued_jobs()
    document = queries.held_out_reports(store)[-1]
    page.get_by_role("link", name="The whole report").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Report on screening")
    page.get_by_role("row", name="Both right").get_by_role("link").click()
    expect(page.locator("#items tbody tr")).to_have_count(document["change"]["bothRight"])
    assert page.url.endswith("?outcome=bothRight#items")
    page.go_back()
    expect(page.locator("#items tbody tr")).to_have_count(len(document["items"]))
    with page.expect_download() as download:
        page.get_by_role("link", name="CSV").click()
    assert download.value.suggested_filename.endswith(".csv")


def test_cancelling_keeps_what_was_answered_and_shows_what_is_left(page: Page, live_server: Any, sign_in: Page) -> None:
    store = held_cyclotron()
    page.goto(address(live_server, store))
    bound = bound_of(page)
    page.get_by_role("button", name=EVALUATE).click()
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_role("heading", name="Evaluation cancelled")).to_be_visible()
    expect(page.get_by_text(f"finishing costs up to {bound} model requests")).to_be_visible()
    expect(page.get_by_role("button", name=EVALUATE)).to_be_enabled()
    assert bound_of(page) == bound


def test_an_interrupted_evaluation_is_finished_by_confirming_the_rest(
    page: Page, live_server: Any, sign_in: Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = held_cyclotron()
    page.goto(address(live_server, store))
    page.get_by_role("button", name=EVALUATE).click()
    model = FailingModel(2)
    monkeypatch.setattr("cyclotron.jobs.decision_model", lambda: model)
    run_queued_jobs()
    expect(page.get_by_role("heading", name="Evaluation interrupted")).to_be_visible()
    expect(page.get_by_text("2 answers missing; finishing costs up to 2 model requests.")).to_be_visible()
    expect(page.get_by_text("permits-lost")).to_be_visible()
    page.get_by_role("button", name="Evaluate (up to 2 model requests)").click()
    expect(page.get_by_role("heading", name="Evaluation running")).to_be_visible()
    run_queued_jobs()
    expect(page.locator(".headline")).to_contain_text("Agrees with reviewers on")
    expect(page.get_by_role("heading", name="Evaluation interrupted")).to_have_count(0)


def test_a_bound_that_moved_is_shown_anew_and_nothing_is_spent(
    page: Page, live_server: Any, sign_in: Page, expected_statuses: set[int]
) -> None:
    store = held_cyclotron()
    page.goto(address(live_server, store))
    other = page.context.new_page()
    other.goto(address(live_server, store))
    other.get_by_role("button", name=EVALUATE).click()
    run_queued_jobs()
    expected_statuses.add(409)
    page.get_by_role("button", name=EVALUATE).click()
    expect(page.get_by_role("alert")).to_contain_text("The cost has changed; nothing was spent")
    expect(page.get_by_role("button", name="Evaluate (up to 0 model requests)")).to_be_enabled()
    assert Evaluation.objects.count() == 1


def test_without_a_frozen_set_the_button_is_off_until_the_labels_are_frozen(
    page: Page, live_server: Any, sign_in: Page
) -> None:
    store = held_cyclotron()
    store.all(type(store.classifier())).update(current_set=None)
    page.goto(address(live_server, store))
    expect(page.get_by_role("button", name=EVALUATE)).to_be_disabled()
    expect(page.get_by_role("button", name=EVALUATE)).to_have_accessible_description("No held-out set is frozen yet.")
    page.get_by_role("button", name=re.compile(r"^Freeze [1-9]\d* new labels$")).click()
    expect(page.get_by_role("button", name=EVALUATE)).to_be_enabled()
    expect(page.get_by_role("button", name="Freeze 0 new labels")).to_be_disabled()


def test_with_calls_off_the_button_is_off_and_says_why(
    page: Page, live_server: Any, sign_in: Page, settings: Settings
) -> None:
    settings.KAPSOWEB_ALLOW_LIVE = False
    page.goto(address(live_server, held_cyclotron()))
    expect(page.get_by_role("button", name=EVALUATE)).to_be_disabled()
    expect(page.get_by_role("button", name=EVALUATE)).to_have_accessible_description(
        "Calls to a model are switched off in this lab."
    )


def test_a_new_cyclotron_says_what_to_do_next(page: Page, live_server: Any, sign_in: Page) -> None:
    store = hold(create_cyclotron(name="new", definition=definition(learn_every=9), now=FROZEN_AT), "new")
    page.goto(address(live_server, store))
    expect(page.get_by_text("No held-out label has come in yet.")).to_be_visible()
    expect(page.get_by_role("button", name=EVALUATE)).to_be_disabled()
    expect(page.get_by_role("button", name="Freeze 0 new labels")).to_be_disabled()


def test_a_visit_that_ends_while_an_evaluation_runs_leads_to_sign_in(
    page: Page, live_server: Any, sign_in: Page
) -> None:
    store = held_cyclotron()
    page.goto(address(live_server, store))
    page.get_by_role("button", name=EVALUATE).click()
    expect(page.get_by_role("heading", name="Evaluation running")).to_be_visible()
    page.context.clear_cookies()
    expect(page.get_by_role("heading", level=1)).to_have_text("Sign in")
