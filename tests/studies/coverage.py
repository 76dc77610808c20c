"""How often does the 95% interval of the change hold the true change, and how often is nothing called improved?

Sets are drawn from decisions whose truth is known, with few to many items of the rarest label, with and without
tapering review; each is measured by the lab's own intervals and verdict.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from itertools import product
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from cyclotron.core.intervals import bootstrap_intervals
from cyclotron.core.verdict import RarestLabel, Verdict, verdict_of
from kapsoweb.foundation.wording import camel_case
from tests.studies.lab import side_by_side
from tests.studies.simulated import LABELS, World, reviewed_set

NAME = "coverage"
SEEDS = 4_000
COUNTS = ((10, 90), (15, 145), (30, 270), (100, 900), (300, 2_700))
"""Items of the rare and the common label in a set."""

WORLDS = tuple(World(*given) for given in product((0.4, 1.0), (False, True), (False, True)))


@dataclass(frozen=True)
class Tally:
    """What became of the sets of one world and size: intervals that held the truth, lay above or below it; verdicts."""

    sets: int
    held: int
    too_high: int
    too_low: int
    improved: int
    worse: int
    width: float


def study(seeds: int, say: Callable[[str], None]) -> dict[str, Any]:
    """`seeds` sets for every world and size."""
    cases = [(world, counts, seeds) for counts in COUNTS for world in WORLDS]
    tallies = dict(zip([case[:2] for case in cases], side_by_side(_tally, cases, say), strict=True))
    return {
        "setsPerCase": seeds,
        "table": [_row(counts, {world: tallies[world, counts] for world in WORLDS}) for counts in COUNTS],
        "cases": [
            {
                "rarest": counts[0],
                "other": counts[1],
                "decidedAnew": world.decided_anew,
                "learned": world.learned,
                "tapered": world.tapered,
                "trueChangePoints": 100.0 * (world.truth[1] - world.truth[0]),
                **{camel_case(key): value for key, value in asdict(tally).items()},
            }
            for (world, counts), tally in tallies.items()
        ],
    }


def _tally(given: tuple[World, tuple[int, int], int]) -> Tally:
    world, counts, seeds = given
    truth = 100.0 * (world.truth[1] - world.truth[0])
    lows, highs, verdicts = [], [], []
    for seed in range(seeds):
        name = f"{world}, {counts}, {seed}"
        stream = np.random.Generator(np.random.PCG64([seed, counts[0], WORLDS.index(world)]))
        change = bootstrap_intervals(reviewed_set(world, counts, stream), name).change
        lows.append(change.low)
        highs.append(change.high)
        rarest = RarestLabel(LABELS[0], counts[0])
        verdicts.append(verdict_of(nothing_learned=False, rarest=rarest, minimum_per_label=10, change=change))
    low, high = np.array(lows), np.array(highs)
    return Tally(
        sets=seeds,
        held=int(((low <= truth) & (truth <= high)).sum()),
        too_high=int((low > truth).sum()),
        too_low=int((high < truth).sum()),
        improved=verdicts.count(Verdict.IMPROVED),
        worse=verdicts.count(Verdict.WORSE),
        width=float(np.mean(high - low)),
    )


def _row(counts: tuple[int, int], tallies: dict[World, Tally]) -> dict[str, Any]:
    """One size over all its worlds; false claims are those of the worlds where nothing was learned."""
    still = [tally for world, tally in tallies.items() if not world.learned]
    moved = [tally for world, tally in tallies.items() if world.learned]
    return {
        "rarest": counts[0],
        "other": counts[1],
        "sets": sum(tally.sets for tally in tallies.values()),
        "coverage": _share(list(tallies.values()), "held"),
        "leastCoverage": min(tally.held / tally.sets for tally in tallies.values()),
        "falseImproved": _share(still, "improved"),
        "falseWorse": _share(still, "worse"),
        "found": _share(moved, "improved"),
    }


def _share(tallies: Sequence[Tally], name: str) -> dict[str, float]:
    """The share of sets and its standard error."""
    sets = sum(tally.sets for tally in tallies)
    share = sum(getattr(tally, name) for tally in tallies) / sets
    return {"share": share, "error": float(np.sqrt(share * (1.0 - share) / sets))}


def plot(found: dict[str, Any], figure: Figure) -> None:
    """Left: intervals that held the truth; right: false claims. One point a world, the line is the mean over worlds."""
    figure.set_size_inches(10.0, 4.0)
    left, right = figure.subplots(1, 2)
    counts = [row["rarest"] for row in found["table"]]
    for axes, of, title, nominal in (
        (left, "held", "95% intervals that hold the true change", 0.95),
        (right, "improved", "“improved” where nothing changed", 0.025),
    ):
        cases = [case for case in found["cases"] if of == "held" or not case["learned"]]
        for tapered, marker in ((False, "o"), (True, "^")):
            chosen = [case for case in cases if case["tapered"] == tapered]
            axes.plot(
                [case["rarest"] for case in chosen],
                [case[of] / case["sets"] for case in chosen],
                marker,
                color="0.6",
                markersize=4,
                label="review tapers" if tapered else "everything is reviewed",
            )
        means = [row["coverage" if of == "held" else "falseImproved"]["share"] for row in found["table"]]
        axes.plot(counts, means, "o-", color="C0", label="mean")
        axes.axhline(nominal, color="0.8", linewidth=1)
        axes.set_xscale("log")
        axes.set_xticks(counts, [str(count) for count in counts])
        axes.minorticks_off()
        axes.set_xlabel("held-out items of the rarest label")
        axes.set_ylabel("share of sets")
        axes.set_title(title, fontsize=10)
    left.set_ylim(0.7, 1.0)
    right.set_ylim(0.0, 0.1)
    right.legend(frameon=False)
