"""What waited before the queue had a table of its own waits in it afterwards."""

import pytest
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from cyclotron.models import WaitingItem
from tests.support.cyclotrons import classifier, workbench

pytestmark = [pytest.mark.services, pytest.mark.django_db(transaction=True)]

APP = "kapso_cyclotron"
BEFORE, AFTER = (APP, "0003_one_index_for_each_read"), (APP, "0004_waiting_items")


def test_the_queue_is_filled_by_what_was_sent_and_is_not_reviewed() -> None:
    bench = workbench(classifier(), classifier("urgency"))
    bench.decide("unsent", review_rate=0.0, audit_rate=1e-12)
    for name in ("waits", "closed"):
        bench.decide(name)
    bench.label("reviewed", "include")
    bench.label("closed", None)
    bench.undo(bench.label("undone", "include"))
    rows = list(WaitingItem.objects.order_by("id").values_list("classifier__name", "item__identity", "sent_at"))
    executor = MigrationExecutor(connection)
    last = [node for node in executor.loader.graph.leaf_nodes() if node[0] == APP]
    executor.migrate([BEFORE])
    assert WaitingItem._meta.db_table not in connection.introspection.table_names()
    MigrationExecutor(connection).migrate([AFTER])
    found = list(WaitingItem.objects.values_list("classifier__name", "item__identity", "sent_at"))
    MigrationExecutor(connection).migrate(last)
    assert sorted(found) == sorted(rows)
    assert {name for of, name, _ in found if of == "screening"} == {"waits", "undone"}
    assert {name for of, name, _ in found if of == "urgency"} == {"waits", "closed", "reviewed", "undone"}
