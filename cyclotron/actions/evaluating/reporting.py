"""From stored answers to a stored report. Source: spec held-out, sections 3, 5 and 6."""

from collections.abc import Mapping
from datetime import datetime

from cyclotron.actions.evaluating.permits import spent_by
from cyclotron.actions.events import append_event
from cyclotron.core.configuration import Answer
from cyclotron.core.report import CostFacts, EndpointFacts, ReportInputs, SetFacts, build_report
from cyclotron.core.scored import ScoredItem
from cyclotron.endpoints import Column
from cyclotron.labels import labels_that_count
from cyclotron.models import Evaluation, HeldOutItem, Report
from cyclotron.plan import Plan
from cyclotron.store import Store
from kapsoweb.foundation.identifiers import new_id


def write_report(
    store: Store,
    evaluation: Evaluation,
    plan: Plan,
    rows: list[HeldOutItem],
    answers: Mapping[str, Answer],
    *,
    now: datetime,
) -> Report | None:
    """Score the items `rows` by the answers of their requests and store the report with the end of the evaluation.

    None when the evaluation has ended meanwhile or a newer claim runs it: one evaluation has one report.
    """
    document = build_report(_inputs(store, evaluation, plan, rows, answers, now))
    with store.transaction():
        locked = store.lock()
        ended = (
            store.all(Evaluation)
            .filter(id=evaluation.id, state="running", fence=evaluation.fence)
            .update(state="done", ended_at=now)
        )
        if not ended:
            return None
        report = Report.objects.using(store.using).create(
            id=new_id("rep"),
            cyclotron_id=store.cyclotron_id,
            classifier=evaluation.classifier,
            held_out_set=plan.held_out_set,
            evaluation=evaluation,
            body={key: value for key, value in document.items() if key != "items"},
            items=document["items"],
            created_at=now,
        )
        append_event(
            store,
            locked,
            kind="evaluation-done",
            detail={
                "evaluation": evaluation.id,
                "report": report.id,
                "verdict": document["change"]["verdict"],
                "newRequests": document["cost"]["newRequests"],
            },
            now=now,
        )
    return report


def _inputs(
    store: Store,
    evaluation: Evaluation,
    plan: Plan,
    rows: list[HeldOutItem],
    answers: Mapping[str, Answer],
    now: datetime,
) -> ReportInputs:
    spent = spent_by(store, evaluation.id)
    needed = {plan.fingerprint(column, row.input_digest) for row in rows for column in (plan.before, plan.after)}
    return ReportInputs(
        cyclotron_id=store.cyclotron_id,
        definition=plan.before.endpoint.definition,
        created_at=now,
        minimum_per_label=plan.minimum_per_label,
        before=_endpoint(plan.before),
        after=_endpoint(plan.after),
        held_out_set=SetFacts(
            id=plan.held_out_set.id,
            frozen_at=plan.held_out_set.frozen_at,
            size=plan.held_out_set.size,
            label_counts=plan.held_out_set.label_counts,
            excluded_since_frozen=plan.held_out_set.size - len(rows),
            labels_changed_since_frozen=_changed_since_frozen(store, evaluation, rows),
        ),
        cost=CostFacts(
            new_requests=evaluation_calls(store, evaluation),
            cached_requests=len(needed) - len(needed & spent.fingerprints),
            tokens_in=spent.tokens_in,
            tokens_out=spent.tokens_out,
        ),
        items=_scored(plan, rows, answers),
    )


def evaluation_calls(store: Store, evaluation: Evaluation) -> int:
    """Permits taken so far: the calls that may have been made, answered or not."""
    return store.all(Evaluation).values_list("permits_taken", flat=True).get(id=evaluation.id)


def _endpoint(column: Column) -> EndpointFacts:
    return EndpointFacts(column.version, column.refit, column.fingerprint)


def _changed_since_frozen(store: Store, evaluation: Evaluation, rows: list[HeldOutItem]) -> int:
    """Scored items whose label now is another one, or none."""
    now = dict(labels_that_count(store, evaluation.classifier).values_list("item__identity", "label"))
    return sum(now.get(row.identity) != row.label for row in rows)


def _scored(plan: Plan, rows: list[HeldOutItem], answers: Mapping[str, Answer]) -> list[ScoredItem]:
    def decided(column: Column, row: HeldOutItem) -> str:
        return column.decide(answers[plan.fingerprint(column, row.input_digest)]).label

    return [
        ScoredItem(
            item_id=row.identity,
            label=row.label,
            before=decided(plan.before, row),
            after=decided(plan.after, row),
            weight=1.0 / row.propensity,
        )
        for row in rows
    ]
