"""Replaying a labelled file into a store: what is recorded, what is passed over, what is refused and listed."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from cyclotron.actions import undo_review
from cyclotron.actions.asking import Ceiling
from cyclotron.actions.replaying import Replayed, replay_rows
from cyclotron.adapters.local import LocalModel
from cyclotron.core.configuration import Answer, DecisionRequest
from cyclotron.core.draws import partition_of
from cyclotron.core.errors import RequestCeilingError
from cyclotron.core.items import MAX_VALUES_BYTES
from cyclotron.core.replay import ReplayRow, parse_replay
from cyclotron.models import CachedAnswer, Decision, Event, Item, Review, Version
from kapsoweb.foundation.strict_csv import BadRow, read_rows
from tests.support.cyclotrons import SEED, CountingModel, Workbench, classifier, identities, workbench

pytestmark = [pytest.mark.services, pytest.mark.django_db]


@pytest.fixture
def bench() -> Workbench:
    return workbench()


def row(identity: str, label: str = "include", text: str | None = None, line: int = 2) -> ReplayRow:
    return ReplayRow(line, identity, text or f"text of {identity}", label)


def replay(bench: Workbench, *rows: ReplayRow, **given: Any) -> Replayed:
    return replay_rows(bench.asker, rows, **given)


def counts(bench: Workbench) -> tuple[int, ...]:
    return tuple(bench.store.all(model).count() for model in (Item, Decision, Review, CachedAnswer, Event))


def test_each_row_is_decided_and_its_label_recorded_as_a_review_that_the_program_selected(bench: Workbench) -> None:
    names = [f"item-{number}" for number in range(40)]
    assert replay(bench, *map(row, names)) == Replayed(40, 0, (), ())
    assert {item.identity: item.partition for item in bench.store.all(Item)} == {
        name: partition_of(SEED, name) for name in names
    }
    reviews = list(bench.store.all(Review).select_related("item", "decision").order_by("id"))
    assert [review.item.identity for review in reviews] == names
    assert {(review.selected_by, review.label, review.decision.propensity) for review in reviews} == {
        ("program", "include", 1.0)
    }
    assert {label.weight for label in bench.current().values()} == {1.0}


def test_a_second_replay_repeats_nothing(bench: Workbench) -> None:
    rows = [row("a"), row("b", "exclude")]
    replay(bench, *rows)
    before = counts(bench)
    assert replay(bench, *rows) == Replayed(0, 2, (), ())
    assert counts(bench) == before
    assert replay(bench, *rows, row("c")) == Replayed(1, 2, (), ())


def test_a_row_known_with_other_text_or_another_label_is_listed_and_nothing_of_it_is_kept(bench: Workbench) -> None:
    replay(bench, row("a"), row("b"))
    before = counts(bench)
    done = replay(bench, row("a", text="marker", line=7), row("b", "exclude", line=8), row("c", line=9))
    assert [(bad.line, bad.rule) for bad in done.bad] == [
        (7, "known-with-other-content"),
        (8, "known-with-other-content"),
    ]
    assert (done.recorded, done.known) == (1, 0)
    assert "marker" not in str(done.bad)
    assert all(isinstance(bad, BadRow) and bad.sentence for bad in done.bad)
    assert counts(bench)[:3] == tuple(number + 1 for number in before[:3])
    assert bench.labels() == {"a": "include", "b": "include", "c": "include"}


def test_a_row_whose_values_no_item_may_have_is_listed_and_its_neighbours_are_recorded(bench: Workbench) -> None:
    done = replay(bench, row("a"), row("b", text="x" * MAX_VALUES_BYTES, line=3), row("c", line=4))
    assert [(bad.line, bad.rule) for bad in done.bad] == [(3, "invalid-item")]
    assert done.recorded == 2
    assert sorted(bench.store.all(Item).values_list("identity", flat=True)) == ["a", "c"]
    assert bench.store.all(CachedAnswer).count() == 2


def test_an_item_that_was_decided_before_keeps_its_decision_where_it_was_sent(bench: Workbench) -> None:
    decided = bench.decide("a")
    assert replay(bench, row("a")) == Replayed(1, 0, (), ())
    assert bench.store.all(Review).get().decision_id == decided.decision_id
    assert bench.store.all(Decision).count() == 1


def test_an_item_that_was_not_sent_is_decided_again_so_that_its_review_is_a_selected_one(bench: Workbench) -> None:
    bench.decide("item-0", review_rate=0.0001, audit_rate=0)
    replay(bench, row("item-0"))
    assert bench.store.all(Review).get().selected_by == "program"
    assert bench.store.all(Item).get().propensity == 1.0


def test_an_item_that_was_sent_at_a_lower_rate_is_decided_again_so_that_its_weight_is_1() -> None:
    model = CountingModel()
    bench = workbench(classifier("one"), classifier("two"), model=model)
    earlier = [bench.decide(f"item-{number}", review_rate=0.2) for number in range(30)]
    sent = {decided.item_id for decided in earlier if decided.sent_to_review}
    assert 0 < len(sent) < 30
    asked = model.count
    assert replay(bench, *(row(decided.item_id) for decided in earlier)).recorded == 30
    assert model.count == asked  # the same question, of which the answer is kept
    assert {label.weight for label in bench.current().values()} == {1.0}
    assert set(bench.store.all(Decision).filter(reviews__isnull=False).values_list("propensity", flat=True)) == {1.0}
    assert bench.store.all(Decision).count() == 60
    replay(bench, *(row(decided.item_id) for decided in earlier), classifier="two")
    assert (bench.store.all(Decision).count(), model.count) == (60, asked)
    assert {label.weight for label in bench.current(classifier="two").values()} == {1.0}


def test_a_replay_that_stopped_between_decision_and_review_decides_no_third_time(bench: Workbench) -> None:
    assert bench.decide("item-0", review_rate=0.999, audit_rate=0).sent_to_review
    again = bench.decide("item-0", audit_rate=0)
    replay(bench, row("item-0"))
    assert bench.store.all(Decision).count() == 2
    assert bench.current()["item-0"].weight == again.propensity == 1.0


def test_a_label_that_a_reviewer_corrected_or_undid_is_left_alone_by_a_second_replay(bench: Workbench) -> None:
    replay(bench, row("a"), row("b"))
    bench.label("a", "exclude")
    first = bench.store.all(Review).get(item__identity="b")
    undo_review(bench.store, identity=first.identity, actor="ada", now=bench.clock())
    assert replay(bench, row("a"), row("b")) == Replayed(0, 2, (), ())
    assert bench.labels() == {"a": "exclude"}


def test_identities_of_the_greatest_length_and_of_other_bytes_are_replayed_apart(bench: Workbench) -> None:
    names = ["x" * 512, "x" * 511 + "y", "caf\u00e9", "cafe\u0301", "a", "A", "a "]
    assert replay(bench, *map(row, names)).recorded == len(names)
    assert bench.store.all(Review).count() == len(names)
    assert replay(bench, *map(row, names)).known == len(names)


def test_the_named_classifier_is_labelled_and_a_second_one_afterwards() -> None:
    bench = workbench(classifier("one"), classifier("two", labels=("x", "y"), question="Which?"))
    assert replay(bench, row("a")).recorded == 1
    assert replay(bench, row("a", "y"), classifier="two").recorded == 1
    assert bench.labels(classifier="one") == {"a": "include"}
    assert bench.labels(classifier="two") == {"a": "y"}
    assert bench.store.all(Decision).count() == 1


def test_a_ceiling_stops_a_replay_and_what_was_recorded_is_kept(bench: Workbench) -> None:
    bench.ceiling = Ceiling(2)
    rows = [row(name) for name in "abcd"]
    with pytest.raises(RequestCeilingError):
        replay(bench, *rows)
    assert bench.labels() == {"a": "include", "b": "include"}
    bench.ceiling = Ceiling(2)
    assert replay(bench, *rows) == Replayed(2, 2, (), ())


def test_progress_counts_every_row_and_no_row_is_no_error(bench: Workbench) -> None:
    seen: list[tuple[int, int]] = []
    replay(bench, row("a"), row("a", text="other"), row("b"), progress=lambda done, total: seen.append((done, total)))
    assert seen == [(1, 3), (2, 3), (3, 3)]
    assert replay(bench) == Replayed(0, 0, (), ())


def test_learning_that_was_due_before_the_replay_is_done_first() -> None:
    bench = workbench(learn_every=2)
    for name in identities("training", 2):
        bench.label(name, "include")
    done = replay(bench, row("a"))
    assert [learned.step for learned in done.learned] == [1]


def read(path: Path, first: int, **changed: Any) -> tuple[list[ReplayRow], list[BadRow]]:
    table = read_rows(path, ["pubmedID", "title", "abstracts", "label1"])
    settings: dict[str, Any] = {"mapping": {"I": "include"}, "otherwise": "exclude"}
    rows, bad = parse_replay(
        table.rows[:first],
        id_column="pubmedID",
        text_columns=["title", "abstracts"],
        label_column="label1",
        labels=("include", "exclude"),
        **settings | changed,
    )
    return rows, [*table.bad, *bad]


@pytest.mark.parametrize(("name", "first"), [("adhd.csv", 120), ("nsaids.csv", 40), ("estrogens.csv", 40)])
def test_real_screening_decisions_are_replayed_row_by_row(screening_data: Path, name: str, first: int) -> None:
    bench = workbench(model=CountingModel())
    rows, bad = read(screening_data / name, first)
    assert (len(rows), bad) == (first, [])
    done = replay(bench, *rows)
    assert (done.recorded, done.bad) == (first, ())
    frozen = bench.freeze()
    audit = {row.item_id: row.label for row in rows if partition_of(SEED, row.item_id) == "audit"}
    assert bench.labels("audit") == audit
    assert frozen.size == len(audit)
    assert frozen.label_counts["include"] == sum(label == "include" for label in audit.values())


def test_the_embedded_model_learns_from_real_decisions(screening_data: Path) -> None:
    bench = workbench(classifier(positive_label="include"), model=LocalModel(), learn_every=20)
    rows, _ = read(screening_data / "nsaids.csv", 80)
    done = replay(bench, *rows)
    assert done.recorded == 80
    assert [learned.step for learned in done.learned] == [1, 2]
    told = str(list(Version.objects.values_list("configuration", flat=True)))
    for kept in rows:
        if partition_of(SEED, kept.item_id) != "training":
            assert kept.text not in told


def test_a_row_that_another_replay_records_meanwhile_is_known_and_not_refused(bench: Workbench) -> None:
    rival = replace(bench, model=CountingModel(identity="rival/1"))

    class Overtaken(CountingModel):
        def answer(self, request: DecisionRequest) -> Answer:
            if not self.asked:
                assert replay(rival, row("a")) == Replayed(1, 0, (), ())
            return super().answer(request)

    assert replay(replace(bench, model=Overtaken()), row("a")) == Replayed(0, 1, (), ())
    assert bench.store.all(Review).count() == 1
