"""A CSV file is kept, looked at, and brought in by a job that can be stopped and goes on where it stood."""

from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from cyclotron import queries
from cyclotron.actions import create_cyclotron, record_review
from cyclotron.actions.file_imports import (
    ImportStartedError,
    discard_import,
    receive_file,
    run_file_import,
    start_file_import,
)
from cyclotron.core.configuration import Answer, DecisionRequest
from cyclotron.core.imports import ImportColumns, InvalidImportError
from cyclotron.core.items import MAX_VALUES_BYTES
from cyclotron.core.replay import InvalidReplayError
from cyclotron.models import Decision, FileImport, Item, MlModelRecord, Review, Version
from cyclotron.queries.file_imports import ImportDiscardedError, NoSuchImportError
from cyclotron.store import Store
from kapsoweb.foundation.errors import KapsoError
from kapsoweb.foundation.strict_csv import InvalidCsvError
from kapsoweb.jobs import actions as job_actions
from kapsoweb.jobs.errors import ClaimLost
from kapsoweb.jobs.models import Job
from tests.support.cyclotrons import NOW, CountingModel, definition, ticking
from tests.support.held_cyclotrons import run_queued_jobs

pytestmark = [pytest.mark.services, pytest.mark.django_db(transaction=True)]

LABELLED = ImportColumns("id", ("title", "body"), "label", {"I": "include"}, "exclude")
PLAIN = ImportColumns("id", ("title",))
FILE = (
    b"id,title,body,label\na,First,one,I\nb,Second,,E\nc,,,I\nd,Fourth,four,\na,Again,five,I\ne,too,many,cells,here\n"
)


@pytest.fixture
def store() -> Store:
    return create_cyclotron(name="files", definition=definition(learn_every=5), now=NOW)


def receive(store: Store, data: bytes = FILE, **given: Any) -> FileImport:
    return receive_file(store, **{"filename": "file.csv", "data": data, "created_by": "ada", "now": NOW, **given})


def start(store: Store, found: FileImport, columns: ImportColumns = LABELLED) -> FileImport:
    return start_file_import(store, found.id, columns=columns, account_id="acc_1", now=NOW)


def run(store: Store, found: FileImport, model: CountingModel | None = None, **given: Any) -> FileImport:
    doing = {"stop": lambda: False, "progress": lambda done, total: None, "hold": lambda: None, "clock": ticking()}
    return run_file_import(store, found.id, model=model or CountingModel(), **{**doing, **given})


def many(count: int) -> bytes:
    rows = [f"row-{number},text number {number},{'I' if number % 3 == 0 else 'E'}" for number in range(count)]
    return "\n".join(["id,title,label", *rows]).encode()


def state_of_everything(store: Store) -> list[object]:
    return [
        sorted(Item.objects.filter(cyclotron_id=store.cyclotron_id).values_list("identity", "partition")),
        sorted(Review.objects.filter(cyclotron_id=store.cyclotron_id).values_list("identity", "label", "selected_by")),
        list(Version.objects.filter(classifier__cyclotron_id=store.cyclotron_id).values_list("number", "digest")),
        MlModelRecord.objects.filter(version__classifier__cyclotron_id=store.cyclotron_id).count(),
    ]


def test_a_received_file_shows_its_columns_and_brings_nothing_in(store: Store) -> None:
    found = receive(store)
    shown = queries.file_import(store, found.id)
    assert (shown.state, shown.row_count, shown.size, shown.created_by) == ("received", 6, len(FILE), "ada")
    columns = queries.file_columns(store, found.id)
    assert [column.name for column in columns] == ["id", "title", "body", "label"]
    assert columns[1].examples == ("First", "Second", "Fourth")
    assert not Item.objects.exists()


def test_a_preview_says_what_would_come_in_and_what_would_not(store: Store) -> None:
    found = receive(store)
    preview = queries.import_preview(store, found.id, LABELLED)
    assert (preview.good, preview.known, dict(preview.label_counts)) == (2, 0, {"include": 1, "exclude": 1})
    assert [(row.line, row.rule) for row in preview.bad] == [
        (4, "empty-text"),
        (5, "empty-label"),
        (6, "duplicate-id"),
        (7, "too-many-cells"),
    ]
    assert dict(preview.values) == {"I": 3, "E": 1, "": 1}
    assert [(row.item_id, row.text, row.label) for row in preview.rows] == [
        ("a", "First one", "include"),
        ("b", "Second", "exclude"),
    ]
    assert preview.request_bound == 2
    assert not Item.objects.exists()


def test_labelled_rows_become_selected_reviews_and_the_file_is_let_go(store: Store) -> None:
    found = start(store, receive(store))
    assert run_queued_jobs() == 1
    shown = queries.file_import(store, found.id)
    assert (shown.state, shown.recorded, shown.known, shown.bad) == ("done", 2, 0, 4)
    assert [row["line"] for row in shown.bad_rows] == [4, 5, 6, 7]
    assert sorted(Review.objects.values_list("item__identity", "label", "selected_by", "reviewer")) == [
        ("a", "include", "program", "ada"),
        ("b", "exclude", "program", "ada"),
    ]
    assert bytes(FileImport.objects.get().content) == b""
    with pytest.raises(ImportDiscardedError):
        queries.import_preview(store, found.id, LABELLED)
    assert Job.objects.get().record_id == store.cyclotron_id


def test_rows_without_labels_wait_in_the_review_queue(store: Store) -> None:
    start(store, receive(store), PLAIN)
    run_queued_jobs()
    assert not Review.objects.exists()
    assert queries.queue_state(store, now=NOW).waiting == Item.objects.count() == 3


def test_rates_decide_which_rows_wait(store: Store) -> None:
    columns = ImportColumns("id", ("title",), review_rate=0.25, audit_rate=0.1)
    found = start(store, receive(store, many(60)), columns)
    run(store, found)
    assert Decision.objects.count() == 60
    assert set(Item.objects.values_list("propensity", flat=True)) == {0.25}
    expected = Item.objects.filter(selection_draw__lt=0.25).count()
    assert queries.queue_state(store, now=NOW).waiting == expected
    assert 0 < expected < 60


def test_deciding_a_file_makes_as_many_requests_as_its_preview_bounds_and_none_the_second_time(store: Store) -> None:
    columns = ImportColumns("id", ("title",))
    found, model = receive(store, many(20)), CountingModel()
    assert queries.import_preview(store, found.id, columns).request_bound == 20
    run(store, start(store, found, columns), model)
    assert model.count == 20
    again = receive(store, many(20))
    assert queries.import_preview(store, again.id, columns).request_bound == 0
    ended = run(store, start(store, again, columns), model)
    assert (model.count, ended.recorded, ended.known) == (20, 0, 20)


def test_the_bound_counts_a_labelled_row_whose_item_was_decided_and_not_sent(store: Store) -> None:
    unsent = ImportColumns("id", ("title",), review_rate=0.0, audit_rate=1e-12)
    run(store, start(store, receive(store, many(4)), unsent))
    labelled = ImportColumns("id", ("title",), "label", {"I": "include"}, "exclude")
    found = receive(store, many(6))
    assert queries.import_preview(store, found.id, labelled).request_bound == 6
    ended = run(store, start(store, found, labelled))
    assert (ended.recorded, ended.known) == (6, 0)


def test_the_bound_counts_a_labelled_row_whose_item_was_sent_at_a_lower_rate(store: Store) -> None:
    seldom = ImportColumns("id", ("title",), review_rate=0.25, audit_rate=0.1)
    run(store, start(store, receive(store, many(40)), seldom))
    assert 0 < Item.objects.exclude(selected_because="").count() < 40
    labelled = ImportColumns("id", ("title",), "label", {"I": "include"}, "exclude")
    found = receive(store, many(40))
    assert queries.import_preview(store, found.id, labelled).request_bound == 40
    run(store, start(store, found, labelled))
    assert {label.weight for label in queries.labels(store)} == {1.0}
    assert queries.import_preview(store, receive(store, many(40)).id, labelled).request_bound == 0


@pytest.mark.parametrize("at", [0, 1, 7, 29])
def test_an_import_that_lost_its_worker_goes_on_and_ends_as_if_nothing_had_happened(store: Store, at: int) -> None:
    columns = ImportColumns("id", ("title",), "label", {"I": "include"}, "exclude")
    whole = create_cyclotron(name="whole", definition=definition(learn_every=5), now=NOW)
    run(whole, start(whole, receive(whole, many(30)), columns))

    def die(done: int, total: int) -> None:
        if done > at:
            raise ClaimLost("the worker is gone.")

    found = start(store, receive(store, many(30)), columns)
    with pytest.raises(ClaimLost):
        run(store, found, progress=die)
    ended = run(store, found)
    assert (ended.recorded, ended.known, ended.bad) == (30, 0, 0)
    assert state_of_everything(store) == state_of_everything(whole)
    assert ended.ended_at is not None
    assert run(store, found).recorded == 30


def test_a_worker_that_lost_the_job_writes_no_end(store: Store) -> None:
    def lost() -> None:
        raise ClaimLost("another worker has it.")

    found = start(store, receive(store))
    with pytest.raises(ClaimLost):
        run(store, found, hold=lost)
    assert FileImport.objects.get().ended_at is None


def test_a_cancelled_import_keeps_what_it_has_and_goes_on_when_its_job_is_started_again(store: Store) -> None:
    columns = ImportColumns("id", ("title",))
    found = start(store, receive(store, many(20)), columns)
    rows = iter(range(5))
    stopped = run(store, found, stop=lambda: next(rows, None) is None)
    assert (stopped.recorded, stopped.ended_at) == (5, None)
    job_actions.request_cancel(found.job_id, NOW)
    assert queries.file_import(store, found.id).state == "cancelled"
    job_actions.retry_job(found.job_id, NOW)
    run_queued_jobs()
    shown = queries.file_import(store, found.id)
    assert (shown.state, shown.recorded, shown.known) == ("done", 20, 0)


@pytest.mark.parametrize("columns", [ImportColumns("id", ("title",), "label", {"I": "include"}, "exclude"), PLAIN])
def test_of_two_imports_of_the_same_rows_each_counts_what_it_recorded(store: Store, columns: ImportColumns) -> None:
    first, second = (start(store, receive(store, many(10)), columns) for _ in range(2))
    rows = iter(range(4))
    stopped = run(store, first, stop=lambda: next(rows, None) is None)
    assert (stopped.recorded, stopped.known) == (4, 0)
    ended = run(store, second)
    assert (ended.recorded, ended.known) == (6, 4)
    assert queries.file_import(store, first.id).recorded == 4
    ended = run(store, first)
    assert (ended.recorded, ended.known, ended.bad) == (4, 6, 0)
    shown = queries.file_import(store, second.id)
    assert (shown.recorded, shown.known, Decision.objects.count()) == (6, 4, 10)


@pytest.mark.parametrize("columns", [ImportColumns("id", ("title",), "label", {"I": "include"}, "exclude"), PLAIN])
def test_a_row_that_another_import_records_while_the_model_is_asked_is_counted_once(
    store: Store, columns: ImportColumns
) -> None:
    first, second = (start(store, receive(store, many(6)), columns) for _ in range(2))

    class Overtaken(CountingModel):
        """A model during whose first answer the other import is brought in to its end."""

        def answer(self, request: DecisionRequest) -> Answer:
            if not self.asked:
                self.asked.append("overtaken")
                run(store, second)
            return super().answer(request)

    ended = run(store, first, Overtaken())
    others = queries.file_import(store, second.id)
    assert ended.recorded + others.recorded == 6
    assert [(done.recorded + done.known, done.bad) for done in (ended, others)] == [(6, 0), (6, 0)]
    if columns is PLAIN:
        assert Decision.objects.count() == 6


def test_the_same_start_twice_is_one_job_and_another_choice_is_refused(store: Store) -> None:
    found = start(store, receive(store))
    assert start(store, found).job_id == found.job_id
    with pytest.raises(ImportStartedError):
        start(store, found, PLAIN)
    with pytest.raises(ImportStartedError):
        discard_import(store, found.id, now=NOW)
    assert Job.objects.count() == 1


def test_a_discarded_file_is_emptied_and_cannot_be_started(store: Store) -> None:
    found = receive(store)
    discard_import(store, found.id, now=NOW)
    discard_import(store, found.id, now=datetime(2027, 1, 1, tzinfo=NOW.tzinfo))
    assert queries.file_import(store, found.id).state == "discarded"
    assert FileImport.objects.get().discarded_at == NOW
    with pytest.raises(KapsoError):
        start(store, found)
    assert not Job.objects.exists()


@pytest.mark.parametrize(
    ("columns", "error"),
    [
        (ImportColumns("nope", ("title",)), InvalidCsvError),
        (ImportColumns("id", ("nope",)), InvalidCsvError),
        (ImportColumns("id", ("title",), "label", {"I": "perhaps"}), InvalidReplayError),
        (ImportColumns("id", ("title",), "label", None, "perhaps"), InvalidReplayError),
    ],
)
def test_columns_and_labels_that_are_not_there_queue_nothing(
    store: Store, columns: ImportColumns, error: type[KapsoError]
) -> None:
    found = receive(store)
    with pytest.raises(error):
        start(store, found, columns)
    assert not Job.objects.exists()
    assert queries.file_import(store, found.id).state == "received"


@pytest.mark.parametrize(
    "given",
    [
        {"text_columns": ()},
        {"mapping": {"I": "include"}},
        {"otherwise": "exclude"},
        {"review_rate": 2.0},
        {"audit_rate": True},
        {"low_confidence": float("nan")},
        {"review_rate": 0.0, "audit_rate": 0.0},
        {"id_column": "\x00"},
    ],
)
def test_a_choice_that_makes_no_sense_is_refused(given: dict[str, Any]) -> None:
    with pytest.raises(KapsoError):
        ImportColumns(**{"id_column": "id", "text_columns": ("title",), **given})


@pytest.mark.parametrize(
    ("data", "error"), [(b"", InvalidCsvError), (b"id,title\n", InvalidImportError), (b'id\n"open', InvalidCsvError)]
)
def test_a_file_that_cannot_be_used_is_not_kept(store: Store, data: bytes, error: type[KapsoError]) -> None:
    with pytest.raises(error):
        receive(store, data)
    assert not FileImport.objects.exists()


def test_another_cyclotrons_import_is_missing(store: Store) -> None:
    other = create_cyclotron(name="other", definition=definition(), now=NOW)
    theirs = receive(other)
    for call in (
        lambda: queries.file_import(store, theirs.id),
        lambda: start(store, theirs),
        lambda: discard_import(store, theirs.id, now=NOW),
    ):
        with pytest.raises(NoSuchImportError):
            call()


def test_a_row_whose_item_is_known_with_other_text_is_listed_and_the_others_come_in(store: Store) -> None:
    run(store, start(store, receive(store, b"id,title\nx,one\n"), PLAIN))
    ended = run(store, start(store, receive(store, b"id,title\nx,other\ny,two\n"), PLAIN))
    assert (ended.recorded, ended.known, ended.bad) == (1, 0, 1)
    assert [row["rule"] for row in ended.bad_rows] == ["known-with-other-content"]


def test_a_preview_lists_each_row_that_the_import_would_refuse(store: Store) -> None:
    labelled = ImportColumns("id", ("title",), "label")
    run(
        store,
        start(store, receive(store, b"id,title,label\nx,one,include\ny,two,include\nz,three,include\n"), labelled),
    )
    room = MAX_VALUES_BYTES - len('{"text":""}')
    rows = [
        "x,other text,include",
        "y,two,exclude",
        "z,three,include",
        f"fits,{'a' * room},include",
        f"large,{'a' * (room + 1)},include",
        f"wide,{'é' * (room // 2 + 1)},include",
        "escaped," + "\t" * (room // 2 + 1) + "a,include",
    ]
    found = receive(store, "\n".join(["id,title,label", *rows]).encode())
    preview = queries.import_preview(store, found.id, labelled)
    assert (preview.good, preview.known, preview.request_bound) == (2, 1, 1)
    assert [row.item_id for row in preview.rows] == ["z", "fits"]
    ended, model = start(store, found, labelled), CountingModel()
    ended = run(store, ended, model)
    assert (ended.recorded, ended.known, ended.bad, model.count) == (1, 1, 5, 1)
    assert [(row.line, row.rule, row.sentence) for row in preview.bad] == [
        (row["line"], row["rule"], row["message"]) for row in ended.bad_rows
    ]
    assert [row.rule for row in preview.bad] == ["known-with-other-content"] * 2 + ["invalid-item"] * 3


def test_an_item_that_was_reviewed_before_takes_its_files_label_as_a_correction(store: Store) -> None:
    run(store, start(store, receive(store, b"id,title\nx,one\n"), PLAIN))
    decision = Decision.objects.get()
    record_review(store, identity="r", decision_id=decision.id, label="include", reviewer="ben", now=NOW)
    labelled = ImportColumns("id", ("title",), "label", {"E": "exclude"})
    run(store, start(store, receive(store, b"id,title,label\nx,one,E\n"), labelled))
    assert [label.label for label in queries.labels(store)] == ["exclude"]
    assert Review.objects.order_by("id").last().corrects.identity == "r"  # type: ignore[union-attr]


def test_real_articles_come_in_whole(store: Store, screening_data: Path) -> None:
    data = (screening_data / "nsaids.csv").read_bytes()
    found = receive(store, data, filename="nsaids.csv")
    names = [column.name for column in queries.file_columns(store, found.id)]
    assert {"title", "abstracts", "label1"} <= set(names)
    columns = ImportColumns(names[0], ("title", "abstracts"), "label1", {"I": "include"}, "exclude")
    preview = queries.import_preview(store, found.id, columns)
    assert preview.good + len(preview.bad) == 393
    assert preview.label_counts["include"] == 88


def test_imports_are_listed_newest_first(store: Store) -> None:
    found = [receive(store, filename=f"{number}.csv").id for number in range(3)]
    assert [row.id for row in queries.file_imports(store)] == sorted(found, reverse=True)
