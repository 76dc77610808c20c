"""The OpenAI-compatible model against a real server on the loopback."""

import json
import logging
import socket
import threading
import time
import traceback
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

from cyclotron.adapters.openai import MAX_REPLY_BYTES, InvalidEndpointError, OpenAIModel
from cyclotron.core.configuration import Configuration, DecisionRequest, Endpoint, Example, SupportingQuestion
from cyclotron.core.definition import ClassifierDefinition
from cyclotron.core.errors import ModelError, ModelRefusedError
from tests.support.chat_completions import by_keyword
from tests.support.loopback_model import Fault, LoopbackModel

KEY = "sk-marker-of-the-key"
TEXT = "marker-of-the-item: a trial of methylphenidate"
ENDPOINT = Endpoint(
    ClassifierDefinition("screening", ("include", "exclude"), "Is it about attention?"),
    Configuration(
        "Include trials.", (Example("A trial.", "include"),), (SupportingQuestion("trial", "Is it a trial?", {}),)
    ),
)


@pytest.fixture
def server() -> Iterator[LoopbackModel]:
    with LoopbackModel(by_keyword({"trial": "include"})) as server:
        yield server


@pytest.fixture
def model(server: LoopbackModel) -> Iterator[OpenAIModel]:
    model = OpenAIModel(server.url, "some-model", KEY, timeout_seconds=20)
    yield model
    model.close()


def request(text: str = TEXT) -> DecisionRequest:
    return DecisionRequest("openai", ENDPOINT, text)


def failure(model: OpenAIModel) -> ModelError:
    """The error of one request, after a look for what no error may hold."""
    with pytest.raises(ModelError) as caught:
        model.answer(request())
    told = "".join(traceback.format_exception(caught.value)) + json.dumps(caught.value.as_json())
    for secret in (KEY, "marker", "methylphenidate", "refused on purpose", "secret-in-the-reply"):
        assert secret not in told
    return caught.value


def test_a_request_is_answered_in_one_call(server: LoopbackModel, model: OpenAIModel) -> None:
    answer = model.answer(request())
    assert answer.label == "include"
    assert answer.probabilities == {"include": pytest.approx(0.8), "exclude": pytest.approx(0.2)}
    assert 0 <= answer.answers["trial"] <= 1
    assert (answer.tokens_in, answer.tokens_out) == (120, 30)
    assert model.answer(request("nothing of the kind")).label == "exclude"
    assert server.count == 2


def test_a_call_carries_the_model_the_key_temperature_0_and_a_strict_schema(
    server: LoopbackModel, model: OpenAIModel
) -> None:
    model.answer(request())
    (sent,) = server.requests
    assert sent["model"] == "some-model"
    assert sent["temperature"] == 0
    assert sent["response_format"]["json_schema"]["strict"] is True
    assert [message["role"] for message in sent["messages"]] == ["system", "user"]
    assert server.calls[0].path == "/v1/chat/completions"
    assert server.calls[0].headers["Authorization"] == f"Bearer {KEY}"


def test_equal_requests_send_equal_bytes_and_no_cookie_is_kept(server: LoopbackModel, model: OpenAIModel) -> None:
    model.answer(request())
    model.answer(request())
    first, second = server.calls
    assert first.fingerprint == second.fingerprint
    assert first.headers == second.headers
    assert "Cookie" not in second.headers


def test_an_undeclared_label_is_kept_to_be_scored_as_wrong(server: LoopbackModel, model: OpenAIModel) -> None:
    server.behave(Fault.WRONG_LABEL)
    assert model.answer(request()).label == "no such label"


@pytest.mark.parametrize("status", [400, 408, 429, 500, 502, 503])
def test_a_failing_status_is_an_error_after_one_call(server: LoopbackModel, model: OpenAIModel, status: int) -> None:
    server.behave(Fault.STATUS, amount=status)
    error = failure(model)
    assert error.detail == {"code": f"http-{status}"}
    assert not isinstance(error, ModelRefusedError)
    assert server.count == 1


@pytest.mark.parametrize("status", [401, 403, 404])
def test_a_refusing_status_says_that_trying_again_is_no_use(
    server: LoopbackModel, model: OpenAIModel, status: int
) -> None:
    server.behave(Fault.STATUS, amount=status)
    error = failure(model)
    assert isinstance(error, ModelRefusedError)
    assert error.detail == {"code": f"http-{status}"}
    assert server.count == 1


def test_a_redirect_is_not_followed(server: LoopbackModel, model: OpenAIModel) -> None:
    server.behave(Fault.REDIRECT)
    assert failure(model).detail == {"code": "http-307"}
    assert server.count == 1


@pytest.mark.parametrize(
    ("fault", "content", "reason"),
    [
        (Fault.GARBAGE, "", "not-json"),
        (Fault.BODY, "", "not-json"),
        (Fault.BODY, '{"secret-in-the-reply": 1}', "no-choices"),
        (Fault.REPLY, "secret-in-the-reply", "not-json"),
        (Fault.REPLY, '{"label": "include"}', "probabilities-names"),
        (Fault.REPLY, '{"label": "include", "probabilities": {"include": NaN, "exclude": 1}}', "not-finite"),
    ],
)
def test_an_unreadable_reply_is_an_error_that_shows_nothing_of_it(
    server: LoopbackModel, model: OpenAIModel, fault: Fault, content: str, reason: str
) -> None:
    server.behave(fault, content=content)
    assert failure(model).detail == {"code": "unreadable", "reason": reason}
    assert server.count == 1


@pytest.mark.parametrize("fault", [Fault.HALF, Fault.DROP, Fault.RESET])
def test_a_broken_connection_is_an_error_after_one_call(
    server: LoopbackModel, model: OpenAIModel, fault: Fault
) -> None:
    server.behave(fault)
    assert failure(model).detail == {"code": "connection"}
    assert server.count == 1


def test_no_server_at_all_is_a_connection_error() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound but not listening: nobody else gets the port, and nobody answers
        model = OpenAIModel(f"http://127.0.0.1:{taken.getsockname()[1]}/v1", "some-model", KEY)
        assert failure(model).detail == {"code": "connection"}
        model.close()


@pytest.mark.parametrize("fault", [Fault.TRICKLE, Fault.TRICKLE_HEAD, Fault.SLOW, Fault.HANG])
def test_the_deadline_ends_the_whole_exchange_however_slowly_bytes_arrive(server: LoopbackModel, fault: Fault) -> None:
    server.behave(fault, amount=20_000 if fault is Fault.SLOW else 50)
    model = OpenAIModel(server.url, "some-model", KEY, timeout_seconds=0.5)
    started = time.monotonic()
    assert failure(model).detail == {"code": "timeout"}
    assert 0.4 < time.monotonic() - started < 5
    assert server.count == 1
    model.close()


def test_a_slow_answer_within_the_deadline_is_an_answer(server: LoopbackModel, model: OpenAIModel) -> None:
    server.behave(Fault.SLOW, amount=100)
    assert model.answer(request()).label == "include"


def test_a_reply_over_the_limit_is_cut_off_and_one_at_the_limit_is_read(
    server: LoopbackModel, model: OpenAIModel
) -> None:
    server.behave(Fault.HUGE, amount=MAX_REPLY_BYTES)
    assert model.answer(request()).label == "include"
    server.behave(Fault.HUGE, amount=MAX_REPLY_BYTES + 1)
    assert failure(model).detail == {"code": "too-large"}


def test_a_compressed_reply_is_refused_before_it_is_unpacked() -> None:
    transport = httpx.MockTransport(lambda _: httpx.Response(200, headers={"Content-Encoding": "gzip"}, content=b""))
    model = OpenAIModel("http://host/v1", "some-model", KEY, transport=transport)
    assert failure(model).detail == {"code": "unreadable", "reason": "encoding"}
    model.close()


def test_after_a_failure_the_model_answers_again(server: LoopbackModel, model: OpenAIModel) -> None:
    for fault in (Fault.HALF, Fault.RESET, Fault.DROP, Fault.GARBAGE):
        server.behave(fault, times=1)
        failure(model)
        assert model.answer(request()).label == "include"
    assert server.count == 8


def test_threads_share_one_client_and_their_requests_are_under_way_together(
    server: LoopbackModel, model: OpenAIModel
) -> None:
    server.behave(Fault.HANG)
    with ThreadPoolExecutor(model.concurrency) as pool:
        answers = [pool.submit(model.answer, request(f"trial {number}")) for number in range(model.concurrency)]
        assert server.wait_for_calls(model.concurrency)
        server.release()
        assert {answer.result().label for answer in answers} == {"include"}
    assert server.most_at_once == model.concurrency
    assert server.count == model.concurrency


def test_closing_ends_requests_under_way_and_a_later_request_opens_anew(
    server: LoopbackModel, model: OpenAIModel
) -> None:
    server.behave(Fault.HANG, times=1)
    with ThreadPoolExecutor(1) as pool:
        hanging = pool.submit(model.answer, request())
        assert server.wait_for_calls(1)
        model.close()
        with pytest.raises(ModelError) as caught:
            hanging.result()
    assert caught.value.detail == {"code": "connection"}
    assert model.answer(request()).label == "include"
    model.close()
    model.close()


def test_closing_ends_the_models_thread(server: LoopbackModel) -> None:
    model = OpenAIModel(server.url, "some-model", KEY)
    before = set(threading.enumerate())
    model.answer(request())
    started = [thread for thread in set(threading.enumerate()) - before if thread.name == "decision-model"]
    assert len(started) == 1
    model.close()
    started[0].join(5)
    assert not started[0].is_alive()


def test_proxies_of_the_environment_are_ignored(
    server: LoopbackModel, model: OpenAIModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    assert model.answer(request()).label == "include"


def test_the_identity_names_address_and_model_without_credentials_and_query(server: LoopbackModel) -> None:
    model = OpenAIModel("https://User:secret@Example.org:443/v1/?key=secret#part", "some-model", KEY)
    assert model.identity == "openai:https://example.org/v1:some-model"
    assert OpenAIModel(server.url + "/", "m", "").identity == f"openai:{server.url}:m"


def test_credentials_and_query_of_the_address_are_sent_all_the_same(server: LoopbackModel) -> None:
    model = OpenAIModel(server.url.replace("//", "//user:pass%20word@") + "?api-version=1", "some-model", "")
    model.answer(request())
    (call,) = server.calls
    assert call.path == "/v1/chat/completions?api-version=1"
    assert call.headers["Authorization"] == "Basic dXNlcjpwYXNzIHdvcmQ="
    model.close()


def test_without_a_key_no_authorization_is_sent(server: LoopbackModel) -> None:
    model = OpenAIModel(server.url, "some-model", "")
    model.answer(request())
    assert "Authorization" not in server.calls[0].headers
    model.close()


@pytest.mark.parametrize(
    ("url", "name", "key"),
    [
        ("", "m", ""),
        ("ftp://host/v1", "m", ""),
        ("host/v1", "m", ""),
        ("http://", "m", ""),
        ("http://host:port/v1", "m", ""),
        ("http://host/v1", " ", ""),
        ("http://host/v1", "m", "marker\nInjected: header"),
        ("http://host/v1", "m", "markér"),
    ],
)
def test_an_address_name_or_key_that_cannot_be_used_is_refused_without_being_shown(
    url: str, name: str, key: str
) -> None:
    with pytest.raises(InvalidEndpointError) as caught:
        OpenAIModel(url, name, key)
    assert "mark" not in caught.value.message


def test_nothing_of_a_request_is_logged(
    server: LoopbackModel, model: OpenAIModel, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    model.answer(request())
    server.behave(Fault.STATUS, amount=500)
    failure(model)
    for secret in (KEY, "marker", "methylphenidate"):
        assert secret not in caplog.text


def test_other_processes_read_the_count_and_set_the_behaviour(server: LoopbackModel, model: OpenAIModel) -> None:
    wanted: dict[str, Any] = {"fault": "status", "amount": 429, "times": 1}
    with httpx.Client(trust_env=False) as client:
        client.post(f"{server.address}/behaviour", json=wanted)
        assert failure(model).detail == {"code": "http-429"}
        model.answer(request())
        assert client.get(f"{server.address}/count").json() == {"count": 2, "mostAtOnce": 1}
        assert [call["path"] for call in client.get(f"{server.address}/calls").json()] == ["/v1/chat/completions"] * 2
