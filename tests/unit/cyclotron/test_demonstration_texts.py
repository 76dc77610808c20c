"""What the demonstration's texts promise: enough of them, distinct, readable by any CSV reader, both labels."""

import csv
import hashlib
import io
import re
from collections import Counter
from dataclasses import dataclass
from importlib import resources

import pytest


@dataclass(frozen=True)
class Tip:
    item_id: str
    text: str
    label: str


def raw(name: str) -> bytes:
    return resources.files("cyclotron.demonstration").joinpath(name).read_bytes()


@pytest.fixture(scope="module")
def tips() -> list[Tip]:
    rows = list(csv.reader(io.StringIO(raw("tips.csv").decode("utf-8"), newline=""), strict=True))
    assert rows[0] == ["id", "text", "label"]
    return [Tip(*row) for row in rows[1:]]


def words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


def draw(seed: str, item_id: str) -> float:
    """The permanent draw in [0, 1). Source: spec held-out, section 1; worked out here apart from the cyclotron."""
    return int.from_bytes(hashlib.sha256(f"{seed}:{item_id}".encode()).digest()[:8], "big") / 2**64


def test_the_file_is_utf8_with_unix_line_ends_and_no_byte_order_mark() -> None:
    data = raw("tips.csv")
    assert b"\r" not in data
    assert data.endswith(b"\n")
    assert not data.startswith(b"\xef\xbb\xbf")
    assert all(line.isprintable() for line in data.decode("utf-8").split("\n"))


def test_there_are_enough_tips_with_distinct_ids_and_texts(tips: list[Tip]) -> None:
    assert len(tips) >= 520
    assert len({tip.item_id for tip in tips}) == len(tips)
    assert len({" ".join(words(tip.text)) for tip in tips}) == len(tips)
    assert all(re.fullmatch(r"tip-\d{4}", tip.item_id) for tip in tips)


def test_each_tip_is_a_short_text_without_loose_spaces(tips: list[Tip]) -> None:
    for tip in tips:
        assert tip.text == " ".join(tip.text.split()), tip.item_id
        assert 15 <= len(tip.text.split()) <= 70, tip.item_id


def test_both_labels_are_there_and_neither_is_rare(tips: list[Tip]) -> None:
    counts = Counter(tip.label for tip in tips)
    assert set(counts) == {"include", "exclude"}
    assert 0.40 <= counts["include"] / len(tips) <= 0.45


def test_the_audit_share_holds_enough_of_each_label_to_say_something(tips: list[Tip]) -> None:
    audit = Counter(tip.label for tip in tips if draw("demonstration", tip.item_id) < 0.20)
    assert audit["include"] >= 35
    assert audit["exclude"] >= 35


def test_labels_are_interleaved_rather_than_sorted(tips: list[Tip]) -> None:
    for start in range(0, len(tips) - 100, 100):
        assert {tip.label for tip in tips[start : start + 20]} == {"include", "exclude"}


def test_no_two_tips_are_near_duplicates(tips: list[Tip]) -> None:
    seen: dict[tuple[str, ...], str] = {}
    for tip in tips:
        spelled = words(tip.text)
        for start in range(len(spelled) - 6):
            run = tuple(spelled[start : start + 7])
            assert seen.setdefault(run, tip.item_id) == tip.item_id, (seen[run], tip.item_id)


def test_numbers_alone_do_not_give_the_label_away(tips: list[Tip]) -> None:
    for label in ("include", "exclude"):
        own = [tip for tip in tips if tip.label == label]
        with_digits = sum(any(letter.isdigit() for letter in tip.text) for tip in own) / len(own)
        assert 0.25 <= with_digits <= 0.75, label


def test_the_readme_gives_the_counts_that_the_file_has(tips: list[Tip]) -> None:
    readme = raw("README.md").decode("utf-8")
    counts = Counter(tip.label for tip in tips)
    assert f"{len(tips)} tips" in readme
    assert f"`include` ({counts['include']})" in readme
    assert f"`exclude` ({counts['exclude']})" in readme


def test_the_first_rubric_is_a_sentence_or_two() -> None:
    rubric = raw("rubric.txt").decode("utf-8").strip()
    assert 1 <= len(re.findall(r"[.!?](?:\s|$)", rubric)) <= 2
    assert "\n" not in rubric
