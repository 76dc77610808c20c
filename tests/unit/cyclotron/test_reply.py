"""Reading a language model's reply."""

import json
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cyclotron.core.configuration import Configuration, Endpoint, SupportingQuestion
from cyclotron.core.definition import ClassifierDefinition
from cyclotron.core.reply import UnreadableReplyError, read_answer, read_chat_completion

DEFINITION = ClassifierDefinition("screening", ("include", "exclude", "unsure"), "Is it about attention?")
ENDPOINT = Endpoint(DEFINITION, Configuration("", questions=(SupportingQuestion("trial", "Is it a trial?", {}),)))
BARE = Endpoint(DEFINITION, Configuration(""))
GOOD: dict[str, Any] = {
    "label": "include",
    "probabilities": {"include": 0.5, "exclude": 0.25, "unsure": 0.25},
    "answers": {"trial": 1},
}


def reason(content: str, endpoint: Endpoint = ENDPOINT) -> str:
    with pytest.raises(UnreadableReplyError) as caught:
        read_answer(content, endpoint)
    return caught.value.reason


def changed(**changes: Any) -> str:
    return json.dumps(GOOD | changes)


def test_a_good_reply_is_read_as_it_stands() -> None:
    answer = read_answer(json.dumps(GOOD), ENDPOINT, tokens_in=3, tokens_out=4)
    assert answer.label == "include"
    assert answer.probabilities == {"include": 0.5, "exclude": 0.25, "unsure": 0.25}
    assert answer.answers == {"trial": 1.0}
    assert (answer.tokens_in, answer.tokens_out) == (3, 4)


@given(st.lists(st.floats(0, 1e6, allow_subnormal=False), min_size=3, max_size=3).filter(any))
def test_probabilities_are_divided_by_their_sum(weights: list[float]) -> None:
    probabilities = dict(zip(DEFINITION.labels, weights, strict=True))
    answer = read_answer(changed(probabilities=probabilities), ENDPOINT)
    total = sum(map(Fraction, weights))
    for label, weight in probabilities.items():
        assert answer.probabilities[label] == pytest.approx(float(Fraction(weight) / total), rel=1e-15, abs=1e-300)


def test_probabilities_are_in_the_order_of_the_labels() -> None:
    backwards = dict(reversed(list(GOOD["probabilities"].items())))
    assert list(read_answer(changed(probabilities=backwards), ENDPOINT).probabilities) == list(DEFINITION.labels)


def test_a_label_that_is_not_declared_is_kept() -> None:
    assert read_answer(changed(label="maybe"), ENDPOINT).label == "maybe"


def test_answers_are_not_asked_for_without_questions() -> None:
    content = json.dumps({"label": "include", "probabilities": GOOD["probabilities"]})
    assert read_answer(content, BARE).answers == {}


@pytest.mark.parametrize("label", [None, 1, "", "  ", ["include"], "x" * 65])
def test_what_is_no_label_is_refused(label: Any) -> None:
    assert reason(changed(label=label)) == "no-label"


@pytest.mark.parametrize(
    ("probabilities", "expected"),
    [
        (None, "probabilities-names"),
        ([0.5, 0.25, 0.25], "probabilities-names"),
        ({"include": 0.5, "exclude": 0.5}, "probabilities-names"),
        ({"include": 0.5, "exclude": 0.25, "unsure": 0.25, "maybe": 0.0}, "probabilities-names"),
        ({"include": True, "exclude": 0, "unsure": 0}, "probabilities-type"),
        ({"include": "0.5", "exclude": 0, "unsure": 0}, "probabilities-type"),
        ({"include": None, "exclude": 0, "unsure": 1}, "probabilities-type"),
        ({"include": -0.1, "exclude": 0.6, "unsure": 0.5}, "probabilities-range"),
        ({"include": -(10**299), "exclude": 0, "unsure": 1}, "probabilities-range"),
        ({"include": 0, "exclude": 0, "unsure": 0}, "probabilities-sum"),
        ({"include": 1.7e308, "exclude": 1.7e308, "unsure": 0}, "probabilities-sum"),
    ],
)
def test_probabilities_that_are_none_are_refused(probabilities: Any, expected: str) -> None:
    assert reason(changed(probabilities=probabilities)) == expected


@pytest.mark.parametrize(
    ("answers", "expected"),
    [
        (None, "answers-names"),
        ({}, "answers-names"),
        ({"other": 0.5}, "answers-names"),
        ({"trial": False}, "answers-type"),
        ({"trial": 1.01}, "answers-range"),
        ({"trial": -1}, "answers-range"),
    ],
)
def test_answers_outside_0_to_1_or_to_other_questions_are_refused(answers: Any, expected: str) -> None:
    assert reason(changed(answers=answers)) == expected


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("", "not-json"),
        ("include", "not-json"),
        ("```json\n{}\n```", "not-json"),
        ("[" * 100_000, "not-json"),
        ("9" * 5_000, "not-json"),
        (changed(probabilities={"include": 10**400, "exclude": 0, "unsure": 0}), "not-json"),
        ("\ufeff{}", "not-json"),
        ('{"label": "\ud800"}', "not-json"),
        ("[]", "no-content"),
        ('{"label": NaN}', "not-finite"),
        ('{"label": -Infinity}', "not-finite"),
        ('{"label": "include", "label": "exclude"}', "repeated-key"),
        (changed().replace("0.5", "1e999"), "not-finite"),
        (changed(label="a\x00b"), "not-text"),
        (changed(label="\ud800"), "not-text"),
    ],
)
def test_content_that_is_no_plain_json_object_is_refused(content: str, expected: str) -> None:
    assert reason(content) == expected


@given(st.text() | st.recursive(st.none() | st.booleans() | st.floats() | st.text(), st.lists).map(json.dumps))
def test_any_content_gives_an_answer_or_a_reason(content: str) -> None:
    assert reason(content)


def completion(**changes: Any) -> bytes:
    message = {"role": "assistant", "content": json.dumps(GOOD)}
    return json.dumps({"choices": [{"finish_reason": "stop", "message": message}]} | changes).encode()


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        ({"prompt_tokens": 12, "completion_tokens": 34}, (12, 34)),
        ({"prompt_tokens": 12}, (12, 0)),
        ({"prompt_tokens": True, "completion_tokens": -1}, (0, 0)),
        ({"prompt_tokens": 1.5, "completion_tokens": 2**31}, (0, 0)),
        (None, (0, 0)),
        ("many", (0, 0)),
    ],
)
def test_tokens_are_read_from_the_usage_and_are_0_where_it_counts_none(usage: Any, expected: tuple[int, int]) -> None:
    answer = read_chat_completion(completion(usage=usage), ENDPOINT)
    assert (answer.tokens_in, answer.tokens_out) == expected


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (b"\xff\xfe\xfd", "not-json"),
        (completion().decode().encode("utf-16"), "not-json"),
        (completion(id="a\x00b"), "not-text"),
        (b"[]", "no-body"),
        (b"{}", "no-choices"),
        (completion(choices=[]), "no-choices"),
        (completion(choices=["text"]), "no-choice"),
        (completion(choices=[{"message": "text"}]), "no-message"),
        (completion(choices=[{"message": {"content": None}}]), "no-content"),
        (completion(choices=[{"message": {"content": None, "refusal": "I will not."}}]), "declined"),
        (completion(choices=[{"finish_reason": "length", "message": {"content": "{"}}]), "cut-off"),
    ],
)
def test_a_body_without_an_answer_is_refused(body: bytes, expected: str) -> None:
    with pytest.raises(UnreadableReplyError) as caught:
        read_chat_completion(body, ENDPOINT)
    assert caught.value.reason == expected
