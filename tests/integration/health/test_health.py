"""What a supervisor hears."""

import logging
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from celery import Celery
from django.db import OperationalError
from django.test import Client

from kapsoweb import health
from kapsoweb.foundation import clock
from kapsoweb.jobs.models import WorkerHeartbeat
from kapsoweb.settings.base import broker
from tests.support.services import free_port

pytestmark = pytest.mark.services


@pytest.fixture
def worker_alive() -> None:
    now = clock.now()
    WorkerHeartbeat.objects.create(id="wkr_1", pid=1, host="here", started_at=now, seen_at=now)


def ask(client: Client) -> tuple[int, dict[str, Any]]:
    answer = client.get("/readyz")
    return answer.status_code, answer.json()


def test_healthz_says_that_the_process_is_up_without_looking_at_the_database(client: Client) -> None:
    answer = client.get("/healthz")  # no database mark: a query would fail the test
    assert (answer.status_code, answer.json()) == (200, {"status": "up"})
    assert "no-store" in answer.headers["Cache-Control"]


@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
def test_probes_are_only_read(client: Client, path: str) -> None:
    assert client.post(path).status_code == 405


@pytest.mark.django_db
@pytest.mark.usefixtures("worker_alive")
def test_a_lab_with_database_transport_and_worker_is_ready(client: Client) -> None:
    status, body = ask(client)
    assert (status, body["status"]) == (200, "ready")
    assert {name: check["ok"] for name, check in body["checks"].items()} == {
        "database": True,
        "transport": True,
        "worker": True,
    }


@pytest.mark.django_db
def test_a_lab_without_a_worker_is_not_ready_and_says_so(client: Client) -> None:
    status, body = ask(client)
    assert (status, body["status"]) == (503, "not-ready")
    assert body["checks"]["worker"] == {"ok": False, "says": "no worker has been seen lately; start one"}
    assert body["checks"]["database"]["ok"]


@pytest.mark.django_db
def test_a_worker_that_went_silent_does_not_count(client: Client, moment: datetime) -> None:
    WorkerHeartbeat.objects.create(id="wkr_1", pid=1, host="here", started_at=moment, seen_at=moment)
    assert ask(client)[0] == 503


@pytest.mark.django_db
@pytest.mark.usefixtures("worker_alive")
def test_a_transport_that_is_down_is_named_without_its_address(
    client: Client, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("REDIS_URL", f"redis://:hidden-word@127.0.0.1:{free_port()}/0")
    url, options = broker(tmp_path)
    app = Celery("elsewhere", broker=url, set_as_current=False)
    app.conf.broker_transport_options = options
    monkeypatch.setattr(health, "import_string", lambda name: app)
    status, body = ask(client)
    assert status == 503
    assert body["checks"]["transport"] == {"ok": False, "says": "the transport does not answer"}
    assert "hidden-word" not in str(body)


@pytest.mark.django_db
@pytest.mark.usefixtures("worker_alive")
def test_a_database_that_is_down_is_named_and_its_words_are_kept_for_the_log(
    client: Client, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refuse() -> str:
        raise OperationalError("connection to 10.0.0.7 failed for user admin")

    monkeypatch.setitem(health._CHECKS, "database", refuse)
    with caplog.at_level(logging.WARNING, "kapsoweb.health"):
        status, body = ask(client)
    assert status == 503
    assert body["checks"]["database"] == {"ok": False, "says": "the database does not answer"}
    assert "readiness check failed: database" in caplog.text
