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

from cyclotron.core.definition import ClassifierDefinition
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


def rows_of(name: str) -> list[ReplayRow]:
    """The decisions of one review in the order of its file, below KAPSOWEB_TEST_DATA; every row has a label."""
    place = os.environ.get("KAPSOWEB_TEST_DATA")
    if not place:
        raise SystemExit("real labels: set KAPSOWEB_TEST_DATA to the folder that holds drug-class-review/adhd.csv")
    table = read_rows((Path(place) / "drug-class-review" / f"{name}.csv").read_bytes(), [])
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
