"""What happened to a cyclotron, in order and without gaps."""

from rest_framework.request import Request
from rest_framework.response import Response

from cyclotron import queries
from cyclotron.api.base import MOMENT, MOST_BIG, CyclotronView
from kapsoweb.doors.cursors import make_cursor
from kapsoweb.doors.limits import CURSOR_CHARACTERS
from kapsoweb.doors.rest.fields import ObjectField, TextField, TimeField, WholeNumberField
from kapsoweb.doors.rest.operations import Operation, operation
from kapsoweb.doors.rest.serializers import PageQuery, StrictSerializer, many


class EventRow(StrictSerializer):
    """An event; its detail has ids, labels and numbers."""

    sequence = WholeNumberField(min_value=1, max_value=MOST_BIG)
    kind = TextField(max_length=40)
    at = TimeField()
    detail = ObjectField()


class EventPage(StrictSerializer):
    """Events in order. `next` is never null: what comes later is found with it."""

    items = many(EventRow)
    next = TextField(max_length=CURSOR_CHARACTERS)


class EventsView(CyclotronView):
    """`/cyclotrons/{id}/events`."""

    @operation(
        Operation(
            id="listEvents",
            tag="events",
            summary="Read what happened after a cursor",
            query=PageQuery,
            answer=EventPage,
            gives={
                "items": [{"sequence": 1, "kind": "created", "at": MOMENT, "detail": {"fingerprint": "5f" * 32}}],
                "next": "mJ0Zx1Yk3q0fT2u7c9wLzTE",
            },
        )
    )
    def get(self, request: Request, cyclotron_id: str) -> Response:  # noqa: ARG002 - the framework passes it
        """Oldest first. Ask again with `next` for what has happened since; a cursor stays good for ever."""
        store = self.store(cyclotron_id)
        found = queries.events(store, after=self.cursor("events") or 0, limit=self.query["limit"])
        return self.answer({"items": found.events, "next": make_cursor(self.list_name("events"), found.cursor)})
