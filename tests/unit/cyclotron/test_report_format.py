"""Reading a report back: what is accepted, and how a fault is named."""

import copy
import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from cyclotron.core.errors import InvalidReportError
from cyclotron.core.report_format import read_report, report_schema
from tests.support.held_out_reports import example_report

EXAMPLE = example_report()


def changed(change: Callable[[dict[str, Any]], Any]) -> dict[str, Any]:
    report = copy.deepcopy(EXAMPLE)
    change(report)
    return report


def test_a_report_is_read_from_bytes_and_from_a_value_alike() -> None:
    assert read_report(json.dumps(EXAMPLE).encode()) == EXAMPLE
    assert read_report(copy.deepcopy(EXAMPLE)) == EXAMPLE


def test_a_report_from_before_intervals_existed_is_accepted() -> None:
    old = copy.deepcopy(EXAMPLE)
    for name in ("beforeInterval", "afterInterval", "changeInterval"):
        del old["headline"][name]
    assert read_report(old) == old
    Draft202012Validator(report_schema()).validate(old)


FAULTS: list[tuple[str, str, Callable[[dict[str, Any]], Any]]] = [
    ("$", "required", lambda report: report.pop("cost")),
    ("$", "additionalProperties", lambda report: report.update(text="x")),
    ("$.schema", "const", lambda report: report.update(schema="cyclotron-held-out-report/v2")),
    ("$.headline.before", "maximum", lambda report: report["headline"].update(before=56.8)),
    ("$.headline.before", "type", lambda report: report["headline"].update(before=True)),
    ("$.headline.before", "type", lambda report: report["headline"].update(before=None)),
    ("$.headline", "dependentRequired", lambda report: report["headline"].pop("beforeInterval")),
    ("$.headline.changeInterval", "required", lambda report: report["headline"]["changeInterval"].pop("low")),
    ("$.change.gained", "minimum", lambda report: report["change"].update(gained=-1)),
    ("$.change.gained", "type", lambda report: report["change"].update(gained=1.5)),
    ("$.change.gained", "maximum", lambda report: report["change"].update(gained=10**200)),
    ("$.change.verdict", "enum", lambda report: report["change"].update(verdict="better")),
    ("$.createdAt", "pattern", lambda report: report.update(createdAt="2026-03-02T09:31:15+00:00")),
    ("$.createdAt", "format", lambda report: report.update(createdAt="2026-02-30T09:31:15Z")),
    ("$.classifier.labels", "minItems", lambda report: report["classifier"].update(labels=["a"])),
    ("$.classifier.labels", "uniqueItems", lambda report: report["classifier"].update(labels=["a", "a"])),
    ("$.items", "minItems", lambda report: report.update(items=[])),
    ("$.items", "type", lambda report: report.update(items={})),
    ("$.items[3]", "type", lambda report: report["items"].__setitem__(3, "trial-1000")),
    ("$.items[3].weight", "minimum", lambda report: report["items"][3].update(weight=0.5)),
    ("$.items[3].weight", "type", lambda report: report["items"][3].update(weight=True)),
    ("$.items[3].outcome", "enum", lambda report: report["items"][3].update(outcome="won")),
    ("$.items[3].label", "type", lambda report: report["items"][3].update(label=None)),
    ("$.items[3].itemId", "maxLength", lambda report: report["items"][3].update(itemId="x" * 513)),
    ("$.items[3]", "required", lambda report: report["items"][3].pop("after")),
    ("$.items[3]", "additionalProperties", lambda report: report["items"][3].update(text="x")),
]


@pytest.mark.parametrize(("path", "rule", "change"), FAULTS)
def test_a_fault_is_named_by_its_path_and_rule(path: str, rule: str, change: Callable[[dict[str, Any]], Any]) -> None:
    broken = changed(change)
    assert list(Draft202012Validator(report_schema()).iter_errors(broken)) or rule == "format"
    with pytest.raises(InvalidReportError) as caught:
        read_report(broken)
    assert caught.value.id == "invalid-report"
    assert (caught.value.detail["path"], caught.value.detail["rule"]) == (path, rule)
    assert path in caught.value.message


@pytest.mark.parametrize(
    ("document", "rule"),
    [
        (b'{"schema": "cyclotron-held-out-report/v1", "schema": 1}', "duplicate-key"),
        (b'{"schema": NaN}', "not-finite"),
        (b'{"schema": "\\u0000"}', "nul"),
        (b"\xff", "encoding"),
        (b"[" * 100_000, "depth"),
        (b"", "syntax"),
    ],
)
def test_bytes_that_are_no_strict_json_are_refused(document: bytes, rule: str) -> None:
    with pytest.raises(InvalidReportError) as caught:
        read_report(document)
    assert (caught.value.detail["path"], caught.value.detail["rule"]) == ("$", rule)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), "\x00", "\ud800", {1: 2}, object()])
def test_a_value_that_cannot_be_stored_is_refused(value: object) -> None:
    with pytest.raises(InvalidReportError):
        read_report(changed(lambda report: report["items"][0].update(label=value)))


@pytest.mark.parametrize("value", [None, [], "report", 3])
def test_something_else_than_an_object_is_refused(value: Any) -> None:
    with pytest.raises(InvalidReportError):
        read_report(value)


def test_an_error_repeats_nothing_that_stands_in_the_report() -> None:
    secret = "SECRET item text"
    for change in (
        lambda report: report["items"][0].update(outcome=secret),
        lambda report: report["items"][0].update(text=secret),
        lambda report: report["items"][0].update({secret: 1}),
        lambda report: report["change"].update(verdict=secret),
        lambda report: report.update({secret: {"a": secret}}),
    ):
        with pytest.raises(InvalidReportError) as caught:
            read_report(changed(change))
        assert secret not in json.dumps(caught.value.as_json())


VALUES = st.sampled_from(
    [None, True, 0, 1, 1.0, 0.5, -1, 2.0**64, 2.0**65, "", "x", "x" * 64, "x" * 65, "x" * 512, "x" * 513]
) | st.sampled_from(["gained", "lost", [], {}, ["gained"]])
ITEMS = st.fixed_dictionaries(
    {"itemId": VALUES, "label": VALUES, "before": VALUES, "after": VALUES, "weight": VALUES, "outcome": VALUES}
) | st.sampled_from(["itemId", "label", "before", "after", "weight", "outcome", "more"]).flatmap(
    lambda name: VALUES.map(lambda value: {**EXAMPLE["items"][0], name: value})
)


@settings(max_examples=300)
@given(ITEMS)
def test_the_quick_look_at_items_accepts_just_what_the_schema_does(item: dict[str, Any]) -> None:
    report = {**EXAMPLE, "items": [EXAMPLE["items"][0], item]}
    conforms = Draft202012Validator(report_schema()).is_valid(report)
    try:
        read_report(report)
    except InvalidReportError as error:
        found = error.detail["path"]
    else:
        found = None
    assert (found is None) == conforms
    assert conforms or found.startswith("$.items[1]")
