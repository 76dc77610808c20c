"""The chat-completions format seen from the server's side: what is asked, an answer by a rule, and its completion."""

import hashlib
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

_ITEM = re.compile(r"<(item-[0-9a-f]+)>\n(.*)\n</\1>", re.DOTALL)


@dataclass(frozen=True)
class Asked:
    """What a request asks: the item's text, the labels, the supporting questions' ids, and the system message."""

    text: str
    labels: tuple[str, ...]
    questions: tuple[str, ...]
    system: str


Rule = Callable[[Asked], str]
"""Gives the label of an answer."""


def by_keyword(keywords: Mapping[str, str]) -> Rule:
    """The rule that gives the label of the first keyword in the text, and the last declared label without one."""

    def rule(asked: Asked) -> str:
        folded = asked.text.casefold()
        return next((label for word, label in keywords.items() if word in folded), asked.labels[-1])

    return rule


def asked(request: Mapping[str, Any]) -> Asked:
    """What a chat-completions request asks, read from its messages and its schema."""
    properties = request["response_format"]["json_schema"]["schema"]["properties"]
    system, user = (message["content"] for message in request["messages"])
    item = _ITEM.search(user)
    text = user if item is None else item.group(2)
    questions = tuple(properties.get("answers", {"properties": {}})["properties"])
    return Asked(text, tuple(properties["label"]["enum"]), questions, system)


def answer(rule: Rule, request: Mapping[str, Any], *, wrong: bool = False) -> str:
    """A well-formed answer: the rule's label has the probability 0.8, the others share the rest."""
    question = asked(request)
    label = rule(question)
    rest = 0.2 / (len(question.labels) - 1)
    answer = {
        "label": "no such label" if wrong else label,
        "probabilities": {name: 0.8 if name == label else rest for name in question.labels},
    }
    if question.questions:
        answer["answers"] = {name: _share(f"{name}:{question.text}") for name in question.questions}
    return json.dumps(answer)


def by_digest(question: Asked) -> str:
    return question.labels[int(_share(question.text) * len(question.labels))]


def _share(text: str) -> float:
    """A number in [0, 1) that depends on the text alone."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big") / 2**32


def completion(content: str) -> bytes:
    return json.dumps(
        {
            "id": "chatcmpl-loopback",
            "object": "chat.completion",
            "choices": [
                {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": content}},
            ],
            "usage": {"prompt_tokens": 120, "completion_tokens": 30, "total_tokens": 150},
        }
    ).encode()
