"""From the rows of a file to the labelled items that a replay decides and reviews, in the file's order.

Every row is either kept or listed exactly once, with the line on which it starts. A sentence about a bad row may name
a label, never item text. Source: spec held-out, sections 1 and 6.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from cyclotron.core.definition import MAX_LABEL
from cyclotron.core.errors import CyclotronError
from kapsoweb.foundation.canonical import digest
from kapsoweb.foundation.strict_csv import BadRow, Row

MAX_ITEM_ID = 512


class InvalidReplayError(CyclotronError):
    """A replay is asked for in a way that no row could satisfy."""

    id = "invalid-replay"


@dataclass(frozen=True)
class ReplayRow:
    """An item as a file holds it: where its row starts, its identity, its text and its label, if it has one."""

    line: int
    item_id: str
    text: str
    label: str | None


def parse_replay(
    rows: Iterable[Row],
    *,
    id_column: str,
    text_columns: Sequence[str],
    label_column: str | None,
    mapping: Mapping[str, str],
    otherwise: str | None,
    labels: Sequence[str],
) -> tuple[list[ReplayRow], list[BadRow]]:
    """The rows that can be replayed and those that cannot.

    The text is the text columns that are not blank, joined by a blank line. A value of the label column is looked up
    in `mapping`, then among the declared `labels`, as it stands and then without white space at its ends; `otherwise`
    takes every other value but a blank one, because a row that nobody labelled has no label. Without a label column no
    row has a label, and none needs one. The second row of an identity is bad whatever became of the first. Raises
    `InvalidReplayError`, before a row is read, for no text column and for a label that is not declared.
    """
    if not text_columns:
        raise InvalidReplayError("a replay needs at least one text column.")
    for label in (*mapping.values(), *(() if otherwise is None else (otherwise,))):
        if label not in labels:
            raise InvalidReplayError(
                f"{label!r} is not one of the classifier's labels ({', '.join(labels)}); map to one of them.",
                label=label,
                labels=list(labels),
            )
    known = {label: label for label in labels} | dict(mapping)
    first_lines: dict[str, int] = {}
    kept: list[ReplayRow] = []
    bad: list[BadRow] = []
    for row in rows:
        item_id = row[id_column]
        fault = _identity_fault(item_id, first_lines)
        if fault is not None:
            bad.append(BadRow(row.line, id_column, *fault))
            continue
        first_lines[item_id] = row.line
        parts = [row[column] for column in text_columns]
        text = "\n\n".join(part for part in parts if part.strip())
        if not text:
            sentence = "the row has no text; fill in one of the text columns."
            bad.append(BadRow(row.line, text_columns[0], "empty-text", sentence))
            continue
        if label_column is None:
            kept.append(ReplayRow(row.line, item_id, text, None))
            continue
        given = row[label_column]
        found = known.get(given, known.get(given.strip(), otherwise if given.strip() else None))
        if found is None:
            bad.append(BadRow(row.line, label_column, *_label_fault(given, labels)))
            continue
        kept.append(ReplayRow(row.line, item_id, text, found))
    return kept, bad


def contradiction(row: ReplayRow, *, same_values: bool, label: str | None) -> BadRow | None:
    """What is wrong with a row whose item is known, if anything: with other values, or replayed as another `label`."""
    if not same_values:
        sentence = "the item is known with other text; give changed content an identity of its own."
    elif row.label is not None and label is not None and label != row.label:
        sentence = f"the item was replayed with the label {label!r}; correct the review instead."
    else:
        return None
    return BadRow(row.line, None, "known-with-other-content", sentence)


def review_identity(classifier: str, item_id: str) -> str:
    """The identity of the review that a row's label becomes: one for each classifier and item."""
    # A digest, because an item's identity may be as long as a review's.
    return f"replay:{digest([classifier, item_id])}"


def _identity_fault(item_id: str, first_lines: Mapping[str, int]) -> tuple[str, str] | None:
    """The rule that an identity breaks, if any, and the sentence about it."""
    if not item_id.strip():
        return "empty-id", "the row has no identity; give it one."
    if len(item_id) > MAX_ITEM_ID:
        return "id-too-long", f"the identity has {len(item_id):,} characters; {MAX_ITEM_ID} are allowed."
    if item_id in first_lines:
        return "duplicate-id", f"the identity is that of line {first_lines[item_id]}; an item has one row."
    return None


def _label_fault(given: str, labels: Sequence[str]) -> tuple[str, str]:
    """The rule and the sentence about a value that is no label; a long one is not a label's and may be text."""
    if not given.strip():
        return "empty-label", "the row has no label; fill it in or leave the row out."
    shown = repr(given) if len(given) <= MAX_LABEL else f"a value of {len(given):,} characters"
    return "unknown-label", f"{shown} is none of the labels ({', '.join(labels)}); map it to one or name a rest label."
