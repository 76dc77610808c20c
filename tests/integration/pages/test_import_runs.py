"""Bringing a file in by its pages: confirm, watch, stop, go on; who may, and what is kept."""

import csv
import io
import re

import pytest
from django.test import Client
from pytest_django.fixtures import Settings

from cyclotron import queries
from cyclotron.models import FileImport, Item, Review
from cyclotron.store import Store
from kapsoweb.accounts.access import local_account
from kapsoweb.accounts.models import AuditEntry
from kapsoweb.accounts.roles import Role
from kapsoweb.foundation import clock
from kapsoweb.jobs import claims
from kapsoweb.jobs.actions import retry_job
from kapsoweb.jobs.models import Job, JobState
from tests.support.held_cyclotrons import run_queued_jobs
from tests.support.import_pages import (
    LABELLED,
    WITH_REST,
    address,
    body_of,
    confirming,
    labelling_cyclotron,
    send,
    started,
    uploaded,
    visitor,
)
from tests.support.people import member, other_account

pytestmark = [pytest.mark.services, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def store() -> Store:
    return labelling_cyclotron()


@pytest.fixture
def operator() -> Client:
    return visitor()


def test_confirming_brings_in_exactly_what_was_previewed(operator: Client, store: Store) -> None:
    found = started(operator, store)
    assert FileImport.objects.get().columns == {
        "id_column": "pubmedID",
        "text_columns": ["title"],
        "label_column": "label1",
        "mapping": {"I": "include"},
        "otherwise": "exclude",
        "review_rate": 1.0,
        "audit_rate": 0.05,
        "low_confidence": None,
    }
    assert run_queued_jobs() == 1
    assert Item.objects.count() == Review.objects.count() == 12
    body = body_of(operator.get(address(store, "import", found)))
    assert "12 rows recorded, 0 known before, 0 bad." in body
    assert "“\u2068I\u2069” means" in body
    entries = AuditEntry.objects.filter(actor="a-operator").order_by("id")
    assert [entry.action for entry in entries] == ["import.received", "import.started"]


def test_without_a_label_column_the_rows_wait_for_reviews(operator: Client, store: Store) -> None:
    choices = {"id": "pubmedID", "text": "title", "label": "", "review_rate": "1", "audit_rate": "0.05"}
    found = started(operator, store, **choices)
    run_queued_jobs()
    assert not Review.objects.exists()
    assert queries.queue_state(store, now=clock.now()).waiting == 12
    body = body_of(operator.get(address(store, "import", found)))
    assert "12 items wait for a review</a>" in body
    assert "none: sent to review" in body


def test_the_same_confirmation_twice_is_one_job(operator: Client, store: Store) -> None:
    found = uploaded(operator, store)
    sent = confirming(operator.get(address(store, "import", found), WITH_REST))
    for _ in range(2):
        answer = operator.post(address(store, "import-start", found), sent)
        assert answer.headers["Location"] == address(store, "import", found)
    assert Job.objects.count() == 1
    assert AuditEntry.objects.filter(action="import.started").count() == 1


def test_another_choice_in_a_second_tab_is_refused_and_the_first_goes_on(operator: Client, store: Store) -> None:
    found = uploaded(operator, store)
    first = confirming(operator.get(address(store, "import", found), WITH_REST))
    second = confirming(operator.get(address(store, "import", found), WITH_REST | {"otherwise": "include"}))
    operator.post(address(store, "import-start", found), first)
    answer = operator.post(address(store, "import-start", found), second)
    assert answer.status_code == 409
    body = body_of(answer)
    assert "import-started" in body
    assert "Import waiting" in body
    assert Job.objects.count() == 1
    assert FileImport.objects.get().columns["otherwise"] == "exclude"


def test_progress_is_a_part_for_htmx_until_the_import_has_ended(operator: Client, store: Store) -> None:
    found = started(operator, store)
    where = address(store, "import", found)
    assert '<meta http-equiv="refresh"' in body_of(operator.get(where))
    part = body_of(operator.get(where, {"announced": "0"}, headers={"HX-Request": "true"}))
    assert "<html" not in part
    assert "0 of 12 rows" in part
    assert "No worker is alive" in part
    assert "import-announcement" not in part
    run_queued_jobs()
    ended = body_of(operator.get(where, {"announced": "0"}, headers={"HX-Request": "true"}))
    assert "hx-get" not in ended
    assert "Import finished. 12 rows recorded." in ended


def test_a_cancelled_import_keeps_what_it_has_and_goes_on_by_its_button(operator: Client, store: Store) -> None:
    found = started(operator, store)
    answer = operator.post(address(store, "import-cancel", found))
    assert answer.headers["Location"] == address(store, "import", found)
    body = body_of(operator.get(address(store, "import", found)))
    assert "Import stopped" in body
    assert "0 rows recorded and kept. 12 rows left, for up to 12 model requests." in body
    operator.post(address(store, "import-go-on", found))
    assert Job.objects.get().state == JobState.QUEUED
    run_queued_jobs()
    assert Item.objects.count() == 12
    assert operator.post(address(store, "import-go-on", found)).status_code == 409
    actions = list(AuditEntry.objects.order_by("id").values_list("action", flat=True))
    assert actions == ["import.received", "import.started", "job.cancelled", "job.retried"]


def test_an_import_that_stopped_on_the_way_says_what_is_kept_and_what_is_left(
    operator: Client, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = started(operator, store)
    asked = iter([False] * 5 + [True] * 100)
    with monkeypatch.context() as patched:
        patched.setattr(claims.Claim, "cancel_requested", lambda self: next(asked))
        run_queued_jobs()
    job = Job.objects.get()
    assert (job.state, job.result and job.result["recorded"]) == (JobState.CANCELLED, 5)
    body = body_of(operator.get(address(store, "import", found)))
    assert "5 rows recorded and kept. 7 rows left, for up to 7 model requests." in body
    assert Item.objects.count() == 5
    operator.post(address(store, "import-go-on", found))
    run_queued_jobs()
    job.refresh_from_db()
    assert (job.state, Item.objects.count()) == (JobState.DONE, 12)


def test_a_failed_import_says_what_happened_and_what_is_kept(operator: Client, store: Store) -> None:
    found = started(operator, store)
    Job.objects.update(
        state=JobState.FAILED,
        finished_at=clock.now(),
        error_id="model-error",
        error_message="the model was silent.",
    )
    body = body_of(operator.get(address(store, "import", found)))
    assert "Import failed" in body
    assert "The model was silent." in body
    assert "model-error" in body
    assert "Go on" in body


def test_an_import_whose_job_is_gone_leads_to_a_new_upload(operator: Client, store: Store) -> None:
    found = started(operator, store)
    Job.objects.all().delete()
    body = body_of(operator.get(address(store, "import", found)))
    assert "Its job is gone." in body
    assert "Upload it again" in body
    assert operator.post(address(store, "import-go-on", found)).status_code == 404


def test_bad_rows_can_be_had_as_a_file_without_what_they_hold(operator: Client, store: Store) -> None:
    found = uploaded(operator, store, LABELLED + "p1,secret words,I\n=1+1,row\n")
    sent = confirming(operator.get(address(store, "import", found), WITH_REST))
    operator.post(address(store, "import-start", found), sent)
    run_queued_jobs()
    answer = operator.get(address(store, "import-bad", found))
    assert answer.headers["Content-Disposition"] == 'attachment; filename="studies-bad-rows.csv"'
    rows = list(csv.reader(io.StringIO(answer.content.decode())))
    assert rows[0] == ["line", "column", "rule", "message"]
    assert [row[:3] for row in rows[1:]] == [["14", "pubmedID", "duplicate-id"], ["15", "", "too-few-cells"]]
    assert "secret words" not in answer.content.decode()
    assert "12 rows recorded, 0 known before, 2 bad." in body_of(operator.get(address(store, "import", found)))


def test_a_file_is_thrown_away_only_before_it_begins(operator: Client, store: Store) -> None:
    begun, other = started(operator, store), uploaded(operator, store)
    assert operator.post(address(store, "import-discard", other)).headers["Location"] == address(store)
    assert bytes(FileImport.objects.get(id=other).content) == b""
    assert "thrown away" in body_of(operator.get(address(store, "import", other)))
    refused = operator.post(address(store, "import-discard", begun))
    assert refused.status_code == 409
    assert bytes(FileImport.objects.get(id=begun).content)
    assert operator.post(address(store, "import-start", other), WITH_REST).status_code == 409


def test_the_files_so_far_are_listed_with_what_came_of_them(operator: Client, store: Store) -> None:
    assert "No file was uploaded yet." in body_of(operator.get(address(store)))
    found = started(operator, store)
    run_queued_jobs()
    uploaded(operator, store)
    body = body_of(operator.get(address(store)))
    assert "not begun" in body
    assert f'<a href="{address(store, "import", found)}"><bdi>studies.csv</bdi></a>' in body
    assert re.search(r'data-name="Recorded">12<', body)


def test_with_calls_off_nothing_begins(operator: Client, store: Store, settings: Settings) -> None:
    found = uploaded(operator, store)
    settings.KAPSOWEB_ALLOW_LIVE = False
    page = operator.get(address(store, "import", found), WITH_REST)
    assert "Calls to a model are switched off in this lab." in body_of(page)
    answer = operator.post(address(store, "import-start", found), confirming(page))
    assert answer.status_code == 403
    assert "live-off" in body_of(answer)
    assert not Job.objects.exists()


@pytest.mark.parametrize("role", [Role.VIEWER, Role.REVIEWER])
def test_a_lesser_role_sees_everything_and_can_do_nothing(operator: Client, store: Store, role: Role) -> None:
    waiting, running = uploaded(operator, store), started(operator, store)
    before = AuditEntry.objects.count()
    client = visitor(role)
    reason = f"Your role here is {role.value}; importing needs operator."
    assert reason in body_of(client.get(address(store)))
    page = client.get(address(store, "import", waiting), WITH_REST)
    assert reason in body_of(page)
    assert "cancelling needs operator." in body_of(client.get(address(store, "import", running)))
    assert send(client, store).status_code == 403
    assert client.post(address(store, "import-start", waiting), confirming(page)).status_code == 403
    assert client.post(address(store, "import-discard", waiting)).status_code == 403
    assert client.post(address(store, "import-cancel", running)).status_code == 403
    assert FileImport.objects.count() == 2
    assert [job.state for job in Job.objects.all()] == [JobState.QUEUED]
    assert AuditEntry.objects.count() == before


def test_imports_of_another_account_are_missing_to_the_letter(operator: Client) -> None:
    theirs = labelling_cyclotron("theirs", other_account())
    stranger = Client()
    stranger.force_login(member("nobody", Role.OWNER, other_account("third")))
    mine = labelling_cyclotron("mine")
    found = uploaded(operator, mine)
    nobodys = Store("default", "cy_nobody_has_this")
    for view, arguments in (
        ("imports", ()),
        ("import", (found,)),
        ("import-bad", (found,)),
        ("import-start", (found,)),
    ):
        answers = [operator.get(address(each, view, *arguments)) for each in (theirs, nobodys)]
        assert [answer.status_code for answer in answers] == [404, 404], view
        assert answers[0].content == answers[1].content
    assert stranger.get(address(mine, "import", found)).status_code == 404
    assert operator.get(address(mine, "import", "imp_nobody")).status_code == 404
    assert send(operator, theirs).status_code == 404
    assert FileImport.objects.count() == 1


def test_a_job_that_was_retried_elsewhere_runs_once(operator: Client, store: Store) -> None:
    found = started(operator, store)
    operator.post(address(store, "import-cancel", found))
    retry_job(FileImport.objects.get().job_id, clock.now())
    assert operator.post(address(store, "import-go-on", found)).status_code == 409
    assert run_queued_jobs() == 1
    assert Item.objects.count() == 12
    assert Job.objects.filter(account_id=local_account().pk).count() == 1


def test_an_import_that_goes_on_with_calls_off_asks_no_model(
    operator: Client, store: Store, settings: Settings
) -> None:
    found = started(operator, store)
    operator.post(address(store, "import-cancel", found))
    settings.KAPSOWEB_ALLOW_LIVE = False
    assert "Calls to a model are switched off in this lab." in body_of(operator.get(address(store, "import", found)))
    operator.post(address(store, "import-go-on", found))
    run_queued_jobs()
    job = Job.objects.get()
    assert (job.state, job.error_id) == (JobState.FAILED, "live-off")
    assert not Item.objects.exists()
    settings.KAPSOWEB_ALLOW_LIVE = True
    operator.post(address(store, "import-go-on", found))
    run_queued_jobs()
    assert Item.objects.count() == 12
