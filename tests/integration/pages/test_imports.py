"""Bringing a file in by its pages: upload, look, start, watch, stop, go on; who may, and what is refused."""

import csv
import io
import re
from html import unescape
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.http import HttpResponseBase
from django.test import Client
from django.urls import reverse
from pytest_django.fixtures import Settings

from cyclotron import queries
from cyclotron.actions import create_cyclotron
from cyclotron.core.definition import ClassifierDefinition, CyclotronDefinition
from cyclotron.models import FileImport, Item, Review
from cyclotron.store import Store
from kapsoweb.accounts.access import local_account
from kapsoweb.accounts.models import AuditEntry
from kapsoweb.accounts.roles import Role
from kapsoweb.foundation import clock
from kapsoweb.jobs import claims
from kapsoweb.jobs.actions import retry_job
from kapsoweb.jobs.models import Job, JobState
from tests.support.held_cyclotrons import HELD_AT, hold, run_queued_jobs
from tests.support.people import member, other_account

pytestmark = [pytest.mark.services, pytest.mark.django_db(transaction=True)]

FIELD = re.compile(r'<input type="hidden" name="([\w-]+)" value="([^"]*)"')
ROWS = [f'p{number},"study {number}, of children",{"I" if number % 3 else "E"}' for number in range(12)]
LABELLED = "\n".join(["pubmedID,title,label1", *ROWS]) + "\n"
CHOSEN = {"id": "pubmedID", "text": "title", "label": "label1", "of": "label1", "meaning-0": "include"}
WITH_REST = {**CHOSEN, "otherwise": "exclude", "review_rate": "1", "audit_rate": "0.05", "low_confidence": ""}


def cyclotron(name: str = "screening", labels: tuple[str, ...] = ("include", "exclude"), account: Any = None) -> Store:
    definition = CyclotronDefinition("a seed", (ClassifierDefinition("decision", labels, "Is it?"),), learn_every=1000)
    return hold(create_cyclotron(name=name, definition=definition, now=HELD_AT), name, account)


@pytest.fixture
def store() -> Store:
    return cyclotron()


def visitor(role: Role = Role.OPERATOR) -> Client:
    client = Client()
    client.force_login(member(f"a-{role}", role))
    return client


@pytest.fixture
def operator() -> Client:
    return visitor()


def address(store: Store, view: str = "imports", *arguments: str) -> str:
    return reverse(f"cyclotron:{view}", args=[store.cyclotron_id, *arguments])


def send(client: Client, store: Store, text: str | bytes = LABELLED, name: str = "studies.csv", **more: str) -> Any:
    content = text if isinstance(text, bytes) else text.encode()
    return client.post(address(store), {"file": SimpleUploadedFile(name, content, "text/csv"), **more})


def uploaded(client: Client, store: Store, text: str = LABELLED) -> str:
    """The id of a file that was uploaded just now."""
    answer = send(client, store, text)
    assert answer.status_code == 302
    found = FileImport.objects.order_by("-id")[0]
    assert answer.headers["Location"] == address(store, "import", found.id)
    return found.id


def body_of(answer: HttpResponseBase) -> str:
    return unescape(answer.getvalue().decode())


def confirming(page: HttpResponseBase) -> dict[str, list[str]]:
    """What the one primary button of a preview sends."""
    raw = page.getvalue().decode()
    form = raw[raw.index('id="start-form"') :]
    fields: dict[str, list[str]] = {}
    for name, value in FIELD.findall(form[: form.index("</form>")]):
        if name != "csrfmiddlewaretoken":
            fields.setdefault(unescape(name), []).append(unescape(value))
    return fields


def started(client: Client, store: Store, **choices: str) -> str:
    """The id of an import that was previewed with these choices and confirmed."""
    found = uploaded(client, store)
    page = client.get(address(store, "import", found), choices or WITH_REST)
    client.post(address(store, "import-start", found), confirming(page))
    return found


def test_an_upload_leads_to_its_columns_and_brings_nothing_in(operator: Client, store: Store) -> None:
    found = uploaded(operator, store)
    body = body_of(operator.get(address(store, "import", found)))
    assert "study 0, of children" in body
    assert re.search(r'name="id" id="id-1" value="pubmedID" checked', body)
    assert re.search(r'name="text" id="text-2" value="title" checked', body)
    assert re.search(r'name="label" id="label-3" value="label1" checked', body)
    assert "0 of 12 rows can come in." in body
    assert "There is no new row to bring in." in body
    assert not Item.objects.exists()
    assert not Job.objects.exists()


def test_looking_counts_the_rows_of_each_label_and_says_what_is_wrong(operator: Client, store: Store) -> None:
    found = uploaded(operator, store, LABELLED + "p1,again,I\n,nameless,I\nshort,row\n")
    body = body_of(operator.get(address(store, "import", found), CHOSEN))
    assert "8 of 15 rows can come in." in body
    assert "Import 8 rows (up to 8 model requests)" in body
    assert "4 unknown-label" in body
    for wrong in ("duplicate-id", "empty-id", "too-few-cells"):
        assert wrong in body
    more = body_of(operator.get(address(store, "import", found), WITH_REST))
    assert "Import 12 rows (up to 12 model requests)" in more
    assert re.search(r"<bdi>exclude</bdi></dt><dd>4</dd>", more)


def test_bad_rows_are_shown_a_page_at_a_time(operator: Client, store: Store) -> None:
    found = uploaded(operator, store, "pubmedID,title,label1\n" + "".join(f"x{n}\n" for n in range(45)))
    page = operator.get(address(store, "import", found), CHOSEN | {"page": "3"})
    body = body_of(page)
    assert "Page 3 of 3" in body
    assert len(re.findall(r'data-name="Line">\d+', body)) == 5
    previous = re.search(r'<a href="(\?[^"]+)" rel="prev">', body)
    assert previous is not None
    again = body_of(operator.get(address(store, "import", found) + previous[1].partition("#")[0]))
    assert "Page 2 of 3" in again


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


def test_a_value_that_is_a_label_needs_no_meaning(operator: Client, store: Store) -> None:
    found = uploaded(operator, store, "id,text,label\n1,a,include\n2,b,exclude \n3,c,\n")
    body = body_of(operator.get(address(store, "import", found)))
    assert "2 of 3 rows can come in." in body
    assert "(empty)" in body
    assert "empty-label" in body


def test_without_a_label_column_the_rows_wait_for_reviews(operator: Client, store: Store) -> None:
    choices = {"id": "pubmedID", "text": "title", "label": "", "review_rate": "1", "audit_rate": "0.05"}
    found = started(operator, store, **choices)
    run_queued_jobs()
    assert not Review.objects.exists()
    assert queries.queue_state(store, now=clock.now()).waiting == 12
    body = body_of(operator.get(address(store, "import", found)))
    assert "12 items wait for a review</a>" in body
    assert "none: sent to review" in body


@pytest.mark.parametrize(
    ("choices", "said"),
    [
        ({"id": ""}, "Choose the column that holds each item's identity."),
        ({"id": "no such column"}, "Choose the column that holds each item's identity."),
        ({"id": "pubmedID", "text": "nothing"}, "Choose at least one text column."),
        ({"id": "pubmedID", "text": "title", "review_rate": "often"}, "Enter a number from 0 to 1."),
        ({"id": "pubmedID", "text": "title", "review_rate": "1.5"}, "Enter a number from 0 to 1."),
        ({"id": "pubmedID", "text": "title", "review_rate": "nan"}, "Enter a number from 0 to 1."),
        (
            {"id": "pubmedID", "text": "title", "review_rate": "0", "audit_rate": "0"},
            "One of the rates must be above 0",
        ),
    ],
)
def test_choices_that_are_not_complete_say_what_is_missing_and_start_nothing(
    operator: Client, store: Store, choices: dict[str, str], said: str
) -> None:
    found = uploaded(operator, store)
    body = body_of(operator.get(address(store, "import", found), choices))
    assert said in body
    assert 'id="start-import"' not in body
    assert operator.post(address(store, "import-start", found), choices).status_code == 400
    assert not Job.objects.exists()


def test_meanings_of_another_column_and_labels_that_are_none_are_not_taken(operator: Client, store: Store) -> None:
    found = uploaded(operator, store)
    for changed in ({"of": "title"}, {"meaning-0": "neither"}, {"meaning-7": "include", "meaning-0": ""}):
        assert "0 of 12 rows can come in." in body_of(operator.get(address(store, "import", found), CHOSEN | changed))


def test_an_address_holds_nothing_of_a_cell(operator: Client, store: Store) -> None:
    found = uploaded(operator, store)
    raw = operator.get(address(store, "import", found), {**WITH_REST, "label": "title", "of": "title"})
    sent = confirming(raw)
    assert not any("study" in value for values in sent.values() for value in values)
    assert not any("study" in part for part in re.findall(r'(?:href|name|value|hx-get)="([^"]*)"', body_of(raw)))


def test_columns_that_cannot_be_told_apart_are_shown_and_not_offered(operator: Client, store: Store) -> None:
    found = uploaded(operator, store, "id,text,text,\n1,a,b,c\n")
    body = body_of(operator.get(address(store, "import", found)))
    assert body.count("Its name stands twice in the header.") == 2
    assert "It has no name." in body
    assert 'value="text"' not in body


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


@pytest.mark.parametrize(
    ("content", "said", "rule"),
    [
        (b"", "the file is empty", "invalid-csv"),
        (b"id,text\n", "a header and no rows", "invalid-import"),
        (b'id,text\n1,"abc\n', "The quote that opens on line 2 is never closed", "invalid-csv"),
        (b"id,\xff\n1,2\n", "not UTF-8", "invalid-csv"),
        (b"PK\x03\x04\x00\x00", "not UTF-8 text", "invalid-csv"),
    ],
)
def test_a_file_that_cannot_be_read_is_refused_with_its_reason(
    operator: Client, store: Store, content: bytes, said: str, rule: str
) -> None:
    answer = send(operator, store, content)
    assert answer.status_code == 400
    assert said.casefold() in body_of(answer).casefold()
    assert rule in body_of(answer)
    assert not FileImport.objects.exists()


def test_a_file_that_is_too_large_is_refused_in_words(
    operator: Client, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cyclotron.views.imports.MAX_FILE_BYTES", 2**20)
    answer = send(operator, store, b"id,text\n" + b"x" * 2**20)
    assert answer.status_code == 400
    assert "and 1 MiB are allowed" in body_of(answer)
    assert not FileImport.objects.exists()


def test_a_form_without_a_file_asks_for_one(operator: Client, store: Store) -> None:
    answer = operator.post(address(store), {})
    assert answer.status_code == 400
    assert "Choose a file." in body_of(answer)
    assert "Choose a file." in body_of(operator.post(address(store), {"file": "not a file"}))


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
    monkeypatch.setattr(claims.Claim, "cancel_requested", lambda self: next(asked))
    run_queued_jobs()
    Job.objects.update(cancel_requested_at=clock.now())
    body = body_of(operator.get(address(store, "import", found)))
    assert "5 rows recorded and kept. 7 rows left, for up to 7 model requests." in body
    assert Item.objects.count() == 5


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


def test_the_same_file_again_has_nothing_new(operator: Client, store: Store) -> None:
    started(operator, store)
    run_queued_jobs()
    again = uploaded(operator, store)
    body = body_of(operator.get(address(store, "import", again), WITH_REST))
    assert "12 rows are there already and will be passed over." in body
    assert "There is no new row to bring in." in body


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


def test_a_model_that_is_not_configured_is_said_beside_the_button(
    operator: Client, store: Store, settings: Settings
) -> None:
    found = uploaded(operator, store)
    settings.KAPSOWEB_DECISION_MODEL = "openai"
    assert "KAPSOWEB_MODEL_URL is not set" in body_of(operator.get(address(store, "import", found), WITH_REST))


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
    theirs = cyclotron("theirs", account=other_account())
    stranger = Client()
    stranger.force_login(member("nobody", Role.OWNER, other_account("third")))
    mine = cyclotron("mine")
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


def test_of_several_classifiers_the_file_is_for_the_chosen_one(operator: Client) -> None:
    classifiers = (
        ClassifierDefinition("topic", ("art", "law"), "Which?"),
        ClassifierDefinition("how urgent?", ("now", "later"), "How urgent?"),
    )
    made = create_cyclotron(name="two", definition=CyclotronDefinition("s", classifiers), now=HELD_AT)
    store = hold(made, "two")
    assert '<option value="how urgent?" selected>' in body_of(
        operator.get(address(store), {"classifier": "how urgent?"})
    )
    send(operator, store, "id,text,label\n1,a,now\n2,b,art\n", classifier="how urgent?")
    found = FileImport.objects.get()
    assert found.classifier.name == "how urgent?"
    body = body_of(operator.get(address(store, "import", found.id)))
    assert "1 of 2 rows can come in." in body
    assert "Import 1 row (up to 2 model requests)" in body
    assert f'href="{address(store, "events")}?classifier=how+urgent%3F"' in body
    assert send(operator, store, classifier="no such classifier").status_code == 404
    assert FileImport.objects.count() == 1


def test_changing_a_rate_leaves_the_rates_unfolded(operator: Client, store: Store) -> None:
    where = address(store, "import", uploaded(operator, store))
    folded, unfolded = '<details class="more" id="rates"', '<details class="more" open id="rates"'
    assert folded in body_of(operator.get(where, WITH_REST))
    assert unfolded in body_of(operator.get(where, WITH_REST | {"review_rate": "0.5"}))
    assert unfolded in body_of(operator.get(where, WITH_REST | {"review_rate": "x"}))
    headers = {"HX-Request": "true", "HX-Trigger": "rates"}
    assert unfolded in body_of(operator.get(where, WITH_REST, headers=headers))


def test_a_change_is_said_to_those_who_do_not_see_it(operator: Client, store: Store) -> None:
    where = address(store, "import", uploaded(operator, store))
    part = body_of(operator.get(where, WITH_REST, headers={"HX-Request": "true", "HX-Trigger": "choices"}))
    assert '<p id="import-announcement" hx-swap-oob="innerHTML">12 of 12 rows can come in.</p>' in part
