"""Inputs of held-out reports for tests, and the example that ships beside the schema.

`python -m tests.support.held_out_reports` writes the example again; a test compares the file with what the code builds.
"""

import json
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from cyclotron.core.definition import ClassifierDefinition
from cyclotron.core.report import CostFacts, EndpointFacts, ReportInputs, SetFacts, build_report
from cyclotron.core.report_format import EXAMPLE_FILE
from cyclotron.core.scored import ScoredItem

FROZEN_AT = datetime(2026, 3, 2, 9, 30, tzinfo=UTC)
CREATED_AT = datetime(2026, 3, 2, 9, 31, 15, 250000, tzinfo=UTC)
EXAMPLE_PATH = Path(__file__).parents[2] / "cyclotron" / "schemas" / EXAMPLE_FILE


def report_inputs(
    items: Sequence[ScoredItem],
    labels: tuple[str, ...] = ("include", "exclude"),
    positive_label: str | None = None,
    **changes: Any,
) -> ReportInputs:
    """Inputs around `items`, all of the set's items scored; `changes` replace fields of the inputs."""
    inputs = ReportInputs(
        cyclotron_id="cyc_example",
        definition=ClassifierDefinition("screening", labels, "Should it be included?", positive_label=positive_label),
        created_at=CREATED_AT,
        minimum_per_label=10,
        before=EndpointFacts(version=1, refits=0, fingerprint="0f" * 32),
        after=EndpointFacts(version=3, refits=5, fingerprint="a7" * 32),
        held_out_set=SetFacts(
            id="5e" * 32,
            frozen_at=FROZEN_AT,
            size=len(items),
            label_counts=Counter(item.label for item in items),
            excluded_since_frozen=0,
            labels_changed_since_frozen=0,
        ),
        cost=CostFacts(new_requests=0, cached_requests=2 * len(items), tokens_in=0, tokens_out=0),
        items=items,
    )
    return replace(inputs, **changes)


def random_items(
    size: int,
    *,
    labels: Sequence[str] = ("include", "exclude"),
    weights: Sequence[float] = (1.0, 2.0, 1 / 0.3),
    right: tuple[float, float] = (0.5, 0.8),
    seed: int = 0,
) -> list[ScoredItem]:
    """`size` items whose decisions before and after are right with the probabilities `right`, or anything."""
    draw = random.Random(seed)
    answers = [*labels, "undeclared", None]
    items = []
    for number in range(size):
        label = draw.choice(labels)
        before, after = (label if draw.random() < share else draw.choice(answers) for share in right)
        items.append(ScoredItem(f"item-{number}", label, before, after, draw.choice(weights)))
    return items


def example_report() -> dict[str, Any]:
    """The example: 64 of 65 frozen items scored, 18 of the rarer label, with weights of a tapered review rate."""
    draw = random.Random(20260302)
    items = []
    for number in range(64):
        label = "include" if number % 7 in (2, 5) else "exclude"
        before = label if draw.random() < (0.4 if label == "include" else 0.75) else _other(label)
        after = label if draw.random() < 0.85 else _other(label)
        items.append(ScoredItem(f"trial-{1000 + 17 * number}", label, before, after, draw.choice((1.0, 1.0, 4.0))))
    items[9] = replace(items[9], after="not sure")
    inputs = report_inputs(items, positive_label="include")
    counts = Counter(item.label for item in items)
    counts["exclude"] += 1
    return build_report(
        replace(
            inputs,
            held_out_set=replace(
                inputs.held_out_set,
                size=65,
                label_counts=counts,
                excluded_since_frozen=1,
                labels_changed_since_frozen=2,
            ),
            cost=CostFacts(new_requests=70, cached_requests=58, tokens_in=31904, tokens_out=2210),
        )
    )


def _other(label: str) -> str:
    return "exclude" if label == "include" else "include"


def as_text(report: dict[str, Any]) -> str:
    """The report as the example is laid out: indented, one item a line."""
    items = ",\n".join("    " + json.dumps(item, ensure_ascii=False) for item in report["items"])
    head = json.dumps({**report, "items": []}, ensure_ascii=False, indent=2)
    return head.removesuffix("[]\n}") + "[\n" + items + "\n  ]\n}\n"


if __name__ == "__main__":
    EXAMPLE_PATH.write_text(as_text(example_report()), encoding="utf-8")
