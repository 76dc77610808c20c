"""The embedded learner on real screening decisions, against TF-IDF and logistic regression on the same reviews."""

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score

from cyclotron.adapters.local import LocalModel
from cyclotron.core.configuration import Answer, Configuration, DecisionRequest, Endpoint
from cyclotron.core.definition import ClassifierDefinition
from cyclotron.core.draws import AUDIT, TRAINING, partition_of
from cyclotron.core.learning import FitExample, LabelledText, assign_folds, fit_ml_model, propose

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


def decisions(folder: Path, name: str) -> list[LabelledText]:
    with (folder / f"{name}.csv").open(encoding="utf-8", newline="") as source:
        rows = {row["pubmedID"]: row for row in csv.DictReader(source)}
    return [
        LabelledText(key, f"{row['title']}\n\n{row['abstracts']}", "include" if row["label1"] == "I" else "exclude")
        for key, row in rows.items()
    ]


def answers(configuration: Configuration, reviews: Sequence[LabelledText]) -> list[Answer]:
    endpoint, model = Endpoint(SCREENING, configuration), LocalModel()
    return [model.answer(DecisionRequest(model.identity, endpoint, review.text)) for review in reviews]


def scores(reviews: Sequence[LabelledText], seed: str) -> Scores:
    training = [review for review in reviews if partition_of(seed, review.item_id) == TRAINING]
    audit = [review for review in reviews if partition_of(seed, review.item_id) == AUDIT]
    start = Configuration.seed_of(SCREENING)
    folds = assign_folds([review.item_id for review in training], seed=seed, folds=5)
    examples: list[FitExample] = []
    for fold in range(5):
        held = [review for review in training if folds[review.item_id] == fold]
        others = [review for review in training if folds[review.item_id] != fold]
        found = answers(propose(SCREENING, start, others, seed=seed), held)
        examples += [FitExample(answer, item.label, item.weight) for answer, item in zip(found, held, strict=True)]
    learned = propose(SCREENING, start, training, seed=seed)
    ml_model = fit_ml_model(SCREENING, learned, examples, seed=seed)
    assert ml_model is not None
    decided = [ml_model.decide(SCREENING, answer) for answer in answers(learned, audit)]
    vectors = TfidfVectorizer(sublinear_tf=True, min_df=2, stop_words="english")
    rows = vectors.fit_transform([review.text for review in training])
    baseline = LogisticRegression(class_weight="balanced", max_iter=1_000)
    baseline.fit(rows, [review.label for review in training])
    truth = [review.label for review in audit]
    return Scores(
        balanced_accuracy_score(truth, [item.label for item in decided]),
        balanced_accuracy_score(truth, baseline.predict(vectors.transform([review.text for review in audit]))),
        np.array([item.confidence for item in decided]),
        np.array([item.label == label for item, label in zip(decided, truth, strict=True)]),
    )


@pytest.mark.parametrize("name", ["adhd", "nsaids", "estrogens"])
def test_it_is_not_below_the_baseline_and_its_confidence_holds(screening_data: Path, name: str) -> None:
    reviews = decisions(screening_data, name)
    found = [scores(reviews, seed) for seed in SEEDS]
    assert np.mean([item.learner - item.baseline for item in found]) > -TOLERANCE
    confidence, right = (np.concatenate([getattr(item, part) for item in found]) for part in ("confidence", "right"))
    bins = np.minimum((confidence * 10).astype(int), 9)
    gap = sum(abs(float(np.sum(confidence[bins == place] - right[bins == place]))) for place in range(10))
    assert gap / len(bins) < 0.08
