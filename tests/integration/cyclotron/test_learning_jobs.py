"""Reviews by people teach: a job learns as soon as enough of them are stored, whichever door they came through."""

from datetime import timedelta
from typing import Any

import pytest
from django.urls import reverse
from pytest_django.fixtures import Settings

from cyclotron import jobs as room_jobs
from cyclotron.actions import create_cyclotron
from cyclotron.actions.asking import Asker
from cyclotron.actions.deciding import decide_item
from cyclotron.actions.learning import learn_if_due
from cyclotron.adapters.local import LocalModel
from cyclotron.core.draws import TRAINING, partition_of
from cyclotron.core.errors import ModelError
from cyclotron.models import LearningStep, Review
from cyclotron.store import Store
from cyclotron.workspace import Workspace
from kapsoweb.accounts.access import local_caller
from kapsoweb.accounts.caller import Door
from kapsoweb.foundation import clock
from kapsoweb.jobs.actions import request_cancel
from kapsoweb.jobs.models import Job, JobState
from kapsoweb.jobs.running import run
from tests.support.api import Program
from tests.support.arrivals import arrivals
from tests.support.cyclotrons import NOW, SEED, definition
from tests.support.held_cyclotrons import hold, run_queued_jobs
from tests.support.people import caller, member

pytestmark = [pytest.mark.services, pytest.mark.django_db]

EVERY = 12


@pytest.fixture
def store() -> Store:
    """A held cyclotron whose items are decided and wait for their reviews."""
    made = hold(create_cyclotron(name="screening", definition=definition(learn_every=EVERY), now=NOW), "screening")
    asker = Asker(made, LocalModel(), clock.now)
    for row in arrivals(60):
        decide_item(asker, identity=row.item_id, values={"text": row.text}, now=clock.now())
    return made


LABELS = {row.item_id: row.label for row in arrivals(60)}


def answer(workspace: Workspace, store: Store, most: int = 60) -> int:
    """Answer what waits, until `most` training items are answered; returns how many that were."""
    taught = 0
    while taught < most and (given := workspace.take(store.cyclotron_id)) is not None:
        workspace.answer(store.cyclotron_id, given.id, label=LABELS[given.item_id])
        taught += partition_of(SEED, given.item_id) == TRAINING
    return taught


def learning_jobs() -> list[Job]:
    return list(Job.objects.filter(kind="cyclotron.learn").order_by("id"))


def test_the_review_that_makes_learning_due_queues_one_job_which_learns(store: Store) -> None:
    workspace = Workspace(caller())
    assert answer(workspace, store, EVERY - 1) == EVERY - 1
    assert learning_jobs() == []
    answer(workspace, store, 1)
    (queued,) = learning_jobs()
    assert (queued.state, queued.record_id) == (JobState.QUEUED, store.cyclotron_id)
    answer(workspace, store, 3)
    assert learning_jobs() == [queued]
    run_queued_jobs()
    (ended,) = learning_jobs()
    assert ended.state == JobState.DONE
    (step,) = LearningStep.objects.all()
    assert step.training_reviews == EVERY + 3
    assert ended.result == {
        "steps": [{"step": 1, "outcome": step.outcome, "version": step.version, "refit": step.refit}]
    }


def test_what_was_learned_is_what_an_evaluation_compares(store: Store) -> None:
    workspace = Workspace(caller())
    answer(workspace, store)
    run_queued_jobs()
    workspace.freeze(store.cyclotron_id)
    overview = workspace.held_out.panel(store.cyclotron_id)
    started = workspace.evaluate(store.cyclotron_id, confirmed_bound=overview.request_bound)
    run_queued_jobs()
    report = workspace.held_out.panel(store.cyclotron_id).reports[-1].document
    assert started.id
    assert (report["after"]["version"], report["after"]["refits"]) != (1, 0)
    assert report["change"]["verdict"] != "nothing-learned-yet"


def test_reviews_by_rest_teach_as_well(store: Store) -> None:
    program = Program()
    address = f"cyclotrons/{store.cyclotron_id}"
    while learning_jobs() == []:
        given = program.post(f"{address}/queue/take").json()["assignment"]
        said = program.post(f"{address}/assignments/{given['id']}/answer", {"label": LABELS[given["itemId"]]})
        assert said.status_code == 201, said.content
    assert store.classifier().training_reviews == EVERY


def test_a_smaller_interval_makes_it_due(store: Store) -> None:
    workspace = Workspace(caller())
    answer(workspace, store, EVERY - 2)
    workspace.set_learning_interval(store.cyclotron_id, EVERY - 3)
    assert len(learning_jobs()) == 1


def test_nothing_is_queued_where_live_calls_are_off_until_a_review_after_they_are_on(
    store: Store, settings: Settings
) -> None:
    workspace = Workspace(caller())
    settings.KAPSOWEB_ALLOW_LIVE = False
    answer(workspace, store, EVERY)
    assert learning_jobs() == []
    settings.KAPSOWEB_ALLOW_LIVE = True
    answer(workspace, store, 1)
    assert len(learning_jobs()) == 1


def test_a_job_that_finds_live_calls_switched_off_fails_and_learns_nothing(store: Store, settings: Settings) -> None:
    answer(Workspace(caller()), store, EVERY)
    settings.KAPSOWEB_ALLOW_LIVE = False
    run_queued_jobs()
    (ended,) = learning_jobs()
    assert (ended.state, ended.error_id) == (JobState.FAILED, "live-off")
    assert not LearningStep.objects.exists()


def test_a_program_that_holds_the_cyclotron_in_its_own_process_learns_when_it_says_so(store: Store) -> None:
    answer(Workspace(local_caller(Door.PYTHON)), store, EVERY + 1)
    assert learning_jobs() == []


def test_a_review_said_twice_and_one_that_does_not_teach_queue_nothing(store: Store) -> None:
    workspace = Workspace(caller())
    answer(workspace, store, EVERY)
    run_queued_jobs()
    assert len(learning_jobs()) == 1
    last = Review.objects.order_by("-id").first()
    assert last is not None
    workspace.review(
        store.cyclotron_id, identity=last.identity, decision_id=last.decision.id, label=last.label, selected_by=None
    )
    assert len(learning_jobs()) == 1


class Down:
    """A model that does not answer."""

    identity, concurrency = "local/1", 1

    def answer(self, request: Any) -> Any:
        raise ModelError("the endpoint is down.")


def test_after_a_failure_the_next_try_waits_and_then_goes_on(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    workspace = Workspace(caller())
    with monkeypatch.context() as broken:
        broken.setattr(room_jobs, "decision_model", Down)
        answer(workspace, store, EVERY)
        run_queued_jobs()
    (failed,) = learning_jobs()
    assert (failed.state, failed.error_id) == (JobState.FAILED, "model-error")
    answer(workspace, store, 2)
    assert len(learning_jobs()) == 1
    Job.objects.filter(pk=failed.pk).update(finished_at=clock.now() - timedelta(minutes=11))
    answer(workspace, store, 1)
    assert len(learning_jobs()) == 2
    run_queued_jobs()
    assert LearningStep.objects.get().training_reviews == EVERY + 3


def test_a_job_that_is_cancelled_stops_before_the_next_call_and_can_be_started_again(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace = Workspace(caller())
    answer(workspace, store, EVERY)
    (queued,) = learning_jobs()
    asked = []

    class Cancelling(LocalModel):
        def answer(self, request: Any) -> Any:
            asked.append(request.fingerprint)
            request_cancel(queued.pk, clock.now())
            return super().answer(request)

    monkeypatch.setattr(room_jobs, "CANCEL_SECONDS", 0.0)
    with monkeypatch.context() as cancelling:
        cancelling.setattr(room_jobs, "decision_model", Cancelling)
        run(queued.pk, "worker-of-the-test")
    (ended,) = learning_jobs()
    assert (ended.state, ended.result, len(asked)) == (JobState.CANCELLED, {"steps": []}, 1)
    assert not LearningStep.objects.exists()
    workspace.take(store.cyclotron_id)
    assert Program().post(f"jobs/{queued.pk}/retry").status_code == 200
    run_queued_jobs()
    assert LearningStep.objects.count() == 1


def test_a_job_that_runs_is_left_to_learn_until_it_has_looked_for_the_last_time(store: Store) -> None:
    workspace = Workspace(caller())
    answer(workspace, store, EVERY)
    Job.objects.update(state=JobState.RUNNING, worker_id="w", lease_until=clock.now() + timedelta(minutes=1))
    answer(workspace, store, 1)
    assert len(learning_jobs()) == 1
    Job.objects.update(progress_done=1, progress_total=1)
    answer(workspace, store, 1)
    assert len(learning_jobs()) == 2


def test_a_review_that_comes_while_a_step_runs_is_learned_from_by_the_same_job(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace = Workspace(caller())
    answer(workspace, store, EVERY)
    more = iter([EVERY])

    def learn(asker: Asker, **given: Any) -> Any:
        learned = learn_if_due(asker, **given)
        answer(workspace, store, next(more, 0))
        return learned

    monkeypatch.setattr(room_jobs, "learn_if_due", learn)
    run_queued_jobs()
    (ended,) = learning_jobs()
    assert [step["step"] for step in ended.result["steps"]] == [1, 2]
    assert (ended.progress_done, ended.progress_total) == (1, 1)


@pytest.mark.parametrize(
    ("state", "said"),
    [
        (None, "due with the next review"),
        (JobState.QUEUED, "under way"),
        (JobState.FAILED, "due; the last job that learned failed"),
    ],
)
def test_the_page_says_what_becomes_of_learning_that_is_due(
    store: Store, client: Any, state: JobState | None, said: str
) -> None:
    answer(Workspace(caller()), store, EVERY)
    if state is None:
        Job.objects.all().delete()
    elif state == JobState.FAILED:
        Job.objects.update(state=state, error_id="model-error", finished_at=clock.now())
    client.force_login(member("reader"))
    page = client.get(reverse("cyclotron:detail", args=[store.cyclotron_id]))
    assert said in page.content.decode()


def test_the_page_says_that_calls_are_switched_off(store: Store, client: Any, settings: Settings) -> None:
    answer(Workspace(caller()), store, EVERY)
    settings.KAPSOWEB_ALLOW_LIVE = False
    client.force_login(member("reader"))
    page = client.get(reverse("cyclotron:detail", args=[store.cyclotron_id]))
    assert "due; calls to a model are switched off" in page.content.decode()


def test_the_jobs_page_says_what_was_learned(store: Store, client: Any) -> None:
    answer(Workspace(caller()), store, EVERY)
    run_queued_jobs()
    step = LearningStep.objects.get()
    client.force_login(member("reader"))
    (ended,) = learning_jobs()
    page = client.get(reverse("pages:job", args=[ended.pk])).content.decode()
    assert "Learning" in page
    assert {"promoted": "is new and active", "refitted": "has a new ML model", "kept": "stays as it was"}[
        step.outcome
    ] in page
