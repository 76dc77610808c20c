"""A request id that was sent before request ids had a table of their own still stands for its evaluation."""

import pytest
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from cyclotron.actions.evaluating import StartedEvaluation, run_evaluation, start_evaluation
from cyclotron.adapters.local import LocalModel
from cyclotron.core.errors import RequestIdReusedError
from cyclotron.models import EvaluationRequest
from cyclotron.plan import make_plan
from kapsoweb.foundation import clock
from tests.support.frozen_cyclotrons import frozen_cyclotron

pytestmark = [pytest.mark.services, pytest.mark.django_db(transaction=True)]

APP = "kapso_cyclotron"
BEFORE, AFTER = (APP, "0004_waiting_items"), (APP, "0005_evaluation_requests")


def test_request_ids_go_into_their_table_and_come_back_from_it() -> None:
    store, model = frozen_cyclotron(), LocalModel()

    def bound() -> int:
        return make_plan(store, store.classifier(), model=model.identity).bound

    def start(confirmed: int, request_id: str | None = None) -> StartedEvaluation:
        return start_evaluation(
            store, model=model.identity, confirmed_bound=confirmed, request_id=request_id, now=clock.now()
        )

    shown = bound()
    named = start(shown, "once")
    run_evaluation(store, named.id, model=model, fence=1, clock=clock.now)
    unnamed = start(bound())
    run_evaluation(store, unnamed.id, model=model, fence=1, clock=clock.now)
    rows = list(EvaluationRequest.objects.values_list("request_id", "content_digest", "evaluation_id"))
    executor = MigrationExecutor(connection)
    last = [node for node in executor.loader.graph.leaf_nodes() if node[0] == APP]
    executor.migrate([BEFORE])
    assert EvaluationRequest._meta.db_table not in connection.introspection.table_names()
    before = MigrationExecutor(connection).loader.project_state([BEFORE]).apps.get_model(APP, "Evaluation")
    assert dict(before.objects.values_list("id", "request_id")) == {named.id: "once", unnamed.id: None}
    MigrationExecutor(connection).migrate([AFTER])
    found = list(EvaluationRequest.objects.values_list("request_id", "content_digest", "evaluation_id"))
    MigrationExecutor(connection).migrate(last)
    assert found == rows
    assert start(shown, "once").id == named.id
    with pytest.raises(RequestIdReusedError):
        start(shown + 1, "once")
