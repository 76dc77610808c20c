"""Why an evaluation ended without a report. Source: spec held-out, section 4."""

from enum import StrEnum


class Interruption(StrEnum):
    """A reason, and the sentence that tells it to a person."""

    PERMITS_LOST = "permits-lost"
    MODEL_UNAVAILABLE = "model-unavailable"
    MODEL_REFUSED = "model-refused"
    MODEL_CHANGED = "model-changed"
    NOTHING_TO_SCORE = "nothing-to-score"
    CANCELLED = "cancelled"
    CEILING = "request-ceiling"
    GUARD = "guard"
    ABANDONED = "abandoned"
    JOB_FAILED = "job-failed"

    @property
    def sentence(self) -> str:
        """What happened, in words."""
        return _SENTENCES[self]


_SENTENCES = {
    Interruption.PERMITS_LOST: "Some calls to the model brought no answer, and each had used its permit.",
    Interruption.MODEL_UNAVAILABLE: "Several calls in a row brought no answer, so the rest were not made.",
    Interruption.MODEL_REFUSED: "The model's endpoint refuses to answer as it is configured.",
    Interruption.MODEL_CHANGED: "It was confirmed for another decision model than is configured where it ran.",
    Interruption.NOTHING_TO_SCORE: "Every item of its held-out set trains by now, because reviewers chose them.",
    Interruption.CANCELLED: "It was cancelled.",
    Interruption.CEILING: "The open's ceiling on model requests was reached.",
    Interruption.GUARD: "A guard stopped it before a call.",
    Interruption.ABANDONED: "The process that ran it is gone.",
    Interruption.JOB_FAILED: "Its job ended before the report was written.",
}
