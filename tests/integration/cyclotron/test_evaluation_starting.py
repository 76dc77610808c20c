"""Confirming an evaluation: what is refused before anything is spent, and what a repeated confirmation gives back."""

import contextlib
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.db import IntegrityError

from cyclotron import queries
from cyclotron.actions import create_cyclotron, freeze_held_out_set
from cyclotron.actions.asking import Asker
from cyclotron.actions.evaluating import StartedEvaluation, confirm_evaluation, run_evaluation, start_evaluation
from cyclotron.adapters.local import LocalModel
from cyclotron.adapters.openai import OpenAIModel
from cyclotron.core.errors import (
    BoundChangedError,
    CyclotronError,
    EvaluationRunningError,
    InvalidEvaluationError,
    NoHeldOutSetError,
    NoSuchHeldOutSetError,
    NothingToScoreError,
    PlanChangedError,
    RequestCeilingError,
    RequestIdReusedError,
)
from cyclotron.core.overview import Overview
from cyclotron.models import CachedAnswer, Evaluation, EvaluationRequest, Event, HeldOutItem, Permit, Report
from cyclotron.plan import make_plan
from cyclotron.store import Store
from kapsoweb.foundation import clock
from kapsoweb.foundation.canonical import UnreadableValueError
from kapsoweb.jobs import bell
from kapsoweb.jobs.models import Job, JobState
from tests.support.evaluation_trials import confirmation_of, model_at
from tests.support.frozen_cyclotrons import (
    FROZEN_AT,
    MINIMUM_PER_LABEL,
    add_item,
    definition,
    frozen_cyclotron,
    identities,
    learns_from_questions,
)
from tests.support.loopback_model import LoopbackModel

pytestmark = [pytest.mark.services, pytest.mark.django_db]

ITEMS = 6
BOUND = 2 * ITEMS  # version 1 and version 2, which was learned by another model


@pytest.fixture
def server() -> Iterator[LoopbackModel]:
    with LoopbackModel(learns_from_questions) as server:
        yield server


@pytest.fixture
def model(server: LoopbackModel) -> Iterator[OpenAIModel]:
    model = model_at(server)
    yield model
    model.close()


@pytest.fixture(autouse=True)
def silent_bell(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bell, "ring", lambda job_id: True)


def start(store: Store, model: OpenAIModel, **confirmation: Any) -> StartedEvaluation:
    """Start with what the overview shows, but for what `confirmation` says otherwise."""
    return start_evaluation(
        store,
        model=model.identity,
        now=clock.now(),
        **{"account_id": "acc_1", **confirmation_of(store, model), **confirmation},
    )


def run(store: Store, started: StartedEvaluation, model: OpenAIModel) -> None:
    assert run_evaluation(store, started.id, model=model, fence=1, clock=clock.now).state == "done"


def overview(store: Store, model: OpenAIModel, *, allow_live: bool = True) -> Overview:
    return queries.overview(store, model=model.identity, allow_live=allow_live)


def state(store: Store) -> tuple[int, ...]:
    """How many rows an evaluation could have left."""
    spent = store.rows(Permit).filter(evaluation__cyclotron_id=store.cyclotron_id)
    of_the_store = (store.all(table).count() for table in (Evaluation, Report, Event, CachedAnswer))
    return (spent.count(), Job.objects.count(), *of_the_store)


def refused(
    store: Store, server: LoopbackModel, model: OpenAIModel, error: type[CyclotronError], **confirmation: Any
) -> CyclotronError:
    """The refusal of a confirmation, after a look whether anything was spent or stored."""
    before, calls = state(store), server.count
    with pytest.raises(error) as caught:
        start(store, model, **confirmation)
    assert (state(store), server.count) == (before, calls)
    return caught.value


@pytest.mark.parametrize("confirmed", [BOUND - 1, BOUND + 1, 0])
def test_a_bound_other_than_the_present_one_is_refused_with_the_new_bound(
    server: LoopbackModel, model: OpenAIModel, confirmed: int
) -> None:
    store = frozen_cyclotron()
    error = refused(store, server, model, BoundChangedError, confirmed_bound=confirmed)
    assert error.detail["requestBound"] == BOUND
    assert start(store, model, confirmed_bound=BOUND).new


def test_a_bound_that_an_answer_moved_meanwhile_is_refused(server: LoopbackModel, model: OpenAIModel) -> None:
    store = frozen_cyclotron()
    shown = confirmation_of(store, model)
    plan = make_plan(store, store.classifier(), model=model.identity)
    text = store.rows(HeldOutItem).order_by("position").values_list("values", flat=True)[0]["text"]
    Asker(store, model, clock.now).ask([plan.after.request(model.identity, text)])
    error = refused(store, server, model, BoundChangedError, **shown)
    assert error.detail["requestBound"] == BOUND - 1


def test_a_plan_other_than_the_confirmed_one_is_refused_though_the_bound_is_the_same(
    server: LoopbackModel, model: OpenAIModel
) -> None:
    store = frozen_cyclotron()
    error = refused(store, server, model, PlanChangedError, minimum_per_label=MINIMUM_PER_LABEL + 1)
    assert error.detail["requestBound"] == BOUND


def test_a_refit_changes_the_plan_and_not_the_bound(server: LoopbackModel, model: OpenAIModel) -> None:
    store = frozen_cyclotron(training=16)
    shown = confirmation_of(store, model)
    row = store.classifier()
    assert row.active_ml_model is not None
    row.active_ml_model = None
    row.save(update_fields=["active_ml_model"])
    assert confirmation_of(store, model)["confirmed_bound"] == BOUND
    refused(store, server, model, PlanChangedError, **shown)


def test_with_live_calls_off_freezing_and_reading_work(model: OpenAIModel) -> None:
    store = frozen_cyclotron()
    shown = overview(store, model, allow_live=False)
    assert (shown.live_enabled, shown.request_bound) == (False, BOUND)
    assert shown.disabled_reason
    assert freeze_held_out_set(store, now=clock.now()).size == ITEMS


@pytest.mark.parametrize(
    "wrong",
    [
        {"confirmed_bound": -1},
        {"confirmed_bound": True},
        {"confirmed_bound": float(BOUND)},
        {"confirmed_bound": str(BOUND)},
        {"minimum_per_label": 0},
        {"minimum_per_label": 2.5},
        {"minimum_per_label": True},
        {"confirmed_plan": ""},
        {"confirmed_plan": 7},
        {"request_id": ""},
        {"request_id": "x" * 513},
    ],
)
def test_an_argument_that_breaks_a_rule_is_refused(
    server: LoopbackModel, model: OpenAIModel, wrong: dict[str, Any]
) -> None:
    store = frozen_cyclotron(audit=1, development=0, training=0)  # a bound of 1
    refused(store, server, model, InvalidEvaluationError, **{**confirmation_of(store, model), **wrong})


def test_a_request_id_that_no_database_stores_is_refused(server: LoopbackModel, model: OpenAIModel) -> None:
    store = frozen_cyclotron(audit=1, development=0, training=0)
    with pytest.raises(UnreadableValueError):
        start(store, model, request_id="a\x00b")
    assert not store.all(Evaluation).exists()


def test_an_evaluation_that_could_pass_the_ceiling_is_refused_before_any_call(
    server: LoopbackModel, model: OpenAIModel
) -> None:
    store = frozen_cyclotron()
    error = refused(store, server, model, RequestCeilingError, ceiling_left=BOUND - 1)
    assert (error.detail["requestBound"], error.detail["left"]) == (BOUND, BOUND - 1)
    assert start(store, model, ceiling_left=BOUND).new


def test_without_a_set_there_is_nothing_to_evaluate(server: LoopbackModel, model: OpenAIModel) -> None:
    store = create_cyclotron(name="empty", definition=definition(learn_every=20), now=FROZEN_AT)
    for set_id, error in ((None, NoHeldOutSetError), ("no such set", NoSuchHeldOutSetError)):
        with pytest.raises(error):
            start_evaluation(store, model=model.identity, confirmed_bound=0, set_id=set_id, now=clock.now())
    assert overview(store, model).request_bound is None


def test_a_set_whose_items_all_train_now_is_refused(server: LoopbackModel, model: OpenAIModel) -> None:
    store = frozen_cyclotron(audit=2, development=0, training=0)
    shown = confirmation_of(store, model)
    choose_every_item(store)
    refused(store, server, model, NothingToScoreError, **shown)


def choose_every_item(store: Store) -> None:
    """A reviewer chooses every item of the frozen set to review."""
    asker = Asker(store, LocalModel(), clock.now)
    for row in store.rows(HeldOutItem).filter(held_out_set__cyclotron_id=store.cyclotron_id):
        add_item(asker, row.identity, row.values["text"], row.label, by="reviewer")


def test_the_job_is_queued_with_the_evaluation_or_not_at_all(server: LoopbackModel, model: OpenAIModel) -> None:
    store = frozen_cyclotron()
    with contextlib.suppress(RuntimeError), store.transaction():
        start(store, model)
        raise RuntimeError
    assert (store.all(Evaluation).count(), Job.objects.count()) == (0, 0)
    started = start(store, model)
    job = Job.objects.get(pk=started.job_id)
    assert (job.state, job.account_id) == (JobState.QUEUED, "acc_1")
    assert job.payload == {"store": "default", "cyclotron": store.cyclotron_id, "evaluation": started.id}


def test_a_repeated_request_id_is_the_same_evaluation_while_it_runs_and_after(
    server: LoopbackModel, model: OpenAIModel
) -> None:
    store = frozen_cyclotron()
    shown = {**confirmation_of(store, model), "request_id": "once"}
    first = start(store, model, **shown)
    again = start(store, model, **shown)
    assert (again.id, again.new, again.job_id) == (first.id, False, first.job_id)
    run(store, first, model)
    # The bound is 0 by now: it is still the answer to the same question.
    after = start(store, model, **shown)
    assert (after.id, after.state, after.new) == (first.id, "done", False)
    assert (store.all(Evaluation).count(), Job.objects.count(), server.count) == (1, 1, BOUND)


@pytest.mark.parametrize(
    "other", [{"confirmed_bound": 2}, {"minimum_per_label": 9}, {"confirmed_plan": None}, {"set_id": "another"}]
)
def test_a_request_id_reused_with_other_content_is_an_error(
    server: LoopbackModel, model: OpenAIModel, other: dict[str, Any]
) -> None:
    store = frozen_cyclotron(audit=1, development=0, training=0)
    shown = {**confirmation_of(store, model), "request_id": "once"}
    start(store, model, **shown)
    refused(store, server, model, RequestIdReusedError, **{**shown, **other})


def test_a_call_for_the_comparison_that_runs_gets_it_back_whatever_the_bound_is_by_now(
    server: LoopbackModel, model: OpenAIModel
) -> None:
    store = frozen_cyclotron()
    shown = confirmation_of(store, model)
    first = start(store, model, **shown)
    run_in_part(store, first, model)
    assert confirmation_of(store, model)["confirmed_bound"] == BOUND - 5
    for bound in (BOUND, BOUND - 5, 1):
        again = start(store, model, confirmed_bound=bound, confirmed_plan=None)
        assert (again.id, again.new) == (first.id, False)
    assert overview(store, model).disabled_reason == "An evaluation is running."


def test_a_request_id_that_found_an_evaluation_running_stands_for_it_when_it_has_ended(
    server: LoopbackModel, model: OpenAIModel
) -> None:
    store = frozen_cyclotron()
    shown = confirmation_of(store, model)
    first = start(store, model, **shown, request_id="started it")
    joined = start(store, model, **shown, request_id="found it running")
    unnamed = start(store, model, **shown)
    assert [(each.id, each.new) for each in (joined, unnamed)] == [(first.id, False)] * 2
    run(store, first, model)
    before = state(store)
    for name in ("found it running", "started it"):
        again = start(store, model, **shown, request_id=name)
        assert (again.id, again.state, again.new) == (first.id, "done", False)
    assert (state(store), server.count) == (before, BOUND)
    # Nobody's id is remembered for whoever comes later without it, or with another.
    refused(store, server, model, BoundChangedError, **shown)
    refused(store, server, model, BoundChangedError, **shown, request_id="a third one")


@pytest.mark.parametrize("ended", [False, True])
def test_a_request_id_that_found_an_evaluation_running_is_refused_with_other_content(
    server: LoopbackModel, model: OpenAIModel, ended: bool
) -> None:
    store = frozen_cyclotron()
    shown = confirmation_of(store, model)
    first = start(store, model, **shown)
    start(store, model, **shown, request_id="found it running")
    if ended:
        run(store, first, model)
    other = {**shown, "minimum_per_label": MINIMUM_PER_LABEL + 1, "request_id": "found it running"}
    refused(store, server, model, RequestIdReusedError, **other)


def test_a_request_id_stands_for_one_evaluation_whoever_writes_it_down(
    server: LoopbackModel, model: OpenAIModel
) -> None:
    store = frozen_cyclotron()
    started = start(store, model, request_id="once")
    with pytest.raises(IntegrityError), store.transaction():
        store.rows(EvaluationRequest).create(
            cyclotron_id=store.cyclotron_id, request_id="once", content_digest="x", evaluation_id=started.id
        )


def run_in_part(store: Store, started: StartedEvaluation, model: OpenAIModel) -> None:
    """As a worker leaves it that is gone after five answers."""

    class WorkerGone(BaseException):
        pass

    def progress(done: int, total: int) -> None:
        if done == 5:
            raise WorkerGone

    with pytest.raises(WorkerGone):
        run_evaluation(store, started.id, model=model, fence=1, clock=clock.now, progress=progress)


def test_a_call_for_another_comparison_than_the_running_one_is_refused(
    server: LoopbackModel, model: OpenAIModel
) -> None:
    store = frozen_cyclotron()
    first = start(store, model)
    error = refused(
        store, server, model, EvaluationRunningError, minimum_per_label=MINIMUM_PER_LABEL + 1, confirmed_plan=None
    )
    assert error.detail["evaluation"] == first.id


def test_the_next_evaluation_starts_though_the_process_of_the_last_one_is_gone(
    server: LoopbackModel, model: OpenAIModel
) -> None:
    """Nobody looked in between: confirming closes the lost one itself, and writes down both."""
    store = frozen_cyclotron()
    lost = start(store, model, account_id=None)
    later = start_evaluation(
        store, model=model.identity, now=clock.now() + timedelta(minutes=6), **confirmation_of(store, model)
    )
    assert later.new
    assert store.all(Evaluation).get(id=lost.id).reason == "abandoned"
    last = store.all(Event).order_by("-sequence").values_list("kind", flat=True)[:2]
    assert list(last) == ["evaluation-confirmed", "evaluation-interrupted"]


def test_another_model_is_another_comparison(server: LoopbackModel, model: OpenAIModel) -> None:
    store = frozen_cyclotron()
    start(store, model)
    other = OpenAIModel(server.url, "another-name", "")
    assert confirmation_of(store, other)["confirmed_bound"] == BOUND
    refused(store, server, other, EvaluationRunningError)


def test_identical_requests_are_one(server: LoopbackModel, model: OpenAIModel) -> None:
    store = frozen_cyclotron(repeated=2)
    assert overview(store, model).request_bound == 2 * 4
    started = start(store, model)
    run(store, started, model)
    assert server.count == 8
    report = store.all(Report).get().document
    assert (report["heldOutSet"]["scored"], len(report["items"])) == (ITEMS, ITEMS)
    assert report["cost"]["newRequests"] == 8


def test_while_nothing_is_learned_both_columns_ask_the_same_requests(server: LoopbackModel, model: OpenAIModel) -> None:
    store = frozen_cyclotron(audit=4, development=0, training=0)
    assert overview(store, model).request_bound == 4
    run(store, start(store, model), model)
    assert server.count == 4
    assert store.all(Report).get().document["change"]["verdict"] == "nothing-learned-yet"


def test_what_decide_asked_is_not_asked_again(server: LoopbackModel, model: OpenAIModel) -> None:
    store = frozen_cyclotron(audit=4, development=0, training=0, model=model)
    assert (server.count, overview(store, model).request_bound) == (4, 0)
    run(store, start(store, model), model)
    assert server.count == 4
    cost = store.all(Report).get().document["cost"]
    assert (cost["newRequests"], cost["cachedRequests"]) == (0, 4)


def test_a_later_set_pays_for_its_new_items_only_unless_the_classifier_uses_a_clock(
    server: LoopbackModel, model: OpenAIModel
) -> None:
    for uses_clock, bound in ((False, 2), (True, BOUND + 2)):
        store = frozen_cyclotron(uses_clock=uses_clock)
        assert overview(store, model).request_bound == BOUND
        run(store, start(store, model), model)
        assert overview(store, model).request_bound == 0
        new = list(zip(identities("audit"), range(ITEMS + 1), strict=False))[-1][0]
        add_item(Asker(store, LocalModel(), clock.now), new, "placebo and asphalt in another study", "include")
        freeze_held_out_set(store, now=FROZEN_AT + timedelta(hours=1))
        assert overview(store, model).request_bound == bound


def test_with_a_clock_every_request_carries_the_freeze_time(server: LoopbackModel, model: OpenAIModel) -> None:
    store = frozen_cyclotron(uses_clock=True)
    run(store, start(store, model), model)
    clocks = set(store.all(CachedAnswer).filter(model=model.identity).values_list("clock", flat=True))
    assert clocks == {FROZEN_AT.isoformat()}
    told = [FROZEN_AT.isoformat() in str(request["messages"]) for request in server.requests]
    assert all(told)
    assert len(told) == BOUND


def test_without_a_clock_no_request_carries_a_time(server: LoopbackModel, model: OpenAIModel) -> None:
    store = frozen_cyclotron()
    run(store, start(store, model), model)
    assert set(store.all(CachedAnswer).values_list("clock", flat=True)) == {""}
    assert not any(str(FROZEN_AT.year) in str(request["messages"]) for request in server.requests)


def test_with_everything_cached_the_report_is_there_in_the_same_call(server: LoopbackModel, model: OpenAIModel) -> None:
    store = frozen_cyclotron()
    run(store, start(store, model), model)
    again = confirm_evaluation(store, model=model, account_id="acc_1", clock=clock.now, **confirmation_of(store, model))
    assert (again.state, again.job_id, again.new) == ("done", "", True)
    assert (server.count, Job.objects.count(), store.all(Report).count()) == (BOUND, 1, 2)


def test_a_refused_confirmation_leaves_the_reports_and_the_button_as_they_were(
    server: LoopbackModel, model: OpenAIModel
) -> None:
    store = frozen_cyclotron()
    before = overview(store, model)
    refused(store, server, model, BoundChangedError, confirmed_bound=1)
    assert overview(store, model) == before
