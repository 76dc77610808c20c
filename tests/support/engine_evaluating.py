"""Steps that evaluate: what is confirmed, what is refused, how a worker dies, and what is left to confirm."""

from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import rule

from cyclotron.actions.asking import Ceiling
from cyclotron.actions.evaluating import close_lost_evaluation, confirm_evaluation, evaluate_inside
from kapsoweb.jobs import running as jobs_running
from tests.support.dying import Fault
from tests.support.engine_bench import Outcome
from tests.support.engine_checks import check_report
from tests.support.engine_confirming import CONFIRMED, Wanted, wanted_of
from tests.support.engine_learning import LearningSteps
from tests.support.engine_rows import Row
from tests.support.engine_steps import ITEMS, OFTEN, PLACES, fault_of, step, steps_of
from tests.support.reference_engine import RefEvaluation

TOUCHES = {"Evaluation", "EvaluationRequest", "Permit", "Report"}  # nothing is learned, promoted or reviewed
GONE_AFTER = 5 * 60  # seconds of silence after which an evaluation without a job is lost
LEASE = 3600  # seconds, and more than a job's lease


class EvaluatingSteps(LearningSteps):
    """Evaluations inside the call and by jobs, with workers that die and what is left confirmed again."""

    @step(
        4,
        when=lambda self: self.bench.reference.sets,
        which=PLACES,
        by=st.sampled_from(["call", "job"]),
        other_model=st.booleans(),
        fault=OFTEN,
    )
    def evaluate_the_newest(self, which: int, by: str, other_model: bool, fault: tuple[str, int]) -> None:
        """Rightly confirmed, and perhaps for another model, whose answers are all missing."""
        if other_model:
            self.bench.change_model()
            self._count("change the model")
        self._evaluate(which, "right", False, by, 10, fault)

    @step(
        3,
        which=PLACES,
        confirmed=st.sampled_from(CONFIRMED),
        old=st.sampled_from([False, False, True]),
        by=st.sampled_from(["call", "call", "job", "late job"]),
        minimum=st.sampled_from([10, 1]),
        fault=OFTEN,
    )
    def evaluate(self, which: int, confirmed: str, old: bool, by: str, minimum: int, fault: tuple[str, int]) -> None:
        """Confirmed in one of several ways."""
        self._evaluate(which, confirmed, old, by, minimum, fault)

    def _evaluate(self, which: int, confirmed: str, old: bool, by: str, minimum: int, fault: tuple[str, int]) -> None:
        bench, name = self.bench, self._classifier(which)
        running = bench.running(name)
        if running is not None and not running["job_id"]:
            self.clock.advance(GONE_AFTER)  # so that it counts as lost
        wanted = wanted_of(
            bench, name, running, which=which, confirmed=confirmed, old=old, in_call=by == "call", minimum=minimum
        )
        happens = Fault() if wanted.errors or wanted.same or by == "late job" else fault_of(fault)
        done = bench.act(lambda: self._confirm(wanted, by, happens), TOUCHES, happens)
        if wanted.errors:
            bench.check_refused(done, wanted.errors)
            assert wanted.ceiling.made == 0
            self._count("refuse an evaluation", f"refuse: {type(done.error).__name__}")
        elif wanted.same is not None:
            assert (done.value.id, done.value.new, done.calls) == (wanted.same, False, []), repr(done.error)
            assert all(done.before[table] == done.after[table] for table in ("Evaluation", "Permit", "Report"))
            bench.remember(wanted, wanted.same)
            self._count("join a running evaluation")
        elif not (made := done.new("Evaluation")):
            assert happens.dead, repr(done.error)
            self._count("crash while confirming")
        else:
            self._confirmed(wanted, made[0]["id"], running, done, happens)
            if by == "job" and bench.rows["Evaluation"][made[0]["id"]]["state"] == "running" and not happens.dead:
                self._deliver(made[0]["id"], fault_of(fault))

    def _confirm(self, wanted: Wanted, by: str, happens: Fault) -> Any:
        bench = self.bench
        if by == "call":
            return evaluate_inside(
                bench.store,
                wanted.name,
                model=bench.model,
                ceiling=wanted.ceiling,
                clock=self.clock,
                guard=happens.guard,
                request_id=wanted.request_id,
                **wanted.content,
            )
        return confirm_evaluation(
            bench.store,
            wanted.name,
            model=bench.model,
            account_id="acc_1",
            clock=self.clock,
            request_id=wanted.request_id,
            **wanted.content,
        )

    def _confirmed(self, wanted: Wanted, key: str, running: Row | None, done: Outcome, happens: Fault) -> None:
        bench = self.bench
        bench.reference.evaluations[key] = RefEvaluation(
            wanted.name, wanted.target, wanted.after, wanted.content["minimum_per_label"], wanted.model, wanted.bound
        )
        bench.remember(wanted, key)
        if running is not None:
            assert done.after["Evaluation"][running["id"]]["reason"] == "abandoned"
            self._count("close a lost evaluation")
        self._count("evaluate")
        self._ran(key, done, happens)
        row = bench.rows["Evaluation"][key]
        left_to_a_job = bool(row["job_id"])
        expected = ("running", 0) if left_to_a_job else ("done", wanted.bound)
        assert happens.happened or (row["state"], len(done.calls)) == expected, repr(done.error)
        bench.check()
        if wanted.request_id is not None:
            self._repeat(wanted.request_id)
        if row["state"] == "done" and wanted.content["set_id"] is None:
            self._evaluate_again(wanted.name, key, wanted.content)

    def _repeat(self, request_id: str) -> None:
        """The same request again is the same evaluation, whatever became of it."""
        key, content = self.bench.reference.request_ids[request_id]
        evaluation = self.bench.reference.evaluations[key]

        def repeat() -> Any:
            return evaluate_inside(
                self.bench.store,
                evaluation.classifier,
                model=self.bench.model,
                ceiling=Ceiling(),
                clock=self.clock,
                request_id=request_id,
                **content,
            )

        again = self.bench.act(repeat, set())
        assert (again.value.id, again.value.new) == (key, False)
        assert again.before == again.after
        assert not again.calls
        self._count("repeat a request")

    def _evaluate_again(self, name: str, key: str, content: dict[str, Any]) -> None:
        """A second evaluation without change asks nothing, and says the same."""
        bench, reference = self.bench, self.bench.reference
        first = reference.evaluations[key]
        assert not reference.missing(name, first.set_id, first.after[0], first.model)
        given = {**content, "confirmed_bound": 0, "confirmed_plan": None}
        again = bench.act(
            lambda: confirm_evaluation(
                bench.store,
                name,
                model=bench.model,
                account_id="acc_1",
                clock=self.clock,
                **given,
            ),
            TOUCHES,
        )
        second = again.value.id
        assert (again.value.state, again.value.new, again.calls) == ("done", True, [])
        reference.evaluations[second] = RefEvaluation(name, first.set_id, first.after, first.minimum, first.model, 0)
        self._ran(second, again, Fault())
        one, other = (
            {part: value for part, value in row["body"].items() if part not in ("createdAt", "cost")} | row["items"][0]
            for row in bench.rows["Report"].values()
            if row["evaluation_id"] in (key, second)
        )
        assert one == other
        self._count("evaluate again")
        bench.check()

    @step(3, when=lambda self: self._all_running(), which=PLACES, fault=OFTEN, gone=st.booleans())
    def resume(self, which: int, fault: tuple[str, int], gone: bool) -> None:
        """Deliver the job of an evaluation whose worker died, or close one that ran inside a call."""
        running = self._all_running()
        row = running[which % len(running)]
        if row["job_id"]:
            self._deliver(row["id"], fault_of(fault))
            return
        name = self.bench.reference.evaluations[row["id"]].classifier
        if gone:
            self.clock.advance(GONE_AFTER)
        is_lost = (self.clock.time - row["seen_at"]).total_seconds() + 1 > GONE_AFTER
        done = self.bench.act(lambda: close_lost_evaluation(self.bench.store, name, now=self.clock()), {"Evaluation"})
        if is_lost:
            self._ran(row["id"], done, Fault("none", happened=True))
            assert self.bench.rows["Evaluation"][row["id"]]["reason"] == "abandoned"
            self._count("close a lost evaluation")
        else:
            assert done.before == done.after
            self._count("leave an evaluation alone")
        self.bench.check()

    def _deliver(self, key: str, fault: Fault) -> None:
        """A worker takes the job once the lease of the one before has run out."""
        bench, reference = self.bench, self.bench.reference
        if fault.kind.startswith("guard"):
            fault = Fault()  # a job has none
        if fault.kind == "death-at-statement":
            fault.at += 10  # beyond the claim of the job
        self.clock.advance(LEASE)
        evaluation, row = reference.evaluations[key], bench.rows["Evaluation"][key]
        missing = reference.missing(evaluation.classifier, evaluation.set_id, evaluation.after[0], evaluation.model)
        scored = reference.scored(evaluation.classifier, evaluation.set_id)
        left = row["bound"] - row["permits_taken"]
        done = bench.act(lambda: jobs_running.run(row["job_id"], "a worker"), TOUCHES, fault)
        self._ran(key, done, fault)
        assert len(done.calls) <= left
        state = bench.rows["Evaluation"][key]["state"]
        if evaluation.model != bench.model.identity:
            assert (state, len(done.calls)) == ("interrupted", 0) or fault.happened
        elif not fault.happened:
            assert state == ("done" if scored and len(missing) <= left else "interrupted")
        self._count("deliver a job", "go on where a worker died" if row["fence"] else "")
        bench.check()

    def _ran(self, key: str, done: Outcome, fault: Fault) -> None:
        """Count the calls of a run, and look at how every evaluation that ended in this act has ended."""
        bench, reference = self.bench, self.bench.reference
        evaluation = reference.evaluations[key]
        evaluation.calls += len(done.calls)
        evaluation.asked |= {called for called, _ in done.calls}
        evaluation.answered = evaluation.asked & reference.stored
        needed = reference.needed(evaluation.classifier, evaluation.set_id, evaluation.after[0], evaluation.model)
        assert {called for called, _ in done.calls} <= needed
        row = bench.rows["Evaluation"][key]
        if row["state"] == "done":
            self._reported(key, row)
        elif row["state"] == "interrupted":
            assert row["unanswered"] == len(needed - reference.stored)
            self._count("interruption", f"interrupted: {row['reason']}")
        if fault.happened:
            self._count("crash while evaluating" if fault.dead or done.error else "a fault while evaluating")

    def _reported(self, key: str, row: Row) -> None:
        bench = self.bench
        evaluation = bench.reference.evaluations[key]
        report = next(each for each in bench.rows["Report"].values() if each["evaluation_id"] == key)
        check_report(bench.reference, evaluation, report, row["permits_taken"], bench.model)
        self._count("report", "report of what was learned" if evaluation.after != (1, 0) else "")

    def _all_running(self) -> list[Row]:
        return [row for row in self.bench.rows["Evaluation"].values() if row["state"] == "running"]


class AnyOrder(EvaluatingSteps):
    """All steps, in any order."""

    @rule(step=steps_of(EvaluatingSteps), instead=ITEMS)
    def step(self, step: tuple[str, dict[str, Any]], instead: tuple[str, int]) -> None:
        """Make the step, or, where there is nothing for it yet, work on an item instead."""
        name, given = step
        method = getattr(self, name)
        if method.when(self):
            method(**given)
        else:
            self.work(instead)
