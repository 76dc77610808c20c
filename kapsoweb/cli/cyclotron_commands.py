"""The commands of `kapsoweb cyclotron`. Imported once Django is set up (but for `verify`, which needs no database)."""

import argparse
from dataclasses import asdict
from pathlib import Path
from typing import Any

from django.conf import settings

from cyclotron import queries
from cyclotron.actions.evaluating import close_lost_evaluation
from cyclotron.adapters.configured import decision_model
from cyclotron.core.definition import ClassifierDefinition, CyclotronDefinition
from cyclotron.core.errors import EvaluationRunningError, NoSuchReportError, NothingToScoreError
from cyclotron.core.interruption import Interruption
from cyclotron.core.overview import SetSummary, Status
from cyclotron.core.replay import parse_replay
from cyclotron.core.report import time_text
from cyclotron.core.report_text import report_csv, report_json, report_markdown
from cyclotron.models import Evaluation
from cyclotron.plan import make_plan
from cyclotron.store import ROOM, Store, store_of
from cyclotron.workspace import Workspace
from kapsoweb.accounts.access import access_record_by_name, access_records, local_caller
from kapsoweb.accounts.actions import check_name
from kapsoweb.cli.documents import read_text, write_text
from kapsoweb.cli.main import UsageError
from kapsoweb.cli.output import BAD_USAGE, DONE, FAILED, Progress, Result, say
from kapsoweb.foundation import clock
from kapsoweb.foundation.strict_csv import read_rows
from kapsoweb.foundation.wording import sentence_case
from kapsoweb.jobs.waiting import wait_for

GATES = {
    "improved": frozenset({"improved"}),
    "not-worse": frozenset({"improved", "no-clear-change", "nothing-learned-yet"}),
}


def listing(given: argparse.Namespace) -> Result:  # noqa: ARG001 - every command takes the namespace
    """List the local account's cyclotrons."""
    held = access_records(local_caller(), ROOM)
    rows = [{"name": holding.name, "id": holding.record_id} for holding in held]
    return Result({"cyclotrons": rows}, tuple(f"{row['name']}  {row['id']}" for row in rows))


def create(given: argparse.Namespace) -> Result:
    """Create a cyclotron; the same definition again is the same cyclotron."""
    check_name(given.name)
    rubric = read_text(Path(given.rubric_file), "the rubric").strip() if given.rubric_file else ""
    definition = CyclotronDefinition(
        seed=given.seed if given.seed is not None else given.name,
        classifiers=(
            ClassifierDefinition(
                name="decision",
                labels=tuple(label.strip() for label in given.labels.split(",")),
                question=given.question,
                positive_label=given.positive,
                rubric=rubric,
            ),
        ),
        learn_every=given.learn_every,
    )
    held = Workspace(local_caller()).create_or_open(name=given.name, definition=definition)
    document = {"name": given.name, "id": held.id, "fingerprint": definition.fingerprint}
    return Result(document, (f"{given.name} is ready: {held.id}",))


def replay(given: argparse.Namespace) -> Result:
    """Replay a labelled file. Exit code 2 when rows were bad; the good ones are recorded all the same."""
    store = _store(given.name)
    classifier = store.classifier()
    mapping = dict(_pair(text) for text in given.map)
    columns = [given.id_column, *given.text, given.label]
    table = read_rows(Path(given.file), columns)
    rows, unfit = parse_replay(
        table.rows,
        id_column=given.id_column,
        text_columns=given.text,
        label_column=given.label,
        mapping=mapping,
        otherwise=given.otherwise,
        labels=classifier.definition["labels"],
    )
    done = Workspace(local_caller()).replay(store.cyclotron_id, rows, progress=Progress("replay"))
    bad = sorted((*table.bad, *unfit, *done.bad), key=lambda row: row.line)
    for row in bad:
        say(f"{given.file}:{row.line}: {row.sentence} [{row.rule}]")
    found = queries.status(store)
    document = {
        "name": given.name,
        "recorded": done.recorded,
        "known": done.known,
        "badRows": [{"line": row.line, "column": row.column, "rule": row.rule, "message": row.sentence} for row in bad],
        "learned": [asdict(learned) for learned in done.learned],
        "status": _status(found),
    }
    lines = (
        f"{done.recorded} rows recorded, {done.known} known already, {len(bad)} bad.",
        *_status_lines(found),
    )
    return Result(document, lines, BAD_USAGE if bad else DONE)


def status(given: argparse.Namespace) -> Result:
    """Show what the cyclotron holds and where its learning stands."""
    store = _store(given.name)
    found = queries.status(store)
    return Result({"name": given.name, "id": store.cyclotron_id, **_status(found)}, _status_lines(found))


def freeze(given: argparse.Namespace) -> Result:
    """Freeze the eligible labels."""
    store = _store(given.name)
    before = store.classifier().current_set_id
    summary = Workspace(local_caller()).freeze(store.cyclotron_id)
    new = summary.id != before
    counts = ", ".join(f"{count} {label}" for label, count in summary.label_counts.items())
    return Result(
        {"heldOutSet": _set(summary), "new": new},
        (f"{'Frozen' if new else 'Nothing new; still'}: {summary.size} items ({counts}), set {summary.id[:12]}",),
    )


def undo(given: argparse.Namespace) -> Result:
    """Retract a review; the label before it, if any, counts again."""
    undone = Workspace(local_caller()).undo(_store(given.name).cyclotron_id, identity=given.review)
    return Result(
        {"review": given.review, "undone": undone},
        ("Undone: the label before it, if any, counts again." if undone else "That review had been undone already.",),
    )


def bound(given: argparse.Namespace) -> Result:
    """Show what an evaluation would cost at most."""
    store = _store(given.name)
    plan = make_plan(store, store.classifier(), model=decision_model().identity)
    document = {
        "requestBound": plan.bound,
        "planDigest": plan.digest,
        "heldOutSet": plan.held_out_set.id,
        "scored": plan.scored,
        "liveEnabled": settings.KAPSOWEB_ALLOW_LIVE,
    }
    return Result(
        document,
        (
            f"Up to {plan.bound} model requests for {plan.scored} scored items; confirm with "
            f"`kapsoweb cyclotron evaluate {given.name} --confirm {plan.bound}`.",
        ),
    )


def evaluate(given: argparse.Namespace) -> Result:
    """Evaluate under the confirmed bound and wait for the end."""
    store = _store(given.name)
    started = Workspace(local_caller()).evaluate(store.cyclotron_id, confirmed_bound=given.confirm)
    if started.job_id:
        wait_for(started.job_id, Progress("requests answered"))
    close_lost_evaluation(store, now=clock.now())
    evaluation = queries.evaluation_record(store, started.id)
    report = queries.report_of_evaluation(store, evaluation)
    if evaluation.state == "running":
        raise EvaluationRunningError(
            "another program runs this very evaluation; run the command again once it has ended.",
            evaluation=evaluation.id,
        )
    if report is None:
        return _interrupted(store, evaluation)
    verdict = report["change"]["verdict"]
    passed = given.fail_unless is None or verdict in GATES[given.fail_unless]
    document = {"evaluation": evaluation.id, "state": evaluation.state, "gate": given.fail_unless, "passed": passed}
    lines = [report["change"]["summary"], f"Verdict: {verdict}. {_cost(report['cost'])}"]
    if not passed:
        lines.append(f"The gate failed: the verdict had to be {given.fail_unless}.")
    return Result({**document, "report": report}, tuple(lines), DONE if passed else FAILED)


def report(given: argparse.Namespace) -> Result:
    """Print or write the newest report."""
    store = _store(given.name)
    found = queries.held_out_reports(store, limit=1)
    if not found:
        raise NoSuchReportError(f"{given.name} has no report yet; freeze, then evaluate.", name=given.name)
    document = found[-1]
    texts = {"json": report_json, "csv": report_csv, "md": report_markdown}
    text = texts[given.format](document)
    if given.output is None:
        return Result(document, (text.rstrip("\n"),))
    write_text(Path(given.output), text)
    return Result({"output": given.output, "format": given.format}, (f"Written to {given.output}",))


def _interrupted(store: Store, evaluation: Evaluation) -> Result:
    try:
        left = make_plan(store, store.classifier(), model=decision_model().identity).bound
        advice = f"Finishing it may take up to {left} model requests."
    except NothingToScoreError as nothing:
        left, advice = 0, sentence_case(nothing.message)
    document = {
        "evaluation": evaluation.id,
        "state": evaluation.state,
        "reason": evaluation.reason,
        "requestsUsed": evaluation.permits_taken,
        "unanswered": evaluation.unanswered,
        "requestBound": left,
    }
    return Result(
        document,
        (
            f"Interrupted: {Interruption(evaluation.reason).sentence} {evaluation.permits_taken} of {evaluation.bound} "
            f"permits used, every answer is kept. {advice}",
        ),
        FAILED,
    )


def _store(name: str) -> Store:
    return store_of(access_record_by_name(local_caller(), ROOM, name))


def _pair(text: str) -> tuple[str, str]:
    value, equals, label = text.rpartition("=")
    if not equals:
        raise UsageError(f"--map takes VALUE=LABEL, not {text!r}.")
    return value, label


def _status(found: Status) -> dict[str, Any]:
    return {
        "items": dict(found.items),
        "decisions": found.decisions,
        "labels": dict(found.reviews),
        "version": found.version,
        "refits": found.refits,
        "versions": found.versions,
        "trainingReviews": found.training_reviews,
        "nextLearningIn": found.next_learning_in,
    }


def _status_lines(found: Status) -> tuple[str, ...]:
    items = ", ".join(f"{count} {partition}" for partition, count in found.items.items())
    labels = ", ".join(f"{count} {label}" for label, count in found.reviews.items())
    return (
        f"Items: {items}. Labels: {labels}.",
        f"Version {found.version}, refit {found.refits}, from {found.training_reviews} training reviews; "
        f"learning is due in {found.next_learning_in}.",
    )


def _set(summary: SetSummary) -> dict[str, Any]:
    return {
        "id": summary.id,
        "frozenAt": time_text(summary.frozen_at),
        "size": summary.size,
        "labelCounts": dict(summary.label_counts),
    }


def _cost(cost: dict[str, int]) -> str:
    return f"{cost['newRequests']} new model requests, {cost['cachedRequests']} from the cache."
