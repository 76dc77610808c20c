"""State of the cyclotron, with its integrity as database constraints."""

from cyclotron.models.engine import (
    CachedAnswer,
    Classifier,
    Decision,
    DecisionOutput,
    Event,
    Item,
    Review,
    StoredCyclotron,
)
from cyclotron.models.held_out import Evaluation, HeldOutItem, HeldOutSet, Permit, Report
from cyclotron.models.learning import LearningStep, MlModelRecord, OutOfFoldAnswer, Version

__all__ = [
    "CachedAnswer",
    "Classifier",
    "Decision",
    "DecisionOutput",
    "Evaluation",
    "Event",
    "HeldOutItem",
    "HeldOutSet",
    "Item",
    "LearningStep",
    "MlModelRecord",
    "OutOfFoldAnswer",
    "Permit",
    "Report",
    "Review",
    "StoredCyclotron",
    "Version",
]
