"""The items of a report, filtered by what the page's address says, a page at a time."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlencode

from cyclotron.core.outcome import Outcome
from cyclotron.core.wording import counted, grouped
from cyclotron.presentation.figures import weight_text
from cyclotron.presentation.sentences import OUTCOME_WORDS

PAGE_SIZE = 100
NO_LABEL = "none of the labels"  # what the answer said instead is not kept


@dataclass(frozen=True)
class ItemFilter:
    """What to show; an empty value does not restrict. `before` and `after` are decided labels."""

    outcome: str = ""
    label: str = ""
    before: str = ""
    after: str = ""

    def admits(self, item: Mapping[str, Any]) -> bool:
        """Whether a report's item is shown."""
        return all(
            not wanted or item[key] == wanted
            for key, wanted in (
                ("outcome", self.outcome),
                ("label", self.label),
                ("before", self.before),
                ("after", self.after),
            )
        )

    def address(self, page: int = 1) -> str:
        """Where the report's own page shows these items: a query string and the list's anchor."""
        parts = {"outcome": self.outcome, "label": self.label, "before": self.before, "after": self.after}
        query = {key: value for key, value in parts.items() if value}
        if page > 1:
            query["page"] = str(page)
        return f"?{urlencode(query)}#items"


@dataclass(frozen=True)
class ItemRow:
    """One item: its identity, the reviewers' label, both decisions and its weight."""

    item_id: str
    label: str
    before: str
    after: str
    outcome: str
    tone: str
    weight: str


@dataclass(frozen=True)
class Choice:
    """A filter to choose, with the number of items behind it when it alone is chosen."""

    text: str
    count: str
    chosen: bool
    address: str


@dataclass(frozen=True)
class DecidedChoice:
    """A filter on a decision that is in force, as a phrase, and the address without it."""

    text: str
    label: str
    address: str


@dataclass(frozen=True)
class ItemPage:
    """One page of the filtered items. `number` and `pages` count from 1; `description` says what is shown of what."""

    rows: Sequence[ItemRow]
    outcomes: Sequence[Choice]
    labels: Sequence[Choice]
    decided: Sequence[DecidedChoice]
    number: int
    pages: int
    previous: str | None
    next: str | None
    description: str


def item_page(report: Mapping[str, Any], chosen: ItemFilter, number: int = 1) -> ItemPage:
    """Page `number` (kept within what there is) of the report's items that `chosen` admits, in the report's order."""
    items: Sequence[Mapping[str, Any]] = report["items"]
    admitted = [item for item in items if chosen.admits(item)]
    pages = max(1, -(-len(admitted) // PAGE_SIZE))
    number = min(max(1, number), pages)
    first = (number - 1) * PAGE_SIZE
    shown = admitted[first : first + PAGE_SIZE]
    return ItemPage(
        rows=[_row(item) for item in shown],
        outcomes=_outcome_choices(items, chosen),
        labels=_label_choices(items, report["classifier"]["labels"], chosen),
        decided=_decided_choices(chosen),
        number=number,
        pages=pages,
        previous=chosen.address(number - 1) if number > 1 else None,
        next=chosen.address(number + 1) if number < pages else None,
        description=_description(len(items), len(admitted), first, len(shown)),
    )


def _outcome_choices(items: Sequence[Mapping[str, Any]], chosen: ItemFilter) -> list[Choice]:
    counts = Counter(item["outcome"] for item in items)
    return [Choice("all", grouped(len(items)), not chosen.outcome, replace(chosen, outcome="").address())] + [
        Choice(
            words.name, grouped(counts[outcome]), chosen.outcome == outcome, replace(chosen, outcome=outcome).address()
        )
        for outcome, words in OUTCOME_WORDS.items()
    ]


def _label_choices(items: Sequence[Mapping[str, Any]], labels: Sequence[str], chosen: ItemFilter) -> list[Choice]:
    counts = Counter(item["label"] for item in items)
    return [Choice("all labels", grouped(len(items)), not chosen.label, replace(chosen, label="").address())] + [
        Choice(label, grouped(counts[label]), chosen.label == label, replace(chosen, label=label).address())
        for label in labels
    ]


def _decided_choices(chosen: ItemFilter) -> list[DecidedChoice]:
    choices = []
    if chosen.before:
        choices.append(DecidedChoice("Decided before:", chosen.before, replace(chosen, before="").address()))
    if chosen.after:
        choices.append(DecidedChoice("Decided after:", chosen.after, replace(chosen, after="").address()))
    return choices


def _row(item: Mapping[str, Any]) -> ItemRow:
    outcome = OUTCOME_WORDS[Outcome(item["outcome"])]
    return ItemRow(
        item_id=item["itemId"],
        label=item["label"],
        before=item["before"] or NO_LABEL,
        after=item["after"] or NO_LABEL,
        outcome=outcome.name,
        tone=outcome.tone,
        weight=weight_text(item["weight"]),
    )


def _description(all_items: int, admitted: int, first: int, shown: int) -> str:
    if not all_items:
        return "No item was scored."
    if not admitted:
        return f"None of {counted(all_items, 'item')} is like this."
    of_all = "" if admitted == all_items else f" of {grouped(all_items)}"
    if shown == admitted:
        return f"{counted(admitted, 'item')}{of_all}."
    return (
        f"Items {grouped(first + 1)} to {grouped(first + shown)} of {grouped(admitted)}{of_all and ' chosen' + of_all}."
    )
