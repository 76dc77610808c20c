"""The trials of `wire_counts` on one stack, after `begin` in a process of their own.

What a trial is and what must hold of it is the fault tests' own: see `tests.support.evaluation_trials`.
"""

import atexit
import itertools
import math
import random
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Any

from cyclotron.store import Store
from tests.studies.wire_counts import Case, Tally
from tests.support.evaluation_deliveries import DeliveredTrial, Delivery, Way, crew
from tests.support.evaluation_trials import (
    Disturbance,
    FaultyWorkers,
    Killed,
    Trial,
    comparable,
    faulty_workers,
    silent_bell,
    undisturbed_report,
)
from tests.support.faulty_worker import Fault
from tests.support.frozen_cyclotrons import frozen_cyclotron, learns_from_questions
from tests.support.loopback_model import Fault as Bad
from tests.support.loopback_model import LoopbackModel

ITEMS = 4
BOUND = 2 * ITEMS
AT_ONCE = 4
TWICE = 0.25  # of the seeds are killed twice with permits, as all are without
LIMIT_SECONDS = 2.5  # for a call whose answer comes a byte a second
ONCE_A_RUN = frozenset({"before-report", "inside-report", "after-report"})
BAD_ANSWERS = {
    "429": (Bad.STATUS, 429),
    "500": (Bad.STATUS, 500),
    "garbage": (Bad.GARBAGE, 0),
    "half-a-body": (Bad.HALF, 0),
    "a-byte-a-second": (Bad.TRICKLE, 1000),
}


@dataclass(frozen=True)
class Lab:
    """A frozen set of this process's lab, the model that it asks, and the report that nothing disturbed."""

    store: Store
    server: LoopbackModel
    undisturbed: dict[str, Any]
    kept: ExitStack = field(repr=False)


@cache
def lab() -> Lab:
    kept = ExitStack()
    atexit.register(kept.close)
    server = kept.enter_context(LoopbackModel(learns_from_questions))
    kept.enter_context(silent_bell())
    store = frozen_cyclotron(audit=ITEMS)
    return Lab(store, server, comparable(undisturbed_report(store, server)), kept)


@cache
def workers() -> FaultyWorkers:
    return lab().kept.enter_context(faulty_workers())


def run(case: Case, seeds: int) -> Tally:
    """`seeds` trials of a case, and as many of its control where it has one, in which the same is drawn."""

    def each(trial: Callable[[Case, random.Random], Ended], share: float = 1) -> list[Ended]:
        return [trial(case, random.Random(f"{case.name} {seed}")) for seed in range(math.ceil(seeds * share))]

    if case.group == "message":
        with crew(lab().server):
            tally = _tally(each(_delivered))
        if case.control:
            with crew(lab().server, guarded=False):
                tally.control = [_calls(ended) for ended in each(_delivered)]
    elif case.group == "model":
        tally = _tally(each(_answered_badly))
    else:
        tally = _tally(each(_killed))
        if case.control:
            tally.twice = _tally(each(partial(_killed_twice, without=""), TWICE))
            tally.control = [_calls(ended) for ended in each(partial(_killed_twice, without="permit"))]
    return tally


@dataclass(frozen=True)
class Ended:
    """A trial that came to its report, forgotten by the store; `broken` says what did not hold, if anything."""

    trial: Trial
    equal: bool
    broken: str


def _ended(trial: Trial, disturbances: Iterator[Any]) -> Ended:
    equal, broken = False, ""
    try:
        equal = comparable(trial.until_done(disturbances)) == lab().undisturbed
        trial.check()
        assert trial.confirmations[0].bound == BOUND, "something was left of an earlier trial"
    except Exception as error:  # noqa: BLE001 - told in the table, and the next trial begins
        broken = f"{type(error).__name__}: {error}".partition("\n")[0]
    trial.forget()
    return Ended(trial, equal, broken)


def _killed(case: Case, draw: random.Random) -> Ended:
    trial = Trial(lab().store, lab().server, workers())
    if case.name == "any-moment":
        return _ended(trial, (Killed(draw.randint(0, BOUND - 1), concurrency=AT_ONCE) for _ in range(2)))
    return _ended(trial, iter([Fault(case.name, _pass(case, draw, BOUND))]))


def _killed_twice(case: Case, draw: random.Random, *, without: str) -> Ended:
    """The kill of the case after another that lost a call: only then has a worker something to ask again."""
    trial = Trial(lab().store, lab().server, workers())
    first = draw.randint(1, BOUND - 1)
    on = _pass(case, draw, BOUND - first)

    def deaths() -> Iterator[Disturbance]:
        yield Fault("before-record", first, without=without)
        while trial.kills < 2:
            yield Fault(case.name, on, without=without)
        yield from itertools.repeat(Fault(without=without))

    return _ended(trial, deaths())


def _pass(case: Case, draw: random.Random, most: int) -> int:
    return 1 if case.name in ONCE_A_RUN else draw.randint(1, most)


def _answered_badly(case: Case, draw: random.Random) -> Ended:
    fault, amount = BAD_ANSWERS[case.name]
    trial = Trial(lab().store, lab().server, workers())
    times = draw.randint(1, 2 if fault is Bad.TRICKLE else 6)
    lab().server.behave(fault, amount=amount, after=draw.randint(0, BOUND - 1), times=times)
    return _ended(trial, itertools.repeat(Fault(concurrency=draw.randint(1, AT_ONCE), timeout_seconds=LIMIT_SECONDS)))


def _delivered(case: Case, draw: random.Random) -> Ended:
    way = Way(case.name)
    number = draw.randint(2, 5) if way is Way.TWICE else draw.randint(1, BOUND - 1)
    trial = DeliveredTrial(lab().store, lab().server)
    return _ended(trial, iter([Delivery(way, number)]))


def _calls(ended: Ended) -> int:
    """Calls made for the first confirmation."""
    return ended.trial.confirmations[0].calls if ended.trial.confirmations else 0


def _tally(ended: list[Ended]) -> Tally:
    def count(of: Callable[[Ended], Any]) -> int:
        return sum(int(of(each)) for each in ended)

    confirmations = [one for each in ended for one in each.trial.confirmations]
    return Tally(
        runs=len(ended),
        bound=BOUND,
        most_calls=max(_calls(each) for each in ended),
        over_bound=sum(one.calls > one.bound for one in confirmations),
        kills=count(lambda each: each.trial.kills),
        permits_lost=count(lambda each: each.trial.lost_permits),
        unanswered=sum(one.unanswered for one in confirmations),
        interrupted=count(lambda each: any(one.state == "interrupted" for one in each.trial.confirmations[:1])),
        answers_lost=sum(one.answered - one.kept for one in confirmations),
        reports_equal=count(lambda each: each.equal),
        broken=[each.broken for each in ended if each.broken],
    )
