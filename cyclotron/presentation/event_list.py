"""What happened to a cyclotron, in words: each event's kind and detail, with the way to the item or report in it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from string import Formatter
from typing import Any

from cyclotron.core.interruption import Interruption
from cyclotron.core.wording import counted, grouped
from cyclotron.presentation.figures import short_digest
from kapsoweb.foundation.wording import sentence_case


@dataclass(frozen=True)
class Part:
    """A piece of an event's detail: our words, words that somebody wrote (`own`), or the name of what has a page.

    `item` is an item's key, `report` and `file` (an import) are ids.
    """

    text: str
    own: bool = False
    item: int | None = None
    report: str = ""
    file: str = ""


@dataclass(frozen=True)
class EventRow:
    """An event: its place in the sequence, its kind in words, and what it says."""

    sequence: str
    at: datetime
    kind: str
    parts: Sequence[Part]


@dataclass(frozen=True)
class Group:
    """Kinds of events that the address filters by together: those that begin with one of `prefixes`."""

    key: str
    name: str
    prefixes: tuple[str, ...]


GROUPS = (
    Group("decisions", "decisions", ("decided", "decisions-")),
    Group("reviews", "reviews", ("review-",)),
    Group("learning", "learning", ("learning-",)),
    Group("held-out", "held-out", ("held-out-", "evaluation-")),
    Group("imports", "imports", ("file-",)),
    Group("cyclotron", "the cyclotron itself", ("created",)),
)

_Detail = Mapping[str, Any]

_HOW_SELECTED = {
    "program": "sent by the review rate",
    "low-confidence": "sent for its low confidence",
    "audit": "sent by the audit draw",
    "reviewer": "chosen by the reviewer",
}


def event_row(*, sequence: int, kind: str, detail: _Detail, at: datetime, keys: Mapping[str, int]) -> EventRow:
    """An event in words; one of a kind that has none here is shown as it is stored. `keys` has items' keys by identity.

    The item comes first, and leads to its page.
    """
    name, parts = _WORDS.get(kind, (sentence_case(kind.replace("-", " ")), _as_stored))
    said = parts(detail)
    if kind in _WORDS and "item" in detail:
        said = [Part(detail["item"], own=True, item=keys.get(detail["item"])), *said]
    return EventRow(grouped(sequence), at, name, said)


def _say(sentence: str, **parts: Part | str) -> list[Part]:
    """A sentence with its `{placeholders}` taken by parts; a plain text there is one that somebody wrote."""
    said = []
    for words, name, _, _ in Formatter().parse(sentence):
        if words:
            said.append(Part(words))
        if name:
            part = parts[name]
            said.append(Part(part, own=True) if isinstance(part, str) else part)
    return said


def _how(selected_by: str) -> str:
    return _HOW_SELECTED.get(selected_by, selected_by)


def _decided(detail: _Detail) -> list[Part]:
    said = [Part(":")]
    several = len(detail["labels"]) > 1
    for classifier, label in detail["labels"].items():
        answer = Part("none of the labels") if label is None else Part(label, own=True)
        said += _say(" {classifier} {answer}," if several else " {answer},", classifier=classifier, answer=answer)
    how = _how(detail["reason"]) if detail["sent"] else "not sent to review"
    return [*said, Part(f" {how}")]


def _reviewed(detail: _Detail) -> list[Part]:
    how = Part(_how(detail["selectedBy"]))
    if detail["label"] is None:
        return _say(" without a label, {how}", how=how)
    return _say(" is {label}, {how}", label=detail["label"], how=how)


def _undone(detail: _Detail) -> list[Part]:  # noqa: ARG001 - as every other
    return [Part(": the review before it, if there was one, counts again")]


def _learned(detail: _Detail) -> list[Part]:
    refit = detail["refit"]
    return _say(
        "{classifier}: step {step} from {reviews}; version {version}, {refit}",
        classifier=detail["classifier"],
        step=Part(grouped(detail["step"])),
        reviews=Part(counted(detail["trainingReviews"], "training review")),
        version=Part(grouped(detail["version"])),
        refit=Part(f"refit {grouped(refit)}" if refit else "no ML model"),
    )


def _frozen(detail: _Detail) -> list[Part]:
    said = _say(
        "{classifier}: set {digest} of {size} (",
        classifier=detail["classifier"],
        digest=Part(short_digest(detail["set"])),
        size=Part(counted(detail["size"], "item")),
    )
    for place, (label, count) in enumerate(detail["labels"].items()):
        said += _say(
            "{comma}{label} {count}", comma=Part(", " if place else ""), label=label, count=Part(grouped(count))
        )
    return [*said, Part(")")]


def _confirmed(detail: _Detail) -> list[Part]:
    return _say(
        "{classifier}: up to {bound}",
        classifier=detail["classifier"],
        bound=Part(counted(detail["bound"], "model request")),
    )


def _interrupted(detail: _Detail) -> list[Part]:
    missing = counted(detail["unanswered"], "answer")
    return [Part(f"{Interruption(detail['reason']).sentence} {missing} missing")]


def _evaluated(detail: _Detail) -> list[Part]:
    return _say(
        "{report}: {verdict}, {requests}",
        report=Part("report", report=detail["report"]),
        verdict=Part(detail["verdict"].replace("-", " ")),
        requests=Part(counted(detail["newRequests"], "new request")),
    )


def _file(detail: _Detail) -> list[Part]:
    return _say(
        "{file}: {recorded} recorded, {known} known before, {bad} bad",
        file=Part("file", file=detail["import"]),
        recorded=Part(counted(detail["recorded"], "row")),
        known=Part(grouped(detail["known"])),
        bad=Part(grouped(detail["bad"])),
    )


def _foreign(detail: _Detail) -> list[Part]:
    return [Part(f"{counted(detail['recorded'], 'decision')} made elsewhere, {grouped(detail['known'])} known before")]


def _nothing(detail: _Detail) -> list[Part]:  # noqa: ARG001 - as every other
    return []


def _as_stored(detail: _Detail) -> list[Part]:
    said: list[Part] = []
    for key, value in detail.items():
        said += _say("{comma}{key} {value}", comma=Part(", " if said else ""), key=Part(key), value=f"{value}")
    return said


_WORDS: Mapping[str, tuple[str, Callable[[_Detail], Sequence[Part]]]] = {
    "created": ("Created", _nothing),
    "learning-interval-set": (
        "Learning interval set",
        lambda detail: [Part(f"learning is due after {counted(detail['learnEvery'], 'new training review')}")],
    ),
    "decided": ("Decided", _decided),
    "decisions-imported": ("Decisions brought in", _foreign),
    "file-imported": ("File brought in", _file),
    "review-recorded": ("Reviewed", _reviewed),
    "review-corrected": ("Review corrected", _reviewed),
    "review-closed": ("Closed without a label", _reviewed),
    "review-undone": ("Review undone", _undone),
    "learning-promoted": ("Learned: a new version is active", _learned),
    "learning-refitted": ("Learned: the ML model was refitted", _learned),
    "learning-kept": ("Learned: what was active is kept", _learned),
    "held-out-set-frozen": ("Held-out set frozen", _frozen),
    "evaluation-confirmed": ("Evaluation confirmed", _confirmed),
    "evaluation-cancelling": ("Evaluation told to stop", _nothing),
    "evaluation-interrupted": ("Evaluation interrupted", _interrupted),
    "evaluation-done": ("Evaluation finished", _evaluated),
}
