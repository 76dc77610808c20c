"""Building a report: its format, its words, and what it refuses."""

import json
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from cyclotron.core.coverage import MEASURED
from cyclotron.core.errors import (
    InvalidEvaluationError,
    InvalidReportError,
    InvalidScoredItemsError,
    NothingToScoreError,
)
from cyclotron.core.intervals import Interval
from cyclotron.core.outcome import Outcome
from cyclotron.core.report import EndpointFacts, ReportInputs, SetFacts, build_report
from cyclotron.core.report_format import report_schema
from cyclotron.core.scored import ScoredItem
from cyclotron.core.summary import SummaryFacts, change_summary
from cyclotron.core.verdict import RarestLabel, Verdict
from tests.support.held_out_reports import (
    CREATED_AT,
    EXAMPLE_PATH,
    as_text,
    example_report,
    random_items,
    report_inputs,
)


def held_out_set(inputs: ReportInputs, **changes: Any) -> SetFacts:
    return replace(inputs.held_out_set, **changes)


def test_the_schema_is_a_valid_one_that_describes_every_part() -> None:
    schema = report_schema()
    Draft202012Validator.check_schema(schema)
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    for name, part in schema["properties"].items():
        assert part["description"], name


def test_the_example_beside_the_schema_is_what_the_code_builds() -> None:
    assert EXAMPLE_PATH.read_text(encoding="utf-8") == as_text(example_report())
    example = json.loads(EXAMPLE_PATH.read_bytes())
    assert example == example_report()
    Draft202012Validator(report_schema()).validate(example)


def test_a_report_has_the_parts_of_the_format_in_their_order() -> None:
    report = build_report(report_inputs(random_items(80)))
    assert list(report) == list(report_schema()["properties"])
    assert report["schema"] == "cyclotron-held-out-report/v1"
    assert list(report["headline"]) == list(report_schema()["properties"]["headline"]["properties"])
    assert list(report["change"]) == list(report_schema()["properties"]["change"]["properties"])


def test_the_same_evaluation_gives_the_same_report_whatever_the_order_of_its_items() -> None:
    items = random_items(120, weights=(1.0, 2.0, 1 / 0.3))
    assert json.dumps(build_report(report_inputs(items))) == json.dumps(build_report(report_inputs(items[::-1])))


def test_items_stand_in_the_order_of_their_identities_by_code_point() -> None:
    ids = ["b", "a10", "a2", "Z", "é", "😀", "z", "\uffff", "a"]
    items = [ScoredItem(item_id, "include", "include", "include", 1.0) for item_id in ids]
    listed = [item["itemId"] for item in build_report(report_inputs(items))["items"]]
    assert listed == ["Z", "a", "a10", "a2", "b", "z", "é", "\uffff", "😀"]
    assert [item.encode() for item in listed] == sorted(item.encode() for item in listed)


def test_an_item_says_which_endpoint_was_right() -> None:
    items = [
        ScoredItem("1", "include", "include", "include", 1.0),
        ScoredItem("2", "include", "include", "exclude", 2.0),
        ScoredItem("3", "include", "exclude", "include", 4),
        ScoredItem("4", "include", None, "exclude", 1.0),
    ]
    report = build_report(report_inputs(items))
    assert [item["outcome"] for item in report["items"]] == ["bothRight", "lost", "gained", "bothWrong"]
    assert report["items"][2] == {
        "itemId": "3",
        "label": "include",
        "before": "exclude",
        "after": "include",
        "weight": 4.0,
        "outcome": "gained",
    }


def test_what_a_model_said_instead_of_a_label_never_enters_a_report() -> None:
    items = [ScoredItem("1", "include", "the patient's own words", "include", 1.0)]
    report = build_report(report_inputs(items))
    assert report["items"][0]["before"] is None
    assert "own words" not in json.dumps(report)


def test_the_change_and_its_interval_are_points_and_the_rest_are_shares() -> None:
    report = build_report(report_inputs(random_items(300, right=(0.2, 0.9))))
    headline = report["headline"]
    assert headline["changePoints"] == pytest.approx(100 * (headline["after"] - headline["before"]))
    assert 10 < headline["changeInterval"]["low"] < headline["changePoints"] < headline["changeInterval"]["high"]
    assert 0 < headline["beforeInterval"]["low"] < headline["before"] < headline["beforeInterval"]["high"] < 1
    assert 0 < headline["afterInterval"]["low"] < headline["after"] < headline["afterInterval"]["high"] < 1
    assert report["before"]["metrics"]["balancedAccuracy"] == headline["before"]


def test_the_set_is_described_as_it_was_frozen_and_the_scored_items_by_label_beside_it() -> None:
    items = [ScoredItem(str(number), "include", "include", "include", 1.0) for number in range(3)]
    inputs = report_inputs(items)
    facts = held_out_set(inputs, size=5, label_counts={"include": 4, "exclude": 1}, excluded_since_frozen=2)
    report = build_report(replace(inputs, held_out_set=facts))
    assert report["heldOutSet"]["labelCounts"] == {"include": 4, "exclude": 1}
    assert (report["heldOutSet"]["size"], report["heldOutSet"]["scored"]) == (5, 3)
    per_label = report["after"]["metrics"]["perLabel"]
    assert per_label["include"] == {"agreement": 1.0, "count": 3}
    assert per_label["exclude"] == {"agreement": None, "count": 0}
    assert report["change"]["verdict"] == "too-few-labels"  # by the scored items: none is left of exclude


def test_times_are_written_in_utc() -> None:
    there = datetime(2026, 3, 2, 1, 30, 15, 250000, tzinfo=timezone(timedelta(hours=-8)))
    report = build_report(report_inputs(random_items(9), created_at=there))
    assert report["createdAt"] == "2026-03-02T09:30:15.250000Z"
    assert report["heldOutSet"]["frozenAt"] == "2026-03-02T09:30:00Z"
    with pytest.raises(InvalidReportError):
        build_report(report_inputs(random_items(9), created_at=CREATED_AT.replace(tzinfo=None)))


@pytest.mark.parametrize(
    ("version", "refits", "verdict"),
    [(1, 0, "nothing-learned-yet"), (1, 1, "improved"), (2, 0, "improved"), (2, 3, "improved")],
)
def test_something_was_learned_when_there_is_a_later_version_or_an_ml_model(
    version: int, refits: int, verdict: str
) -> None:
    items = random_items(300, right=(0.2, 0.9))
    report = build_report(report_inputs(items, after=EndpointFacts(version, refits, "a7" * 32)))
    assert report["change"]["verdict"] == verdict


def test_one_item_is_enough_for_a_report() -> None:
    report = build_report(report_inputs([ScoredItem("1", "include", None, "include", 1.0)]))
    assert report["headline"]["changeInterval"] == {"low": 100.0, "high": 100.0}
    assert report["change"]["verdict"] == "too-few-labels"


def test_a_report_without_items_is_refused() -> None:
    with pytest.raises(NothingToScoreError):
        build_report(report_inputs([]))


@pytest.mark.parametrize("minimum", [0, True, 10.5, "10"])
def test_a_minimum_that_is_no_number_of_items_is_refused(minimum: Any) -> None:
    with pytest.raises(InvalidEvaluationError):
        build_report(report_inputs(random_items(9), minimum_per_label=minimum))


def test_two_items_of_one_identity_are_refused() -> None:
    item = ScoredItem("same", "include", "include", "include", 1.0)
    with pytest.raises(InvalidScoredItemsError):
        build_report(report_inputs([item, replace(item, after=None)]))


@pytest.mark.parametrize(
    ("change", "path"),
    [
        ({"size": 10}, "$.heldOutSet.size"),
        ({"excluded_since_frozen": 1}, "$.heldOutSet.size"),
        ({"label_counts": {"include": 4}}, "$.heldOutSet.size"),
        ({"label_counts": {"include": 0, "exclude": 0, "other": 9}}, "$.heldOutSet.labelCounts"),
        ({"label_counts": {"include": 9, "exclude": 0}}, "$.heldOutSet.labelCounts"),
        ({"id": ""}, "$.heldOutSet.id"),
        ({"labels_changed_since_frozen": -1}, "$.heldOutSet.labelsChangedSinceFrozen"),
    ],
)
def test_facts_that_contradict_one_another_are_refused(change: dict[str, Any], path: str) -> None:
    inputs = report_inputs(random_items(9))
    assert len({item.label for item in inputs.items}) == 2
    with pytest.raises(InvalidReportError) as caught:
        build_report(replace(inputs, held_out_set=held_out_set(inputs, **change)))
    assert caught.value.detail["path"] == path


@pytest.mark.parametrize("before", [EndpointFacts(2, 0, "f"), EndpointFacts(1, 1, "f")])
def test_before_is_version_1_without_an_ml_model(before: EndpointFacts) -> None:
    with pytest.raises(InvalidReportError):
        build_report(report_inputs(random_items(9), before=before))


@settings(max_examples=40)
@given(
    st.lists(
        st.builds(
            ScoredItem,
            item_id=st.text(
                st.characters(exclude_characters="\x00", exclude_categories=["Cs"]), min_size=1, max_size=9
            ),
            label=st.sampled_from("ab"),
            before=st.sampled_from(["a", "b", "c", None, ""]),
            after=st.sampled_from(["a", "b", "c", None, ""]),
            weight=st.sampled_from([1.0, 2.0, 1 / 0.3]) | st.floats(1.0, 2.0**64),
        ),
        min_size=1,
        max_size=25,
        unique_by=lambda item: item.item_id,
    ),
    st.sampled_from([None, "a", "b"]),
)
def test_every_report_conforms_to_the_whole_schema(items: list[ScoredItem], positive: str | None) -> None:
    report = build_report(report_inputs(items, ("a", "b"), positive))
    Draft202012Validator(report_schema()).validate(report)
    verdict, interval = report["change"]["verdict"], report["headline"]["changeInterval"]
    counts = [report["after"]["metrics"]["perLabel"][label]["count"] for label in "ab"]
    assert (verdict == "improved") == (min(counts) >= 10 and interval["low"] > 0)
    assert ("what was learned helps" in report["change"]["summary"]) == (verdict == "improved")


FACTS = SummaryFacts(
    verdict=Verdict.IMPROVED,
    before=0.568,
    after=0.8149,
    change_points=24.69,
    interval=Interval(10.1, 38.9),
    scored=181,
    rarest=RarestLabel("include", 31),
    minimum_per_label=10,
    outcomes={Outcome.GAINED: 40, Outcome.LOST: 9, Outcome.BOTH_RIGHT: 100, Outcome.BOTH_WRONG: 32},
    p_value=0.00000891,
)


def test_the_summary_says_what_a_person_would_say_and_names_its_metric() -> None:
    assert change_summary(FACTS) == (
        "Agrees with reviewers on 81.5% of decisions, averaged over the labels, up from 56.8%: +24.7 points "
        "(95% interval +10.1 to +38.9). The whole interval is above zero: what was learned helps on decisions that it "
        "has not seen. 181 held-out items; the rarest label, “include”, has 31. The verdict follows the weighted "
        "interval, not the unweighted counts: 40 items newly right, 9 newly wrong (exact sign test, p < 0.0001)."
    )


@pytest.mark.parametrize("verdict", list(Verdict))
def test_only_improved_is_worded_as_a_claim(verdict: Verdict) -> None:
    words = change_summary(replace(FACTS, verdict=verdict))
    claims = any(word in words for word in ("helps", "up from"))
    assert claims == (verdict is Verdict.IMPROVED)
    assert "follows the weighted interval" in words
    assert "\n" not in words


def test_too_few_labels_names_the_label_and_what_is_needed() -> None:
    facts = replace(FACTS, verdict=Verdict.TOO_FEW_LABELS, rarest=RarestLabel("include", 1))
    assert "No claim is made: label “include” has 1 held-out item, and 10 are needed." in change_summary(facts)


@pytest.mark.parametrize(
    ("verdict", "p_value", "rarest", "narrow"),
    [
        (Verdict.IMPROVED, 0.05, 30, False),
        (Verdict.IMPROVED, 0.0501, 30, True),
        (Verdict.WORSE, 0.2, 30, True),
        (Verdict.NO_CLEAR_CHANGE, 0.2, 30, False),
        (Verdict.NO_CLEAR_CHANGE, 0.2, 29, True),
        (Verdict.TOO_FEW_LABELS, 0.01, 9, True),
        (Verdict.NOTHING_LEARNED_YET, 1.0, 29, True),
        (Verdict.IMPROVED, 0.001, 29, True),
    ],
)
def test_the_summary_says_where_the_interval_is_known_to_be_too_narrow(
    verdict: Verdict, p_value: float, rarest: int, narrow: bool
) -> None:
    facts = replace(FACTS, verdict=verdict, p_value=p_value, rarest=RarestLabel("include", rarest))
    assert ("known to be too narrow" in change_summary(facts)) == narrow


@pytest.mark.parametrize(
    ("rarest", "quoted"), [(9, None), (10, 10), (14, 10), (15, 15), (29, 15), (30, 30), (99, 30), (5_000, 300)]
)
def test_what_was_measured_with_as_many_items_or_the_next_fewer_is_told_with_it(
    rarest: int, quoted: int | None
) -> None:
    facts = replace(FACTS, verdict=Verdict.IMPROVED, p_value=0.2, rarest=RarestLabel("include", rarest))
    told = change_summary(facts)
    earlier = change_summary(facts, with_measured=False)
    if quoted is None:
        assert told == earlier
        assert told.endswith(" items.")
    else:
        (measured,) = [measured for measured in MEASURED if measured.rarest == quoted]
        assert told == (
            f"{earlier[:-1]}: in simulated sets with {quoted} items of the rarest label {100 * measured.held:.1f}% of "
            f"intervals held the true change, and {100 * measured.false_improved:.1f}% of sets without one would have "
            "been called improved."
        )
