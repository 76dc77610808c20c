"""Do the calls on the wire ever pass the bound that was confirmed, whatever befalls workers, messages and the model?

Workers are killed with SIGKILL at each named step and at any moment; messages come twice, late, not at all; two workers
run one evaluation; the model answers badly. A model on the loopback counts. The controls are the same without permits.
"""

import multiprocessing
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from typing import Any

from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from kapsoweb.foundation.wording import camel_case
from tests.studies.lab import begin
from tests.support.services import postgresql, redis_server

NAME = "wire-counts"
SEEDS = 20
STACKS = ("SQLite, filesystem transport", "PostgreSQL, Redis")
LABS = 2  # of each stack, side by side


@dataclass(frozen=True)
class Case:
    """One thing that befalls an evaluation. `control`: it is repeated with the permits taken away."""

    group: str
    name: str
    told: str
    control: bool = False


CASES = (
    Case("kill", "before-permit", "killed before a permit", control=True),
    Case("kill", "inside-permit", "killed while a permit is written", control=True),
    Case("kill", "after-permit", "killed after a permit, before its call", control=True),
    Case("kill", "before-record", "killed after an answer, before its record", control=True),
    Case("kill", "inside-record", "killed between the answer's row and its permit's", control=True),
    Case("kill", "after-record", "killed after an answer's record", control=True),
    Case("kill", "before-report", "killed before the report", control=True),
    Case("kill", "inside-report", "killed while the report is written", control=True),
    Case("kill", "after-report", "killed after the report", control=True),
    Case("kill", "any-moment", "two workers in a row killed at any moment, four calls at once"),
    Case("message", "twice", "the message comes two to five times"),
    Case("message", "late", "the message comes again during the run and after its end"),
    Case("message", "lost", "the message never comes"),
    Case("message", "taken-over", "two workers at once", control=True),
    Case("model", "429", "the model answers 429"),
    Case("model", "500", "the model answers 500"),
    Case("model", "garbage", "the model answers garbage"),
    Case("model", "half-a-body", "the model answers half a body"),
    Case("model", "a-byte-a-second", "the model answers one byte a second"),
)


@dataclass
class Tally:
    """What the trials of a case came to.

    `most_calls` of any first confirmation; `over_bound` confirmations whose calls passed theirs; `interrupted` first
    confirmations; `broken` what did not hold. `twice`: the same kill after one that lost a call; `control`: the calls
    of each of those without permits, where `bound` were confirmed.
    """

    runs: int
    bound: int
    most_calls: int
    over_bound: int
    kills: int
    permits_lost: int
    unanswered: int
    interrupted: int
    answers_lost: int
    reports_equal: int
    broken: list[str]
    twice: "Tally | None" = None
    control: list[int] = field(default_factory=list)


def study(seeds: int, say: Callable[[str], None]) -> dict[str, Any]:
    """Every case on both stacks, each of them in some labs of their own side by side."""
    began = time.monotonic()
    with ExitStack() as stack:
        pools = {name: [_pool(stack, name) for _ in range(LABS)] for name in STACKS}
        begun = {
            pools[name][number % LABS].submit(_run, case, seeds): (name, case)
            for number, case in enumerate(CASES)
            for name in STACKS
        }
        tallies = _gather(begun, say)
    table = [_row(name, case, tallies[name, case]) for name in STACKS for case in CASES]
    return {
        "seeds": seeds,
        "seconds": time.monotonic() - began,
        "held": all(_held(tally) and _held(tally.twice or tally) for tally in tallies.values()),
        "table": table,
    }


def _pool(stack: ExitStack, name: str) -> ProcessPoolExecutor:
    """A process with a lab, and services, of its own: messages of one lab are nothing to another."""
    services = {"DATABASE_URL": postgresql, "REDIS_URL": redis_server} if name == STACKS[1] else {}
    environment = {variable: stack.enter_context(service()).address for variable, service in services.items()}
    return stack.enter_context(
        ProcessPoolExecutor(1, multiprocessing.get_context("spawn"), initializer=begin, initargs=(environment,))
    )


def _gather(begun: dict[Future[Tally], tuple[str, Case]], say: Callable[[str], None]) -> dict[tuple[str, Case], Tally]:
    for number, done in enumerate(as_completed(begun), start=1):
        name, case = begun[done]
        if done.exception() is not None:
            say(f"{name}: {case.told}: {done.exception()!r}")
            for each in begun:
                each.cancel()
        tally = done.result()
        say(
            f"{number} of {len(begun)}: {name}: {case.told}: at most {tally.most_calls} of {tally.bound} {tally.broken}"
        )
    return {key: done.result() for done, key in begun.items()}


def _run(case: Case, seeds: int) -> Tally:
    from tests.studies import wire_trials  # models can be imported only now, in the process of the stack

    return wire_trials.run(case, seeds)


def _row(stack: str, case: Case, tally: Tally) -> dict[str, Any]:
    given = asdict(tally)
    twice, control = given.pop("twice"), given.pop("control")
    row = {"stack": stack, "case": case.name, "told": case.told, **_camel_keys(given)}
    if twice is not None:
        row["afterALostCall"] = _camel_keys(
            {key: value for key, value in twice.items() if key not in ("twice", "control")}
        )
    if control:
        row["control"] = {
            "runs": len(control),
            "overBound": sum(calls > tally.bound for calls in control),
            "leastCalls": min(control),
            "mostCalls": max(control),
        }
    return row


def _held(tally: Tally) -> bool:
    kept = not (tally.over_bound or tally.answers_lost or tally.broken)
    return kept and tally.reports_equal == tally.runs


def _camel_keys(given: Mapping[str, Any]) -> dict[str, Any]:
    return {camel_case(key): value for key, value in given.items()}


def plot(found: dict[str, Any], figure: Figure) -> None:
    """A row a case: calls made where `bound` were confirmed, with permits and without."""
    figure.set_size_inches(10.0, 5.5)
    panels = figure.subplots(1, len(STACKS), sharey=True)
    for axes, stack in zip(panels, STACKS, strict=True):
        rows = [row for row in found["table"] if row["stack"] == stack]
        places = range(len(rows))
        axes.axvline(rows[0]["bound"], color="0.8", linewidth=1, label="confirmed")
        most = [max(row["mostCalls"], row.get("afterALostCall", row)["mostCalls"]) for row in rows]
        axes.plot(most, places, "o", color="C0", markersize=5, label="most calls of a run")
        controls = [(place, row["control"]) for place, row in zip(places, rows, strict=True) if "control" in row]
        axes.hlines(
            [place for place, _ in controls],
            [each["leastCalls"] for _, each in controls],
            [each["mostCalls"] for _, each in controls],
            color="C3",
            linewidth=1,
        )
        for end in ("leastCalls", "mostCalls"):
            axes.plot(
                [each[end] for _, each in controls],
                [place for place, _ in controls],
                "x",
                color="C3",
                markersize=5,
                label="without permits, least and most" if end == "mostCalls" else None,
            )
        axes.set_yticks(list(places), [row["told"] for row in rows])
        axes.set_xlim(left=0)
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.set_xlabel(f"calls on the wire where {rows[0]['bound']} were confirmed")
        axes.set_title(stack, fontsize=10)
    panels[0].invert_yaxis()
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower right", ncols=3, frameon=False)
