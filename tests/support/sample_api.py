"""A small REST door for tests of what all addresses have in common; its one effect is an entry in the audit log."""

from collections.abc import Callable
from typing import Any

from django.urls import include, path
from rest_framework.request import Request
from rest_framework.response import Response

from kapsoweb.accounts.actions import record_audit
from kapsoweb.accounts.models import AuditEntry
from kapsoweb.accounts.roles import Role
from kapsoweb.doors.access_rules import Access
from kapsoweb.doors.rest.fields import FlagField, ListField, NumberField, ObjectField, TextField, WholeNumberField
from kapsoweb.doors.rest.operations import Operation, operation
from kapsoweb.doors.rest.routes import route
from kapsoweb.doors.rest.serializers import PageQuery, StrictSerializer, page_of
from kapsoweb.doors.rest.views import ApiView
from kapsoweb.foundation import clock
from kapsoweb.foundation.paging import Page

ACTION = "sample.done"
between: list[Callable[[], object]] = []  # what a test has happen after the effect and before the answer


class Inner(StrictSerializer):
    words = ListField(child=TextField(max_length=5), required=False, max_length=3)


class Sample(StrictSerializer):
    name = TextField(max_length=20)
    how_many = WholeNumberField(max_value=10, required=False)
    share = NumberField(min_value=0, max_value=1, required=False)
    sure = FlagField(required=False)
    values = ObjectField(required=False)
    parts = Inner(many=True, required=False)


class Done(StrictSerializer):
    id = TextField(max_length=20)
    name = TextField(max_length=20)


DonePage = page_of(Done, "DonePage")


class SampleView(ApiView):
    access = Access(needs=Role.REVIEWER)

    @operation(Operation(id="listSample", tag="sample", summary="List", query=PageQuery, answer=DonePage))
    def get(self, request: Request) -> Response:
        after = self.cursor("sample") or 0
        limit = self.query["limit"]
        rows = list(AuditEntry.objects.filter(action=ACTION, pk__gt=after).order_by("pk")[: limit + 1])
        shown = [{"id": str(row.pk), "name": row.detail["name"]} for row in rows[:limit]]
        return self.page(Page(tuple(shown), rows[limit - 1].pk if len(rows) > limit else None), "sample")

    @operation(Operation(id="doSample", tag="sample", summary="Do", body=Sample, answer=Done, status=201))
    def post(self, request: Request) -> Response:
        return self._do()

    @operation(
        Operation(id="doSecretly", tag="sample", summary="Do", body=Sample, answer=Done, status=201, keeps_answer=False)
    )
    def patch(self, request: Request) -> Response:
        return self._do()

    @operation(Operation(id="undoSample", tag="sample", summary="Do nothing", status=204))
    def delete(self, request: Request) -> Response:
        self.no_body()
        record_audit(self.caller, ACTION, now=clock.now(), name="deleted")
        return self.answer()

    def _do(self) -> Response:
        values: dict[str, Any] = self.body()
        entry = record_audit(self.caller, ACTION, now=clock.now(), name=values["name"])
        for happen in list(between):
            happen()
        return self.answer({"id": str(entry.pk), "name": values["name"]})


class FaultyView(ApiView):
    access = Access(needs=Role.VIEWER)

    def get(self, request: Request) -> Response:
        raise ZeroDivisionError


urlpatterns = [
    path(
        "api/v1/",
        include([*route("sample", SampleView.as_view(), "sample"), *route("faulty", FaultyView.as_view(), "faulty")]),
    )
]
handler400 = "kapsoweb.pages.errors.bad_request"
handler404 = "kapsoweb.pages.errors.not_found"
handler500 = "kapsoweb.pages.errors.server_error"
