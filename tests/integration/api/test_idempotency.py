"""Requests that are sent twice have one effect."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from rest_framework.response import Response

from kapsoweb.accounts.models import ApiToken, AuditEntry
from kapsoweb.accounts.roles import Role
from kapsoweb.doors.limits import IDEMPOTENCY_ABANDONED_AFTER, IDEMPOTENCY_ANSWER_BYTES, IDEMPOTENCY_KEPT_FOR
from kapsoweb.doors.models import KeyedRequest, RequestState
from kapsoweb.doors.rest import idempotency
from kapsoweb.foundation import clock
from tests.support import sample_api
from tests.support.api import Program, refusal
from tests.support.people import caller, other_account
from tests.support.races import in_threads

pytestmark = [pytest.mark.services, pytest.mark.django_db, pytest.mark.urls("tests.support.sample_api")]

KEY = "key-1"
BODY = {"name": "a", "howMany": 2}


@pytest.fixture
def program() -> Program:
    return Program(role=Role.REVIEWER)


@pytest.fixture
def between() -> Iterator[list[Any]]:
    """What happens after the effect and before the answer."""
    yield sample_api.between
    sample_api.between.clear()


def done() -> int:
    return AuditEntry.objects.filter(action=sample_api.ACTION).count()


def send(program: Program, body: Any = BODY, key: str = KEY, **given: Any) -> Any:
    return program.post("sample", body, Idempotency_Key=key, **given)


def test_the_same_request_gets_the_same_answer_and_has_one_effect(program: Program) -> None:
    first, second = send(program), send(program)
    assert (first.status_code, second.status_code) == (201, 201)
    assert first.content == second.content
    assert "Idempotency-Replayed" not in first.headers
    assert second.headers["Idempotency-Replayed"] == "true"
    assert second.headers["Cache-Control"] == "no-store"
    assert done() == 1


def test_without_a_key_each_request_counts(program: Program) -> None:
    program.post("sample", BODY)
    program.post("sample", BODY)
    assert done() == 2


def test_the_order_of_keys_and_the_slash_make_no_other_request(program: Program) -> None:
    first = send(program)
    again = program.call("POST", "sample/", raw=b'{ "howMany": 2,"name":"a" }', Idempotency_Key=KEY)
    assert again.content == first.content
    assert done() == 1


@pytest.mark.parametrize("other", ["body", "method", "query"])
def test_a_key_with_another_request_is_refused(program: Program, other: str) -> None:
    send(program)
    if other == "body":
        answer = send(program, {"name": "b"})
    elif other == "method":
        answer = program.patch("sample", BODY, Idempotency_Key=KEY)
    else:
        answer = program.delete("sample", Idempotency_Key=KEY)
    assert refusal(answer) == (409, "idempotency-key-reused")
    assert done() == 1


def test_keys_of_two_tokens_have_nothing_to_do_with_each_other(program: Program) -> None:
    stranger = Program(account=other_account())
    for sender in (program, Program(), stranger):
        assert "Idempotency-Replayed" not in send(sender).headers
    assert done() == 3


@pytest.mark.parametrize("key", ["", " ", "a b", "k" * 256, "é", "\x7f"])
def test_a_key_of_another_form_is_refused(program: Program, key: str) -> None:
    assert refusal(send(program, key=key)) == (400, "invalid-idempotency-key")
    assert done() == 0


def test_a_key_of_the_greatest_length_is_taken(program: Program) -> None:
    assert send(program, key="~" * 255).status_code == 201


def test_a_refusal_is_not_kept(program: Program) -> None:
    assert refusal(send(program, {"name": 5})) == (400, "invalid-request")
    assert not KeyedRequest.objects.exists()
    assert send(program).status_code == 201


def test_a_refused_request_leaves_nothing_of_its_effect(program: Program, between: list[Any]) -> None:
    def fault() -> None:
        raise ZeroDivisionError

    between.append(fault)
    assert refusal(send(program)) == (500, "internal-error")
    assert done() == 0
    assert not KeyedRequest.objects.exists()
    between.clear()
    assert send(program).status_code == 201
    assert done() == 1


def test_an_answer_with_a_secret_is_not_kept(program: Program) -> None:
    first = program.patch("sample", {"name": "hush"}, Idempotency_Key=KEY)
    assert first.status_code == 201
    kept = KeyedRequest.objects.get()
    assert (kept.state, kept.answer) == (RequestState.NOT_KEPT, "")
    again = program.patch("sample", {"name": "hush"}, Idempotency_Key=KEY)
    assert refusal(again) == (409, "idempotency-answer-not-kept")
    assert done() == 1


def test_an_answer_is_not_given_again_to_whoever_lost_the_role_that_it_took(program: Program) -> None:
    first = send(program)
    ApiToken.objects.update(role=Role.VIEWER)
    assert refusal(send(program)) == (403, "not-allowed")
    ApiToken.objects.update(role=Role.REVIEWER)
    assert send(program).content == first.content
    assert done() == 1


def test_what_a_greater_role_was_asked_for_on_the_way_is_asked_for_again(between: list[Any]) -> None:
    """As where somebody else's review is taken back: the address itself takes less than what is done at it."""
    program = Program(role=Role.OPERATOR)
    owner, viewer = caller(Role.OWNER), caller(Role.VIEWER)
    between.append(lambda: owner.may(Role.OPERATOR))
    between.append(lambda: viewer.may(Role.OWNER))  # it says no, so nothing rests on it
    first = send(program)
    ApiToken.objects.update(role=Role.REVIEWER)
    assert refusal(send(program)) == (403, "not-allowed")
    assert send(program, key="another").status_code == 201
    ApiToken.objects.update(role=Role.OPERATOR)
    assert send(program).content == first.content


def test_an_answer_that_is_too_large_is_not_kept(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    assert IDEMPOTENCY_ANSWER_BYTES > 1000
    monkeypatch.setattr(idempotency, "IDEMPOTENCY_ANSWER_BYTES", 5)
    assert send(program).status_code == 201
    assert refusal(send(program)) == (409, "idempotency-answer-not-kept")
    assert done() == 1


def test_an_answer_without_content_is_given_again(program: Program) -> None:
    answers = [program.delete("sample", Idempotency_Key=KEY) for _ in range(2)]
    assert [(answer.status_code, answer.content) for answer in answers] == [(204, b"")] * 2
    assert done() == 1


def test_while_the_first_is_under_way_the_second_is_told_so(program: Program, between: list[Any]) -> None:
    seen: list[tuple[int, str]] = []

    def again() -> None:
        between.clear()
        seen.append(refusal(send(program)))

    between.append(again)
    assert send(program).status_code == 201
    assert seen == [(409, "idempotency-in-progress")]
    assert done() == 1


def test_a_request_that_was_abandoned_can_be_taken_over(program: Program) -> None:
    send(program)
    row = KeyedRequest.objects.filter(key=KEY)
    running = {"state": RequestState.RUNNING, "status": None, "answer": ""}
    row.update(**running, created_at=clock.now() - IDEMPOTENCY_ABANDONED_AFTER + timedelta(seconds=30))
    assert refusal(send(program)) == (409, "idempotency-in-progress")
    row.update(**running, created_at=clock.now() - IDEMPOTENCY_ABANDONED_AFTER)
    taken = send(program)
    assert taken.status_code == 201
    assert "Idempotency-Replayed" not in taken.headers
    assert (row.get().fence, row.get().state) == (2, RequestState.DONE)


def test_whoever_was_thought_dead_neither_counts_nor_frees_the_key() -> None:
    def taken_over_meanwhile() -> Response:
        KeyedRequest.objects.update(fence=2)
        return Response({})

    with pytest.raises(idempotency.IdempotencyInProgressError):
        idempotency.once(caller(), KEY, digest="d" * 64, work=taken_over_meanwhile, in_one_transaction=False)
    row = KeyedRequest.objects.get()
    assert (row.fence, row.state) == (2, RequestState.RUNNING)


def test_after_a_day_a_key_is_free_again(program: Program) -> None:
    send(program)
    send(program, key="another")
    KeyedRequest.objects.update(created_at=clock.now() - IDEMPOTENCY_KEPT_FOR)
    assert "Idempotency-Replayed" not in send(program, {"name": "other"}).headers
    assert list(KeyedRequest.objects.values_list("key", flat=True)) == [KEY]
    assert done() == 3


@pytest.mark.django_db(transaction=True)
def test_equal_requests_at_once_have_one_effect() -> None:
    program = Program()
    answers: list[Any] = []

    def work(number: int) -> None:
        answers.append(Program(program.secret).post("sample", BODY, Idempotency_Key=KEY))

    assert in_threads(6, work) == []
    assert done() == 1
    made = [answer for answer in answers if answer.status_code == 201]
    assert len({answer.content for answer in made}) == 1
    assert sum("Idempotency-Replayed" not in answer.headers for answer in made) == 1
    others = {refusal(answer) for answer in answers if answer.status_code != 201}
    assert others <= {(409, "idempotency-in-progress")}


@pytest.mark.django_db(transaction=True)
def test_equal_requests_that_take_over_at_once_have_one_effect() -> None:
    program = Program()
    program.post("sample", BODY, Idempotency_Key=KEY)
    KeyedRequest.objects.update(
        state=RequestState.RUNNING, status=None, answer="", created_at=clock.now() - timedelta(minutes=6)
    )
    answers: list[Any] = []

    def work(number: int) -> None:
        answers.append(Program(program.secret).post("sample", BODY, Idempotency_Key=KEY))

    assert in_threads(6, work) == []
    assert done() == 2
    assert KeyedRequest.objects.get().state == RequestState.DONE
