"""The expected calibration error of a study, by hand and by a loop over the decisions."""

import numpy as np
import pytest

from tests.studies.real_labels import Confident, calibration


def test_a_column_that_is_as_often_right_as_it_says_has_no_error() -> None:
    found = calibration([Confident((0.75,) * 4, (True, True, True, False)), Confident((0.5,) * 2, (True, False))])
    assert found["expectedCalibrationError"] == pytest.approx(0.0)
    assert found["decisions"] == 6
    assert [each["decisions"] for each in found["bins"]] == [0, 0, 0, 0, 0, 2, 0, 4, 0, 0]
    assert found["bins"][0]["right"] is None


def test_a_column_that_is_sure_of_what_is_wrong_is_off_by_all_of_it() -> None:
    assert calibration([Confident((1.0, 1.0), (False, False))])["expectedCalibrationError"] == 1.0


def test_it_is_what_a_loop_over_the_bins_gives() -> None:
    stream = np.random.Generator(np.random.PCG64(3))
    sets = [Confident(tuple(stream.random(50).tolist()), tuple((stream.random(50) < 0.7).tolist())) for _ in range(7)]
    decisions = [pair for each in sets for pair in zip(each.confidence, each.right, strict=True)]
    gap = 0.0
    for place in range(10):
        inside = [(sure, right) for sure, right in decisions if place <= sure * 10 < place + 1]
        if inside:
            gap += abs(sum(sure for sure, _ in inside) - sum(right for _, right in inside))
    found = calibration(sets)
    assert found["expectedCalibrationError"] == pytest.approx(gap / len(decisions))
    low, high = found["interval"]
    assert low < found["expectedCalibrationError"] < high
