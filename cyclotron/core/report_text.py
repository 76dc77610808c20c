"""A held-out report as CSV (its items) and as Markdown (sentence first, tables after, every number with its count)."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from cyclotron.core.csv_text import csv_text
from cyclotron.core.intervals import Interval, change_points
from cyclotron.core.outcome import Outcome
from cyclotron.core.wording import NONE, counted, grouped, interval_words, p_value, percent, points

CSV_COLUMNS = ("itemId", "label", "before", "after", "weight", "outcome")


def report_json(report: Mapping[str, Any]) -> str:
    """The report as indented JSON with a last line end."""
    return json.dumps(report, ensure_ascii=False, allow_nan=False, indent=2) + "\n"


def report_csv(report: Mapping[str, Any]) -> str:
    """The report's items, one row each under a header. A decision that is no declared label is an empty cell."""
    return csv_text(CSV_COLUMNS, ([item[column] for column in CSV_COLUMNS] for item in report["items"]))


def report_markdown(report: Mapping[str, Any]) -> str:
    """The report in Markdown: summary, numbers with their counts, set, cost. Items are left to CSV and JSON."""
    parts = [
        f"# Held-out report: {_inline(report['classifier']['id'])}",
        _inline(report["change"]["summary"]),
        _headline(report),
        _per_label(report),
        _outcomes(report),
        _set(report),
        f"{_inline(report['headline']['definition'])}",
    ]
    return "\n\n".join(parts) + "\n"


def _headline(report: Mapping[str, Any]) -> str:
    headline, scored = report["headline"], report["heldOutSet"]["scored"]
    before, after = report["before"], report["after"]
    rows = [
        (
            "Balanced accuracy",
            _with_interval(percent(headline["before"]), headline.get("beforeInterval"), percent),
            _with_interval(percent(headline["after"]), headline.get("afterInterval"), percent),
            _with_interval(points(headline["changePoints"]), headline.get("changeInterval"), points),
        )
    ]
    for name, key in (("Accuracy", "accuracy"), ("Precision", "precision"), ("Recall", "recall")):
        rows.append((name, *_pair(before["metrics"][key], after["metrics"][key])))
    return _table((f"Weighted, {counted(scored, 'item')}", _version(before), _version(after), "Change in points"), rows)


def _per_label(report: Mapping[str, Any]) -> str:
    before, after = (report[side]["metrics"]["perLabel"] for side in ("before", "after"))
    rows = []
    for label in report["classifier"]["labels"]:
        absent = {"agreement": None, "count": 0}
        first, second = before.get(label, absent), after.get(label, absent)
        rows.append((_inline(label), grouped(second["count"]), *_pair(first["agreement"], second["agreement"])))
    return _table(("Agreement on label", "Items", "Before", "After", "Change in points"), rows)


def _outcomes(report: Mapping[str, Any]) -> str:
    change = report["change"]
    rows = [(outcome.meaning, grouped(change[outcome])) for outcome in Outcome]
    return (
        f"{_table(('Outcome, unweighted', 'Items'), rows)}\n\n"
        f"Exact two-sided sign test of {Outcome.GAINED.meaning} against {Outcome.LOST.meaning}: "
        f"{p_value(change['pValue'])}."
    )


def _set(report: Mapping[str, Any]) -> str:
    held_out, cost = report["heldOutSet"], report["cost"]
    return "\n".join(
        (
            f"- Held-out set {_inline(held_out['id'])}, frozen {held_out['frozenAt']}: "
            f"{counted(held_out['size'], 'item')}, {grouped(held_out['scored'])} scored, "
            f"{grouped(held_out['excludedSinceFrozen'])} left out since, "
            f"{grouped(held_out['labelsChangedSinceFrozen'])} with a label corrected since.",
            f"- Verdict: {report['change']['verdict']}; "
            f"every label needs {grouped(report['minimumPerLabel'])} scored items.",
            f"- Cost: {counted(cost['newRequests'], 'new request')}, {grouped(cost['cachedRequests'])} cached, "
            f"{grouped(cost['tokensIn'])} tokens in, {grouped(cost['tokensOut'])} out.",
            f"- Written {report['createdAt']} for cyclotron {_inline(report['cyclotronId'])}.",
        )
    )


def _version(column: Mapping[str, Any]) -> str:
    refits = f", refit {column['refits']}" if column["refits"] else ", no ML model"
    return f"Version {column['version']}{refits}"


def _pair(before: float | None, after: float | None) -> tuple[str, str, str]:
    change = NONE if before is None or after is None else points(change_points(before, after))
    return _share(before), _share(after), change


def _share(value: float | None) -> str:
    return f"{NONE} (undefined)" if value is None else percent(value)


def _with_interval(value: str, interval: Mapping[str, Any] | None, write: Callable[[float], str]) -> str:
    if interval is None:
        return f"{value} (no interval: written before intervals existed)"
    return f"{value} ({interval_words(Interval.from_json(interval), write)})"


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table whose first column is text and whose others are figures."""
    lines = ["| " + " | ".join(header) + " |", "| --- |" + " ---: |" * (len(header) - 1)]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join(lines)


def _inline(text: str) -> str:
    """Text that Markdown and HTML leave as it is, on one line."""
    one_line = " ".join(text.split())
    return "".join("\\" + character if character in "\\`*_[]<>|#&~$" else character for character in one_line)
