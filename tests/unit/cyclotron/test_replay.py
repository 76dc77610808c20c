"""From rows to items that can be replayed."""

from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cyclotron.core.replay import InvalidReplayError, ReplayRow, parse_replay
from kapsoweb.foundation.strict_csv import BadRow, read_rows


def replay(data: str, **changed: Any) -> tuple[list[ReplayRow], list[BadRow]]:
    table = read_rows(("id,title,abstract,label\n" + data).encode(), ["id", "title", "abstract", "label"])
    settings: dict[str, Any] = {
        "id_column": "id",
        "text_columns": ["title", "abstract"],
        "label_column": "label",
        "mapping": {"I": "include"},
        "otherwise": None,
        "labels": ["include", "exclude"],
    }
    return parse_replay(table.rows, **settings | changed)


def test_the_text_is_the_columns_that_are_not_blank_with_a_blank_line_between() -> None:
    kept, bad = replay("1,One,Two,include\n2,,Two,exclude\n3,One,  ,I\n")
    assert kept == [
        ReplayRow(2, "1", "One\n\nTwo", "include"),
        ReplayRow(3, "2", "Two", "exclude"),
        ReplayRow(4, "3", "One", "include"),
    ]
    assert bad == []


@pytest.mark.parametrize(
    ("row", "column", "rule"),
    [
        (",One,Two,I", "id", "empty-id"),
        ("  ,One,Two,I", "id", "empty-id"),
        ("x" * 513 + ",One,Two,I", "id", "id-too-long"),
        ("1,Other,Two,I", "id", "duplicate-id"),
        ("2,, ,I", "title", "empty-text"),
        ("2,One,Two,E", "label", "unknown-label"),
        ("2,One,Two,Include", "label", "unknown-label"),
        ("2,One,Two,", "label", "empty-label"),
    ],
)
def test_a_bad_row_is_listed_with_its_line_and_its_neighbours_are_kept(row: str, column: str, rule: str) -> None:
    kept, bad = replay(f"1,One,Two,I\n{row}\n3,One,Two,exclude\n")
    assert [item.item_id for item in kept] == ["1", "3"]
    assert [(item.line, item.column, item.rule) for item in bad] == [(3, column, rule)]
    assert "One" not in bad[0].sentence


def test_the_second_row_of_an_identity_names_the_line_of_the_first_even_when_that_one_is_bad() -> None:
    kept, bad = replay("1,,,I\n1,One,Two,I\n")
    assert kept == []
    assert [item.rule for item in bad] == ["empty-text", "duplicate-id"]
    assert "line 2" in bad[1].sentence


def test_an_identity_is_compared_byte_for_byte() -> None:
    kept, bad = replay("a,One,,I\nA,One,,I\na ,One,,I\n" + "x" * 512 + ",One,,I\ncafe\u0301,One,,I\ncaf\u00e9,One,,I\n")
    assert len(kept) == 6
    assert bad == []


def test_a_rest_label_takes_every_value_but_a_blank_one() -> None:
    kept, bad = replay("1,One,,I\n2,One,,E\n3,One,,5\n4,One,, \n", otherwise="exclude")
    assert [item.label for item in kept] == ["include", "exclude", "exclude"]
    assert [(item.line, item.rule) for item in bad] == [(5, "empty-label")]


def test_white_space_around_a_label_does_not_send_it_to_the_rest() -> None:
    kept, _ = replay("1,One,, I\n2,One,,include \n", otherwise="exclude")
    assert [item.label for item in kept] == ["include", "include"]


def test_a_mapping_wins_over_a_label_of_the_same_name_and_can_give_blanks_a_label() -> None:
    kept, bad = replay("1,One,,include\n2,One,,\n", mapping={"include": "exclude", "": "include"})
    assert [item.label for item in kept] == ["exclude", "include"]
    assert bad == []


def test_a_long_value_of_the_label_column_is_not_shown() -> None:
    _, bad = replay("1,One,," + "secret " * 10 + "\n2,One,,maybe\n")
    assert "secret" not in bad[0].sentence
    assert "'maybe'" in bad[1].sentence


@pytest.mark.parametrize(
    "changed", [{"mapping": {"I": "maybe"}}, {"otherwise": "maybe"}, {"otherwise": ""}, {"text_columns": []}]
)
def test_a_replay_that_no_row_could_satisfy_is_refused_before_a_row_is_read(changed: dict[str, Any]) -> None:
    def unread() -> Any:
        pytest.fail("a row was read")
        yield

    settings: dict[str, Any] = {"mapping": {}, "otherwise": None, "text_columns": ["title"]} | changed
    with pytest.raises(InvalidReplayError) as caught:
        parse_replay(unread(), id_column="id", label_column="label", labels=["include", "exclude"], **settings)
    assert caught.value.id == "invalid-replay"


SMALL = st.sampled_from(["", " ", "1", "2", "include", "I", "z", "x" * 513])


@given(st.lists(st.tuples(SMALL, SMALL, SMALL, SMALL), max_size=12), st.sampled_from([None, "exclude"]))
def test_every_row_is_kept_or_listed_exactly_once(rows: list[tuple[str, ...]], otherwise: str | None) -> None:
    kept, bad = replay("".join(",".join(row) + "\n" for row in rows), otherwise=otherwise)
    lines = Counter([item.line for item in kept] + [item.line for item in bad])
    assert lines == Counter(range(2, len(rows) + 2))
    assert len({item.item_id for item in kept}) == len(kept)
    for item in kept:
        assert 0 < len(item.item_id) <= 512
        assert item.text.strip()
        assert item.label in ("include", "exclude")
    assert [item.line for item in kept] == sorted(item.line for item in kept)
