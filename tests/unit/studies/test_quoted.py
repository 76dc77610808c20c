"""What the product and the documents quote is what the committed studies found."""

import json
from pathlib import Path

import pytest

from cyclotron.core.coverage import MEASURED

STUDIES = Path(__file__).parents[3] / "docs/studies"


def test_the_table_that_summaries_quote_is_the_coverage_studys() -> None:
    table = json.loads((STUDIES / "coverage.json").read_text())["table"]
    assert [measured.rarest for measured in MEASURED] == [row["rarest"] for row in table]
    for measured, row in zip(MEASURED, table, strict=True):
        assert measured.held == pytest.approx(row["coverage"]["share"], abs=5e-4)
        assert measured.false_improved == pytest.approx(row["falseImproved"]["share"], abs=5e-4)
