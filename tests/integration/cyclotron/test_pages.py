"""The cyclotron's pages: who sees them, what their forms do, and what they refuse."""

import json
import re
from html import unescape

import pytest
from django.http import HttpResponseBase
from django.test import Client
from django.urls import reverse
from pytest_django.fixtures import Settings

from cyclotron import queries
from cyclotron.actions import create_cyclotron
from cyclotron.models import Evaluation, HeldOutSet
from cyclotron.store import Store
from kapsoweb.accounts.models import Account
from tests.support.frozen_cyclotrons import FROZEN_AT, definition
from tests.support.held_cyclotrons import HELD_AT, held_cyclotron, hold, run_queued_jobs
from tests.support.people import member

pytestmark = [pytest.mark.services, pytest.mark.django_db(transaction=True)]

HIDDEN = re.compile(r'<input type="hidden" name="(\w+)" value="([^"]*)"')


@pytest.fixture
def visitor(client: Client) -> Client:
    client.force_login(member("somebody"))
    return client


@pytest.fixture
def store() -> Store:
    return held_cyclotron()


def address(store: Store, view: str = "detail", *arguments: str) -> str:
    return reverse(f"cyclotron:{view}", args=[store.cyclotron_id, *arguments])


def form_of(page: HttpResponseBase, form_id: str) -> dict[str, str]:
    """The hidden fields of one form of the page, as the browser would send them."""
    body = page.getvalue().decode()
    form = body[body.index(f'id="{form_id}"') :]
    return {name: unescape(value) for name, value in HIDDEN.findall(form[: form.index("</form>")])}


def evaluated(visitor: Client, store: Store) -> str:
    """Evaluate by the form; the report's id."""
    visitor.post(address(store, "evaluate"), form_of(visitor.get(address(store)), "evaluate-form"))
    run_queued_jobs()
    return queries.report_records(store)[-1].id


@pytest.mark.parametrize("view", ["detail", "evaluate", "freeze"])
def test_a_stranger_is_sent_to_sign_in_and_changes_nothing(client: Client, store: Store, view: str) -> None:
    for answer in (client.get(address(store, view)), client.post(address(store, view))):
        assert answer.status_code == 302
        assert answer.headers["Location"].startswith("/sign-in/?next=/cyclotrons/")
    assert not Evaluation.objects.exists()


def test_the_record_of_another_account_is_missing_to_the_letter(visitor: Client) -> None:
    other = Account.objects.create(id="acc_other", name="Other", slug="other", created_at=HELD_AT)
    theirs = hold(create_cyclotron(name="theirs", definition=definition(learn_every=9), now=FROZEN_AT), "theirs", other)
    missing = Store("default", "cy_nobody_has_this")
    for view, arguments in (("detail", ()), ("progress", ("ev_1",)), ("report", ("rep_1",))):
        answers = [visitor.get(address(store, view, *arguments)) for store in (theirs, missing)]
        assert [answer.status_code for answer in answers] == [404, 404]
        assert answers[0].content == answers[1].content
    for view, arguments in (("evaluate", ()), ("freeze", ()), ("cancel", ("ev_1",))):
        assert visitor.post(address(theirs, view, *arguments)).status_code == 404
    assert not HeldOutSet.objects.filter(cyclotron_id=theirs.cyclotron_id).exists()


def test_the_list_shows_only_what_the_account_holds(visitor: Client, store: Store) -> None:
    other = Account.objects.create(id="acc_other", name="Other", slug="other", created_at=HELD_AT)
    hold(create_cyclotron(name="theirs", definition=definition(learn_every=9), now=FROZEN_AT), "theirs", other)
    body = visitor.get(reverse("cyclotron:list")).content.decode()
    assert "screening" in body
    assert "theirs" not in body


def test_an_empty_lab_shows_the_two_commands_that_fill_it(visitor: Client) -> None:
    body = visitor.get(reverse("cyclotron:list")).content.decode()
    assert "kapsoweb cyclotron create" in body
    assert "kapsoweb cyclotron replay" in body


def test_pressing_the_button_confirms_the_bound_and_plan_that_it_showed(visitor: Client, store: Store) -> None:
    page = visitor.get(address(store))
    fields = form_of(page, "evaluate-form")
    bound = int(fields["confirmedRequestBound"])
    assert bound > 0
    assert f"Evaluate (up to {bound} model requests)" in page.content.decode()
    answer = visitor.post(address(store, "evaluate"), fields)
    assert answer.status_code == 302
    assert answer.headers["Location"].startswith(address(store))
    assert Evaluation.objects.get().bound == bound
    assert run_queued_jobs() == 1
    assert "Agrees with reviewers on" in visitor.get(address(store)).content.decode()


def test_a_double_click_is_one_evaluation(visitor: Client, store: Store) -> None:
    fields = form_of(visitor.get(address(store)), "evaluate-form")
    visitor.post(address(store, "evaluate"), fields)
    run_queued_jobs()
    assert visitor.post(address(store, "evaluate"), fields).status_code == 302
    assert Evaluation.objects.count() == 1


def test_a_changed_bound_is_refused_with_the_new_one_and_nothing_is_spent(visitor: Client, store: Store) -> None:
    page = form_of(visitor.get(address(store)), "evaluate-form")
    evaluated(visitor, store)
    spent = Evaluation.objects.get().permits_taken
    answer = visitor.post(address(store, "evaluate"), page | {"requestId": "another"})
    assert answer.status_code == 409
    body = answer.content.decode()
    assert "nothing was spent" in body
    assert "bound-changed" in body
    assert "Evaluate (up to 0 model requests)" in body
    assert [row.permits_taken for row in Evaluation.objects.all()] == [spent]


def test_a_bound_that_is_no_number_is_refused(visitor: Client, store: Store) -> None:
    fields = form_of(visitor.get(address(store)), "evaluate-form")
    for bound in ("", "-1", "1.5", "٣", "9" * 400):
        answer = visitor.post(address(store, "evaluate"), fields | {"confirmedRequestBound": bound})
        assert answer.status_code == 400, bound
    assert not Evaluation.objects.exists()


def test_a_form_without_its_token_changes_nothing(store: Store) -> None:
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(member("somebody"))
    answer = strict.post(address(store, "evaluate"), {"confirmedRequestBound": "12"})
    assert answer.status_code == 403
    assert "stale-form" in answer.content.decode()
    assert not Evaluation.objects.exists()


def test_with_calls_off_the_button_is_off_with_its_reason_and_the_command_is_refused(
    visitor: Client, store: Store, settings: Settings
) -> None:
    fields = form_of(visitor.get(address(store)), "evaluate-form")
    settings.KAPSOWEB_ALLOW_LIVE = False
    body = visitor.get(address(store)).content.decode()
    assert 'disabled aria-describedby="evaluate-reason"' in body
    assert "switched off" in body
    answer = visitor.post(address(store, "evaluate"), fields)
    assert answer.status_code == 403
    assert "live-off" in answer.content.decode()
    assert not Evaluation.objects.exists()


def test_a_model_that_is_not_configured_is_said_where_the_button_is(
    visitor: Client, store: Store, settings: Settings
) -> None:
    settings.KAPSOWEB_DECISION_MODEL = "openai"
    body = visitor.get(address(store)).content.decode()
    assert "KAPSOWEB_MODEL_URL is not set" in body
    assert (
        visitor.post(address(store, "evaluate"), form_of(visitor.get(address(store)), "evaluate-form")).status_code
        == 400
    )
    assert not Evaluation.objects.exists()


def test_freezing_an_empty_pool_says_what_is_missing(visitor: Client) -> None:
    store = hold(create_cyclotron(name="new", definition=definition(learn_every=9), now=FROZEN_AT), "new")
    assert "Freeze 0 new labels" in visitor.get(address(store)).content.decode()
    answer = visitor.post(address(store, "freeze"))
    assert answer.status_code == 409
    assert "nothing-to-freeze" in answer.content.decode()
    assert not HeldOutSet.objects.exists()


def test_an_address_that_only_takes_commands_leads_to_the_panel(visitor: Client, store: Store) -> None:
    for view in ("freeze", "evaluate"):
        answer = visitor.get(address(store, view))
        assert (answer.status_code, answer.headers["Location"]) == (302, address(store))
    assert visitor.put(address(store, "evaluate")).status_code == 405


def test_progress_is_a_part_of_the_page_for_htmx_and_the_page_for_anybody_else(visitor: Client, store: Store) -> None:
    visitor.post(address(store, "evaluate"), form_of(visitor.get(address(store)), "evaluate-form"))
    where = address(store, "progress", Evaluation.objects.get().id)
    assert visitor.get(where).status_code == 302
    running = visitor.get(where, {"announced": "none"}, headers={"HX-Request": "true"})
    assert "<html" not in running.content.decode()
    assert "Evaluation running" in running.content.decode()
    assert 'hx-swap-oob="innerHTML"' in running.content.decode()
    quiet = visitor.get(where, {"announced": "2"}, headers={"HX-Request": "true"}).content.decode()
    assert ('hx-swap-oob="innerHTML"' in quiet) == ("announced=2" not in quiet)
    run_queued_jobs()
    ended = visitor.get(where, headers={"HX-Request": "true"})
    assert ended.headers["HX-Retarget"] == "#held-out"
    assert "Evaluation finished. Agrees with reviewers" in ended.content.decode()


def test_cancelling_ends_what_waits_and_keeps_the_page(visitor: Client, store: Store) -> None:
    visitor.post(address(store, "evaluate"), form_of(visitor.get(address(store)), "evaluate-form"))
    answer = visitor.post(address(store, "cancel", Evaluation.objects.get().id), {"classifier": "screening"})
    assert answer.headers["Location"] == address(store) + "?classifier=screening"
    body = visitor.get(answer.headers["Location"]).content.decode()
    assert "Evaluation cancelled" in body
    assert "finishing costs up to" in body
    assert visitor.post(address(store, "cancel", "ev_nobody")).status_code == 404


def test_a_report_can_be_filtered_and_downloaded(visitor: Client, store: Store) -> None:
    report_id = evaluated(visitor, store)
    where = address(store, "report", report_id)
    document = queries.report_record(store, report_id).document
    page = visitor.get(where, {"outcome": "gained", "page": "not a number"})
    assert page.status_code == 200
    assert len(page.context["items"].rows) == document["change"]["gained"]
    as_json = visitor.get(where, {"format": "json"})
    assert json.loads(as_json.content) == document
    assert as_json.headers["Content-Disposition"] == f'attachment; filename="screening-{report_id}.json"'
    as_csv = visitor.get(where, {"format": "csv"})
    assert as_csv.headers["Content-Type"] == "text/csv; charset=utf-8"
    assert as_csv.content.decode().startswith("itemId,label,before,after,weight,outcome\r\n")
    assert visitor.get(where, {"format": "exe"}).status_code == 400


@pytest.mark.parametrize("name", ["no such classifier", "a\x00b"])
def test_a_classifier_that_is_none_is_refused(visitor: Client, store: Store, name: str) -> None:
    assert visitor.get(address(store), {"classifier": name}).status_code in {400, 404}
    assert visitor.post(address(store, "evaluate"), {"classifier": name}).status_code in {400, 404}


def test_pages_of_a_cyclotron_hold_no_item_text(visitor: Client, store: Store) -> None:
    report_id = evaluated(visitor, store)
    for where in (address(store), address(store, "report", report_id), reverse("cyclotron:list")):
        body = visitor.get(where).content.decode()
        assert "in study" not in body
