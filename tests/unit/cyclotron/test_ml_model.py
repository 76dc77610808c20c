"""The ML model: what it fits, decides and stores."""

import json
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression

from cyclotron.core.configuration import Answer, Configuration, SupportingQuestion
from cyclotron.core.definition import ClassifierDefinition
from cyclotron.core.learning import FitExample, MlModel, decide_without_ml, fit_ml_model
from cyclotron.core.learning.logistic import fit_multinomial, rescaled
from cyclotron.core.learning.ml_model import MIN_EXAMPLES_PER_LABEL, InvalidMlModelError

TWO = ClassifierDefinition("triage", ("keep", "drop"), "Keep it?", positive_label="keep")
THREE = ClassifierDefinition("triage", ("keep", "drop", "later"), "What now?")
ASKED = Configuration("", questions=(SupportingQuestion("q1", "?", {}), SupportingQuestion("q2", "?", {})))


def softmax(logits: np.ndarray) -> np.ndarray:
    shares = np.exp(logits - logits.max())
    return np.asarray(shares / shares.sum())


def answer(definition: ClassifierDefinition, logits: Sequence[float], odds: Sequence[float]) -> Answer:
    shares = softmax(np.array(logits))
    return Answer(
        definition.labels[int(np.argmax(shares))],
        dict(zip(definition.labels, shares.tolist(), strict=True)),
        {f"q{place + 1}": 1 / (1 + math.exp(-value)) for place, value in enumerate(odds)},
    )


def drawn(definition: ClassifierDefinition, count: int, seed: int, shares: Sequence[float]) -> list[FitExample]:
    """Examples whose answers point to their label with much noise."""
    draw = np.random.default_rng(seed)
    examples = []
    for place in draw.choice(len(definition.labels), size=count, p=shares):
        logits = draw.normal(0, 1.5, len(definition.labels))
        logits[place] += 1.5
        odds = draw.normal(0, 1, 2) + (1.0 if place == 0 else -1.0)
        examples.append(FitExample(answer(definition, logits.tolist(), odds.tolist()), definition.labels[place]))
    return examples


def fitted(definition: ClassifierDefinition, examples: Sequence[FitExample]) -> MlModel:
    model = fit_ml_model(definition, ASKED, examples, seed="s")
    assert model is not None
    return model


@pytest.mark.parametrize("count", [2, 4])
def test_the_fit_is_that_of_scikit_learn(count: int) -> None:
    draw = np.random.default_rng(count)
    rows, classes = draw.normal(size=(300, 3)), draw.integers(0, count, 300)
    rows[:, 0] += classes
    weights = draw.uniform(0.5, 5.0, 300)
    ours = fit_multinomial(rows, classes, count, weights, 2.0)
    theirs = LogisticRegression(C=0.5, tol=1e-10, max_iter=10_000)
    if count == 2:  # scikit-learn penalises one vector where a softmax of two has one for each label
        theirs = LogisticRegression(C=1.0, tol=1e-10, max_iter=10_000)
    wanted = theirs.fit(rows, classes, sample_weight=weights).predict_proba(rows)
    found = np.array([softmax(row @ ours.coefficients.T + ours.bias) for row in rows])
    assert found == pytest.approx(wanted, abs=1e-4)


def test_rescaling_changes_how_sure_a_fit_is_and_not_what_it_prefers() -> None:
    draw = np.random.default_rng(5)
    rows, classes = draw.normal(size=(400, 2)), draw.integers(0, 2, 400)
    rows[:, 0] += 3.0 * classes
    timid = fit_multinomial(rows, classes, 2, np.ones(400), 5_000.0)
    sure = rescaled(timid, rows, classes, np.ones(400))
    margins = (rows @ timid.coefficients.T) @ np.array([-1.0, 1.0])
    # A penalty of one on the factor times the spread of two logits is C = 4 on their margin over its deviation.
    theirs = LogisticRegression(C=4.0, tol=1e-10).fit(margins[:, None] / margins.std(), classes)
    factor = sure.coefficients[0, 0] / timid.coefficients[0, 0]
    assert sure.coefficients == pytest.approx(timid.coefficients * factor)
    assert factor == pytest.approx(theirs.coef_[0, 0] / margins.std(), rel=1e-3)


@pytest.mark.parametrize(("definition", "shares"), [(TWO, [0.1, 0.9]), (THREE, [0.6, 0.3, 0.1])])
def test_confidence_holds_on_items_that_were_not_fitted(definition: ClassifierDefinition, shares: list[float]) -> None:
    model = fitted(definition, drawn(definition, 3_000, 1, shares))
    later = drawn(definition, 20_000, 2, shares)
    decided = [model.decide(definition, example.answer) for example in later]
    confidence = np.array([item.confidence for item in decided])
    right = np.array([item.label == example.label for item, example in zip(decided, later, strict=True)])
    bins = np.minimum((confidence * 10).astype(int), 9)
    gaps = [abs(confidence[bins == place].mean() - right[bins == place].mean()) for place in np.unique(bins)]
    assert np.average(gaps, weights=np.bincount(bins)[np.unique(bins)]) < 0.03


def test_it_decides_for_balanced_accuracy_and_so_finds_rare_labels() -> None:
    model = fitted(TWO, drawn(TWO, 2_000, 3, [0.05, 0.95]))
    later = drawn(TWO, 10_000, 4, [0.05, 0.95])

    def balanced(chosen: list[str]) -> float:
        right = [label == example.label for label, example in zip(chosen, later, strict=True)]
        rare = [example.label == "keep" for example in later]
        return float(np.mean(np.array(right)[rare]) + np.mean(np.array(right)[np.logical_not(rare)])) / 2

    decided = [model.decide(TWO, example.answer) for example in later]
    likeliest = [max(item.probabilities, key=lambda label: item.probabilities[label]) for item in decided]
    assert balanced([item.label for item in decided]) > balanced(likeliest) + 0.05
    assert all(item.confidence == item.probabilities[item.label] for item in decided)


def test_a_weight_counts_as_so_many_examples() -> None:
    examples = drawn(THREE, 120, 6, [0.4, 0.3, 0.3])
    heavy = [FitExample(item.answer, item.label, 3.0 if place < 40 else 1.0) for place, item in enumerate(examples)]
    repeated = examples + examples[:40] * 2
    one, other = fitted(THREE, heavy), fitted(THREE, repeated)
    assert one.priors == pytest.approx(other.priors)
    assert one.means == pytest.approx(other.means)
    assert one.scales == pytest.approx(other.scales)


def test_the_scale_of_weights_changes_nothing() -> None:
    examples = drawn(TWO, 100, 7, [0.3, 0.7])
    tripled = [FitExample(item.answer, item.label, 3.0) for item in examples]
    assert fitted(TWO, tripled).coefficients[0] == pytest.approx(fitted(TWO, examples).coefficients[0], abs=1e-6)


def test_fitting_again_gives_the_same_digest() -> None:
    examples = drawn(THREE, 200, 8, [0.5, 0.3, 0.2])
    assert fitted(THREE, examples).digest == fitted(THREE, examples).digest
    assert fitted(THREE, examples).digest != fitted(THREE, examples[:-1]).digest


def test_no_model_is_fitted_while_a_label_has_too_few_examples() -> None:
    examples = drawn(TWO, 400, 9, [0.5, 0.5])
    kept = [example for example in examples if example.label == "keep"]
    dropped = [example for example in examples if example.label == "drop"]
    few = kept[: MIN_EXAMPLES_PER_LABEL - 1] + dropped
    assert fit_ml_model(TWO, ASKED, few, seed="s") is None
    assert fit_ml_model(TWO, ASKED, [], seed="s") is None
    assert fit_ml_model(TWO, ASKED, kept[:MIN_EXAMPLES_PER_LABEL] + dropped, seed="s") is not None


def test_examples_with_an_undeclared_label_or_no_weight_are_left_out() -> None:
    examples = drawn(TWO, 100, 10, [0.5, 0.5])
    noise = [FitExample(examples[0].answer, "other"), FitExample(examples[0].answer, "keep", 0.0)]
    assert fitted(TWO, examples + noise) == fitted(TWO, examples)


def test_answers_that_never_vary_leave_the_prior_shares() -> None:
    same = answer(TWO, (0.0, 1.0), (0.5, 0.5))
    model = fitted(TWO, [FitExample(same, "keep")] * 10 + [FitExample(same, "drop")] * 30)
    assert model.decide(TWO, same).probabilities == pytest.approx({"keep": 0.25, "drop": 0.75}, abs=1e-4)


def test_answers_that_separate_the_labels_perfectly_give_finite_numbers() -> None:
    examples = [
        FitExample(answer(TWO, (9.0, -9.0), (9, 9)), "keep"),
        FitExample(answer(TWO, (-9, 9), (-9, -9)), "drop"),
    ]
    model = fitted(TWO, examples * 20)
    assert MlModel.from_json(model.as_json()) == model
    assert model.decide(TWO, examples[0].answer).confidence > 0.9


def test_an_answer_that_lacks_questions_or_labels_is_decided_by_what_it_has() -> None:
    model = fitted(THREE, drawn(THREE, 500, 11, [0.4, 0.3, 0.3]))
    bare = Answer("keep", {"keep": 0.9, "drop": 0.05, "later": 0.05}, {})
    assert model.decide(THREE, bare).label == "keep"
    for odd in (
        Answer("other", {}, {}),
        Answer("", {"keep": math.nan}, {"q1": math.nan}),
        Answer("keep", {"keep": 1.0}, {}),
    ):
        decided = model.decide(THREE, odd)
        assert decided.label in THREE.labels
        assert sum(decided.probabilities.values()) == pytest.approx(1.0)


def test_a_model_fitted_for_other_labels_is_refused() -> None:
    model = fitted(TWO, drawn(TWO, 50, 12, [0.5, 0.5]))
    with pytest.raises(InvalidMlModelError, match="other labels"):
        model.decide(THREE, answer(THREE, (0, 0, 0), (0, 0)))


shares = st.floats(0.0, 1.0)


@given(st.tuples(shares, shares, shares), st.tuples(shares, shares))
def test_every_answer_gets_a_decision_with_probabilities_that_sum_to_one(
    given_shares: tuple[float, float, float], answers: tuple[float, float]
) -> None:
    model = MlModel(
        THREE.labels,
        ("q1", "q2"),
        (0.0,) * 4,
        (1.0,) * 4,
        ((1.0,) * 4, (0.0,) * 4, (-1.0,) * 4),
        (0.0,) * 3,
        (1 / 3,) * 3,
    )
    decided = model.decide(
        THREE,
        Answer(
            "keep", dict(zip(THREE.labels, given_shares, strict=True)), dict(zip(("q1", "q2"), answers, strict=True))
        ),
    )
    assert sum(decided.probabilities.values()) == pytest.approx(1.0)
    assert decided.confidence == decided.probabilities[decided.label]


def test_a_stored_model_is_read_back_to_the_last_digit() -> None:
    model = fitted(THREE, drawn(THREE, 300, 13, [0.5, 0.3, 0.2]))
    again = MlModel.from_json(json.loads(json.dumps(model.as_json())))
    assert again == model
    assert again.digest == model.digest


@pytest.mark.parametrize(
    ("part", "value"),
    [
        ("format", "other/1"),
        ("labels", ["keep"]),
        ("labels", ["keep", "keep", "later"]),
        ("labels", "keep"),
        ("questions", ["q1"]),
        ("questions", [1, 2]),
        ("means", [0.0]),
        ("means", None),
        ("scales", [1.0, 1.0, 1.0, 0.0]),
        ("scales", [1.0, 1.0, 1.0, math.nan]),
        ("coefficients", [[1.0] * 4] * 2),
        ("coefficients", [[1.0] * 3] * 3),
        ("coefficients", {"keep": [1.0] * 4}),
        ("coefficients", [[True] * 4] * 3),
        ("biases", [0.0, 0.0, math.inf]),
        ("biases", ["0", "0", "0"]),
        ("priors", [0.5, 0.5, 0.0]),
    ],
)
def test_a_stored_model_that_is_damaged_is_refused(part: str, value: Any) -> None:
    stored = fitted(THREE, drawn(THREE, 100, 14, [0.4, 0.3, 0.3])).as_json()
    with pytest.raises(InvalidMlModelError):
        MlModel.from_json({**stored, part: value})


@pytest.mark.parametrize("value", [None, [], "text", {}])
def test_what_is_no_model_at_all_is_refused(value: Any) -> None:
    with pytest.raises(InvalidMlModelError):
        MlModel.from_json(value)


def test_without_an_ml_model_the_answer_decides_as_it_is() -> None:
    given_answer = answer(TWO, (0.0, 1.0), ())
    decided = decide_without_ml(TWO, given_answer)
    assert decided.label == "drop"
    assert decided.confidence == given_answer.probabilities["drop"]


def test_an_undeclared_label_is_decided_with_no_confidence() -> None:
    decided = decide_without_ml(TWO, Answer("perhaps", {"perhaps": 0.9, "keep": 0.1}, {}))
    assert (decided.label, decided.confidence) == ("perhaps", 0.0)
    assert decided.probabilities == {"keep": 0.1, "drop": 0.0}
