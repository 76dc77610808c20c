"""How jobs are named on pages and where they lead. Each room registers the words of its own; no page knows a room."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kapsoweb.jobs.models import Job


@dataclass(frozen=True)
class Fact:
    """A line of what a job brought: a name, a text, and the address that it leads to, if any."""

    name: str
    text: str
    address: str = ""


@dataclass(frozen=True)
class JobWords:
    """One kind of job in words.

    `room`: whose record it is about, and `joined` the word before that record's name. `address`: where the work itself
    is shown. `outcome`: its result in words. `again` says why one that cannot be repeated is not started again, and
    `instead` names the way to what can be done.
    """

    name: str
    room: str
    address: Callable[[Job], str]
    outcome: Callable[[Job, Mapping[str, Any]], Sequence[Fact]]
    joined: str = "of"
    again: str = ""
    instead: str = ""


_words: dict[str, JobWords] = {}


def describe_job(kind: str, words: JobWords) -> None:
    """Register the words of a kind of job; the last ones count."""
    _words[kind] = words


def words_of(kind: str) -> JobWords | None:
    """The words of a kind, or None where no room has registered any: its own name has to do then."""
    return _words.get(kind)
