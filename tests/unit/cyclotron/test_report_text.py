"""A report as CSV and as Markdown."""

import csv
import io
import json
from dataclasses import replace

import pytest

from cyclotron.core.report import build_report
from cyclotron.core.report_text import report_csv, report_markdown
from cyclotron.core.scored import ScoredItem
from tests.support.held_out_reports import example_report, random_items, report_inputs

EXAMPLE = example_report()


def test_csv_has_one_row_for_each_item_under_a_header() -> None:
    text = report_csv(EXAMPLE)
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    assert text.startswith("itemId,label,before,after,weight,outcome\r\n")
    assert [row["itemId"] for row in rows] == [item["itemId"] for item in EXAMPLE["items"]]
    assert [float(row["weight"]) for row in rows] == [item["weight"] for item in EXAMPLE["items"]]
    assert [row["after"] or None for row in rows] == [item["after"] for item in EXAMPLE["items"]]


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠"])
def test_a_cell_that_a_spreadsheet_would_run_gets_an_apostrophe(start: str) -> None:
    label = (start + "SUM(A1)").strip()
    item = ScoredItem(start + 'HYPERLINK("x")', label, label, "plain", 2.0)
    report = build_report(report_inputs([item], (label, "plain")))
    (row,) = csv.DictReader(io.StringIO(report_csv(report), newline=""))
    assert row["itemId"] == "'" + item.item_id
    assert row["label"] == row["before"] == ("'" + label if start.strip() else label)
    assert row["after"] == "plain"
    assert row["weight"] == "2.0"


def test_markdown_says_the_sentence_first_and_the_tables_after_it() -> None:
    parts = report_markdown(EXAMPLE).split("\n\n")
    assert parts[0] == "# Held-out report: screening"
    assert parts[1].startswith("Agrees with reviewers on 84.1% of decisions")
    assert parts[2].startswith("| Weighted, 64 items | Version 1, no ML model | Version 3, refit 5 |")
    assert "| Balanced accuracy | 50.0% (" in parts[2]
    assert "| include | 18 |" in parts[3]
    assert "| newly right | 22 |" in parts[4]


def test_markdown_writes_a_dash_with_its_reason_for_what_is_undefined() -> None:
    items = [ScoredItem("1", "include", None, None, 1.0)]
    text = report_markdown(build_report(report_inputs(items)))
    assert "| Precision | – (undefined) | – (undefined) | – |" in text
    assert "| exclude | 0 | – (undefined) | – (undefined) | – |" in text


def test_markdown_of_a_report_without_intervals_says_so() -> None:
    old = json.loads(json.dumps(EXAMPLE))
    for name in ("beforeInterval", "afterInterval", "changeInterval"):
        del old["headline"][name]
    assert "50.0% (no interval: written before intervals existed)" in report_markdown(old)


def test_markdown_takes_a_label_for_text_whatever_it_holds() -> None:
    odd = "<img src=x>|**b**"
    items = [replace(item, label=odd) for item in random_items(12)]
    text = report_markdown(build_report(report_inputs(items, (odd, "exclude"))))
    assert "<img" not in text.replace("\\<img", "")
    row = next(line for line in text.splitlines() if line.startswith("| \\<img"))
    assert row.replace("\\|", "").count("|") == 6
