"""A file on its pages before it is brought in: uploaded, refused, looked at, and what is chosen for it."""

import re

import pytest
from django.test import Client
from pytest_django.fixtures import Settings

from cyclotron.actions import create_cyclotron
from cyclotron.core.definition import ClassifierDefinition, CyclotronDefinition
from cyclotron.models import FileImport, Item
from cyclotron.store import Store
from kapsoweb.jobs.models import Job
from tests.support.held_cyclotrons import HELD_AT, hold, run_queued_jobs
from tests.support.import_pages import (
    CHOSEN,
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

pytestmark = [pytest.mark.services, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def store() -> Store:
    return labelling_cyclotron()


@pytest.fixture
def operator() -> Client:
    return visitor()


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


def test_a_value_that_is_a_label_needs_no_meaning(operator: Client, store: Store) -> None:
    found = uploaded(operator, store, "id,text,label\n1,a,include\n2,b,exclude \n3,c,\n")
    body = body_of(operator.get(address(store, "import", found)))
    assert "2 of 3 rows can come in." in body
    assert "(empty)" in body
    assert "empty-label" in body


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


def test_the_same_file_again_has_nothing_new(operator: Client, store: Store) -> None:
    started(operator, store)
    run_queued_jobs()
    again = uploaded(operator, store)
    body = body_of(operator.get(address(store, "import", again), WITH_REST))
    assert "12 rows are there already and will be passed over." in body
    assert "There is no new row to bring in." in body


def test_a_model_that_is_not_configured_is_said_beside_the_button(
    operator: Client, store: Store, settings: Settings
) -> None:
    found = uploaded(operator, store)
    settings.KAPSOWEB_DECISION_MODEL = "openai"
    assert "KAPSOWEB_MODEL_URL is not set" in body_of(operator.get(address(store, "import", found), WITH_REST))


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
