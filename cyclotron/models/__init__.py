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
from cyclotron.models.file_imports import FileImport, ImportTally
from cyclotron.models.held_out import Evaluation, EvaluationRequest, HeldOutItem, HeldOutSet, Permit, Report
from cyclotron.models.learning import LearningStep, MlModelRecord, OutOfFoldAnswer, Version
from cyclotron.models.review_queue import Assignment, SkippedItem, WaitingItem

__all__ = [
    "Assignment",
    "CachedAnswer",
    "Classifier",
    "Decision",
    "DecisionOutput",
    "Evaluation",
    "EvaluationRequest",
    "Event",
    "FileImport",
    "HeldOutItem",
    "HeldOutSet",
    "ImportTally",
    "Item",
    "LearningStep",
    "MlModelRecord",
    "OutOfFoldAnswer",
    "Permit",
    "Report",
    "Review",
    "SkippedItem",
    "StoredCyclotron",
    "Version",
    "WaitingItem",
]
