"""Evaluations, reports and events as the schema shows them."""

from collections.abc import Mapping
from typing import Any

from graphene import ID, Boolean, Field, Float, Int, ObjectType, String

from cyclotron.core.verdict import Verdict
from cyclotron.models import Report as StoredReport
from cyclotron.models.held_out import EVALUATION_STATES
from kapsoweb.doors.graphql.fields import many
from kapsoweb.doors.graphql.pages import page_type
from kapsoweb.doors.graphql.scalars import JSON, BigInt, Time

_INTERVAL = "The 95% interval; null in reports that were written before there were intervals."


class Evaluation(ObjectType):
    """An evaluation: what it may spend, what it has spent, and how it ended."""

    id = ID(required=True)
    classifier = String(required=True)
    held_out_set = ID(required=True)
    model = String(required=True)
    minimum_per_label = Int(required=True)
    state = String(required=True, description=f"One of {', '.join(EVALUATION_STATES)}.")
    cancel_requested = Boolean(required=True)
    reason = String(description="Why it was interrupted; null where it was not.")
    request_bound = Int(required=True, description="The most new requests that were confirmed.")
    requests_used = Int(required=True, description="Permits taken; none is ever given back.")
    requests_total = Int(required=True, description="Distinct requests of the comparison, stored answers included.")
    unanswered = Int(required=True)
    job_id = ID()
    report_id = ID()
    started_at = Time(required=True)
    ended_at = Time()


class Interval(ObjectType):
    """A 95% interval."""

    low = Float(required=True)
    high = Float(required=True)


class Headline(ObjectType):
    """A report's headline: balanced accuracy as shares from 0 to 1, and its change in percentage points."""

    before = Float(required=True)
    after = Float(required=True)
    change_points = Float(required=True)
    before_interval = Field(Interval, description=_INTERVAL)
    after_interval = Field(Interval, description=_INTERVAL)
    change_interval = Field(Interval, description=_INTERVAL)


class ReportSummary(ObjectType):
    """A report in a list."""

    id = ID(required=True)
    classifier = String(required=True)
    created_at = String(required=True)
    held_out_set = ID(required=True)
    scored = Int(required=True)
    headline = Field(Headline, required=True)
    verdict = String(required=True, description=f"One of {', '.join(Verdict)}.")
    summary = String(required=True, description="One paragraph that a person can read.")


class Report(ReportSummary):
    """A report, whole."""

    document = Field(JSON, required=True, description="`cyclotron-held-out-report/v1`, with its items.")


class Event(ObjectType):
    """Something that happened to a cyclotron; its detail has ids, labels and numbers."""

    sequence = BigInt(required=True)
    kind = String(required=True)
    at = Time(required=True)
    detail = Field(JSON, required=True)


class EventPage(ObjectType):
    """Events in order. `nextCursor` is never null: what comes later is found with it, and it stays good for ever."""

    nodes = many(Event)
    next_cursor = String(required=True)


ReportPage = page_type(ReportSummary)


def summary_shown(report_id: str, document: Mapping[str, Any]) -> dict[str, Any]:
    """A report in a list, from its document."""
    headline = document["headline"]
    intervals = ("before", "after", "change")
    return {
        "id": report_id,
        "classifier": document["classifier"]["id"],
        "created_at": document["createdAt"],
        "held_out_set": document["heldOutSet"]["id"],
        "scored": document["heldOutSet"]["scored"],
        "headline": {
            "before": headline["before"],
            "after": headline["after"],
            "change_points": headline["changePoints"],
            **{f"{name}_interval": headline.get(f"{name}Interval") for name in intervals},
        },
        "verdict": document["change"]["verdict"],
        "summary": document["change"]["summary"],
    }


def report_shown(found: StoredReport) -> dict[str, Any]:
    """A report as the schema shows it."""
    document = found.document
    return {**summary_shown(found.id, document), "document": document}
