"""`kapsoweb cyclotron import-decisions` and `undo`; and that whatever the command line writes is in the audit log."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pytest_django.fixtures import Settings

from cyclotron.actions.importing import MOST_AT_ONCE
from cyclotron.models import Decision, Item, Review, StoredCyclotron
from kapsoweb.accounts.models import AuditEntry
from tests.support.command_line import Run
from tests.support.operations import everything

pytestmark = [pytest.mark.services, pytest.mark.django_db]

COLUMNS = ("--id", "id", "--text", "text", "--label", "label")
Create = Callable[..., None]


def decision(number: int = 1, **changed: Any) -> dict[str, Any]:
    given = {
        "itemId": f"record-{number}",
        "values": {"text": f"a marker of record {number}"},
        "outputs": {"decision": {"label": "exclude", "confidence": 0.75}},
        "sent": True,
        "reason": "audit",
        "propensity": 0.05,
    }
    return given | changed


def written(path: Path, *decisions: Any) -> Path:
    path.write_text("".join(json.dumps(line) + "\n" for line in decisions), encoding="utf-8")
    return path


def audited() -> list[tuple[str, str, str, dict[str, Any]]]:
    rows = AuditEntry.objects.order_by("id")
    return [(row.action, row.actor, row.door, row.detail) for row in rows]


# import-decisions --------------------


def test_decisions_made_elsewhere_are_brought_in_with_their_propensities(
    run: Run, create: Create, tmp_path: Path
) -> None:
    create()
    shares = {"include": 0.25, "exclude": 0.75}
    whole = {"decision": {"label": "exclude", "confidence": 0.75, "probabilities": shares, "version": 4}}
    path = written(tmp_path / "d.jsonl", decision(1), decision(2, sent=False, reason="", outputs=whole, propensity=0.5))
    path.write_text(path.read_text() + "\n")  # a blank line holds nothing
    done = run("cyclotron", "import-decisions", "tried", path, "--json")
    assert (done.code, done.document) == (0, {"name": "tried", "recorded": 2, "known": 0})
    rows = Decision.objects.order_by("id").values_list("item__identity", "sent", "reason", "propensity")
    assert list(rows) == [("record-1", True, "audit", 0.05), ("record-2", False, "", 0.5)]
    again = run("cyclotron", "import-decisions", "tried", path)
    assert (again.code, again.out) == (0, "0 decisions recorded, 2 known already.\n")
    assert Decision.objects.count() == 2
    assert audited()[1:] == [
        ("decisions.imported", "command line", "command-line", {"recorded": 2, "known": 0}),
    ]


def test_a_long_file_is_brought_in_in_parts_and_goes_on_where_it_stopped(
    run: Run, create: Create, tmp_path: Path
) -> None:
    create()
    count = MOST_AT_ONCE + 2
    good = [decision(number) for number in range(count)]
    path = written(tmp_path / "d.jsonl", *good[:-1], decision(count - 1, outputs={}))
    stopped = run("cyclotron", "import-decisions", "tried", path, "--json")
    assert (stopped.code, stopped.error["id"]) == (2, "invalid-decision")
    assert stopped.error["detail"]["line"] == count
    assert f"line {count}: " in stopped.error["message"]
    assert f"The {MOST_AT_ONCE} decisions before are kept." in stopped.error["message"]
    assert Decision.objects.count() == MOST_AT_ONCE
    done = run("cyclotron", "import-decisions", "tried", written(path, *good), "--json")
    assert done.document == {"name": "tried", "recorded": 2, "known": MOST_AT_ONCE}


@pytest.mark.parametrize(
    ("second", "error"),
    [
        (decision(2, outputs={"other": {"label": "exclude", "confidence": 0.5}}), "invalid-decision"),
        (decision(2, outputs={"decision": {"label": "a marker", "confidence": 0.5}}), "invalid-decision"),
        (decision(2, propensity=0), "invalid-propensity"),
        (decision(2, reason=""), "invalid-decision"),
        (decision(2, values={"other": "a marker"}), "invalid-item"),
        (decision(1, values={"text": "another marker"}), "item-changed"),
        ([], "unusable-file"),
        ({}, "unusable-file"),
        (7, "unusable-file"),
        (decision(2, itemId=7), "unusable-file"),
        (decision(2, itemId="x" * 513), "unusable-file"),
        (decision(2, sent="yes"), "unusable-file"),
        (decision(2, propensity=True), "unusable-file"),
        (decision(2, propensity="0.5"), "unusable-file"),
        (decision(2, propensity=1.5), "unusable-file"),
        (decision(2, reason="a marker"), "unusable-file"),
        (decision(2, unknown=1), "unusable-file"),
        (decision(2, values="a marker"), "unusable-file"),
    ],
)
def test_a_line_that_is_no_decision_is_named_and_nothing_is_brought_in(
    run: Run, create: Create, tmp_path: Path, second: Any, error: str
) -> None:
    create()
    path = written(tmp_path / "d.jsonl", decision(1), second)
    before = everything()
    refused = run("cyclotron", "import-decisions", "tried", path, "--json")
    assert refused.error["id"] == error
    assert refused.code == (3 if error == "item-changed" else 2)
    assert refused.error["detail"]["line"] == 2
    assert f"{path}, line 2: " in refused.error["message"]
    assert "Nothing was brought in." in refused.error["message"]
    assert "marker" not in refused.out + refused.err
    assert everything() == before


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\n \n",
        b"not json\n",
        b'{"itemId": "a", "itemId": "b"}\n',
        b'{"propensity": NaN}\n',
        b"\xff\n",
        b'{"itemId": "\\u0000"}\n',
        b"[" * 1000,
    ],
)
def test_a_file_that_holds_no_decisions_is_bad_input(run: Run, create: Create, tmp_path: Path, content: bytes) -> None:
    create()
    path = tmp_path / "d.jsonl"
    path.write_bytes(content)
    refused = run("cyclotron", "import-decisions", "tried", path, "--json")
    assert (refused.code, refused.error["id"]) == (2, "unusable-file")
    assert not Item.objects.exists()


def test_a_file_or_a_cyclotron_that_is_not_there_is_bad_input(run: Run, create: Create, tmp_path: Path) -> None:
    create()
    refused = run("cyclotron", "import-decisions", "tried", tmp_path / "none.jsonl", "--json")
    assert (refused.code, refused.error["id"]) == (2, "unusable-file")
    path = written(tmp_path / "d.jsonl", decision())
    refused = run("cyclotron", "import-decisions", "other", path, "--json")
    assert (refused.code, refused.error["id"]) == (2, "record-not-found")


# undo --------------------


def test_a_review_is_undone_once(run: Run, create: Create, labelled: Path) -> None:
    create()
    run("cyclotron", "replay", "tried", labelled, *COLUMNS)
    identity = Review.objects.order_by("id")[0].identity
    first = run("cyclotron", "undo", "tried", identity, "--json")
    assert (first.code, first.document) == (0, {"review": identity, "undone": True})
    again = run("cyclotron", "undo", "tried", identity)
    assert (again.code, again.out) == (0, "That review had been undone already.\n")
    assert Review.objects.get(identity=identity).undone_by == "command line"
    assert [entry[0] for entry in audited()].count("review.undone") == 1
    refused = run("cyclotron", "undo", "tried", "no such review", "--json")
    assert (refused.code, refused.error["id"]) == (2, "no-such-review")


# the audit log --------------------


def test_whatever_the_command_line_writes_is_in_the_audit_log_without_any_text(
    run: Run, create: Create, labelled: Path
) -> None:
    create()
    create()  # the same again changes nothing
    create(learn_every=7)
    run("cyclotron", "replay", "tried", labelled, *COLUMNS)
    for _ in range(2):
        run("cyclotron", "freeze", "tried")
    run("cyclotron", "evaluate", "tried", "--confirm", 0)
    assert [entry[0] for entry in audited()] == [
        "cyclotron.created",
        "cyclotron.changed",
        "replay.started",
        "set.frozen",
        "evaluation.confirmed",
    ]
    assert {entry[1:3] for entry in audited()} == {("command line", "command-line")}
    assert set(AuditEntry.objects.values_list("record_id", flat=True)) == {StoredCyclotron.objects.get().id}
    assert set(Review.objects.values_list("reviewer", flat=True)) == {"command line"}
    assert "trial" not in json.dumps(audited())


def test_what_is_refused_leaves_no_audit_entry(run: Run, create: Create, labelled: Path) -> None:
    create()
    run("cyclotron", "replay", "tried", labelled, *COLUMNS)
    before = everything()
    for command in (
        ("create", "tried", "--labels", "a,b", "--question", "Another?"),
        ("evaluate", "tried", "--confirm", 7),
        ("undo", "tried", "no such review"),
    ):
        assert run("cyclotron", *command).code in (2, 3)
    assert everything() == before


def test_with_live_calls_off_nothing_is_replayed(run: Run, create: Create, labelled: Path, settings: Settings) -> None:
    create()
    settings.KAPSOWEB_ALLOW_LIVE = False
    before = everything()
    refused = run("cyclotron", "replay", "tried", labelled, *COLUMNS, "--json")
    assert (refused.code, refused.error["id"]) == (3, "live-off")
    assert everything() == before
