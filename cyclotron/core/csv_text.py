"""CSV that is written for people: RFC 4180 with lines that end in CR LF, and no cell that a spreadsheet would run."""

import csv
import io
from collections.abc import Iterable, Sequence
from typing import Any

# A spreadsheet takes a cell that begins so for a formula (in some languages the wide forms too), or skips the character
# and then does.
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


def csv_text(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Rows under a header.

    The text of a cell that a spreadsheet would run as a formula gets an apostrophe in front. None is an empty cell.
    """
    written = io.StringIO(newline="")
    writer = csv.writer(written)
    writer.writerow(header)
    for row in rows:
        writer.writerow([_cell(value) for value in row])
    return written.getvalue()


def _cell(value: Any) -> str:
    if value is None:
        return ""
    text = str(value)
    return "'" + text if isinstance(value, str) and text.startswith(_FORMULA_STARTS) else text
