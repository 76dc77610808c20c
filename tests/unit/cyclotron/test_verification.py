"""Verifying a report: what was built is clean, what was tampered with is found."""

import copy
import json
import random
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cyclotron.core.errors import InvalidReportError
from cyclotron.core.report import build_report
from cyclotron.core.verification import NO_INTERVALS, NOT_COMPUTABLE, verify_report
from tests.support.held_out_reports import example_report, random_items, report_inputs

EXAMPLE = example_report()
# No report can tell these by itself; verification says so in words.
UNKNOWABLE = {
    ("minimumPerLabel",),
    ("after", "version"),
    ("after", "refits"),
    ("cost", "newRequests"),
    ("cost", "cachedRequests"),
    ("cost", "tokensIn"),
    ("cost", "tokensOut"),
    ("heldOutSet", "labelsChangedSinceFrozen"),
}


def leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any]]:
    if isinstance(value, dict | list):
        for key, child in value.items() if isinstance(value, dict) else enumerate(value):
            yield from leaves(child, (*path, key))
    else:
        yield path, value


def with_leaf(report: dict[str, Any], path: tuple[Any, ...], value: Any) -> dict[str, Any]:
    changed = copy.deepcopy(report)
    place = changed
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    return changed


def found_out(report: dict[str, Any]) -> bool:
    try:
        return not verify_report(report).ok
    except InvalidReportError:
        return True


def without_intervals(report: dict[str, Any]) -> dict[str, Any]:
    old = copy.deepcopy(report)
    for name in ("beforeInterval", "afterInterval", "changeInterval"):
        del old["headline"][name]
    return old


@settings(max_examples=30)
@given(st.integers(1, 90), st.integers(0, 10_000), st.sampled_from([None, "include", "exclude"]), st.integers(1, 20))
def test_every_report_that_was_built_is_clean(size: int, seed: int, positive: str | None, minimum: int) -> None:
    items = random_items(size, seed=seed)
    report = build_report(report_inputs(items, positive_label=positive, minimum_per_label=minimum))
    assert verify_report(report).failed == ()
    assert verify_report(json.dumps(report).encode()).ok


def test_the_example_is_clean_and_says_what_it_cannot_know() -> None:
    verification = verify_report(EXAMPLE)
    assert verification.ok
    assert len(verification.cannot_know) == 6
    as_json = verification.as_json()
    assert as_json["ok"] is True
    assert json.loads(json.dumps(as_json)) == as_json
    names = [check["name"] for check in as_json["checks"]]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize(
    "path",
    [
        path
        for path, value in leaves({**EXAMPLE, "items": []})
        if isinstance(value, int | float) and path not in UNKNOWABLE
    ],
    ids=lambda path: ".".join(map(str, path)),
)
@pytest.mark.parametrize("step", [0.001, -0.001, 1, -1])
def test_a_number_that_was_changed_is_found(path: tuple[str, ...], step: float) -> None:
    value = dict(leaves(EXAMPLE))[path]
    assert found_out(with_leaf(EXAMPLE, path, value + step))


@pytest.mark.parametrize("path", [path for path, value in leaves(EXAMPLE["change"]) if isinstance(value, str)])
def test_words_that_were_changed_are_found(path: tuple[str, ...]) -> None:
    assert found_out(with_leaf(EXAMPLE, ("change", *path), "worse"))
    assert found_out(with_leaf(EXAMPLE, ("headline", "definition"), "Accuracy."))
    assert found_out(with_leaf(EXAMPLE, ("heldOutSet", "scoringNote"), "As of now."))


@settings(max_examples=60)
@given(st.integers(0, len(EXAMPLE["items"]) - 1), st.sampled_from(["label", "before", "after", "outcome", "weight"]))
def test_an_item_that_was_changed_is_found(position: int, key: str) -> None:
    item = EXAMPLE["items"][position]
    other = {
        "outcome": "lost" if item["outcome"] != "lost" else "gained",
        "weight": item["weight"] + 1,
        "label": "exclude" if item["label"] == "include" else "include",
    }.get(key, None if item[key] == item["label"] else item["label"])
    assert found_out(with_leaf(EXAMPLE, ("items", position, key), other))


def test_another_set_id_has_other_intervals() -> None:
    failed = verify_report(with_leaf(EXAMPLE, ("heldOutSet", "id"), "another set")).failed
    assert {check.name.split(".")[1] for check in failed} >= {"beforeInterval", "changeInterval"}
    assert not any(check.name.startswith(("before.", "after.", "items.")) for check in failed)


def test_an_item_that_is_missing_repeated_or_out_of_order_is_found() -> None:
    missing = {**EXAMPLE, "items": EXAMPLE["items"][1:]}
    assert "heldOutSet.scored" in {check.name for check in verify_report(missing).failed}
    repeated = {**EXAMPLE, "items": [EXAMPLE["items"][0], *EXAMPLE["items"]]}
    assert {"items.itemId.repeated", "heldOutSet.scored"} <= {check.name for check in verify_report(repeated).failed}
    shuffled = list(EXAMPLE["items"])
    random.Random(1).shuffle(shuffled)
    assert [check.name for check in verify_report({**EXAMPLE, "items": shuffled}).failed] == ["items.order"]


def test_a_verdict_is_checked_against_versions_and_minimum() -> None:
    raised = verify_report(with_leaf(EXAMPLE, ("minimumPerLabel",), 19))
    assert {check.name: check.expected for check in raised.failed}["change.verdict"] == "too-few-labels"
    first = with_leaf(with_leaf(EXAMPLE, ("after", "version"), 1), ("after", "refits"), 0)
    failed = {check.name: check for check in verify_report(first).failed}
    assert failed["change.verdict"].expected == "nothing-learned-yet"
    assert failed["items.differingUnderOneFingerprint"].expected == 0


def test_facts_that_cannot_be_are_found() -> None:
    for path, value, name in (
        (("before", "version"), 2, "before.version"),
        (("before", "refits"), 1, "before.refits"),
        (("cost", "newRequests"), 129, "cost.newRequests"),
        (("heldOutSet", "labelsChangedSinceFrozen"), 66, "heldOutSet.labelsChangedSinceFrozen"),
        (("heldOutSet", "frozenAt"), "2026-03-02T09:31:16Z", "heldOutSet.frozenAt"),
        (("heldOutSet", "labelCounts"), {"include": 17, "exclude": 48}, "heldOutSet.labelCounts.belowScored"),
        (("heldOutSet", "labelCounts"), {"include": 18, "other": 47}, "heldOutSet.labelCounts.labels"),
    ):
        assert name in {check.name for check in verify_report(with_leaf(EXAMPLE, path, value)).failed}


def test_times_are_compared_as_times() -> None:
    frozen = with_leaf(EXAMPLE, ("heldOutSet", "frozenAt"), "2026-03-02T09:31:15Z")
    assert verify_report(frozen).ok  # a quarter of a second before the report, although "Z" sorts after "."


def test_a_report_from_before_intervals_existed_is_checked_as_far_as_it_goes() -> None:
    old = without_intervals(EXAMPLE)
    old["change"]["summary"] = "Better than it was."
    old["headline"]["definition"] = "Balanced accuracy."
    verification = verify_report(old)
    assert verification.ok
    assert NO_INTERVALS in verification.cannot_know
    assert found_out(with_leaf(old, ("headline", "after"), 0.9))
    assert found_out(with_leaf(old, ("change", "gained"), 23))


def test_a_summary_from_before_the_intervals_own_error_was_measured_is_accepted() -> None:
    summary = EXAMPLE["change"]["summary"]
    earlier = summary[: summary.index(": in simulated sets")] + "."
    assert verify_report(with_leaf(EXAMPLE, ("change", "summary"), earlier)).ok
    assert not verify_report(
        with_leaf(EXAMPLE, ("change", "summary"), summary.replace("sets with 15", "sets with 30"))
    ).ok


def test_a_label_that_is_not_declared_leaves_nothing_to_compute() -> None:
    odd = with_leaf(EXAMPLE, ("items", 0, "label"), "perhaps")
    verification = verify_report(odd)
    assert not verification.ok
    assert NOT_COMPUTABLE in verification.cannot_know


def test_a_decision_of_old_that_names_no_declared_label_is_wrong() -> None:
    position = next(index for index, item in enumerate(EXAMPLE["items"]) if item["after"] is None)
    assert verify_report(with_leaf(without_intervals(EXAMPLE), ("items", position, "after"), "not sure")).ok
    assert found_out(with_leaf(EXAMPLE, ("items", position, "after"), "not sure"))


def test_a_document_that_is_no_report_is_refused() -> None:
    with pytest.raises(InvalidReportError):
        verify_report(b"{}")


SCORED = len(EXAMPLE["items"])


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("cost", "cachedRequests"), 2 * SCORED + 1),
        (("cost", "newRequests"), 2 * SCORED + 1),
        (("heldOutSet", "labelsChangedSinceFrozen"), SCORED + 1),
    ],
)
def test_a_count_that_no_evaluation_of_the_items_can_have_is_found(path: tuple[str, str], value: int) -> None:
    assert found_out(with_leaf(EXAMPLE, path, value))
    assert not found_out(with_leaf(EXAMPLE, path, value - 1))


def test_tokens_without_a_request_are_found() -> None:
    free = with_leaf(
        with_leaf(with_leaf(EXAMPLE, ("cost", "newRequests"), 0), ("cost", "tokensIn"), 0), ("cost", "tokensOut"), 0
    )
    assert not found_out(free)
    assert found_out(with_leaf(free, ("cost", "tokensIn"), 1))


def test_without_intervals_a_verdict_against_the_change_is_found() -> None:
    old = without_intervals(EXAMPLE)
    assert old["headline"]["changePoints"] > 0
    for verdict in ("improved", "no-clear-change"):
        assert not found_out(with_leaf(old, ("change", "verdict"), verdict))
    for verdict in ("worse", "too-few-labels", "nothing-learned-yet"):
        assert found_out(with_leaf(old, ("change", "verdict"), verdict))
