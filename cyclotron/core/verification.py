"""Verifying a report: recompute all that follows from its items, and say what it cannot know.

Source: spec held-out, sections 5 and 6. A report by itself can show that its numbers follow from its items; it cannot
show that the items are the frozen ones or that the decisions are a model's.
"""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from cyclotron.core.outcome import outcome_of
from cyclotron.core.report import SCORING_NOTE, Findings, change_json, findings_of, headline_json, learned_nothing
from cyclotron.core.report_format import read_report
from cyclotron.core.scored import ScoredItem
from cyclotron.core.verdict import Verdict

# Relative. The same arithmetic gives the same digits; other software that writes the format may differ in the last.
TOLERANCE = 1e-9

CANNOT_KNOW = (
    "That the items and labels are those of the frozen set: the set's id is a digest of content that a report lacks.",
    "That the decisions are the two versions' own (no model is asked), and which wrong label a wrong one was.",
    "That the weights are one over the recorded selection propensities.",
    "That nothing was learned from these items; the store's partitions say so, a report cannot.",
    "That versions, refits and fingerprints name what was evaluated, and that the minimum per label was asked for.",
    "The cost, the times, the items left out and the labels corrected since freezing, beyond their fitting together.",
)
NO_INTERVALS = "Intervals, verdict, wording: the report was written before intervals existed, and by other rules."
NOT_COMPUTABLE = "Any number: an item carries a label that the classifier does not declare."


@dataclass(frozen=True)
class Check:
    """One part of a report: what it must be (or must not exceed) by the rest, what it is, and whether that will do."""

    name: str
    ok: bool
    expected: Any
    found: Any

    def as_json(self) -> dict[str, Any]:
        """`{"name", "ok", "expected", "found"}`."""
        return {"name": self.name, "ok": self.ok, "expected": self.expected, "found": self.found}


@dataclass(frozen=True)
class Verification:
    """All checks of a report, and in sentences what none of them can tell."""

    checks: tuple[Check, ...]
    cannot_know: tuple[str, ...]

    @property
    def ok(self) -> bool:
        """Whether every check holds."""
        return all(check.ok for check in self.checks)

    @property
    def failed(self) -> tuple[Check, ...]:
        """The checks that do not hold."""
        return tuple(check for check in self.checks if not check.ok)

    def as_json(self) -> dict[str, Any]:
        """`{"ok", "checks", "cannotKnow"}`."""
        return {
            "ok": self.ok,
            "checks": [check.as_json() for check in self.checks],
            "cannotKnow": list(self.cannot_know),
        }


def verify_report(document: Mapping[str, Any] | bytes) -> Verification:
    """Check a report against its own items. Raises `InvalidReportError` when it breaks its schema.

    Names of checks are the paths of what they check (`headline.before`, `items.outcome`).
    """
    report = read_report(document)
    labels: list[str] = report["classifier"]["labels"]
    items = [
        ScoredItem(item["itemId"], item["label"], item["before"], item["after"], item["weight"])
        for item in report["items"]
    ]
    checks = [*_item_checks(report, items), *_set_checks(report, items), *_fact_checks(report)]
    cannot_know = list(CANNOT_KNOW)
    positive = report["classifier"]["positiveLabel"]
    if not {item.label for item in items} <= set(labels) or (positive is not None and positive not in labels):
        cannot_know.append(NOT_COMPUTABLE)
    else:
        found = findings_of(
            items,
            labels=labels,
            positive_label=positive,
            set_id=report["heldOutSet"]["id"],
            minimum_per_label=int(report["minimumPerLabel"]),
            nothing_learned=learned_nothing(report["after"]["version"], report["after"]["refits"]),
        )
        checks += _number_checks(report, found)
        if "changeInterval" not in report["headline"]:
            cannot_know.append(NO_INTERVALS)
    return Verification(tuple(checks), tuple(cannot_know))


def _item_checks(report: Mapping[str, Any], items: Sequence[ScoredItem]) -> Iterator[Check]:
    labels = set(report["classifier"]["labels"])
    times = Counter(item.item_id for item in items)
    yield _equal("items.itemId.repeated", 0, sum(count - 1 for count in times.values()))
    ids = [item.item_id for item in items]
    yield _equal("items.order", True, ids == sorted(ids))
    yield _equal("items.label.undeclared", 0, sum(item.label not in labels for item in items))
    if "changeInterval" in report["headline"]:
        # Since reports have intervals, what a model said instead of a label is null: it could quote the item.
        decided = [item[side] for item in report["items"] for side in ("before", "after")]
        undeclared = sum(label is not None and label not in labels for label in decided)
        yield _equal("items.decision.undeclared", 0, undeclared)
    wrong = sum(entry["outcome"] != outcome_of(item) for entry, item in zip(report["items"], items, strict=True))
    yield _equal("items.outcome.wrong", 0, wrong)


def _set_checks(report: Mapping[str, Any], items: Sequence[ScoredItem]) -> Iterator[Check]:
    held_out = report["heldOutSet"]
    scored = Counter(item.label for item in items)
    counts: Mapping[str, int] = held_out["labelCounts"]
    yield _equal("heldOutSet.scored", len(items), held_out["scored"])
    yield _equal("heldOutSet.size", len(items) + held_out["excludedSinceFrozen"], held_out["size"])
    yield _equal("heldOutSet.labelCounts.sum", held_out["size"], sum(counts.values()))
    yield _equal("heldOutSet.labelCounts.labels", sorted(report["classifier"]["labels"]), sorted(counts))
    if held_out["excludedSinceFrozen"] == 0:
        expected = {label: scored.get(label, 0) for label in report["classifier"]["labels"]}
        yield _equal("heldOutSet.labelCounts", expected, dict(counts))
    else:
        short = sum(counts.get(label, 0) < count for label, count in scored.items())
        yield _equal("heldOutSet.labelCounts.belowScored", 0, short)
    changed = held_out["labelsChangedSinceFrozen"]
    yield _at_most("heldOutSet.labelsChangedSinceFrozen", len(items), changed)
    frozen_at, created_at = held_out["frozenAt"], report["createdAt"]
    in_order = datetime.fromisoformat(frozen_at) <= datetime.fromisoformat(created_at)
    yield Check("heldOutSet.frozenAt", in_order, created_at, frozen_at)


def _fact_checks(report: Mapping[str, Any]) -> Iterator[Check]:
    before, after = report["before"], report["after"]
    positive = report["classifier"]["positiveLabel"]
    if positive is not None:
        yield _equal("classifier.positiveLabel.declared", True, positive in report["classifier"]["labels"])
    yield _equal("before.version", 1, before["version"])
    yield _equal("before.refits", 0, before["refits"])
    if after["fingerprint"] == before["fingerprint"] or learned_nothing(after["version"], after["refits"]):
        differing = sum(item["before"] != item["after"] for item in report["items"])
        yield _equal("items.differingUnderOneFingerprint", 0, differing)
    cost, most = report["cost"], 2 * len(report["items"])
    for name in ("newRequests", "cachedRequests"):
        yield _at_most(f"cost.{name}", most, cost[name])
    if cost["newRequests"] == 0:
        for name in ("tokensIn", "tokensOut"):
            yield _equal(f"cost.{name}", 0, cost[name])


def _number_checks(report: Mapping[str, Any], found: Findings) -> Iterator[Check]:
    with_intervals = "changeInterval" in report["headline"]
    for side, metrics in (("before", found.before), ("after", found.after)):
        yield from _compare(f"{side}.metrics", metrics.as_json(), report[side]["metrics"])
    headline, change = headline_json(found), change_json(found)
    if report["change"]["summary"] == found.unmeasured_summary:
        change["summary"] = found.unmeasured_summary
    if with_intervals:
        yield _equal("heldOutSet.scoringNote", SCORING_NOTE, report["heldOutSet"]["scoringNote"])
    else:
        for name in ("definition", "beforeInterval", "afterInterval", "changeInterval"):
            del headline[name]
        del change["verdict"], change["summary"]
        yield _possible_verdict(report["change"]["verdict"], found)
    for name, expected in headline.items():
        yield from _compare(f"headline.{name}", expected, report["headline"][name])
    for name, expected in change.items():
        yield from _compare(f"change.{name}", expected, report["change"][name])


def _possible_verdict(said: str, found: Findings) -> Check:
    """The verdict of a report without intervals: exact where none is needed, else one that the change allows."""
    if found.verdict in (Verdict.NOTHING_LEARNED_YET, Verdict.TOO_FEW_LABELS):
        return _equal("change.verdict", str(found.verdict), said)
    possible = [str(Verdict.NO_CLEAR_CHANGE)]
    if found.change_points > 0:
        possible.append(str(Verdict.IMPROVED))
    if found.change_points < 0:
        possible.append(str(Verdict.WORSE))
    return Check("change.verdict.possible", said in possible, possible, said)


def _at_most(name: str, most: int, found: int) -> Check:
    return Check(name, found <= most, most, found)


def _compare(name: str, expected: Any, found: Any) -> Iterator[Check]:
    """A check for each number or text below `name`; objects must have the same keys."""
    if isinstance(expected, dict) and isinstance(found, dict):
        if expected.keys() != found.keys():
            yield Check(f"{name}.keys", False, sorted(expected), sorted(found))
        for key in expected:
            if key in found:
                yield from _compare(f"{name}.{key}", expected[key], found[key])
    else:
        yield _equal(name, expected, found)


def _equal(name: str, expected: Any, found: Any) -> Check:
    if isinstance(expected, float) and isinstance(found, float | int):
        return Check(name, math.isclose(expected, found, rel_tol=TOLERANCE), expected, found)
    return Check(name, expected == found, expected, found)
