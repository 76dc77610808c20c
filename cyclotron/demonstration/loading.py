"""Loading the demonstration: written texts, really replayed and learned from, then frozen and evaluated once."""

from collections.abc import Callable
from importlib import resources

from cyclotron.actions import freeze_held_out_set
from cyclotron.actions.asking import Asker
from cyclotron.actions.evaluating import run_evaluation, start_evaluation
from cyclotron.actions.replaying import replay_rows
from cyclotron.adapters.local import LocalModel
from cyclotron.core.definition import ClassifierDefinition, CyclotronDefinition
from cyclotron.core.replay import parse_replay
from cyclotron.demonstration import NAME
from cyclotron.engine import open_store
from cyclotron.models import Report
from cyclotron.plan import make_plan
from cyclotron.store import Store
from kapsoweb.foundation import clock
from kapsoweb.foundation.strict_csv import read_rows

LABELS = ("include", "exclude")
SAY_EVERY = 100


def load_demonstration(say: Callable[[str], None]) -> None:
    """Bring the cyclotron `demonstration` to its first report; goes on where an earlier load stopped.

    Does nothing once there is a report, so that later reviews of the demonstration stay as somebody made them. The
    embedded model is used whatever the settings say: loading must not call a model that costs.
    """
    store = open_store(NAME, _definition())
    if store.all(Report).exists():
        return
    say("Loading the demonstration: texts written for it are decided, reviewed and learned from.")
    model = LocalModel()
    table = read_rows(_text("tips.csv"), ["id", "text", "label"])
    rows, _ = parse_replay(
        table.rows,
        id_column="id",
        text_columns=["text"],
        label_column="label",
        mapping={},
        otherwise=None,
        labels=LABELS,
    )

    def progress(done: int, total: int) -> None:
        if done % SAY_EVERY == 0 or done == total:
            say(f"  {done} of {total} texts")

    replay_rows(Asker(store, model, clock.now), rows, progress=progress)
    freeze_held_out_set(store, now=clock.now())
    _evaluate(store, model)
    say("  The demonstration has its first report.")


def _evaluate(store: Store, model: LocalModel) -> None:
    plan = make_plan(store, store.classifier(), model=model.identity)
    started = start_evaluation(
        store,
        model=model.identity,
        confirmed_bound=plan.bound,
        confirmed_plan=plan.digest,
        now=clock.now(),
    )
    run_evaluation(store, started.id, model=model, fence=1, clock=clock.now)


def _definition() -> CyclotronDefinition:
    return CyclotronDefinition(
        seed=NAME,
        classifiers=(
            ClassifierDefinition(
                name="newsletter",
                labels=LABELS,
                positive_label="include",
                question="Should this tip go into the neighbourhood science newsletter?",
                rubric=_text("rubric.txt").decode().strip(),
            ),
        ),
    )


def _text(name: str) -> bytes:
    return resources.files("cyclotron.demonstration").joinpath(name).read_bytes()
