"""What is proposed from training reviews."""

import json
import random
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression

from cyclotron.core.configuration import Configuration
from cyclotron.core.definition import ClassifierDefinition
from cyclotron.core.learning import LabelledText, assign_folds, proposal, propose
from cyclotron.core.learning.examples import MAX_CHARACTERS, shortened
from cyclotron.core.learning.logistic import fit_binary
from cyclotron.core.learning.vocabulary import MAX_TERMS, choose_vocabulary, rows_of
from cyclotron.core.learning.wording import REVIEWS_SHOW, leading_terms

COMMON = [f"common{number}" for number in range(60)]
TOPICS = {label: [f"{label}sign{number}" for number in range(12)] for label in ("keep", "drop", "later")}
KEEP_OR_DROP = ClassifierDefinition(
    "triage", ("keep", "drop"), "Keep it?", positive_label="keep", rubric="Keep trials."
)
THREE = ClassifierDefinition("triage", ("keep", "drop", "later"), "What now?", rubric="Say what to do.")


def review(number: int, label: str, *, draw: random.Random, weight: float = 1.0, signs: int = 4) -> LabelledText:
    found = draw.choices(TOPICS[label], k=signs) + draw.choices(COMMON, k=40)
    draw.shuffle(found)
    return LabelledText(f"item-{number}", " ".join(found[:6]) + "\n\n" + " ".join(found[6:]), label, weight)


def reviews_of(labels: tuple[str, ...], count: int, seed: int = 0) -> list[LabelledText]:
    draw = random.Random(seed)
    return [review(number, labels[number % len(labels)], draw=draw) for number in range(count)]


def proposed(definition: ClassifierDefinition, reviews: list[LabelledText], seed: str = "s") -> Configuration:
    return propose(definition, Configuration.seed_of(definition), reviews, seed=seed)


def test_the_order_of_reviews_changes_nothing() -> None:
    reviews = reviews_of(("keep", "drop"), 60)
    shuffled = random.Random(1).sample(reviews, len(reviews))
    assert json.dumps(proposed(KEEP_OR_DROP, reviews).as_json()) == json.dumps(
        proposed(KEEP_OR_DROP, shuffled).as_json()
    )


@pytest.mark.parametrize("labels", [(), ("keep",), ("keep", "drop"), ("keep",) * 30 + ("drop",)])
def test_too_few_reviews_leave_the_seed_configuration(labels: tuple[str, ...]) -> None:
    draw = random.Random(2)
    reviews = [review(number, label, draw=draw) for number, label in enumerate(labels)]
    assert proposed(KEEP_OR_DROP, reviews) == Configuration.seed_of(KEEP_OR_DROP)


def test_reviews_without_any_shared_term_leave_the_seed_configuration() -> None:
    reviews = [LabelledText(str(n), f"word{n}" if n else "", ("keep", "drop")[n % 2]) for n in range(8)]
    assert proposed(KEEP_OR_DROP, reviews) == Configuration.seed_of(KEEP_OR_DROP)


def test_two_reviews_of_each_label_are_enough_to_learn_from() -> None:
    learned = proposed(KEEP_OR_DROP, reviews_of(("keep", "drop"), 4))
    assert learned.questions
    assert learned.term_weights


def test_undeclared_labels_and_weights_of_nothing_teach_nothing() -> None:
    reviews = reviews_of(("keep", "drop"), 40)
    noise = [LabelledText("x", "strange strange", "other"), LabelledText("y", "strange strange", "keep", 0.0)]
    assert proposed(KEEP_OR_DROP, reviews + noise) == proposed(KEEP_OR_DROP, reviews)


def test_the_rubric_keeps_its_seed_and_says_what_each_label_shows() -> None:
    lines = proposed(KEEP_OR_DROP, reviews_of(("keep", "drop"), 60)).rubric.splitlines()
    assert lines[:3] == ["Keep trials.", "", REVIEWS_SHOW]
    assert [line.split(":")[0] for line in lines[3:]] == ["keep", "drop"]
    assert "keepsign" in lines[3]
    assert "dropsign" not in lines[3]


def test_two_labels_are_asked_about_once_and_more_labels_each() -> None:
    two = proposed(KEEP_OR_DROP, reviews_of(("keep", "drop"), 40))
    three = proposed(THREE, reviews_of(THREE.labels, 60))
    assert [question.id for question in two.questions] == ["words:keep", "phrases:keep", "opening:keep"]
    assert {question.id.split(":")[1] for question in three.questions} == set(THREE.labels)


def test_a_label_that_reviews_have_not_shown_is_not_asked_about() -> None:
    three = proposed(THREE, reviews_of(("keep", "drop"), 60))
    assert {question.id.split(":")[1] for question in three.questions} == {"keep", "drop"}
    assert {example.label for example in three.examples} == {"keep", "drop"}


def test_questions_keep_their_identities_between_folds() -> None:
    reviews = reviews_of(("keep", "drop"), 80)
    folds = assign_folds([item.item_id for item in reviews], seed="s", folds=5)
    asked = [
        [question.id for question in proposed(KEEP_OR_DROP, [r for r in reviews if folds[r.item_id] != fold]).questions]
        for fold in range(5)
    ]
    assert all(ids == asked[0] for ids in asked)


def test_signs_in_a_question_are_those_that_separate_the_labels() -> None:
    question = proposed(KEEP_OR_DROP, reviews_of(("keep", "drop"), 80)).questions[0]
    signs_for, signs_against = question.text.split("Signs for it:")[1].split("Signs against it:")
    assert "keepsign" in signs_for
    assert "dropsign" not in signs_for
    assert "dropsign" in signs_against
    assert all(question.criteria[sign] > 0 for sign in TOPICS["keep"])


def test_examples_are_of_every_label_and_differ() -> None:
    reviews = reviews_of(("keep", "drop"), 60)
    copies = [replace(reviews[0], item_id=f"copy-{number}") for number in range(10)]
    examples = proposed(KEEP_OR_DROP, reviews + copies).examples
    assert [example.label for example in examples] == ["keep"] * 3 + ["drop"] * 3
    assert len({example.text for example in examples}) == 6


def test_a_stub_is_no_example() -> None:
    stubs = [LabelledText(f"stub-{number}", "keepsign1 keepsign2", "keep") for number in range(5)]
    examples = proposed(KEEP_OR_DROP, reviews_of(("keep", "drop"), 60) + stubs).examples
    assert not any(example.text == stubs[0].text for example in examples)


@pytest.mark.parametrize("text", ["word " * 500, "薬" * 5_000, "a" * MAX_CHARACTERS])
def test_long_examples_are_cut_where_a_word_ends(text: str) -> None:
    cut = shortened(text)
    assert len(cut) <= MAX_CHARACTERS + 2
    assert text.startswith(cut.removesuffix(" …"))
    assert not cut.startswith("word") or cut.endswith("word …")


def test_weights_count_as_repeated_reviews() -> None:
    reviews = reviews_of(("keep", "drop"), 30)
    rows = rows_of([item.text for item in reviews], choose_vocabulary(item.text for item in reviews))
    is_one = np.array([float(item.label == "keep") for item in reviews])
    weights = np.where(np.arange(30) < 10, 3.0, 1.0)
    repeated = np.repeat(np.arange(30), weights.astype(int))
    weighted = fit_binary(rows, is_one, weights, 1.0)
    longer = fit_binary(sparse.csr_matrix(rows[repeated]), is_one[repeated], np.ones(len(repeated)), 1.0)
    assert weighted.coefficients == pytest.approx(longer.coefficients, abs=1e-4)
    assert weighted.bias == pytest.approx(longer.bias, abs=1e-4)


@pytest.mark.parametrize("penalty", [0.1, 1.0, 10.0])
def test_term_weights_are_those_of_scikit_learn(penalty: float) -> None:
    draw = np.random.default_rng(3)
    rows = sparse.random(200, 30, density=0.3, random_state=4, format="csr")
    is_one = (draw.random(200) < 0.3).astype(float)
    weights = draw.uniform(0.5, 4.0, 200)
    theirs = LogisticRegression(C=1 / penalty, tol=1e-10, max_iter=10_000).fit(rows, is_one, sample_weight=weights)
    ours = fit_binary(sparse.csr_matrix(rows), is_one, weights, penalty)
    assert ours.coefficients == pytest.approx(theirs.coef_[0], abs=1e-4)
    assert ours.bias == pytest.approx(theirs.intercept_[0], abs=1e-4)


def test_words_are_weighted_as_scikit_learn_weights_them() -> None:
    texts = [item.text for item in reviews_of(("keep", "drop"), 40)]
    vocabulary = choose_vocabulary(texts)
    theirs = TfidfVectorizer(sublinear_tf=True, min_df=2)
    wanted = theirs.fit_transform(texts).toarray()
    words = list(theirs.get_feature_names_out())
    ours = rows_of(texts, vocabulary).toarray()[:, [vocabulary.positions[word] for word in words]]
    assert ours == pytest.approx(wanted, rel=1e-3)


def test_a_proposal_stays_small_however_many_terms_there_are() -> None:
    draw = random.Random(5)
    texts = [" ".join(f"term{draw.randrange(8_000)}" for _ in range(400)) for _ in range(120)]
    reviews = [LabelledText(str(n), text, ("keep", "drop")[n % 2]) for n, text in enumerate(texts)]
    learned = proposed(KEEP_OR_DROP, reviews)
    assert len(learned.term_weights) <= sum(MAX_TERMS.values())
    assert len(json.dumps(learned.as_json())) < 300_000
    values = [value for question in learned.questions for value in question.criteria.values()]
    assert all(value == float(f"{value:.4g}") for value in values)


def test_many_labels_share_a_bounded_number_of_criteria() -> None:
    labels = tuple(f"label{number}" for number in range(30))
    draw = random.Random(6)
    reviews = [
        LabelledText(
            str(n), " ".join([f"sign{n % 30}"] * 2 + [f"w{draw.randrange(3_000)}" for _ in range(150)]), labels[n % 30]
        )
        for n in range(300)
    ]
    learned = proposed(ClassifierDefinition("many", labels, "Which?"), reviews)
    assert len(learned.questions) == 30
    assert sum(len(question.criteria) for question in learned.questions) <= proposal.CRITERIA_BUDGET
    assert len(learned.examples) == 30


def test_a_great_many_reviews_are_thinned_by_a_draw_that_keeps_rare_labels(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(proposal, "MAX_REVIEWS", 40)
    draw = random.Random(7)
    reviews = [review(number, "keep" if number < 15 else "drop", draw=draw) for number in range(400)]
    rare = " raremark" * 2
    reviews[:15] = [replace(item, text=item.text + rare) for item in reviews[:15]]
    one, same, other = (proposed(KEEP_OR_DROP, reviews, seed) for seed in ("a", "a", "b"))
    assert one == same
    assert one != other
    assert one.questions[0].criteria["raremark"] > 0


def test_stored_and_read_again_a_proposal_is_the_same() -> None:
    learned = proposed(THREE, reviews_of(THREE.labels, 60))
    assert Configuration.from_json(json.loads(json.dumps(learned.as_json()))) == learned


def test_leading_terms_say_something_and_do_not_repeat_a_word() -> None:
    terms = ["the trial", "controlled trial", "trial", "2019", "placebo", "harm"]
    assert leading_terms(np.array([9.0, 8.0, 7.0, 6.0, 5.0, -1.0]), terms) == ("controlled trial", "placebo")


def test_an_items_fold_depends_on_no_other_item() -> None:
    few = assign_folds([f"item-{number}" for number in range(50)], seed="s", folds=5)
    many = assign_folds([f"item-{number}" for number in range(5_000)], seed="s", folds=5)
    assert few.items() <= many.items()
    sizes = np.bincount(list(many.values()), minlength=5)
    assert np.sum((sizes - 1_000) ** 2 / 1_000) < 18.5  # chi-square, 4 degrees of freedom, p = 0.001
    assert assign_folds(few, seed="t", folds=5) != few


def test_one_fold_is_no_fold() -> None:
    with pytest.raises(ValueError, match="folds"):
        assign_folds(["a"], seed="s", folds=1)
