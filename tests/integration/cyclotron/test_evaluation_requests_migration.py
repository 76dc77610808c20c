"""A request id that was sent before request ids had a table of their own still stands for its evaluation."""

import pytest
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from cyclotron.actions.evaluating import StartedEvaluation, run_evaluation, start_evaluation
from cyclotron.adapters.local import LocalModel
from cyclotron.core.errors import RequestIdReusedError
from cyclotron.models import EvaluationRequest
from cyclotron.store import Store
from kapsoweb.foundation import clock
from tests.support.evaluation_trials import confirmation_of
from tests.support.frozen_cyclotrons import frozen_cyclotron

pytestmark = [pytest.mark.services, pytest.mark.django_db(transaction=True)]

APP = "kapso_cyclotron"
BEFORE, AFTER = (APP, "0004_waiting_items"), (APP, "0005_evaluation_requests")


def test_request_ids_go_into_their_table_and_come_back_from_it() -> None:
    store, model = frozen_cyclotron(), LocalModel()

    def start(**confirmation: object) -> StartedEvaluation:
        return start_evaluation(store, model=model.identity, now=clock.now(), **confirmation)  # type: ignore[arg-type]

    def run(store: Store, evaluation: str) -> None:
        run_evaluation(store, evaluation, model=model, fence=1, clock=clock.now)

    shown = confirmation_of(store, model)
    named = start(**shown, request_id="once")
    run(store, named.id)
    unnamed = start(**confirmation_of(store, model))
    run(store, unnamed.id)
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
    assert start(**shown, request_id="once").id == named.id
    with pytest.raises(RequestIdReusedError):
        start(**{**shown, "minimum_per_label": 9}, request_id="once")
