"""What a person confirms of an evaluation, rightly or not, and what is to be expected of it."""

from dataclasses import dataclass, field
from typing import Any

from cyclotron import queries
from cyclotron.actions.asking import Ceiling
from cyclotron.core.errors import (
    BoundChangedError,
    EvaluationRunningError,
    NoHeldOutSetError,
    NothingToScoreError,
    PlanChangedError,
    RequestCeilingError,
    RequestIdReusedError,
)
from tests.support.engine_bench import Bench
from tests.support.engine_rows import Row

CONFIRMED = ["right", "right", "right", "right", "stale bound", "stale plan", "low ceiling", "reused"]


@dataclass
class Wanted:
    """An evaluation as asked for. It is refused by one of `errors`, or joins the running one `same`, or starts."""

    name: str
    target: str
    after: tuple[int, int]
    model: str
    bound: int
    content: dict[str, Any]
    request_id: str | None
    ceiling: Ceiling = field(default_factory=Ceiling)
    errors: set[type[BaseException]] = field(default_factory=set)
    same: str | None = None


def wanted_of(
    bench: Bench,
    name: str,
    running: Row | None,
    *,
    which: int,
    confirmed: str,
    old: bool,
    in_call: bool,
    minimum: int,
) -> Wanted:
    """The newest set (or an `old` one) as the overview shows it now, but for what `confirmed` says."""
    reference = bench.reference
    known = reference.classifiers[name]
    sets = [key for key, frozen in reference.sets.items() if frozen.classifier == name]
    set_id = sets[which % len(sets)] if old and sets else None
    target = set_id or known.newest_set
    missing = reference.missing(name, target, known.active[0], bench.model.identity) if target else set()
    content = {
        "confirmed_bound": len(missing),
        "confirmed_plan": _plan(bench, name, minimum) if set_id is None and which % 5 else None,
        "set_id": set_id,
        "minimum_per_label": minimum,
    }
    request_id = f"request {len(reference.request_ids)}" if which % 2 else None
    wanted = Wanted(name, target or "", known.active, bench.model.identity, len(missing), content, request_id)
    if target is None:
        wanted.errors = {NoHeldOutSetError}
    elif not reference.scored(name, target):
        wanted.errors = {NothingToScoreError}
    elif running is not None and running["job_id"]:
        alive = reference.evaluations[running["id"]]
        if (target, known.active, minimum, wanted.model) == (alive.set_id, alive.after, alive.minimum, alive.model):
            wanted.same = running["id"]
        else:
            wanted.errors = {EvaluationRunningError}
    _spoil(bench, wanted, confirmed, in_call)
    return wanted


def _plan(bench: Bench, name: str, minimum: int) -> str | None:
    shown = queries.overview(bench.store, name, model=bench.model.identity, allow_live=True, minimum_per_label=minimum)
    return shown.plan_digest


def _spoil(bench: Bench, wanted: Wanted, confirmed: str, in_call: bool) -> None:
    """Confirm something else than what is shown. One that joins does so before any look at bound and plan."""
    if confirmed == "reused" and bench.reference.request_ids:
        wanted.request_id = next(iter(bench.reference.request_ids))
        wanted.content["minimum_per_label"] += 100
        wanted.errors.add(RequestIdReusedError)
        wanted.same = None
    elif confirmed == "stale bound":
        wanted.content["confirmed_bound"] += 1 if wanted.bound < 2 or wanted.bound % 2 else -1
        wanted.errors |= set() if wanted.same else {BoundChangedError}
    elif confirmed == "stale plan":
        wanted.content["confirmed_plan"] = "0" * 64
        wanted.errors |= set() if wanted.same else {PlanChangedError}
    elif confirmed == "low ceiling" and in_call and wanted.bound:
        wanted.ceiling = Ceiling(wanted.bound - 1)
        wanted.errors |= set() if wanted.same else {RequestCeilingError}
