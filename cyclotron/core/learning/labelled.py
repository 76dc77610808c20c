"""What the learner is taught with."""

from dataclasses import dataclass


@dataclass(frozen=True)
class LabelledText:
    """A training review: the item's text, the reviewer's label, and the weight `1 / p` of its selection."""

    item_id: str
    text: str
    label: str
    weight: float = 1.0
