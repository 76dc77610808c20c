"""`kapsoweb cyclotron create`, `list`, `replay`, `status`, `freeze`."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cyclotron.models import Item, Review, StoredCyclotron
from kapsoweb.accounts.models import Holding
from tests.support.command_line import Run

pytestmark = [pytest.mark.services, pytest.mark.django_db]

CREATE = ("--labels", "include,exclude", "--question", "Is it about attention?")
COLUMNS = ("--id", "id", "--text", "text", "--label", "label")
Create = Callable[..., None]


def file(tmp_path: Path, data: bytes | str, name: str = "rows.csv") -> Path:
    path = tmp_path / name
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return path


# create, list --------------------


def test_creating_twice_is_one_cyclotron(run: Run) -> None:
    first = run("cyclotron", "create", "tried", *CREATE, "--positive", "include", "--json")
    again = run("cyclotron", "create", "tried", *CREATE, "--positive", "include", "--json")
    assert (first.code, again.code) == (0, 0)
    assert first.document == again.document
    assert first.document.keys() == {"name", "id", "fingerprint"}
    assert StoredCyclotron.objects.count() == Holding.objects.count() == 1
    assert run("cyclotron", "list", "--json").document == {
        "cyclotrons": [{"name": "tried", "id": first.document["id"]}]
    }


def test_without_cyclotrons_the_list_is_empty(run: Run) -> None:
    assert run("cyclotron", "list", "--json").document == {"cyclotrons": []}
    assert run("cyclotron", "list").out == ""


def test_the_seed_is_the_name_unless_one_is_given(run: Run) -> None:
    run("cyclotron", "create", "tried", *CREATE)
    assert StoredCyclotron.objects.get().seed == "tried"
    assert run("cyclotron", "create", "tried", *CREATE, "--seed", "tried").code == 0
    refused = run("cyclotron", "create", "tried", *CREATE, "--seed", "other", "--json")
    assert (refused.code, refused.error["id"]) == (3, "definition-changed")


@pytest.mark.parametrize(
    "changed",
    [("--positive", "exclude"), ("--labels", "exclude,include"), ("--question", "Other?"), ("--seed", "other")],
)
def test_another_definition_under_the_name_is_refused_by_a_guard(run: Run, changed: tuple[str, str]) -> None:
    run("cyclotron", "create", "tried", *CREATE)
    refused = run("cyclotron", "create", "tried", *CREATE, *changed, "--json")
    assert (refused.code, refused.error["id"]) == (3, "definition-changed")
    assert StoredCyclotron.objects.count() == 1


def test_a_rubric_is_read_from_a_file(run: Run, tmp_path: Path) -> None:
    rubric = file(tmp_path, "\ufeffInclude trials.\n\n", "rubric.txt")
    assert run("cyclotron", "create", "tried", *CREATE, "--rubric-file", rubric).code == 0
    assert StoredCyclotron.objects.get().classifiers.get().definition["rubric"] == "Include trials."


@pytest.mark.parametrize(
    ("content", "error"),
    [(b"\xff\xfe", "unusable-file"), (b"a\x00b", "unreadable-value"), (b"x" * (1024 * 1024 + 1), "unusable-file")],
    ids=["no UTF-8", "NUL", "too long"],
)
def test_a_rubric_that_is_no_text_is_bad_input(run: Run, tmp_path: Path, content: bytes, error: str) -> None:
    rubric = file(tmp_path, content, "rubric.txt")
    refused = run("cyclotron", "create", "tried", *CREATE, "--rubric-file", rubric, "--json")
    assert (refused.code, refused.error["id"]) == (2, error)
    assert not StoredCyclotron.objects.exists()


@pytest.mark.parametrize("name", ["", " ", "a b", "-", "a/b", "x" * 65, "x" * 100_000, "a\x00", "\udcff"])
def test_a_name_that_breaks_the_rule_is_bad_input(run: Run, name: str) -> None:
    refused = run("cyclotron", "create", *CREATE, "--json", "--", name)
    assert (refused.code, refused.error["id"]) == (2, "invalid-name")
    assert not StoredCyclotron.objects.exists()


@pytest.mark.parametrize(
    "changed",
    [
        ("--labels", "include"),
        ("--labels", ""),
        ("--labels", ","),
        ("--labels", "a,a"),
        ("--labels", "a,b\x00"),
        ("--labels", "a,\udcff"),
        ("--labels", "a," + "x" * 65),
        ("--positive", "maybe"),
        ("--positive", ""),
        ("--question", ""),
        ("--question", " "),
        ("--question", "\x00"),
        ("--question", "\udcff"),
        ("--seed", ""),
        ("--seed", "\x00"),
        ("--learn-every", "0"),
        ("--learn-every", "-1"),
        ("--learn-every", "1.5"),
        ("--learn-every", "9" * 30),
        ("--learn-every", "9" * 5000),
        ("--learn-every", str(2**31)),
        ("--rubric-file", "/nowhere/at/all"),
        ("--rubric-file", "/"),
        ("--rubric-file", "a\x00b"),
        ("--rubric-file", "\udcff"),
        ("--rubric-file", "x" * 100_000),
    ],
    ids=lambda changed: repr(" ".join(changed))[:40],
)
def test_a_definition_that_breaks_a_rule_is_bad_input_and_creates_nothing(run: Run, changed: tuple[str, str]) -> None:
    refused = run("cyclotron", "create", "tried", *CREATE, *changed, "--json")
    assert refused.code == 2
    assert refused.error["message"]
    assert not StoredCyclotron.objects.exists()
    assert not Holding.objects.exists()


def test_a_question_and_a_seed_may_be_as_long_as_they_like(run: Run) -> None:
    done = run("cyclotron", "create", "tried", "--labels", "a,b", "--question", "Q" * 100_000, "--seed", "s" * 100_000)
    assert done.code == 0


# Names of cyclotrons --------------------


@pytest.mark.parametrize("name", ["unknown", "", "x" * 100_000, "a\x00", "\udcff", "*"])
@pytest.mark.parametrize("command", ["status", "freeze", "bound", "report", "evaluate", "replay"])
def test_a_cyclotron_that_is_not_there_is_bad_input_for_every_command(run: Run, command: str, name: str) -> None:
    more: dict[str, tuple[Any, ...]] = {"evaluate": ("--confirm", 0), "replay": ("rows.csv", *COLUMNS)}
    files = more.get(command, ())
    refused = run("cyclotron", command, "--json", "--", name, *files) if not files else None
    if refused is None:
        refused = run("cyclotron", command, name, *files, "--json")
    assert (refused.code, refused.error["id"]) == (2, "record-not-found")


# replay --------------------


def test_a_replay_records_rows_and_a_second_one_repeats_nothing(run: Run, create: Create, labelled: Path) -> None:
    create(learn_every=5)
    first = run("cyclotron", "replay", "tried", labelled, *COLUMNS, "--json")
    assert first.code == 0
    document = first.document
    assert document.keys() == {"name", "recorded", "known", "badRows", "learned", "status"}
    assert (document["recorded"], document["known"], document["badRows"]) == (26, 0, [])
    assert [learned["step"] for learned in document["learned"]] == list(range(1, len(document["learned"]) + 1))
    assert "replay: 26 of 26" in first.err
    again = run("cyclotron", "replay", "tried", labelled, *COLUMNS, "--json")
    assert (again.code, again.document["recorded"], again.document["known"]) == (0, 0, 26)
    assert again.document["learned"] == []
    assert again.document["status"] == document["status"]
    assert run("cyclotron", "status", "tried", "--json").document == {
        "name": "tried",
        "id": StoredCyclotron.objects.get().id,
        **document["status"],
    }


def test_the_status_counts_items_labels_and_learning(run: Run, create: Create, labelled: Path) -> None:
    create()
    run("cyclotron", "replay", "tried", labelled, *COLUMNS)
    status = run("cyclotron", "status", "tried", "--json").document
    assert sum(status["items"].values()) == status["decisions"] == sum(status["labels"].values()) == 26
    assert status["items"].keys() == {"audit", "development", "training"}
    assert status["labels"].keys() == {"include", "exclude"}
    assert status["trainingReviews"] == status["items"]["training"]
    assert status["nextLearningIn"] == 1_000_000 - status["trainingReviews"]
    assert (status["version"], status["refits"], status["versions"]) == (1, 0, 1)
    assert run("cyclotron", "status", "tried").out.startswith("Items: ")


BAD = b"""id,text,label
1,one,include
1,marker of a second row,include
2,,include
3,  ,exclude
4,marker of a fourth row,maybe
5,marker \xff\xfe,include
6,mar\x00ker,include
7,marker \xed\xa0\x80,include
,marker without an identity,include
8,marker,include,more
9,marker
10,"ten
of two lines",exclude
11,marker of the eleventh,
%s,marker,include
12,twelve,exclude
""" % (b"x" * 513)


def test_bad_rows_are_listed_by_line_and_nothing_of_them_is_kept(run: Run, create: Create, tmp_path: Path) -> None:
    create()
    path = file(tmp_path, BAD)
    done = run("cyclotron", "replay", "tried", path, *COLUMNS, "--json")
    assert done.code == 2
    assert [(bad["line"], bad["rule"]) for bad in done.document["badRows"]] == [
        (3, "duplicate-id"),
        (4, "empty-text"),
        (5, "empty-text"),
        (6, "unknown-label"),
        (7, "not-utf-8"),
        (8, "nul"),
        (9, "lone-surrogate"),
        (10, "empty-id"),
        (11, "too-many-cells"),
        (12, "too-few-cells"),
        (15, "empty-label"),
        (16, "id-too-long"),
    ]
    assert all(bad.keys() == {"line", "column", "rule", "message"} for bad in done.document["badRows"])
    assert done.document["recorded"] == 3
    assert sorted(Item.objects.values_list("identity", flat=True)) == ["1", "10", "12"]
    assert Review.objects.count() == 3
    assert "marker" not in done.out + done.err
    assert all(f"{path}:{line}: " in done.err for line in (3, 6, 7, 8, 9, 16))


def test_a_row_that_is_known_with_other_content_is_listed_and_the_first_stays(
    run: Run, create: Create, tmp_path: Path
) -> None:
    create()
    run("cyclotron", "replay", "tried", file(tmp_path, "id,text,label\na,one,include\nb,two,include\n"), *COLUMNS)
    changed = file(tmp_path, "id,text,label\na,marker,include\nb,two,exclude\nc,three,include\n")
    done = run("cyclotron", "replay", "tried", changed, *COLUMNS, "--json")
    assert done.code == 2
    assert [(bad["line"], bad["rule"]) for bad in done.document["badRows"]] == [
        (2, "known-with-other-content"),
        (3, "known-with-other-content"),
    ]
    assert "marker" not in done.out + done.err
    assert run("cyclotron", "status", "tried", "--json").document["labels"] == {"include": 3, "exclude": 0}


def test_values_are_mapped_to_labels_and_the_rest_to_one(run: Run, create: Create, tmp_path: Path) -> None:
    create()
    path = file(tmp_path, "pubmedID,title,more,label1\n1,one,,I\n2,two,x,E\n3,three,,5\n4,four,,a=b\n")
    arguments = ("--id", "pubmedID", "--text", "title", "--text", "more", "--label", "label1")
    done = run(
        "cyclotron", "replay", "tried", path, *arguments, "--map", "I=include", "--map", "a=b=include",
        "--else", "exclude", "--json",
    )  # fmt: skip
    assert (done.code, done.document["recorded"]) == (0, 4)
    labels = dict(Review.objects.values_list("item__identity", "label"))
    assert labels == {"1": "include", "2": "exclude", "3": "exclude", "4": "include"}
    assert Item.objects.get(identity="2").values == {"text": "two\n\nx"}


@pytest.mark.parametrize(
    ("changed", "error"),
    [
        (("--map", "I"), "bad-usage"),
        (("--map", "I=maybe"), "invalid-replay"),
        (("--else", "maybe"), "invalid-replay"),
        (("--else", "\udcff"), "invalid-replay"),
        (("--id", "unknown"), "invalid-csv"),
        (("--text", "unknown"), "invalid-csv"),
        (("--label", "\x00"), "invalid-csv"),
        (("--label", "\udcff"), "invalid-csv"),
    ],
    ids=lambda given: " ".join(given) if isinstance(given, tuple) else given,
)
def test_a_replay_that_no_row_could_satisfy_is_bad_input_and_records_nothing(
    run: Run, create: Create, labelled: Path, changed: tuple[str, str], error: str
) -> None:
    create()
    refused = run("cyclotron", "replay", "tried", labelled, *COLUMNS, *changed, "--json")
    assert (refused.code, refused.error["id"]) == (2, error)
    assert not Item.objects.exists()


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\n\n",
        b"id;text;label\n1;a;include\n",
        b'id,text,label\n1,"a,include\n',
        b"id,id,text,label\n1,1,a,include\n",
    ],
    ids=["empty", "blank", "semicolons", "open quote", "column twice"],
)
def test_a_file_without_usable_columns_is_bad_input(run: Run, create: Create, tmp_path: Path, content: bytes) -> None:
    create()
    refused = run("cyclotron", "replay", "tried", file(tmp_path, content), *COLUMNS, "--json")
    assert (refused.code, refused.error["id"]) == (2, "invalid-csv")


@pytest.mark.parametrize("path", ["/nowhere/rows.csv", "/", "a\x00b", "\udcff.csv", "x" * 100_000, ""])
def test_a_file_that_cannot_be_read_is_bad_input(run: Run, create: Create, path: str) -> None:
    create()
    refused = run("cyclotron", "replay", "tried", path, *COLUMNS, "--json")
    assert refused.code == 2
    assert refused.error["message"]


def test_a_file_with_a_header_alone_records_nothing(run: Run, create: Create, tmp_path: Path) -> None:
    create()
    done = run("cyclotron", "replay", "tried", file(tmp_path, "id,text,label\n"), *COLUMNS, "--json")
    assert (done.code, done.document["recorded"], done.document["badRows"]) == (0, 0, [])


def test_real_screening_decisions_are_replayed_from_their_file(
    run: Run, create: Create, screening_data: Path, tmp_path: Path
) -> None:
    whole = (screening_data / "adhd.csv").read_bytes()
    path = file(tmp_path, b"\n".join(whole.split(b"\n")[:31]) + b"\n")
    create()
    columns = ("--id", "pubmedID", "--text", "title", "--text", "abstracts", "--label", "label1")
    done = run("cyclotron", "replay", "tried", path, *columns, "--map", "I=include", "--else", "exclude", "--json")
    assert (done.code, done.document["recorded"], done.document["badRows"]) == (0, 30, [])


# freeze --------------------


def test_freezing_says_whether_the_set_is_new(run: Run, create: Create, labelled: Path) -> None:
    create()
    refused = run("cyclotron", "freeze", "tried", "--json")
    assert (refused.code, refused.error["id"]) == (3, "nothing-to-freeze")
    run("cyclotron", "replay", "tried", labelled, *COLUMNS)
    first = run("cyclotron", "freeze", "tried", "--json")
    again = run("cyclotron", "freeze", "tried", "--json")
    assert (first.code, again.code) == (0, 0)
    assert (first.document["new"], again.document["new"]) == (True, False)
    assert first.document["heldOutSet"] == again.document["heldOutSet"]
    held = first.document["heldOutSet"]
    assert held.keys() == {"id", "frozenAt", "size", "labelCounts"}
    assert held["size"] == sum(held["labelCounts"].values()) == Item.objects.filter(partition="audit").count()
    assert held["frozenAt"].endswith("Z")
    assert "Nothing new" in run("cyclotron", "freeze", "tried").out
