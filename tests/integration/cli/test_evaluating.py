"""`kapsoweb cyclotron bound`, `evaluate`, `report`, `verify`: the confirmed number, the gates, the round trip."""

import copy
import csv
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from pytest_django.fixtures import Settings

from cyclotron.actions import record_review
from cyclotron.actions.evaluating import reporting, start_evaluation
from cyclotron.adapters.configured import decision_model
from cyclotron.core.report_format import read_report
from cyclotron.models import CachedAnswer, Decision, Evaluation, HeldOutItem, Permit, Report, StoredCyclotron
from cyclotron.store import Store
from kapsoweb.cli import cyclotron_commands
from kapsoweb.foundation import clock
from kapsoweb.jobs.models import Job
from tests.support.arrivals import write_rows
from tests.support.command_line import Run
from tests.support.held_out_reports import EXAMPLE_PATH
from tests.support.loopback_model import Fault, LoopbackModel

pytestmark = [pytest.mark.services, pytest.mark.django_db]

COLUMNS = ("--id", "id", "--text", "text", "--label", "label")
Create = Callable[..., None]


@pytest.fixture
def frozen(run: Run, create: Create, tmp_path: Path) -> None:
    """The cyclotron `tried` with a frozen set; nothing was learned, so every answer is there already."""
    create()
    assert run("cyclotron", "replay", "tried", write_rows(tmp_path / "few.csv", 22), *COLUMNS).code == 0
    assert run("cyclotron", "freeze", "tried").code == 0


@pytest.fixture
def loopback(settings: Settings) -> Iterator[LoopbackModel]:
    """The settings name a model on the loopback, which has answered nothing yet."""
    with LoopbackModel() as server:
        settings.KAPSOWEB_DECISION_MODEL = "openai"
        settings.KAPSOWEB_MODEL_URL = server.url
        settings.KAPSOWEB_MODEL_NAME = "some-model"
        settings.KAPSOWEB_MODEL_KEY = ""
        yield server


def size() -> int:
    """The items of the frozen set."""
    return HeldOutItem.objects.count()


# bound --------------------


def test_the_bound_and_an_evaluation_say_that_a_set_is_missing(run: Run, create: Create) -> None:
    create()
    for command in (("bound", "tried"), ("evaluate", "tried", "--confirm", 0)):
        refused = run("cyclotron", *command, "--json")
        assert (refused.code, refused.error["id"]) == (3, "no-held-out-set")


@pytest.mark.usefixtures("frozen")
def test_the_bound_is_shown_with_what_it_is_of(run: Run) -> None:
    shown = run("cyclotron", "bound", "tried", "--json")
    assert shown.code == 0
    assert shown.document.keys() == {"requestBound", "planDigest", "heldOutSet", "scored", "liveEnabled"}
    assert (shown.document["requestBound"], shown.document["scored"]) == (0, size())
    assert shown.document["liveEnabled"] is True
    assert "--confirm 0" in run("cyclotron", "bound", "tried").out


@pytest.mark.usefixtures("frozen", "loopback")
def test_the_bound_is_of_the_model_that_would_be_asked(run: Run) -> None:
    assert run("cyclotron", "bound", "tried", "--json").document["requestBound"] == size()


# evaluate --------------------


@pytest.mark.usefixtures("frozen")
@pytest.mark.parametrize("confirmed", [1, 2**31 - 1, 2**31, 10**29])
def test_a_wrong_bound_is_refused_by_a_guard_with_the_new_one_and_nothing_is_spent(run: Run, confirmed: int) -> None:
    answers = CachedAnswer.objects.count()
    refused = run("cyclotron", "evaluate", "tried", "--confirm", confirmed, "--json")
    assert refused.code == 3
    assert refused.error["id"] == "bound-changed"
    assert refused.error["detail"]["requestBound"] == 0
    assert refused.error["detail"]["confirmedRequestBound"] == confirmed
    assert not Evaluation.objects.exists()
    assert not Job.objects.exists()
    assert CachedAnswer.objects.count() == answers


@pytest.mark.usefixtures("frozen")
@pytest.mark.parametrize("confirmed", ["-1", "1.0", "", "x", "1e3", "NaN", "\udcff", "9" * 5000])
def test_a_bound_that_is_no_number_of_requests_is_bad_input(run: Run, confirmed: str) -> None:
    refused = run("cyclotron", "evaluate", "tried", f"--confirm={confirmed}", "--json")
    assert refused.code == 2
    assert refused.error["id"] in ("bad-usage", "invalid-evaluation")
    assert not Evaluation.objects.exists()


@pytest.mark.usefixtures("frozen")
def test_with_live_calls_off_an_evaluation_is_refused_and_reading_works(run: Run, settings: Settings) -> None:
    settings.KAPSOWEB_ALLOW_LIVE = False
    refused = run("cyclotron", "evaluate", "tried", "--confirm", 0, "--json")
    assert (refused.code, refused.error["id"]) == (3, "live-off")
    assert run("cyclotron", "bound", "tried", "--json").document["liveEnabled"] is False
    assert run("cyclotron", "freeze", "tried").code == 0


@pytest.mark.usefixtures("frozen")
def test_an_evaluation_prints_its_report_and_what_it_cost(run: Run) -> None:
    done = run("cyclotron", "evaluate", "tried", "--confirm", 0, "--json")
    assert done.code == 0
    assert done.document.keys() == {"evaluation", "state", "gate", "passed", "report"}
    assert (done.document["state"], done.document["gate"], done.document["passed"]) == ("done", None, True)
    assert read_report(done.document["report"]) == Report.objects.get().document
    words = run("cyclotron", "evaluate", "tried", "--confirm", 0)
    assert "Verdict: nothing-learned-yet. 0 new model requests" in words.out


@pytest.mark.usefixtures("frozen")
@pytest.mark.parametrize(
    ("gate", "verdict", "code"),
    [
        ("improved", "improved", 0),
        ("improved", "no-clear-change", 1),
        ("improved", "worse", 1),
        ("improved", "too-few-labels", 1),
        ("improved", "nothing-learned-yet", 1),
        ("not-worse", "improved", 0),
        ("not-worse", "no-clear-change", 0),
        ("not-worse", "worse", 1),
    ],
)
def test_a_gate_is_judged_by_the_verdict(
    run: Run, monkeypatch: pytest.MonkeyPatch, gate: str, verdict: str, code: int
) -> None:
    build = reporting.build_report

    def judged(inputs: Any) -> dict[str, Any]:
        document = build(inputs)
        return {**document, "change": {**document["change"], "verdict": verdict}}

    monkeypatch.setattr(reporting, "build_report", judged)
    done = run("cyclotron", "evaluate", "tried", "--confirm", 0, "--fail-unless", gate, "--json")
    assert done.code == code
    assert (done.document["gate"], done.document["passed"]) == (gate, code == 0)
    assert done.document["report"]["change"]["verdict"] == verdict


@pytest.mark.usefixtures("frozen")
def test_a_gate_that_failed_is_said_in_words(run: Run) -> None:
    done = run("cyclotron", "evaluate", "tried", "--confirm", 0, "--fail-unless", "improved")
    assert done.code == 1
    assert "The gate failed: the verdict had to be improved." in done.out


@pytest.mark.usefixtures("frozen")
def test_a_gate_of_another_name_is_bad_usage(run: Run) -> None:
    refused = run("cyclotron", "evaluate", "tried", "--confirm", 0, "--fail-unless", "better", "--json")
    assert (refused.code, refused.error["id"]) == (2, "bad-usage")


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("frozen")
def test_without_a_worker_the_command_runs_its_own_job_and_calls_no_more_than_was_confirmed(
    run: Run, loopback: LoopbackModel
) -> None:
    bound = run("cyclotron", "bound", "tried", "--json").document["requestBound"]
    done = run("cyclotron", "evaluate", "tried", "--confirm", bound, "--json")
    assert done.code == 0, done.err
    assert loopback.count == bound == done.document["report"]["cost"]["newRequests"] == Permit.objects.count()
    assert f"requests answered: {bound} of {bound}" in done.err
    assert Job.objects.get().state == "done"
    assert run("cyclotron", "bound", "tried", "--json").document["requestBound"] == 0


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("frozen")
def test_an_evaluation_that_lost_permits_ends_as_interrupted_and_the_rest_is_confirmed_anew(
    run: Run, loopback: LoopbackModel
) -> None:
    loopback.behave(Fault.STATUS, amount=500, times=2)
    bound = size()
    ended = run("cyclotron", "evaluate", "tried", "--confirm", bound, "--fail-unless", "not-worse", "--json")
    assert ended.code == 1
    assert ended.document.keys() == {"evaluation", "state", "reason", "requestsUsed", "unanswered", "requestBound"}
    assert (ended.document["state"], ended.document["reason"]) == ("interrupted", "permits-lost")
    assert (ended.document["requestsUsed"], ended.document["requestBound"]) == (bound, 2)
    assert not Report.objects.exists()
    assert run("cyclotron", "report", "tried").code == 2
    assert run("cyclotron", "evaluate", "tried", "--confirm", bound).code == 3
    done = run("cyclotron", "evaluate", "tried", "--confirm", 2, "--json")
    assert done.code == 0
    assert loopback.count == bound + 2


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("frozen")
def test_an_endpoint_that_refuses_is_asked_no_further_and_the_reason_is_told_without_a_secret(
    run: Run, loopback: LoopbackModel, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.KAPSOWEB_MODEL_KEY = "marker-of-the-key"
    monkeypatch.setattr(decision_model(), "concurrency", 1)
    loopback.behave(Fault.STATUS, amount=401)
    ended = run("cyclotron", "evaluate", "tried", "--confirm", size(), "--json")
    assert (ended.code, ended.document["reason"]) == (1, "model-refused")
    assert ended.document["requestBound"] == size()
    assert loopback.count == 1
    assert "marker" not in ended.out + ended.err


@pytest.mark.usefixtures("frozen", "loopback")
def test_an_evaluation_that_another_program_runs_is_refused_and_not_called_interrupted(run: Run) -> None:
    store = Store("default", StoredCyclotron.objects.get().id)
    start_evaluation(store, model=decision_model().identity, confirmed_bound=size(), now=clock.now())
    refused = run("cyclotron", "evaluate", "tried", "--confirm", size(), "--json")
    assert (refused.code, refused.error["id"]) == (3, "evaluation-running")
    assert Evaluation.objects.get().state == "running"


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("frozen")
def test_an_evaluation_whose_items_all_train_by_the_time_it_runs_ends_as_interrupted(
    run: Run, loopback: LoopbackModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    wait_for = cyclotron_commands.wait_for

    def choose_all_and_wait(*given: Any) -> Any:
        store = Store("default", StoredCyclotron.objects.get().id)
        for decision in store.all(Decision).filter(item__partition="audit"):
            record_review(
                store,
                identity=f"chosen {decision.id}",
                decision_id=decision.id,
                label="include",
                reviewer="ada",
                selected_by="reviewer",
                now=clock.now(),
            )
        return wait_for(*given)

    monkeypatch.setattr(cyclotron_commands, "wait_for", choose_all_and_wait)
    ended = run("cyclotron", "evaluate", "tried", "--confirm", size(), "--json")
    assert (ended.code, ended.document["reason"]) == (1, "nothing-to-score")
    assert (ended.document["requestsUsed"], ended.document["requestBound"]) == (0, 0)
    assert loopback.count == 0


def test_a_model_that_is_not_configured_is_bad_input(run: Run, create: Create, settings: Settings) -> None:
    create()
    settings.KAPSOWEB_DECISION_MODEL = "openai"
    settings.KAPSOWEB_MODEL_URL = ""
    refused = run("cyclotron", "bound", "tried", "--json")
    assert (refused.code, refused.error["id"]) == (2, "model-not-configured")


# report --------------------


def test_without_a_report_there_is_none_to_print(run: Run, create: Create) -> None:
    create()
    for form in ("json", "csv", "md"):
        refused = run("cyclotron", "report", "tried", "--format", form, "--json")
        assert (refused.code, refused.error["id"]) == (2, "no-such-report")


@pytest.fixture
def report(run: Run, frozen: None) -> dict[str, Any]:
    """The report of an evaluation."""
    document: dict[str, Any] = run("cyclotron", "evaluate", "tried", "--confirm", 0, "--json").document["report"]
    return document


def test_a_report_is_printed_in_three_formats(run: Run, report: dict[str, Any]) -> None:
    assert run("cyclotron", "report", "tried").document == report
    assert run("cyclotron", "report", "tried", "--json").document == report
    rows = list(csv.DictReader(run("cyclotron", "report", "tried", "--format", "csv").out.splitlines()))
    assert len(rows) == len(report["items"])
    words = run("cyclotron", "report", "tried", "--format", "md").out
    assert report["change"]["verdict"] in words
    assert report["change"]["summary"] in words
    for form in ("json", "csv", "md"):
        assert "trial" not in run("cyclotron", "report", "tried", "--format", form).out, "no item text in a report"


def test_the_newest_report_is_printed(run: Run, report: dict[str, Any]) -> None:
    again = run("cyclotron", "evaluate", "tried", "--confirm", 0, "--json").document["report"]
    assert run("cyclotron", "report", "tried").document == again
    assert again["createdAt"] > report["createdAt"]


def test_a_report_is_written_whole_to_a_file(run: Run, report: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    path.write_text("what was there before")
    done = run("cyclotron", "report", "tried", "--output", path, "--json")
    assert (done.code, done.document) == (0, {"output": str(path), "format": "json"})
    assert json.loads(path.read_text()) == report
    assert [entry.name for entry in tmp_path.iterdir() if entry.name.startswith("report")] == ["report.json"]


@pytest.mark.usefixtures("report")
@pytest.mark.parametrize("path", ["/nowhere/at/all.json", "/", "a\x00b", "x" * 5000, "/dev/null/x", ""])
def test_a_report_that_cannot_be_written_is_bad_input(run: Run, path: str) -> None:
    refused = run("cyclotron", "report", "tried", "--output", path, "--json")
    assert (refused.code, refused.error["id"]) == (2, "unusable-file")


# verify --------------------


def written(path: Path, document: Any) -> Path:
    path.write_text(json.dumps(document))
    return path


def test_a_report_that_was_written_verifies(run: Run, report: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    run("cyclotron", "report", "tried", "--output", path)
    done = run("cyclotron", "verify", path, "--json")
    assert done.code == 0
    assert done.document.keys() == {"ok", "checks", "cannotKnow"}
    assert done.document["ok"] is True
    assert len(done.document["checks"]) > 30
    assert done.document["cannotKnow"]
    assert "A report alone cannot show:" in run("cyclotron", "verify", path).out
    assert run("cyclotron", "verify", EXAMPLE_PATH).code == 0


def tampered(document: dict[str, Any], path: str, value: Any) -> dict[str, Any]:
    """A copy of a report with another value at a path such as `change.gained` or `items.0.label`."""
    changed = copy.deepcopy(document)
    place: Any = changed
    *parents, last = [int(name) if name.isdigit() else name for name in path.split(".")]
    for name in parents:
        place = place[name]
    place[last] = value(place[last]) if callable(value) else value
    return changed


EXAMPLE = json.loads(EXAMPLE_PATH.read_text())


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("headline.before", lambda old: old + 0.001),
        ("headline.after", lambda old: old + 1e-6),
        ("headline.changePoints", lambda old: -old),
        ("headline.changeInterval.low", lambda old: old + 0.01),
        ("headline.beforeInterval.high", lambda old: old + 0.01),
        ("before.metrics.accuracy", lambda old: old / 2),
        ("change.gained", lambda old: old + 1),
        ("change.pValue", lambda old: old / 2),
        ("change.verdict", lambda old: "improved" if old != "improved" else "no-clear-change"),
        ("change.summary", "All is well."),
        ("heldOutSet.scored", lambda old: old + 1),
        ("heldOutSet.size", lambda old: old + 1),
        ("heldOutSet.labelCounts.include", lambda old: old + 1),
        ("heldOutSet.id", "0" * 64),
        ("heldOutSet.frozenAt", "2030-01-01T00:00:00Z"),
        ("items.0.label", lambda old: "include" if old == "exclude" else "exclude"),
        ("items.0.outcome", lambda old: "gained" if old != "gained" else "lost"),
        ("items.0.weight", lambda old: old + 1),
        ("items.1.itemId", EXAMPLE["items"][0]["itemId"]),
        ("items", lambda old: old[1:]),
        ("items", lambda old: old[::-1]),
        ("before.version", 2),
        ("cost.newRequests", 10_000),
        ("minimumPerLabel", 1000),
    ],
    ids=lambda given: given if isinstance(given, str) else "",
)
def test_a_report_that_was_tampered_with_does_not_verify(run: Run, tmp_path: Path, path: str, value: Any) -> None:
    changed = tampered(EXAMPLE, path, value)
    assert changed != EXAMPLE
    done = run("cyclotron", "verify", written(tmp_path / "report.json", changed), "--json")
    assert done.code == 1
    assert done.document["ok"] is False
    assert any(not check["ok"] for check in done.document["checks"])
    assert "DIFF" in run("cyclotron", "verify", tmp_path / "report.json").out


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{}",
        b"[]",
        b"null",
        b"not JSON",
        b"\xff\xfe{}",
        b'{"schema": 1, "schema": 2}',
        b"[" * 100_000,
        json.dumps({**EXAMPLE, "schema": "cyclotron-held-out-report/v2"}).encode(),
        json.dumps(tampered(EXAMPLE, "headline.before", "high")).encode(),
        json.dumps(tampered(EXAMPLE, "headline.before", float("nan"))).encode(),
        json.dumps(tampered(EXAMPLE, "items.0.itemId", "a\x00")).encode(),
        json.dumps(tampered(EXAMPLE, "items.0.itemId", "\ud800")).encode(),
        json.dumps(tampered(EXAMPLE, "items.0.weight", 0)).encode(),
        json.dumps(tampered(EXAMPLE, "items.0.weight", True)).encode(),
        json.dumps(tampered(EXAMPLE, "items", [])).encode(),
        json.dumps(EXAMPLE).replace('"minimumPerLabel": 10', '"minimumPerLabel": ' + "9" * 5000).encode(),
    ],
    ids=lambda content: repr(content[:12]),
)
def test_what_is_no_report_is_bad_input(run: Run, tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "report.json"
    path.write_bytes(content)
    refused = run("cyclotron", "verify", path, "--json")
    assert refused.code == 2
    assert refused.error["message"]


@pytest.mark.parametrize("path", ["/nowhere.json", "/", "a\x00b", "\udcff", "x" * 5000, ""])
def test_a_report_that_cannot_be_read_is_bad_input(run: Run, path: str) -> None:
    refused = run("cyclotron", "verify", path, "--json")
    assert (refused.code, refused.error["id"]) == (2, "unusable-file")
