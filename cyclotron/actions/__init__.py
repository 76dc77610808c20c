"""The only code that writes the cyclotron's tables: verbs, keyword-only, with explicit actor and time."""

from cyclotron.actions.creating import create_cyclotron, set_learning_interval
from cyclotron.actions.freezing import freeze_held_out_set
from cyclotron.actions.reviewing import record_review, undo_review

__all__ = ["create_cyclotron", "freeze_held_out_set", "record_review", "set_learning_interval", "undo_review"]
