"""What was measured of the interval's own error. Source: spec held-out, section 5; docs/studies/coverage.json."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class MeasuredCoverage:
    """Simulated sets with `rarest` items of the rarest label: the share of 95% intervals of the change that `held` the
    true one, and the share of sets without a change that were called improved."""

    rarest: int
    held: float
    false_improved: float


MEASURED: Sequence[MeasuredCoverage] = (
    MeasuredCoverage(10, held=0.868, false_improved=0.041),
    MeasuredCoverage(15, held=0.895, false_improved=0.040),
    MeasuredCoverage(30, held=0.929, false_improved=0.037),
    MeasuredCoverage(100, held=0.943, false_improved=0.029),
    MeasuredCoverage(300, held=0.945, false_improved=0.028),
)
"""By the number of items, fewest first."""


def measured_coverage(rarest: int) -> MeasuredCoverage | None:
    """What was measured with the most items that are not more than `rarest`; None below the fewest that were tried."""
    tried = [measured for measured in MEASURED if measured.rarest <= rarest]
    return tried[-1] if tried else None
