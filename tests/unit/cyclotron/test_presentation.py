"""What pages say and draw of a report follows the report's own numbers."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cyclotron.core.intervals import Interval
from cyclotron.core.overview import StoredReport
from cyclotron.core.report import EndpointFacts, build_report
from cyclotron.core.report_text import report_markdown
from cyclotron.core.scored import ScoredItem
from cyclotron.core.verdict import Verdict
from cyclotron.core.wording import MINUS
from cyclotron.presentation.charts import change_plot, position
from cyclotron.presentation.confusion import confusion_of
from cyclotron.presentation.figures import elapsed, signed
from cyclotron.presentation.history import history_of
from cyclotron.presentation.item_list import PAGE_SIZE, ItemFilter, item_page
from cyclotron.presentation.report_page import report_view
from cyclotron.presentation.sentences import verdict_of
from tests.support.held_out_reports import CREATED_AT, example_report, random_items, report_inputs

INTERVALS = ("beforeInterval", "afterInterval", "changeInterval")


def without_intervals(report: dict[str, Any]) -> dict[str, Any]:
    """The report as it would have been written before intervals existed."""
    headline = {key: value for key, value in report["headline"].items() if key not in INTERVALS}
    return {**report, "headline": headline}


def with_verdict(report: dict[str, Any], verdict: Verdict) -> dict[str, Any]:
    return {**report, "change": {**report["change"], "verdict": verdict.value}}


def unclear_report() -> dict[str, Any]:
    """Three labels, one of them in no item; undeclared decisions and none at all among them."""
    items = random_items(40, labels=("a", "b"), seed=1)
    return build_report(report_inputs(items, labels=("a", "b", "c")))


def test_the_headline_reads_as_a_person_would_say_it() -> None:
    view = report_view(example_report())
    assert view.sentence == (
        "Agrees with reviewers on 84.1% of decisions, averaged over the labels, up from 50.0%: "
        "+34.1 points (95% interval +18.0 to +51.1)."
    )
    assert view.scored == "64 held-out items."


def test_the_headline_is_the_first_sentence_of_the_summary_and_the_rest_is_the_remark() -> None:
    for report in (example_report(), unclear_report()):
        view = report_view(report)
        assert report["change"]["summary"] == f"{view.sentence.replace(MINUS, '-')} {view.remark}"


def test_a_summary_in_other_words_is_kept_whole() -> None:
    report = example_report()
    report["change"]["summary"] = "It got better."
    assert report_view(report).remark == "It got better."


@pytest.mark.parametrize("verdict", [verdict for verdict in Verdict if verdict is not Verdict.IMPROVED])
def test_only_an_improvement_is_worded_as_a_claim(verdict: Verdict) -> None:
    view = report_view(with_verdict(example_report(), verdict))
    assert "up from" not in view.sentence
    assert "against 50.0% before" in view.sentence
    assert view.verdict.tone != "good"


@pytest.mark.parametrize("verdict", Verdict)
def test_every_verdict_has_a_word_and_a_sentence_so_that_colour_never_speaks_alone(verdict: Verdict) -> None:
    words = verdict_of(with_verdict(example_report(), verdict))
    assert words.word
    assert words.sentence.startswith(words.word)


def test_too_few_labels_names_the_rarest_label_and_what_it_lacks() -> None:
    sentence = verdict_of(unclear_report()).sentence
    assert sentence.replace("\u2068", "").replace("\u2069", "") == (
        "Too few labels for a claim: “c” has 0 held-out items, and at least 10 are needed."
    )


def test_a_report_from_before_intervals_is_shown_with_a_reason_in_their_place() -> None:
    view = report_view(without_intervals(example_report()))
    assert "(no interval was computed)" in view.sentence
    for row in (*view.before_after.rows, *view.change.rows):
        assert row.bar is None
        assert row.interval.text == "–"
        assert "before intervals existed" in row.interval.reason
        assert row.x is not None


def test_a_missing_share_is_a_dash_with_its_reason_and_never_zero() -> None:
    row = report_view(unclear_report()).labels[2]
    assert row.label == "c"
    assert row.count == "0"
    for figure in (row.before, row.after, row.change):
        assert figure.text == "–"
        assert figure.reason == "no scored item has this label"
    assert row.plot.before is None
    assert row.plot.after is None


def test_an_undefined_precision_is_a_dash_with_its_reason() -> None:
    items = [ScoredItem(f"i{n}", "b" if n else "a", "b", "b", 1.0) for n in range(4)]
    rows = report_view(build_report(report_inputs(items, labels=("a", "b"), positive_label="a"))).metrics
    precision = next(row for row in rows if row.name.startswith("Precision"))
    assert precision.before.text == "–"
    assert precision.before.reason
    assert next(row for row in rows if row.name.startswith("Recall")).before.text == "0.0%"


def test_before_and_after_share_one_axis_from_0_to_100_percent() -> None:
    report = example_report()
    plot = report_view(report).before_after
    assert [(tick.x, tick.text) for tick in plot.ticks] == [(f"{n}%", f"{n}%") for n in (0, 25, 50, 75, 100)]
    for row, side in zip(plot.rows, ("before", "after"), strict=True):
        assert row.kind == side
        assert row.x == f"{report['headline'][side] * 100:.2f}%"
        assert row.bar is not None
        assert row.bar.x1 == f"{report['headline'][side + 'Interval']['low'] * 100:.2f}%"
        assert row.bar.x2 == f"{report['headline'][side + 'Interval']['high'] * 100:.2f}%"


@given(st.floats(-100, 100), st.floats(-100, 100), st.floats(-100, 100))
def test_the_change_is_drawn_around_zero_on_an_axis_that_holds_it_whole(a: float, b: float, c: float) -> None:
    low, points, high = sorted((a, b, c))
    plot = change_plot(points, Interval(low, high))
    (row,) = plot.rows
    assert plot.zero == "50.00%"
    assert plot.ticks[2].text == "0"
    assert row.bar is not None
    assert row.x is not None
    at = [float(text.rstrip("%")) for text in (row.bar.x1, row.x, row.bar.x2)]
    assert at == sorted(at)
    assert at[0] >= 0
    assert at[2] <= 100
    if low > 0.1:
        assert at[0] > 50
    if high < -0.1:
        assert at[2] < 50


def test_ticks_carry_no_idle_zero_but_keep_a_half() -> None:
    assert [tick.text for tick in change_plot(12.0, None).ticks] == ["−20", "−10", "0", "+10", "+20"]
    assert [tick.text for tick in change_plot(3.0, None).ticks] == ["−5", "−2.5", "0", "+2.5", "+5"]


def test_a_position_outside_the_axis_stays_in_the_plot() -> None:
    assert position(-1, 0, 1) == "0.00%"
    assert position(2, 0, 1) == "100.00%"


def test_a_minus_is_as_wide_as_a_plus() -> None:
    assert [signed(value) for value in (24.68, -3.0, 0.0)] == ["+24.7", "−3.0", "0.0"]


def test_a_page_a_summary_and_a_table_write_a_number_alike() -> None:
    report = build_report(report_inputs(random_items(1_234)))
    view = report_view(report)
    assert view.scored == "1,234 held-out items."
    assert "1,234 held-out items;" in view.remark
    assert "| Weighted, 1,234 items |" in report_markdown(report)


def test_time_gone_by_is_never_negative() -> None:
    start = CREATED_AT
    seconds = {0: "0 s", 59: "59 s", 125: "2 min 5 s", 3780: "1 h 3 min", -5: "0 s"}
    for number, text in seconds.items():
        now = start.fromtimestamp(start.timestamp() + number, start.tzinfo)
        assert elapsed(start, now) == text


def test_outcomes_are_the_reports_counts() -> None:
    report = example_report()
    rows = report_view(report).outcomes
    assert [(row.value, row.count) for row in rows] == [
        (name, str(report["change"][name])) for name in ("gained", "lost", "bothRight", "bothWrong")
    ]
    assert [row.name for row in rows] == ["Gained", "Lost", "Both right", "Both wrong"]
    assert [row.tone for row in rows] == ["good", "bad", "plain", "plain"]


def test_what_was_left_out_since_freezing_is_said_in_words() -> None:
    one, two = report_view(example_report()).left_out
    assert one.startswith("1 item was left out")
    assert two.startswith("2 items have another label by now")
    report = example_report()
    report["heldOutSet"] |= {"excludedSinceFrozen": 0, "labelsChangedSinceFrozen": 0}
    assert report_view(report).left_out == ["Nothing was left out since freezing."]


def test_a_confusion_table_counts_every_item_once() -> None:
    report = unclear_report()
    for side in ("before", "after"):
        table = confusion_of(report, side)
        assert [row.label for row in table.rows] == ["a", "b", "c"]
        assert sum(cell.count for row in table.rows for cell in row.cells) == len(report["items"])
        right = sum(cell.count for row in table.rows for cell in row.cells if cell.right)
        assert right == sum(item[side] == item["label"] for item in report["items"])


def test_decisions_outside_the_declared_labels_have_a_column_only_where_there_are_any() -> None:
    assert confusion_of(unclear_report(), "before").columns[-1].name == "anything else"
    items = [ScoredItem("i", "a", "b", "a", 1.0), ScoredItem("j", "b", "b", "b", 1.0)]
    table = confusion_of(build_report(report_inputs(items, labels=("a", "b"))), "before")
    assert [column.name for column in table.columns] == ["a", "b"]


def test_a_cell_leads_to_the_items_that_it_counts() -> None:
    report = unclear_report()
    cell = confusion_of(report, "after").rows[0].cells[1]
    assert cell.address == "?label=a&after=b#items"
    page = item_page(report, ItemFilter(label="a", after="b"))
    assert len(page.rows) == cell.count


def test_filters_narrow_the_items_and_say_so() -> None:
    report = example_report()
    page = item_page(report, ItemFilter(outcome="gained"))
    assert len(page.rows) == report["change"]["gained"]
    assert {row.outcome for row in page.rows} == {"gained"}
    assert page.description == f"{report['change']['gained']} items of 64."
    assert [choice.text for choice in page.outcomes if choice.chosen] == ["gained"]
    nothing = item_page(report, ItemFilter(outcome="no such outcome"))
    assert nothing.rows == []
    assert nothing.description == "None of 64 items is like this."


def test_ten_thousand_items_come_a_hundred_at_a_time() -> None:
    report = build_report(report_inputs(random_items(10_000)))
    page = item_page(report, ItemFilter(label="include"), 2)
    assert len(page.rows) == PAGE_SIZE
    assert page.previous == "?label=include#items"
    assert page.next == "?label=include&page=3#items"
    last = item_page(report, ItemFilter(), 10**9)
    assert (last.number, last.next) == (100, None)
    assert last.description == "Items 9,901 to 10,000 of 10,000."
    assert item_page(report, ItemFilter(), 0).number == 1


def test_labels_keep_their_characters_in_addresses() -> None:
    page = item_page(
        build_report(report_inputs([ScoredItem("i", "a&b=ü#", "x", "x", 1.0)], ("a&b=ü#", "x"))), ItemFilter()
    )
    assert page.labels[1].address == "?label=a%26b%3D%C3%BC%23#items"


def test_the_history_joins_only_reports_on_one_held_out_set() -> None:
    report = example_report()
    other = {**report, "heldOutSet": {**report["heldOutSet"], "id": "77" * 32}}
    history = history_of([StoredReport(str(n), document) for n, document in enumerate((report, report, other, other))])
    assert [point.number for point in history.points] == [1, 2, 3, 4]
    assert [(line.x1, line.x2) for line in history.segments] == [
        (history.points[0].x, history.points[1].x),
        (history.points[2].x, history.points[3].x),
    ]
    assert [row.report_id for row in history.rows] == ["3", "2", "1", "0"]


def test_an_old_report_stands_in_the_history_without_a_line_for_its_interval() -> None:
    (point,) = history_of([StoredReport("r", without_intervals(example_report()))]).points
    assert (point.low_y, point.high_y) == (None, None)
    assert point.after_y is not None


def test_a_column_says_its_version_and_whether_it_has_an_ml_model() -> None:
    inputs = report_inputs(random_items(30))
    inputs = replace(inputs, after=EndpointFacts(version=4, refits=12, fingerprint="b" * 64))
    before, after = report_view(build_report(inputs)).before_after.rows
    assert before.note == "version 1, no ML model"
    assert after.note == "version 4, refit 12"
