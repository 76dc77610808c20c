"""Real screening decisions as cyclotrons, and the baseline that a learner has to stand beside.

Three systematic drug class reviews (Cohen et al., JAMIA 2006): an article is included or excluded by its title and
abstract. An item's text is both; its label is the decision on the abstract (`I`, or a reason against it).
"""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline

from cyclotron.adapters.local import LocalModel
from cyclotron.core.configuration import Configuration, DecisionRequest, Endpoint
from cyclotron.core.definition import ClassifierDefinition
from cyclotron.core.learning import FitExample, LabelledText, assign_folds, fit_ml_model, propose
from cyclotron.core.learning.ml_model import MlModel
from cyclotron.core.replay import ReplayRow, parse_replay
from kapsoweb.foundation.strict_csv import read_rows

INCLUDE, EXCLUDE = "include", "exclude"

RUBRICS: Mapping[str, str] = {
    "adhd": "Include trials of medicines for attention deficit hyperactivity disorder in children or adults.",
    "nsaids": "Include trials of non-steroidal anti-inflammatory drugs, such as celecoxib, for pain and arthritis.",
    "estrogens": "Include trials of estrogens for symptoms of menopause, such as hot flashes, or for bone density.",
}
"""For each review the one sentence with which an editor could begin; written from the review's title alone."""


def definition_of(name: str) -> ClassifierDefinition:
    """The classifier that screens for one of the reviews."""
    return ClassifierDefinition(
        "screening",
        (INCLUDE, EXCLUDE),
        "Should this article be included?",
        positive_label=INCLUDE,
        rubric=RUBRICS[name],
    )


def screening_data() -> Path:
    """The folder of real screening decisions below KAPSOWEB_TEST_DATA."""
    place = os.environ.get("KAPSOWEB_TEST_DATA")
    if not place:
        raise SystemExit("real labels: set KAPSOWEB_TEST_DATA to the folder that holds drug-class-review/adhd.csv")
    return Path(place) / "drug-class-review"


def rows_of(name: str, folder: Path | None = None) -> list[ReplayRow]:
    """The decisions of one review in the order of its file (in `screening_data()` unless said); each has a label."""
    table = read_rows(((folder or screening_data()) / f"{name}.csv").read_bytes(), [])
    rows, bad = parse_replay(
        table.rows,
        id_column="pubmedID",
        text_columns=("title", "abstracts"),
        label_column="label1",
        mapping={"I": INCLUDE},
        otherwise=EXCLUDE,
        labels=(INCLUDE, EXCLUDE),
    )
    unfit = [row.line for row in (*table.bad, *bad)]
    if unfit:
        raise SystemExit(f"{name}.csv: lines {unfit} cannot be used")
    return rows


def baseline(training: Sequence[ReplayRow]) -> Pipeline:
    """TF-IDF with balanced logistic regression, fitted on training reviews: the first thing to try."""
    pipeline = make_pipeline(
        TfidfVectorizer(sublinear_tf=True, min_df=2, stop_words="english"),
        LogisticRegression(class_weight="balanced", max_iter=1_000),
    )
    return pipeline.fit([row.text for row in training], [row.label for row in training])


def learned_once(
    definition: ClassifierDefinition, training: Sequence[ReplayRow], *, seed: str
) -> tuple[Endpoint, MlModel]:
    """What the embedded learner makes of all training reviews in one step, as `cyclotron.actions.learning` does it."""
    model, start = LocalModel(), Configuration.seed_of(definition)
    reviews = [LabelledText(row.item_id, row.text, row.label or "") for row in training]
    folds = assign_folds([review.item_id for review in reviews], seed=seed, folds=5)
    examples: list[FitExample] = []
    for fold in range(5):
        others = [review for review in reviews if folds[review.item_id] != fold]
        endpoint = Endpoint(definition, propose(definition, start, others, seed=seed))
        examples += [
            FitExample(model.answer(DecisionRequest(model.identity, endpoint, review.text)), review.label)
            for review in reviews
            if folds[review.item_id] == fold
        ]
    learned = propose(definition, start, reviews, seed=seed)
    ml_model = fit_ml_model(definition, learned, examples, seed=seed)
    if ml_model is None:
        raise AssertionError("too few reviews of a label to fit on")
    return Endpoint(definition, learned), ml_model
