"""Reading a language model's reply: an answer, or `UnreadableReplyError` with the short reason why it is none.

The strict reader of JSON reads both the body and the text in it. What they say is taken tolerantly only where that is
honest: probabilities are divided by their sum (so percentages will do), and a label that is not declared is kept, to be
scored as wrong. Anything missing, surplus, negative or not a number is refused.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from cyclotron.core.configuration import Answer, Endpoint
from cyclotron.core.definition import MAX_LABEL
from kapsoweb.foundation.strict_json import UnreadableJsonError, read_json

_MOST_TOKENS = 2**31 - 1  # what every database stores as an integer
# The rules of the strict reader that say more than that a reply is not the JSON that was asked for.
_REASONS = {"duplicate-key": "repeated-key", "not-finite": "not-finite", "nul": "not-text", "surrogate": "not-text"}


class UnreadableReplyError(ValueError):
    """No answer could be read; `reason` is a short code and holds nothing of the reply."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def read_chat_completion(body: bytes, endpoint: Endpoint) -> Answer:
    """The answer in the body of a chat completion, with the tokens that its `usage` counts (0 where it counts none)."""
    completion = _object(_parsed(body), "body")
    choices = completion.get("choices")
    if not isinstance(choices, list) or not choices:
        raise UnreadableReplyError("no-choices")
    choice = _object(choices[0], "choice")
    if choice.get("finish_reason") in ("length", "content_filter"):
        raise UnreadableReplyError("cut-off")
    message = _object(choice.get("message"), "message")
    if message.get("refusal"):
        raise UnreadableReplyError("declined")
    content = message.get("content")
    if not isinstance(content, str):
        raise UnreadableReplyError("no-content")
    usage = completion.get("usage")
    counted: Mapping[str, Any] = usage if isinstance(usage, dict) else {}
    tokens_in, tokens_out = (_tokens(counted.get(name)) for name in ("prompt_tokens", "completion_tokens"))
    return read_answer(content, endpoint, tokens_in=tokens_in, tokens_out=tokens_out)


def read_answer(content: str, endpoint: Endpoint, *, tokens_in: int = 0, tokens_out: int = 0) -> Answer:
    """The answer in a reply's text, which must be one JSON object as `answer_schema` asks for."""
    # Half of a surrogate pair must reach the reader, which refuses it, and not fail on the way there.
    reply = _object(_parsed(content.encode("utf-8", "surrogatepass")), "content")
    label = reply.get("label")
    # A longer label could be the item's own text, and labels stand in reports.
    if not isinstance(label, str) or not label.strip() or len(label) > MAX_LABEL:
        raise UnreadableReplyError("no-label")
    weights = _numbers(reply.get("probabilities"), endpoint.definition.labels, "probabilities")
    total = _total(weights.values())
    asked = [question.id for question in endpoint.configuration.questions]
    answers = _numbers(reply.get("answers"), asked, "answers") if asked else {}
    if any(value > 1 for value in answers.values()):
        raise UnreadableReplyError("answers-range")
    probabilities = {name: weight / total for name, weight in weights.items()}
    return Answer(label, probabilities, answers, tokens_in, tokens_out)


def _parsed(data: bytes) -> Any:
    try:
        return read_json(data, where="the reply")
    except UnreadableJsonError as error:
        raise UnreadableReplyError(_REASONS.get(error.detail["rule"], "not-json")) from None


def _object(value: Any, what: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise UnreadableReplyError(f"no-{what}")
    return value


def _numbers(value: Any, names: Sequence[str], what: str) -> dict[str, float]:
    """One number that is not negative for each name, in the names' order, and none besides."""
    if not isinstance(value, dict) or value.keys() != set(names):
        raise UnreadableReplyError(f"{what}-names")
    numbers: dict[str, float] = {}
    for name in names:
        number = value[name]
        if isinstance(number, bool) or not isinstance(number, int | float):
            raise UnreadableReplyError(f"{what}-type")
        if number < 0:
            raise UnreadableReplyError(f"{what}-range")
        numbers[name] = float(number)
    return numbers


def _total(weights: Iterable[float]) -> float:
    """What probabilities are divided by; exactly rounded, so that every Python gives the same digits."""
    try:
        total = math.fsum(weights)
    except OverflowError:
        raise UnreadableReplyError("probabilities-sum") from None
    if total <= 0:
        raise UnreadableReplyError("probabilities-sum")
    return total


def _tokens(value: Any) -> int:
    countable = isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MOST_TOKENS
    return value if countable else 0
