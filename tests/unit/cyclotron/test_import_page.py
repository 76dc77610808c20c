"""What the pages of an import say: of the columns, of what would come in, of how far it is, and of what came."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from cyclotron.core.imports import ImportColumns
from cyclotron.presentation.import_page import (
    BAD_ROW_COLUMNS,
    bad_rows_csv,
    chosen_facts,
    column_choices,
    import_progress,
    import_row,
    learned_sentence,
    meanings_of,
    preview_view,
    size_text,
    what_is_left,
)
from cyclotron.queries import FileColumn, FileImportSummary, ImportPreview, LearnedMeanwhile
from kapsoweb.foundation.strict_csv import BadRow

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


def preview(**changed: Any) -> ImportPreview:
    fields: dict[str, Any] = {
        "good": 851,
        "known": 0,
        "bad": (),
        "label_counts": {"include": 84, "exclude": 767},
        "values": (),
        "other_values": 0,
        "rows": (),
        "request_bound": 851,
    }
    return ImportPreview(**fields | changed)


def summary(**changed: Any) -> FileImportSummary:
    fields: dict[str, Any] = {
        "id": "imp_1",
        "classifier": "decision",
        "filename": "adhd.csv",
        "size": 812,
        "row_count": 1200,
        "state": "done",
        "columns": None,
        "job_id": "job_1",
        "recorded": 1000,
        "known": 100,
        "bad": 100,
        "bad_rows": (),
        "created_by": "olga",
        "created_at": NOW,
        "ended_at": NOW,
    }
    return FileImportSummary(**fields | changed)


def test_the_button_counts_what_is_new_and_the_requests_it_may_take() -> None:
    assert preview_view(preview(), ["include"], with_labels=True).button == "Import 851 rows (up to 851 model requests)"
    one = preview_view(preview(good=10, known=9, request_bound=1), [], with_labels=True)
    assert one.button == "Import 1 row (up to 1 model request)"
    assert one.new == 1


def test_bad_rows_are_counted_by_their_rules_the_most_frequent_first() -> None:
    bad = [BadRow(line, None, rule, "x") for line, rule in enumerate(["nul", "empty-id", "empty-id"], start=2)]
    view = preview_view(preview(good=0, bad=tuple(bad)), [], with_labels=False)
    assert view.sentence == "0 of 3 rows can come in."
    assert "3 rows are bad and left out (2 empty-id, 1 nul); each is below." in view.notes


def test_labels_without_a_row_are_listed_with_none() -> None:
    view = preview_view(preview(), ["include", "exclude", "other"], with_labels=True)
    assert [(fact.name, fact.text) for fact in view.labels] == [("include", "84"), ("exclude", "767"), ("other", "0")]
    assert preview_view(preview(), ["include"], with_labels=False).labels == []


def test_columns_without_a_name_of_their_own_cannot_be_chosen() -> None:
    columns = [FileColumn("id", ("1",), True), FileColumn("", (), True), FileColumn("x", (), False)]
    shown = column_choices(columns, id_column="id", text_columns=["x"], label_column="")
    assert [(each.shown, bool(each.off)) for each in shown] == [("id", False), ("(no name)", True), ("x", True)]
    assert [each.is_id for each in shown] == [True, False, False]
    assert not any(each.is_label or each.is_text for each in shown)


def test_a_long_value_is_shortened_and_an_empty_one_is_named() -> None:
    shown = meanings_of([("word " * 40, 1200), (" ", 1)], ["include", ""])
    assert len(shown[0].shown) == 80
    assert shown[0].count == "1,200"
    assert (shown[1].shown, shown[1].label) == ("(empty)", "")


@pytest.mark.parametrize(
    ("size", "text"),
    [(1, "1 byte"), (812, "812 bytes"), (2**10, "1.0 KiB"), (3_500, "3.4 KiB"), (32 * 2**20, "32.0 MiB")],
)
def test_a_size_is_told_in_the_unit_that_fits(size: int, text: str) -> None:
    assert size_text(size) == text


@pytest.mark.parametrize(
    ("state", "shown", "numbers"),
    [
        ("received", "not begun", "–"),
        ("running", "running", "–"),
        ("cancelled", "stopped", "1,000"),
        ("done", "done", "1,000"),
        ("discarded", "thrown away", "–"),
    ],
)
def test_only_an_import_that_ran_has_numbers(state: str, shown: str, numbers: str) -> None:
    row = import_row(summary(state=state))
    assert (row.state, row.recorded) == (shown, numbers)


def test_progress_speaks_up_at_each_quarter() -> None:
    def at(done: int, **changed: Any) -> Any:
        given = {"started_at": NOW - timedelta(seconds=65), "stopping": False, "worker_alive": True} | changed
        return import_progress(done=done, total=1000, now=NOW, **given)

    assert at(249).announcement == "Import running."
    assert at(250).announcement == "Import running: 25% done."
    assert (at(999).quarter, at(1000).quarter) == (3, 4)
    assert (at(500).text, at(500).elapsed) == ("500 of 1,000 rows", "1 min 5 s")
    assert at(0, started_at=None).title == "Import waiting"
    assert not at(1, stopping=True).can_cancel
    assert at(1, worker_alive=False).note.startswith("No worker is alive")


@pytest.mark.parametrize(
    ("learned", "sentence"),
    [
        (LearnedMeanwhile(0, 0, 0), "Nothing was learned on the way: no learning step was due."),
        (LearnedMeanwhile(1, 0, 0), "1 learning step on the way: what was active is kept."),
        (LearnedMeanwhile(3, 1, 0), "3 learning steps on the way: 1 new version."),
        (
            LearnedMeanwhile(26, 2, 18),
            "26 learning steps on the way: 2 new versions and the ML model fitted anew 18 times.",
        ),
    ],
)
def test_what_was_learned_is_told_in_a_sentence(learned: LearnedMeanwhile, sentence: str) -> None:
    assert learned_sentence(learned) == sentence


def test_what_stopped_says_what_is_kept_what_is_left_and_what_that_costs() -> None:
    said = what_is_left(preview(good=30, known=17, request_bound=13), recorded=12)
    assert said == "12 rows recorded and kept. 13 rows left, for up to 13 model requests."


def test_what_was_chosen_is_told_with_the_rates_only_where_they_count() -> None:
    labelled = ImportColumns("id", ("title", "text"), "label", {"I": "include"}, "exclude")
    facts = {fact.name: fact.text for fact in chosen_facts(summary(columns=labelled))}
    assert facts["Text"] == "title, text"
    assert facts["“\u2068I\u2069” means"] == "include"
    assert facts["Any other value means"] == "exclude"
    assert "Review rate" not in facts
    plain = ImportColumns("id", ("text",), review_rate=0.5, low_confidence=0.25)
    facts = {fact.name: fact.text for fact in chosen_facts(summary(columns=plain))}
    assert (facts["Review rate"], facts["Audit rate"], facts["Low confidence"]) == ("0.5", "0.05", "below 0.25")
    assert chosen_facts(summary()) == []


def test_a_file_of_bad_rows_runs_nothing_in_a_spreadsheet() -> None:
    row = dict(zip(BAD_ROW_COLUMNS, (2, "=cmd()", "nul", "a cell holds a NUL."), strict=True))
    assert bad_rows_csv([row]) == "line,column,rule,message\r\n2,'=cmd(),nul,a cell holds a NUL.\r\n"
