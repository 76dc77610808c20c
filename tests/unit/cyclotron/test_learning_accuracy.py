"""The embedded learner on real screening decisions, against TF-IDF and logistic regression on the same reviews."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.metrics import balanced_accuracy_score

from cyclotron.adapters.local import LocalModel
from cyclotron.core.configuration import DecisionRequest
from cyclotron.core.definition import ClassifierDefinition
from cyclotron.core.draws import AUDIT, TRAINING, partition_of
from cyclotron.core.replay import ReplayRow
from tests.studies.screening import baseline, learned_once, rows_of

SEEDS = ("0", "1", "2", "3")
TOLERANCE = 0.03  # about twice the standard error of the mean difference at four seeds
SCREENING = ClassifierDefinition(
    "screening", ("include", "exclude"), "Include it?", positive_label="include", rubric="Include controlled trials."
)


@dataclass(frozen=True)
class Scores:
    """Held-out balanced accuracy of the learner and the baseline, and the learner's confidence and success."""

    learner: float
    baseline: float
    confidence: NDArray[np.float64]
    right: NDArray[np.bool_]


def scores(rows: Sequence[ReplayRow], seed: str) -> Scores:
    training = [row for row in rows if partition_of(seed, row.item_id) == TRAINING]
    audit = [row for row in rows if partition_of(seed, row.item_id) == AUDIT]
    endpoint, ml_model = learned_once(SCREENING, training, seed=seed)
    model = LocalModel()
    answers = [model.answer(DecisionRequest(model.identity, endpoint, row.text)) for row in audit]
    decided = [ml_model.decide(SCREENING, answer) for answer in answers]
    truth = [row.label for row in audit]
    return Scores(
        balanced_accuracy_score(truth, [item.label for item in decided]),
        balanced_accuracy_score(truth, baseline(training).predict([row.text for row in audit])),
        np.array([item.confidence for item in decided]),
        np.array([item.label == label for item, label in zip(decided, truth, strict=True)]),
    )


@pytest.mark.parametrize("name", ["adhd", "nsaids", "estrogens"])
def test_it_is_not_below_the_baseline_and_its_confidence_holds(screening_data: Path, name: str) -> None:
    rows = rows_of(name, screening_data)
    found = [scores(rows, seed) for seed in SEEDS]
    assert np.mean([item.learner - item.baseline for item in found]) > -TOLERANCE
    confidence, right = (np.concatenate([getattr(item, part) for item in found]) for part in ("confidence", "right"))
    bins = np.minimum((confidence * 10).astype(int), 9)
    gap = sum(abs(float(np.sum(confidence[bins == place] - right[bins == place]))) for place in range(10))
    assert gap / len(bins) < 0.08
