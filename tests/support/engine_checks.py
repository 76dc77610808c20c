"""What must hold of a cyclotron's rows after every step, by the reference and by the rules themselves.

Source: spec held-out, sections 1 to 5.
"""

import json
import math
import re
from collections import Counter
from collections.abc import Mapping
from functools import lru_cache
from importlib import resources
from typing import Any

from jsonschema import Draft202012Validator

from cyclotron.core.verification import verify_report
from cyclotron.labels import current_labels, new_label_count
from cyclotron.plan import make_plan
from cyclotron.store import Store
from tests.support.dying import WatchedModel
from tests.support.engine_rows import LabelReader, Row, Rows
from tests.support.reference_engine import Reference, RefEvaluation

MARK = re.compile(r"\bmark[a-z]\d\b")  # the word that some texts of one partition share


def check_everything(store: Store, reference: Reference, rows: Rows, labels: LabelReader, model: WatchedModel) -> None:
    """Every invariant of one moment; of the classifiers, one each time in turn is asked for all that it can tell."""
    check_decided(reference, rows)
    check_reviewed(reference, rows)
    for (name, use), found in labels.labels().items():
        assert found == reference.labels(name, use), f"other labels of {name} count for {use}"
    check_sets(reference, rows)
    check_evaluations(reference, rows)
    check_versions(reference, rows)
    sequences = [row["sequence"] for row in rows["Event"].values()]
    assert sequences == list(range(1, len(sequences) + 1))
    assert [row["event_count"] for row in rows["StoredCyclotron"].values()] == [len(sequences)]
    names = list(reference.classifiers)
    check_classifier(store, reference, names[len(sequences) % len(names)], model)


def check_decided(reference: Reference, rows: Rows) -> None:
    """Section 1: partitions, draws, the largest exposure, and the first reason."""
    items = {
        row["identity"]: (
            row["values"]["text"],
            row["partition"],
            row["selection_draw"],
            row["propensity"],
            row["selected_because"],
        )
        for row in rows["Item"].values()
    }
    expected = {
        identity: (item.text, item.partition, item.number, item.propensity, item.reason)
        for identity, item in reference.items.items()
    }
    assert items == expected
    identities = {key: row["identity"] for key, row in rows["Item"].items()}
    decided = {
        key: (identities[row["item_id"]], row["sent"], row["reason"], row["propensity"])
        for key, row in rows["Decision"].items()
    }
    assert decided == {
        key: (each.item, each.sent, each.reason, each.propensity) for key, each in reference.decisions.items()
    }


def check_reviewed(reference: Reference, rows: Rows) -> None:
    """Section 1: who selected a review, what it corrects, which label counts and what for, and what waits."""
    identities = {key: row["identity"] for key, row in rows["Item"].items()}
    names = {key: row["name"] for key, row in rows["Classifier"].items()}
    reviews = {key: row["identity"] for key, row in rows["Review"].items()}
    stored = {
        row["identity"]: (
            names[row["classifier_id"]],
            identities[row["item_id"]],
            row["label"],
            row["selected_by"],
            reviews.get(row["corrects_id"]),
            row["undone_at"] is not None,
        )
        for row in rows["Review"].values()
    }
    assert stored == {
        name: (each.classifier, each.item, each.label, each.selected_by, each.corrects, each.undone)
        for name, each in reference.reviews.items()
    }
    for name in reference.classifiers:
        waiting = [each["item_id"] for each in rows["WaitingItem"].values() if names[each["classifier_id"]] == name]
        assert {identities[key] for key in waiting} == reference.waiting(name)


def check_sets(reference: Reference, rows: Rows) -> None:
    """Section 2: a set is what it was when it was frozen, and its id names its content."""
    identities: dict[str, list[Row]] = {key: [] for key in rows["HeldOutSet"]}
    for row in rows["HeldOutItem"].values():
        identities[row["held_out_set_id"]].append(row)
    assert rows["HeldOutSet"].keys() == reference.sets.keys()
    for key, frozen in reference.sets.items():
        held = {row["identity"]: (row["values"]["text"], row["label"], row["propensity"]) for row in identities[key]}
        assert held == {name: (each.text, each.label, each.propensity) for name, each in frozen.items.items()}
        in_order = [row["identity"] for row in sorted(identities[key], key=lambda row: row["position"])]
        assert in_order == sorted(held)
        row = rows["HeldOutSet"][key]
        assert (row["frozen_at"], row["size"]) == (frozen.frozen_at, len(held))
        counted = Counter(each.label for each in frozen.items.values())
        assert row["label_counts"] == {
            label: counted[label] for label in reference.classifiers[frozen.classifier].labels
        }
    contents = [
        (each.classifier, sorted((name, item) for name, item in each.items.items())) for each in reference.sets.values()
    ]
    assert len({str(content) for content in contents}) == len(contents), "two sets hold the same"
    current = {row["name"]: row["current_set_id"] for row in rows["Classifier"].values()}
    assert current == {name: each.newest_set for name, each in reference.classifiers.items()}


def check_evaluations(reference: Reference, rows: Rows) -> None:
    """Section 4: calls never pass permits, nor permits the bound; one report for what is done, none for the rest."""
    reports = Counter(row["evaluation_id"] for row in rows["Report"].values())
    permits: dict[str, list[Row]] = {}
    for row in rows["Permit"].values():
        permits.setdefault(row["evaluation_id"], []).append(row)
    assert rows["Evaluation"].keys() == reference.evaluations.keys()
    for key, row in rows["Evaluation"].items():
        known = reference.evaluations[key]
        taken = permits.get(key, [])
        assert known.calls <= row["permits_taken"] <= row["bound"] == known.bound
        assert [permit["number"] for permit in taken] == list(range(1, row["permits_taken"] + 1))
        assert not any(permit["answered_at"] and permit["lost_to"] for permit in taken)
        assert sum(permit["answered_at"] is not None for permit in taken) <= known.calls
        assert reports[key] == (row["state"] == "done")
        assert (row["state"] == "running") == (row["ended_at"] is None)
        assert row["minimum_per_label"] == known.minimum
    running = Counter(row["classifier_id"] for row in rows["Evaluation"].values() if row["state"] == "running")
    assert all(count == 1 for count in running.values())


def check_versions(reference: Reference, rows: Rows) -> None:
    """Sections 3 and 4: version 1 is the seed, numbers grow by one, and each is what the reference was told."""
    versions = {key: (row["classifier_id"], row["number"]) for key, row in rows["Version"].items()}
    fits = {key: (versions[row["version_id"]], row["refit"]) for key, row in rows["MlModelRecord"].items()}
    for key, row in rows["Classifier"].items():
        known = reference.classifiers[row["name"]]
        numbers = [number for classifier, number in versions.values() if classifier == key]
        assert numbers == list(range(1, len(numbers) + 1)) == sorted(known.configurations)
        refit = (
            fits[row["active_ml_model_id"]] if row["active_ml_model_id"] else (versions[row["active_version_id"]], 0)
        )
        assert refit == ((key, known.active[0]), known.active[1])
        assert row["training_reviews"] == known.training_reviews
        steps = [step["number"] for step in rows["LearningStep"].values() if step["classifier_id"] == key]
        assert steps == list(range(1, known.steps + 1))


def check_classifier(store: Store, reference: Reference, name: str, model: WatchedModel) -> None:
    """What its labels may be used for, what a freeze would add, and what an evaluation would ask."""
    row, known, chosen = store.classifier(name), reference.classifiers[name], reference.chosen(name)
    for each in current_labels(store, row):
        item = reference.items[each.item_id]
        assert (each.use, each.propensity) == (
            ("training", 1.0) if each.item_id in chosen else (item.partition, item.propensity)
        )
    assert new_label_count(store, row) == len(reference.new_labels(name))
    if known.newest_set is not None and (scored := reference.scored(name, known.newest_set)):
        missing = reference.missing(name, known.newest_set, known.active[0], model.identity)
        bound = make_plan(store, row, model=model.identity).bound
        assert bound == len(missing) <= 2 * len(scored)


@lru_cache(maxsize=1)
def _schema() -> Draft202012Validator:
    text = resources.files("cyclotron").joinpath("schemas/cyclotron-held-out-report.v1.schema.json").read_text()
    return Draft202012Validator(json.loads(text))


def check_report(
    reference: Reference, evaluation: RefEvaluation, row: Row, permits_taken: int, model: WatchedModel
) -> dict[str, Any]:
    """Sections 3, 5 and 6: a report that was just written, recomputed where the reference can."""
    document: dict[str, Any] = {**row["body"], "items": row["items"]}
    _schema().validate(document)
    assert verify_report(document).ok, verify_report(document).failed
    name, frozen = evaluation.classifier, reference.sets[evaluation.set_id]
    scored = reference.scored(name, evaluation.set_id)
    needed = reference.needed(name, evaluation.set_id, evaluation.after[0], evaluation.model)
    assert not needed - reference.stored, "a report was written with answers missing"
    entries = {entry["itemId"]: entry for entry in document["items"]}
    assert entries.keys() == scored.keys()
    held = document["heldOutSet"]
    assert (held["id"], held["size"], held["scored"]) == (evaluation.set_id, len(frozen.items), len(scored))
    assert held["excludedSinceFrozen"] == len(frozen.items) - len(scored)
    assert held["labelsChangedSinceFrozen"] == reference.labels_changed(name, scored, evaluation.set_id)
    assert (document["before"]["version"], document["before"]["refits"]) == (1, 0)
    assert (document["after"]["version"], document["after"]["refits"]) == evaluation.after
    for identity, item in scored.items():
        entry = entries[identity]
        assert (entry["label"], entry["weight"]) == (item.label, 1.0 / item.propensity)
        assert entry["before"] == _said(reference, evaluation, 1, item.text, model)
        if evaluation.after[1] == 0:
            assert entry["after"] == _said(reference, evaluation, evaluation.after[0], item.text, model)
    for side in ("before", "after"):
        shares = balanced_accuracy(entries, side)
        assert math.isclose(document["headline"][side], shares, rel_tol=1e-12)
    assert document["cost"]["newRequests"] == permits_taken
    assert document["cost"]["cachedRequests"] == len(needed - evaluation.answered)
    after = reference.classifiers[name].configurations[evaluation.after[0]]
    shown = {example["text"] for example in after["examples"]}
    texts = Counter(item.text for item in reference.items.values())  # one that several items share may teach by another
    own = {item.text for item in scored.values() if texts[item.text] == 1}
    assert not shown & own, "a scored item was shown to the model as an example"
    for item in scored.values():
        assert item.text not in json.dumps(document), "a report holds an item's text"
    return document


def _said(reference: Reference, evaluation: RefEvaluation, version: int, text: str, model: WatchedModel) -> str | None:
    key = reference.column_key(evaluation.classifier, evaluation.set_id, version, text, evaluation.model)
    label = model.answers[key].label
    return label if label in reference.classifiers[evaluation.classifier].labels else None


def balanced_accuracy(entries: Mapping[str, Mapping[str, Any]], side: str) -> float:
    """Section 5, in the plainest way."""
    shares = []
    for label in sorted({entry["label"] for entry in entries.values()}):
        own = [entry for entry in entries.values() if entry["label"] == label]
        right = sum(entry["weight"] for entry in own if entry[side] == label)
        shares.append(right / sum(entry["weight"] for entry in own))
    return sum(shares) / len(shares)


def check_learned(reference: Reference, name: str, configuration: Mapping[str, Any]) -> None:
    """A promoted configuration holds nothing of an item that may not teach. Called before the step is counted."""
    teaching = {reference.items[item].text for item in reference.labels(name, "training")}
    assert {example["text"] for example in configuration["examples"]} <= teaching
    allowed = {mark for text in teaching for mark in MARK.findall(text)}
    assert set(MARK.findall(json.dumps(configuration))) <= allowed, "a text taught that must not"
