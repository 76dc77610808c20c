"""The simulated decisions of the studies against the engine's own rule of selection and an exact truth."""

from itertools import product

import numpy as np
import pytest

from cyclotron.core.draws import select
from tests.studies.simulated import AUDIT_RATE, LOW_CONFIDENCE, World, arrive, reviewed_set

WORLDS = [World(*given) for given in product((0.4, 1.0), (False, True), (False, True))]


def stream(seed: int = 0) -> np.random.Generator:
    return np.random.Generator(np.random.PCG64(seed))


@pytest.mark.parametrize("tapered", [False, True])
def test_an_item_is_sent_as_the_engine_sends_it_and_as_likely(tapered: bool) -> None:
    items = arrive(World(0.4, True, tapered), np.tile([0, 1], 500), stream())
    for number, confidence, rate, sent, propensity in zip(
        items.number, items.confidence, items.rate, items.sent, items.propensity, strict=True
    ):
        chosen = select(
            number=float(number),
            confidence=float(confidence),
            review_rate=float(rate),
            audit_rate=AUDIT_RATE,
            low_confidence=LOW_CONFIDENCE,
            propensity_so_far=None,
            reason_so_far="",
        )
        assert (chosen.sent, chosen.propensity) == (sent, propensity)
    assert set(items.propensity) == ({1.0, 0.5, 0.2} if tapered else {1.0})


@pytest.mark.parametrize("world", WORLDS, ids=str)
def test_the_truth_is_what_a_million_decisions_come_to(world: World) -> None:
    found = []
    for label in (0, 1):
        items = arrive(world, np.full(500_000, label), stream(label))
        found.append((items.before_right.mean(), items.after_right.mean()))
    before, after = np.mean(found, axis=0)
    assert (before, after) == pytest.approx(world.truth, abs=0.002)
    assert (world.truth[1] > world.truth[0]) == world.learned


@pytest.mark.parametrize("world", WORLDS, ids=str)
def test_a_reviewed_set_has_the_items_that_were_asked_for(world: World) -> None:
    columns = reviewed_set(world, (15, 145), stream())
    assert np.bincount(columns.label).tolist() == [15, 145]
    assert set(columns.weight) <= {1.0, 2.0, 5.0}
    assert (columns.weight == 1.0).all() != world.tapered
