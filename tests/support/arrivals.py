"""Labelled texts that an embedded learner can learn from, and all that a store holds once they have arrived."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cyclotron.core.draws import partition_of
from cyclotron.core.replay import ReplayRow
from cyclotron.models import (
    DecisionOutput,
    Event,
    LearningStep,
    MlModelRecord,
    OutOfFoldAnswer,
    Review,
    Version,
)
from cyclotron.store import Store
from tests.support.cyclotrons import SEED

WORDS = {
    "include": ("stimulant", "attention", "school", "child", "methylphenidate", "hyperactive"),
    "exclude": ("surgery", "anaesthesia", "fracture", "kidney", "cardiac", "vaccine"),
}
COMMON = ("trial", "study", "group", "patients", "results", "weeks", "dose", "outcome")


def arrivals(count: int, *, markers: Mapping[str, str] | None = None, seed: int = 0) -> list[ReplayRow]:
    """Rows of two labels whose words lean to their label.

    `markers` maps a partition to a word that each text of it holds beside the label: `MARKERinclude` and so on.
    """
    draw = random.Random(seed)
    rows = []
    for number in range(count):
        identity = f"item-{number}"
        label = "include" if draw.random() < 0.45 else "exclude"
        other = "exclude" if label == "include" else "include"
        words = [draw.choice(WORDS[label if draw.random() < 0.75 else other]) for _ in range(4)]
        words += [draw.choice(COMMON) for _ in range(4)]
        draw.shuffle(words)
        marker = (markers or {}).get(partition_of(SEED, identity))
        if marker:
            words += [f"{marker}{label}", marker]
        rows.append(ReplayRow(number + 2, identity, " ".join(words), label))
    return rows


def write_rows(path: Path, count: int) -> Path:
    """A CSV file of `arrivals` with the columns id, text and label."""
    lines = [f"{row.item_id},{row.text},{row.label}" for row in arrivals(count)]
    path.write_text("\n".join(["id,text,label", *lines]) + "\n")
    return path


def flipped(rows: Sequence[ReplayRow], partition: str) -> list[ReplayRow]:
    """The same rows with the other label wherever the item is in `partition`."""
    other = {"include": "exclude", "exclude": "include"}
    return [
        ReplayRow(row.line, row.item_id, row.text, other[row.label])
        if partition_of(SEED, row.item_id) == partition
        else row
        for row in rows
    ]


@dataclass(frozen=True)
class Held:
    """All that a store holds of what was learned and decided, without ids and times."""

    versions: list[Any]
    ml_models: list[Any]
    out_of_fold: list[Any]
    steps: list[Any]
    decisions: list[Any]
    reviews: list[Any]
    events: list[Any]


def held(store: Store) -> Held:
    """What `store` holds; the number of new requests of a learning step is left out, as the cache may have helped."""
    own = {"classifier__cyclotron_id": store.cyclotron_id}
    outputs = DecisionOutput.objects.filter(**own).order_by("decision__item_id", "decision_id", "classifier__position")
    return Held(
        versions=_rows(
            Version.objects.filter(**own).order_by("classifier__position", "number"),
            "classifier__name number configuration digest training_reviews",
        ),
        ml_models=_rows(
            MlModelRecord.objects.filter(version__classifier__cyclotron_id=store.cyclotron_id).order_by(
                "version__classifier__position", "version__number", "refit"
            ),
            "version__classifier__name version__number refit numbers digest fitted_on",
        ),
        out_of_fold=_rows(
            OutOfFoldAnswer.objects.filter(version__classifier__cyclotron_id=store.cyclotron_id).order_by(
                "version_id", "item__identity"
            ),
            "version__number item__identity fingerprint",
        ),
        steps=_rows(
            LearningStep.objects.filter(**own).order_by("classifier__position", "number"),
            "classifier__name number training_reviews outcome version refit candidate_digest active_accuracy "
            "candidate_accuracy development_items",
        ),
        decisions=_rows(
            outputs,
            "decision__item__identity decision__sent decision__reason decision__propensity classifier__name label "
            "confidence probabilities version refit fingerprint",
        ),
        reviews=_rows(store.all(Review).order_by("id"), "identity item__identity label selected_by reviewer"),
        events=[
            (sequence, kind, {name: value for name, value in detail.items() if name != "decision"})
            for sequence, kind, detail in store.all(Event)
            .order_by("sequence")
            .values_list("sequence", "kind", "detail")
        ],
    )


def _rows(query: Any, names: str) -> list[Any]:
    return list(query.values_list(*names.split()))
