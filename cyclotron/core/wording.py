"""Numbers in words, the same in a report's summary, in Markdown and on pages.

Shares have one decimal as percentages, points their sign, counts their thousands apart.
"""

from collections.abc import Callable

from cyclotron.core.intervals import Interval

NONE = "–"  # stands where there is no number
HYPHEN = "-"  # the minus sign of plain text: reports and Markdown are read by programs too
MINUS = "−"  # the minus sign of a page, as wide as a plus sign in tabular figures


def percent(share: float) -> str:
    """A share in 0..1 as `81.5%`."""
    return f"{100 * share:.1f}%"


def points(value: float, minus: str = HYPHEN) -> str:
    """Percentage points with their sign: `+24.7`, `-3.0`, `0.0`; a change below 0.05 keeps the digit that it has."""
    if value == 0:
        return "0.0"
    text = f"{abs(value):.1f}"
    size = text if float(text) else f"{abs(value):.1g}"
    return f"{'+' if value > 0 else minus}{size}"


def interval_words(interval: Interval, write: Callable[[float], str]) -> str:
    """Both ends as `write` has them: `74.1% to 88.0%`."""
    return f"{write(interval.low)} to {write(interval.high)}"


def p_value(value: float) -> str:
    """`p = 0.031`, or `p < 0.0001`."""
    return "p < 0.0001" if value < 0.0001 else f"p = {value:.2g}"


def grouped(number: int) -> str:
    """A whole number with its thousands apart: `10,000`."""
    return f"{number:,}"


def counted(number: int, noun: str) -> str:
    """A count with its noun: `1 item`, `10,000 items`."""
    return f"{grouped(number)} {noun if number == 1 else noun + 's'}"
