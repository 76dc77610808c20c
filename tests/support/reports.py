"""Held-out reports for tests and for looking at pages: of the format's shape, with numbers worked out item by item."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any


@dataclass(frozen=True)
class Group:
    """`count` items alike: the reviewers' label, the decisions before and after, and the weight."""

    label: str
    before: str | None
    after: str | None
    count: int
    weight: float = 1.0


SCREENING = (
    Group("include", "include", "include", 8),
    Group("include", "exclude", "include", 9),
    Group("include", "exclude", "exclude", 3),
    Group("exclude", "exclude", "exclude", 96),
    Group("exclude", "include", "exclude", 37),
    Group("exclude", "exclude", "include", 9),
    Group("exclude", "include", "include", 19),
)


def interval(low: float, high: float) -> dict[str, float]:
    """An interval as a report holds it."""
    return {"low": low, "high": high}


def report_of(
    groups: Sequence[Group] = SCREENING,
    *,
    labels: Sequence[str] = ("include", "exclude"),
    positive: str | None = "include",
    verdict: str = "improved",
    change_interval: tuple[float, float] | None = (10.1, 38.9),
    created_at: str = "2026-11-30T12:00:00+00:00",
    set_id: str = "set_3f2a91bc77",
    version: int = 4,
    **parts: Mapping[str, Any],
) -> dict[str, Any]:
    """A report about `groups`; `parts` are merged into its parts by name. Intervals are given, not computed."""
    items = [_item(group, f"{index}-{number}") for index, group in enumerate(groups) for number in range(group.count)]
    before, after = (_metrics(items, side, labels, positive) for side in ("before", "after"))
    outcomes = [item["outcome"] for item in items]
    report: dict[str, Any] = {
        "schema": "cyclotron-held-out-report/v1",
        "cyclotronId": "cyc_1",
        "classifier": {"id": "decision", "labels": list(labels), "positiveLabel": positive},
        "createdAt": created_at,
        "minimumPerLabel": 10,
        "headline": {
            "metric": "balancedAccuracy",
            "definition": "Balanced accuracy: each label's share of items decided right, averaged over the labels.",
            "before": before["balancedAccuracy"],
            "after": after["balancedAccuracy"],
            "changePoints": (after["balancedAccuracy"] - before["balancedAccuracy"]) * 100,
        },
        "before": {"version": 1, "refits": 0, "fingerprint": "5d" * 32, "metrics": before},
        "after": {"version": version, "refits": 12, "fingerprint": "a1" * 32, "metrics": after},
        "change": {
            **{name: outcomes.count(name) for name in ("gained", "lost", "bothRight", "bothWrong")},
            "pValue": 0.000012,
            "verdict": verdict,
            "summary": "The verdict follows the weighted 95% interval of the change, not the counts of items.",
        },
        "heldOutSet": {
            "id": set_id,
            "frozenAt": "2026-11-30T11:00:00+00:00",
            "size": len(items),
            "scored": len(items),
            "labelCounts": {label: sum(item["label"] == label for item in items) for label in labels},
            "excludedSinceFrozen": 0,
            "labelsChangedSinceFrozen": 0,
            "scoringNote": "Every item is scored by the label that was frozen.",
        },
        "cost": {"newRequests": 362, "cachedRequests": 0, "tokensIn": 184000, "tokensOut": 3620},
        "items": items,
    }
    if change_interval is not None:
        report["headline"] |= {
            "beforeInterval": _around(before["balancedAccuracy"], 0.1),
            "afterInterval": _around(after["balancedAccuracy"], 0.08),
            "changeInterval": interval(*change_interval),
        }
    for name, part in parts.items():
        report[name] = {**report[name], **part}
    return report


def _around(share: float, reach: float) -> dict[str, float]:
    return interval(max(0.0, share - reach), min(1.0, share + reach))


def _item(group: Group, item_id: str) -> dict[str, Any]:
    right = (group.before == group.label, group.after == group.label)
    names = {(False, True): "gained", (True, False): "lost", (True, True): "bothRight", (False, False): "bothWrong"}
    return {
        "itemId": item_id,
        "label": group.label,
        "before": group.before,
        "after": group.after,
        "weight": group.weight,
        "outcome": names[right],
    }


def _metrics(
    items: Sequence[Mapping[str, Any]], side: str, labels: Sequence[str], positive: str | None
) -> dict[str, Any]:
    held: dict[str, Fraction] = defaultdict(Fraction)
    right: dict[str, Fraction] = defaultdict(Fraction)
    chosen: dict[str, Fraction] = defaultdict(Fraction)
    for item in items:
        weight = Fraction(item["weight"])
        held[item["label"]] += weight
        chosen[item[side]] += weight
        if item[side] == item["label"]:
            right[item["label"]] += weight
    recalls = {label: float(right[label] / held[label]) if held[label] else None for label in labels}
    precisions = {label: float(right[label] / chosen[label]) if chosen[label] else None for label in labels}
    balanced = _mean(recalls)
    return {
        "balancedAccuracy": balanced,
        "accuracy": float(sum(right.values()) / sum(held.values())) if held else None,
        "precision": precisions[positive] if positive else _mean(precisions),
        "recall": recalls[positive] if positive else balanced,
        "perLabel": {
            label: {"agreement": recalls[label], "count": sum(item["label"] == label for item in items)}
            for label in labels
        },
    }


def _mean(values: Mapping[str, float | None]) -> float:
    defined = [value for value in values.values() if value is not None]
    return sum(defined) / len(defined)
