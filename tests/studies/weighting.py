"""Do weights undo what sampled review does to the numbers?

Items arrive, review tapers, and what was reviewed is measured twice: with weights `1 / p`, as the lab does it, and
without. The truth is that of all decisions, reviewed or not.
"""

from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from cyclotron.core.metrics import endpoint_metrics
from tests.studies.lab import side_by_side
from tests.studies.simulated import RARE_SHARE, World, arrive

NAME = "weighting"
SEEDS = 4_000
ARRIVING = 1_500
"""Items of the audit partition that arrive in one simulation; about half of them are reviewed where review tapers."""

WORLDS = tuple(World(0.4, *given) for given in product((False, True), (False, True)))
MEASURED = ("before", "after", "change")


def study(seeds: int, say: Callable[[str], None]) -> dict[str, Any]:
    """`seeds` simulations of every world."""
    estimates = side_by_side(_estimates, [(world, seeds) for world in WORLDS], say)
    return {
        "simulationsPerWorld": seeds,
        "arriving": ARRIVING,
        "worlds": [
            {
                "learned": world.learned,
                "tapered": world.tapered,
                "truth": dict(zip(MEASURED, _truth(world), strict=True)),
                "reviewed": float(np.mean([each["reviewed"] for each in found])),
                "biasPoints": {
                    way: {
                        name: _bias([each[way][place] for each in found], _truth(world)[place])
                        for place, name in enumerate(MEASURED)
                    }
                    for way in ("weighted", "unweighted")
                },
            }
            for world, found in zip(WORLDS, estimates, strict=True)
        ],
    }


def _truth(world: World) -> tuple[float, float, float]:
    before, after = world.truth
    return before, after, after - before


def _estimates(given: tuple[World, int]) -> list[dict[str, Any]]:
    world, seeds = given
    return [_estimate(world, seed) for seed in range(seeds)]


def _estimate(world: World, seed: int) -> dict[str, Any]:
    """Balanced accuracy before and after and their difference (shares), with weights and without."""
    stream = np.random.Generator(np.random.PCG64([seed, WORLDS.index(world)]))
    items = arrive(world, (stream.random(ARRIVING) >= RARE_SHARE).astype(np.int64), stream)
    chosen = np.flatnonzero(items.sent)
    found: dict[str, Any] = {"reviewed": len(chosen)}
    for way in ("weighted", "unweighted"):
        columns = items.columns(chosen, weighted=way == "weighted")
        before, after = (
            endpoint_metrics(columns, decided).balanced_accuracy for decided in (columns.before, columns.after)
        )
        found[way] = (before, after, after - before)
    return found


def _bias(values: Sequence[float], truth: float) -> dict[str, float]:
    """Mean distance from the truth in percentage points, its standard error, and the spread of one estimate."""
    points = 100.0 * (np.array(values) - truth)
    spread = float(np.std(points, ddof=1))
    return {"mean": float(np.mean(points)), "error": spread / float(np.sqrt(len(points))), "spread": spread}


def plot(found: dict[str, Any], figure: Figure) -> None:
    """For each world the bias of before, after and change, with weights and without; bars are two standard errors."""
    figure.set_size_inches(10.0, 3.5)
    for axes, world in zip(figure.subplots(1, len(found["worlds"]), sharey=True), found["worlds"], strict=True):
        axes.axhline(0.0, color="0.8", linewidth=1)
        for shift, (way, color) in enumerate((("unweighted", "0.5"), ("weighted", "C0"))):
            bias = [world["biasPoints"][way][name] for name in MEASURED]
            axes.errorbar(
                np.arange(len(MEASURED)) + 0.2 * shift - 0.1,
                [each["mean"] for each in bias],
                yerr=[2 * each["error"] for each in bias],
                fmt="o",
                color=color,
                capsize=3,
                label=way,
            )
        axes.set_xticks(range(len(MEASURED)), MEASURED)
        axes.set_xlim(-0.6, len(MEASURED) - 0.4)
        learned = "something learned" if world["learned"] else "nothing learned"
        axes.set_title(f"{learned},\n{'review tapers' if world['tapered'] else 'everything reviewed'}", fontsize=9)
    figure.axes[0].set_ylabel("bias, percentage points")
    figure.axes[0].legend(frameon=False)
