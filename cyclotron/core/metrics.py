"""How well one column of a comparison agrees with the frozen labels. Source: spec held-out, section 5.

Every sum of weights is exactly rounded, so a metric does not depend on the order of the items. A ratio without a
denominator is None, never 0, and a macro average is taken over the labels whose ratio is defined.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from cyclotron.core.cells import Ints, count_cells, exact_sum
from cyclotron.core.errors import InvalidScoredItemsError
from cyclotron.core.scored import Codes, ScoredColumns


@dataclass(frozen=True)
class LabelAgreement:
    """Agreement on one label: the weighted share of its items decided right (None without items), and their number."""

    agreement: float | None
    count: int


@dataclass(frozen=True)
class EndpointMetrics:
    """A column's metrics, all shares in 0..1 and weighted.

    `precision` and `recall` are those of the positive label, or macro averages without one; None where undefined.
    `per_label` has every declared label, in the declared order.
    """

    balanced_accuracy: float
    accuracy: float
    precision: float | None
    recall: float | None
    per_label: Mapping[str, LabelAgreement]

    def as_json(self) -> dict[str, Any]:
        """The report's `metrics`."""
        return {
            "balancedAccuracy": self.balanced_accuracy,
            "accuracy": self.accuracy,
            "precision": self.precision,
            "recall": self.recall,
            "perLabel": {
                label: {"agreement": agreement.agreement, "count": agreement.count}
                for label, agreement in self.per_label.items()
            },
        }


def endpoint_metrics(columns: ScoredColumns, decided: Codes, positive_label: str | None = None) -> EndpointMetrics:
    """Metrics of the column whose decisions are `decided`: `columns.before` or `columns.after`.

    A decision that is not a declared label is wrong: it counts against accuracy and recall, and for no precision.
    Raises `InvalidScoredItemsError` when `positive_label` is not declared.
    """
    labels = columns.labels
    if positive_label is not None and positive_label not in labels:
        raise InvalidScoredItemsError("the positive label is not a declared label.", positiveLabel=positive_label)
    width = len(labels) + 1

    def key_of(block: slice) -> Ints:
        key = columns.label[block].astype(np.int64) * width
        key += decided[block]
        key += 1
        return key

    cells = count_cells(key_of, len(labels) * width, columns.weight)
    label, answer = np.divmod(cells.key, width)
    answer -= 1
    correct = label == answer
    right, held, chosen = [], [], []
    for code in range(len(labels)):
        right.append(exact_sum(cells, correct & (label == code)))
        held.append(exact_sum(cells, label == code))
        chosen.append(exact_sum(cells, answer == code))
    recalls = [_ratio(*pair) for pair in zip(right, held, strict=True)]
    precisions = [_ratio(*pair) for pair in zip(right, chosen, strict=True)]
    balanced = _mean(recalls)
    accuracy = _ratio(exact_sum(cells, correct), exact_sum(cells, label >= 0))
    if balanced is None or accuracy is None:
        raise InvalidScoredItemsError("there is no scored item.")
    positive = None if positive_label is None else labels.index(positive_label)
    counts = np.bincount(label, weights=cells.count, minlength=len(labels)).astype(np.int64).tolist()
    return EndpointMetrics(
        balanced_accuracy=balanced,
        accuracy=accuracy,
        precision=_mean(precisions) if positive is None else precisions[positive],
        recall=balanced if positive is None else recalls[positive],
        per_label={
            name: LabelAgreement(agreement, count)
            for name, agreement, count in zip(labels, recalls, counts, strict=True)
        },
    )


def _ratio(part: float, whole: float) -> float | None:
    return part / whole if whole > 0 else None


def _mean(values: Iterable[float | None]) -> float | None:
    """The mean of the values that are defined, or None when there are none."""
    defined = [value for value in values if value is not None]
    return math.fsum(defined) / len(defined) if defined else None
