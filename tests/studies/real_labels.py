"""Does what the lab learns agree better with reviewers than its rubric, and no worse than a fitted baseline?

Three real reviews, each split by many seeds. For every seed a cyclotron replays the whole file, learns after every 20
training reviews, freezes its held-out set and evaluates it: `before` and `after` are its report's. `baseline` is fitted
on the same training reviews at once, and so is `learnedOnce`, the embedded learner without the way there. The same
runs say how far confidence can be believed.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray
from sklearn.metrics import balanced_accuracy_score

from cyclotron.adapters.local import LocalModel
from cyclotron.core.configuration import DecisionRequest
from cyclotron.core.definition import CyclotronDefinition
from cyclotron.core.draws import AUDIT, TRAINING, partition_of
from tests.studies.lab import side_by_side
from tests.studies.screening import RUBRICS, baseline, definition_of, learned_once, rows_of

NAME = "real-labels"
SEEDS = 20
BINS = 10
COMPARED = ("before", "baseline", "learnedOnce", "after")
"""What is measured on each held-out set."""


@dataclass(frozen=True)
class Confident:
    """Decisions of one column about one held-out set: how sure it was (shares), and whether it was right."""

    confidence: tuple[float, ...]
    right: tuple[bool, ...]


@dataclass(frozen=True)
class Split:
    """One review under one seed: balanced accuracies (shares), the report's change with its interval (percentage
    points) and verdict, and how sure the two columns were."""

    name: str
    seed: int
    held_out: int
    rarest: int
    accuracy: dict[str, float]
    change: float
    interval: dict[str, float]
    verdict: str
    version: int
    columns: dict[str, Confident]


def study(seeds: int, say: Callable[[str], None]) -> dict[str, Any]:
    """Every review under the seeds 0 to `seeds` - 1."""
    splits = side_by_side(_split, [(name, seed) for name in RUBRICS for seed in range(seeds)], say, with_lab=True)
    return {
        "seeds": seeds,
        "reviews": {name: _about([split for split in splits if split.name == name]) for name in RUBRICS},
        "splits": [{key: value for key, value in asdict(split).items() if key != "columns"} for split in splits],
    }


def _split(given: tuple[str, int]) -> Split:
    from cyclotron.actions.asking import Asker
    from cyclotron.actions.replaying import replay_rows
    from cyclotron.endpoints import active_column, column_of, first_version
    from cyclotron.engine import Cyclotron, open_store
    from kapsoweb.foundation import clock

    name, seed = given
    definition, rows, model = definition_of(name), rows_of(name), LocalModel()
    store = open_store(f"{name}-{seed}", CyclotronDefinition(str(seed), (definition,)))
    replay_rows(Asker(store, model, clock.now), rows)
    cyclotron = Cyclotron(store, model)
    cyclotron.freeze_held_out_set()
    report = asyncio.run(cyclotron.evaluate_held_out())

    training = [row for row in rows if partition_of(str(seed), row.item_id) == TRAINING]
    held_out = [row for row in rows if partition_of(str(seed), row.item_id) == AUDIT]
    truth = [row.label for row in held_out]
    classifier = store.classifier()
    columns = {
        "before": column_of(definition, first_version(store, classifier), None),
        "after": active_column(classifier),
    }
    decided = {
        side: [column.decide(model.answer(column.request(model.identity, row.text))) for row in held_out]
        for side, column in columns.items()
    }
    for side, decisions in decided.items():
        found = balanced_accuracy_score(truth, [each.label for each in decisions])
        if abs(found - report["headline"][side]) > 1e-9:
            raise AssertionError(f"{name}, seed {seed}: the report's {side} is not what its column decides")
    once, ml_model = learned_once(definition, training, seed=str(seed))
    answers = [model.answer(DecisionRequest(model.identity, once, row.text)) for row in held_out]
    counts = report["heldOutSet"]["labelCounts"]
    return Split(
        name=name,
        seed=seed,
        held_out=report["heldOutSet"]["scored"],
        rarest=min(counts.values()),
        accuracy={
            "before": report["headline"]["before"],
            "baseline": balanced_accuracy_score(truth, baseline(training).predict([row.text for row in held_out])),
            "learnedOnce": balanced_accuracy_score(
                truth, [ml_model.decide(definition, answer).label for answer in answers]
            ),
            "after": report["headline"]["after"],
        },
        change=report["headline"]["changePoints"],
        interval=report["headline"]["changeInterval"],
        verdict=report["change"]["verdict"],
        version=report["after"]["version"],
        columns={
            side: Confident(
                tuple(each.confidence for each in decisions),
                tuple(each.label == label for each, label in zip(decisions, truth, strict=True)),
            )
            for side, decisions in decided.items()
        },
    )


def _about(splits: Sequence[Split]) -> dict[str, Any]:
    """One review over its seeds: means and paired differences with their standard errors, verdicts, calibration."""
    accuracy = {side: np.array([split.accuracy[side] for split in splits]) for side in COMPARED}
    return {
        "items": len(rows_of(splits[0].name)),
        "rubric": RUBRICS[splits[0].name],
        "heldOut": _mean([split.held_out for split in splits]),
        "rarest": _mean([split.rarest for split in splits]),
        "balancedAccuracy": {side: _mean(values) for side, values in accuracy.items()},
        "differencePoints": {
            f"{one} - {other}": _mean(100.0 * (accuracy[one] - accuracy[other]))
            for one, other in (
                ("after", "before"),
                ("after", "baseline"),
                ("learnedOnce", "baseline"),
                ("after", "learnedOnce"),
            )
        },
        "verdicts": {
            verdict: sum(split.verdict == verdict for split in splits)
            for verdict in sorted({split.verdict for split in splits})
        },
        "calibration": {side: calibration([split.columns[side] for split in splits]) for side in ("before", "after")},
    }


def _mean(values: Sequence[float] | NDArray[np.float64]) -> dict[str, float]:
    """The mean over splits and its standard error. Splits of one file share items: the error is of the split alone."""
    return {"mean": float(np.mean(values)), "error": float(np.std(values, ddof=1) / np.sqrt(len(values)))}


def calibration(sets: Sequence[Confident]) -> dict[str, Any]:
    """How far confidence can be believed: decisions of all sets in bins of a tenth, and the expected calibration error.

    That is the mean over decisions of the distance between a bin's mean confidence and its share of right decisions
    (Naeini et al., AAAI 2015). Its interval resamples sets, 1,000 times, percentile.
    """
    tables = np.array([_bins(each) for each in sets])  # (sets, bins, 3): decisions, sum of confidence, right
    whole = tables.sum(axis=0)
    stream = np.random.Generator(np.random.PCG64(0))
    resampled = [_error(tables[stream.integers(len(tables), size=len(tables))].sum(axis=0)) for _ in range(1_000)]
    return {
        "expectedCalibrationError": _error(whole),
        "interval": [float(edge) for edge in np.quantile(resampled, (0.025, 0.975))],
        "decisions": int(whole[:, 0].sum()),
        "bins": [
            {
                "from": place / BINS,
                "decisions": int(count),
                "confidence": confidence / count if count else None,
                "right": right / count if count else None,
            }
            for place, (count, confidence, right) in enumerate(whole.tolist())
        ],
    }


def _bins(found: Confident) -> NDArray[np.float64]:
    confidence = np.array(found.confidence)
    places = np.minimum((confidence * BINS).astype(int), BINS - 1)
    columns = (np.ones_like(confidence), confidence, np.array(found.right, dtype=float))
    return np.stack([np.bincount(places, weights=column, minlength=BINS) for column in columns], axis=1)


def _error(table: NDArray[np.float64]) -> float:
    return float(np.abs(table[:, 1] - table[:, 2]).sum() / table[:, 0].sum())


def plot(found: dict[str, Any], figure: Figure) -> None:
    """Above, the four balanced accuracies of every split; below, how often decisions of a confidence were right."""
    figure.set_size_inches(10.0, 7.5)
    axes = figure.subplots(2, len(found["reviews"]))
    for (name, about), above, below in zip(found["reviews"].items(), *axes, strict=True):
        _plot_accuracy(above, name, about, [split for split in found["splits"] if split["name"] == name])
        _plot_reliability(below, about["calibration"])
    axes[0][0].set_ylabel("balanced accuracy, held out")
    axes[1][0].set_ylabel("share of right decisions")
    axes[1][0].legend(frameon=False, loc="upper left")


def _plot_accuracy(axes: Axes, name: str, about: dict[str, Any], splits: Sequence[dict[str, Any]]) -> None:
    words = {
        "before": "rubric\nalone",
        "baseline": "TF-IDF +\nlogistic",
        "learnedOnce": "learned\nonce",
        "after": "learned\nin use",
    }
    for place, side in enumerate(COMPARED):
        values = [split["accuracy"][side] for split in splits]
        spread = place + np.linspace(-0.2, 0.2, len(values))
        axes.plot(spread, sorted(values), ".", color="0.6", markersize=4)
        mean = about["balancedAccuracy"][side]
        axes.errorbar(place, mean["mean"], yerr=2 * mean["error"], fmt="o", color="C0", capsize=3)
        axes.annotate(f"{mean['mean']:.3f}", (place, 0.42), ha="center", fontsize=8)
    axes.set_xticks(range(len(COMPARED)), [words[side] for side in COMPARED], fontsize=8)
    axes.set_ylim(0.4, 1.0)
    axes.set_title(f"{name}: {about['items']} items, {len(splits)} splits", fontsize=10)


def _plot_reliability(axes: Axes, calibrated: dict[str, Any]) -> None:
    axes.plot([0, 1], [0, 1], color="0.8", linewidth=1)
    for (side, about), color in zip(calibrated.items(), ("0.5", "C0"), strict=True):
        bins = [each for each in about["bins"] if each["decisions"] >= 20]
        error = about["expectedCalibrationError"]
        axes.plot(
            [each["confidence"] for each in bins],
            [each["right"] for each in bins],
            "o-",
            color=color,
            label=side,
            markersize=4,
        )
        axes.annotate(f"{side}: ECE {error:.3f}", (0.97, 0.12 if side == "before" else 0.04), ha="right", fontsize=8)
    axes.set_xlim(0.0, 1.0)
    axes.set_ylim(0.0, 1.0)
    axes.set_xlabel("confidence", fontsize=9)
