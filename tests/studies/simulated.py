"""Decisions whose truth is known: items of a rare and a common label, two columns that decide them, sampled review.

An item is sure or unsure. Unsure ones are sent to review always, sure ones at a review rate that may taper as the lab
learns to trust them; what is sent is decided as `cyclotron.core.draws.select` decides it. Reviewers are always right.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cyclotron.core.scored import ScoredColumns

LABELS = ("rare", "common")
RARE_SHARE = 0.1
UNSURE_SHARE = np.array([0.5, 0.2])
"""Of each label."""

RIGHT_BEFORE = np.array([[0.90, 0.55], [0.95, 0.65]])
"""Probability of a right decision before: rows are labels; columns are sure, unsure."""

GAIN = np.array([[0.0, 0.15], [0.0, 0.05]])
"""What is added to it where something is learned."""

AUDIT_RATE, LOW_CONFIDENCE = 0.05, 0.7
SURE, UNSURE = 0.9, 0.6  # confidences on either side of LOW_CONFIDENCE
TAPER = (1.0, 0.5, 0.2)
"""Review rates of the first, second and last third of the items where review tapers."""


@dataclass(frozen=True)
class World:
    """What is simulated. `decided_anew` is the share of items that the second column does not decide as the first did;
    `learned` whether it decides them better; `tapered` whether review tapers."""

    decided_anew: float
    learned: bool
    tapered: bool

    @property
    def right_after(self) -> NDArray[np.float64]:
        """Probability of a right decision after: shape (labels, sure or unsure)."""
        return RIGHT_BEFORE + (GAIN if self.learned else 0.0)

    @property
    def truth(self) -> tuple[float, float]:
        """Balanced accuracy before and after over all decisions, reviewed or not: shares."""
        shares = np.stack([1.0 - UNSURE_SHARE, UNSURE_SHARE], axis=1)
        before, after = (float((shares * right).sum(axis=1).mean()) for right in (RIGHT_BEFORE, self.right_after))
        return before, after


@dataclass(frozen=True)
class Items:
    """Items as arrays of one length: codes of labels, whether each column is right, whether sent, and how likely."""

    label: NDArray[np.int64]
    confidence: NDArray[np.float64]
    rate: NDArray[np.float64]
    number: NDArray[np.float64]
    before_right: NDArray[np.bool_]
    after_right: NDArray[np.bool_]
    sent: NDArray[np.bool_]
    propensity: NDArray[np.float64]

    def columns(self, chosen: NDArray[np.intp], *, weighted: bool = True) -> ScoredColumns:
        """Some of the items as a held-out set holds them."""
        label = self.label[chosen]
        weight = 1.0 / self.propensity[chosen]
        return ScoredColumns(
            LABELS,
            label,
            np.where(self.before_right[chosen], label, 1 - label),
            np.where(self.after_right[chosen], label, 1 - label),
            weight if weighted else np.ones_like(weight),
        )


def arrive(world: World, label: NDArray[np.int64], stream: np.random.Generator) -> Items:
    """Items of the given labels, in the order in which they arrive."""
    size = len(label)
    unsure = stream.random(size) < UNSURE_SHARE[label]
    before_right = stream.random(size) < RIGHT_BEFORE[label, unsure.astype(int)]
    # A gain is spread over the items that are decided anew, so that the whole has it.
    anew = stream.random(size) < world.decided_anew
    gain = (world.right_after - RIGHT_BEFORE) / world.decided_anew
    right_anew = stream.random(size) < (RIGHT_BEFORE + gain)[label, unsure.astype(int)]
    rate = np.array(TAPER if world.tapered else (1.0,))[stream.integers(len(TAPER) if world.tapered else 1, size=size)]
    propensity = np.where(unsure, 1.0, np.maximum(rate, AUDIT_RATE))
    number = stream.random(size)
    return Items(
        label=label,
        confidence=np.where(unsure, UNSURE, SURE),
        rate=rate,
        number=number,
        before_right=before_right,
        after_right=np.where(anew, right_anew, before_right),
        sent=number < propensity,
        propensity=propensity,
    )


def reviewed_set(world: World, counts: tuple[int, int], stream: np.random.Generator) -> ScoredColumns:
    """A held-out set with so many items of each label: the first of each that were sent to review."""
    parts = []
    for code, wanted in enumerate(counts):
        items = arrive(world, np.full(5 * wanted + 40, code), stream)
        chosen = np.flatnonzero(items.sent)[:wanted]
        if len(chosen) < wanted:
            raise AssertionError("more items must arrive than are wanted of those sent")
        parts.append(items.columns(chosen))
    return ScoredColumns(
        LABELS,
        *(np.concatenate([getattr(part, name) for part in parts]) for name in ("label", "before", "after", "weight")),
    )
