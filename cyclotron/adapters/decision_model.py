"""The port through which a cyclotron asks a decision model."""

from typing import Protocol

from cyclotron.core.configuration import Answer, DecisionRequest


class DecisionModel(Protocol):
    """Answers requests. An answer is a function of the request alone.

    `identity` names the model in every request's fingerprint and holds no secret. `concurrency` is the number of
    requests worth having under way at once (1 for work that is bound by this machine's processor).
    """

    identity: str
    concurrency: int

    def answer(self, request: DecisionRequest) -> Answer:
        """Answer one request, trying once; raises `ModelError` when no usable answer came back."""
        ...
