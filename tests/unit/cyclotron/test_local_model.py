"""The embedded decision model: a function of the request alone, sensible before and after learning."""

import random
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cyclotron.adapters.local import LocalModel, spoken_for
from cyclotron.core.configuration import Answer, Configuration, DecisionRequest, Endpoint, Example, SupportingQuestion
from cyclotron.core.definition import ClassifierDefinition
from cyclotron.core.learning import LabelledText, propose

RUBRIC = (
    "Include randomised controlled trials that compare drugs for attention deficit hyperactivity disorder "
    "in children or adults"
)
SCREENING = ClassifierDefinition(
    "screening", ("include", "exclude"), "Does it qualify?", positive_label="include", rubric=RUBRIC
)
ON_TOPIC = (
    "A randomised controlled trial of two drugs in children with attention deficit hyperactivity disorder.\n\n"
    "Children were randomised to one of two drugs."
)
OFF_TOPIC = "Spinal anaesthesia in labour.\n\nWe sought to learn whether clonidine prolongs the relief of pain."
LEARNED_TEXTS = [
    LabelledText(str(n), (ON_TOPIC if n % 2 else OFF_TOPIC) + f" Note {n % 7}.", ("exclude", "include")[n % 2])
    for n in range(40)
]
LEARNED = propose(SCREENING, Configuration.seed_of(SCREENING), LEARNED_TEXTS, seed="s")


def ask(
    text: str,
    definition: ClassifierDefinition = SCREENING,
    configuration: Configuration | None = None,
    model: LocalModel | None = None,
) -> Answer:
    endpoint = Endpoint(definition, configuration or Configuration.seed_of(definition))
    return (model or LocalModel()).answer(DecisionRequest(LocalModel.identity, endpoint, text))


def definition_with(rubric: str, labels: tuple[str, ...], positive: str | None = None) -> ClassifierDefinition:
    return ClassifierDefinition("c", labels, "Which?", positive_label=positive, rubric=rubric)


def test_a_rubric_of_one_sentence_tells_texts_apart_before_anything_is_learned() -> None:
    assert ask(ON_TOPIC).label == "include"
    assert ask(OFF_TOPIC).label == "exclude"


def test_learned_questions_agree_with_what_reviewers_chose() -> None:
    on, off = (ask(text, configuration=LEARNED) for text in (ON_TOPIC, OFF_TOPIC))
    assert (on.label, off.label) == ("include", "exclude")
    assert all(on.answers[question.id] > 0.5 > off.answers[question.id] for question in LEARNED.questions)


@pytest.mark.parametrize("configuration", [None, LEARNED])
@given(text=st.text(max_size=200))
def test_every_text_gets_probabilities_that_sum_to_one(configuration: Configuration | None, text: str) -> None:
    answer = ask(text, configuration=configuration)
    assert sum(answer.probabilities.values()) == pytest.approx(1.0, abs=1e-12)
    assert set(answer.probabilities) == set(SCREENING.labels)
    assert answer.probabilities[answer.label] == max(answer.probabilities.values())
    assert set(answer.answers) == {question.id for question in (configuration.questions if configuration else ())}
    assert all(0.0 <= share <= 1.0 for share in [*answer.probabilities.values(), *answer.answers.values()])


def test_an_answer_depends_on_nothing_that_was_asked_before() -> None:
    used = LocalModel()
    for text in (OFF_TOPIC, "", ON_TOPIC * 3):
        ask(text, configuration=LEARNED, model=used)
        ask(text, model=used)
    assert ask(ON_TOPIC, configuration=LEARNED, model=used) == ask(ON_TOPIC, configuration=LEARNED)
    assert ask(ON_TOPIC, model=used) == ask(ON_TOPIC)


def test_an_answer_is_the_same_after_the_configuration_was_stored_and_read() -> None:
    read = Configuration.from_json(dict(LEARNED.as_json()))
    backwards = Configuration(
        read.rubric, read.examples, read.questions, dict(reversed(list(read.term_weights.items())))
    )
    assert Endpoint(SCREENING, backwards).digest == Endpoint(SCREENING, LEARNED).digest
    assert ask(ON_TOPIC, configuration=backwards) == ask(ON_TOPIC, configuration=LEARNED)


def test_many_endpoints_asked_from_many_threads_get_their_own_answers() -> None:
    model = LocalModel()
    draw = random.Random(1)
    configurations = [Configuration(f"Include texts on topic{number}.") for number in range(30)]
    asked = [(draw.randrange(30), f"A text on topic{draw.randrange(30)}.") for _ in range(600)]
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda pair: ask(pair[1], configuration=configurations[pair[0]], model=model), asked))
    assert answers == [ask(text, configuration=configurations[number]) for number, text in asked]


def test_without_a_rubric_a_positive_label_or_examples_labels_are_named_by_their_names() -> None:
    sections = definition_with("", ("sports", "politics", "weather"))
    assert ask("The sports pages.", sections).label == "sports"
    assert ask("A page on the weather of June.", sections).label == "weather"


def test_with_nothing_to_go_by_all_labels_are_equal_and_the_first_is_answered() -> None:
    answer = ask("Nothing of the kind.", definition_with("", ("one thing", "another", "third")))
    assert answer.label == "one thing"
    assert set(answer.probabilities.values()) == {1 / 3}


def test_lines_and_sentences_that_begin_with_a_label_speak_for_it() -> None:
    definition = definition_with(
        "bug: something crashes or fails\nfeature request: a wish for something new\nGeneral advice.",
        ("bug", "feature request", "question"),
    )
    assert spoken_for(definition, definition.rubric) == {
        "bug": "bug: something crashes or fails",
        "feature request": "feature request: a wish for something new",
        "question": "",
    }
    assert ask("The program crashes and fails.", definition).label == "bug"
    assert ask("My wish: a new colour.", definition).label == "feature request"


def test_sentences_of_one_line_speak_for_the_label_they_begin_with() -> None:
    definition = definition_with(
        "Trials matter. Exclude letters and editorials. They are short.", ("include", "exclude"), "include"
    )
    assert spoken_for(definition, definition.rubric) == {
        "include": "Trials matter.",
        "exclude": "Exclude letters and editorials.\nThey are short.",
    }
    assert ask("Editorials and letters", definition).label == "exclude"


def test_learned_lines_of_a_rubric_are_read_from_the_term_weights_alone() -> None:
    assert spoken_for(SCREENING, LEARNED.rubric) == spoken_for(SCREENING, RUBRIC)


def test_examples_speak_for_their_label() -> None:
    definition = definition_with("", ("cat", "dog", "bird"))
    primed = Configuration("", (Example("purring on the sofa", "cat"), Example("barking at the gate", "dog")))
    assert ask("It lay purring on a sofa", definition, primed).label == "cat"
    assert ask("Barking, always barking", definition, primed).label == "dog"


def test_a_label_that_no_question_is_about_is_less_likely_than_one_that_is_asked_about() -> None:
    definition = definition_with("", ("a1", "b2", "c3"))
    learned = Configuration(
        "",
        questions=(
            SupportingQuestion("words:a1", "?", {"alpha": 2.0}, -0.5),
            SupportingQuestion("words:b2", "?", {"beta": 2.0}, -0.5),
        ),
        term_weights={"alpha": 1.0, "beta": 1.0},
    )
    answer = ask("alpha", definition, learned)
    assert answer.label == "a1"
    assert answer.probabilities["c3"] < answer.probabilities["b2"]


def test_criteria_of_terms_without_a_weight_are_left_out() -> None:
    learned = Configuration(
        "",
        questions=(SupportingQuestion("mine", "?", {"known": 1.0, "unknown": 50.0}, 0.25),),
        term_weights={"known": 2},
    )
    assert ask("unknown unknown", configuration=learned).answers["mine"] == pytest.approx(
        1 / (1 + 2.718281828459**-0.25)
    )
    assert ask("known", configuration=learned).answers["mine"] == pytest.approx(1 / (1 + 2.718281828459**-1.25))


@pytest.mark.parametrize(
    "language", ["注意欠如多動症の薬の試験", "Испытания лекарств от бессонницы", "تجارب الأدوية للأرق"]
)
def test_rubrics_in_other_scripts_are_understood(language: str) -> None:
    definition = definition_with(language, ("yes", "no"), "yes")
    assert ask(language, definition).label == "yes"
    assert ask("Something else altogether", definition).label == "no"
