"""The strict reader of JSON from outside: bytes in, a value that is plain, finite and storable out.

Refused, by rule: `size`, `encoding` (UTF-8 without a byte order mark), `syntax` (JSON as RFC 8259 has it),
`duplicate-key`, `not-finite` (NaN, infinities, numbers too large for a float), `long-number` (whole numbers of more
than `MAX_DIGITS` digits), `nul`, `surrogate` (half of a pair), `depth`. An error names the document, the line and the
rule, and repeats nothing of the content.
"""

import json
import math
import re
from typing import Any, NoReturn

from kapsoweb.foundation.canonical import MAX_DEPTH, MAX_DIGITS
from kapsoweb.foundation.errors import KapsoError

DEFAULT_MAX_BYTES = 16 * 2**20

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{}:,]|[^\s\[\]{}:,"]+')
_SUSPECT_ESCAPE = re.compile(r"\\u(?:0000|[dD][89a-fA-F])")

_WHAT = {
    "size": "is larger than the {limit} bytes that are allowed",
    "encoding": "is not UTF-8 text without a byte order mark",
    "syntax": "is not JSON",
    "duplicate-key": "repeats a key within one object",
    "not-finite": "holds a number that is not finite",
    "long-number": f"holds a whole number of more than {MAX_DIGITS} digits",
    "nul": "holds a NUL character",
    "surrogate": "holds half of a surrogate pair, which is not valid Unicode text",
    "depth": "is nested deeper than {limit} levels",
}


class UnreadableJsonError(KapsoError):
    """A JSON document that breaks one of the reader's rules; the detail has `where`, `line` (or None) and `rule`."""

    id = "unreadable-json"


class _RuleBroken(Exception):  # noqa: N818 - a signal from the parser's hooks, which know no line
    """Some rule is broken; the document is then read once more, slowly, to say which and where."""


def read_json(data: bytes, *, where: str, max_bytes: int = DEFAULT_MAX_BYTES, max_depth: int = MAX_DEPTH) -> Any:
    """The value of the JSON document in `data`, at most `max_bytes` long and `max_depth` objects and arrays deep.

    `where` names the document in errors (a file's name, say). Raises `UnreadableJsonError`.
    """
    if len(data) > max_bytes:
        _refuse("size", where, None, max_bytes)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        _refuse("encoding", where, data.count(b"\n", 0, error.start) + 1)
    if text.startswith("\ufeff"):
        _refuse("encoding", where, 1)
    try:
        value = json.loads(
            text,
            object_pairs_hook=_without_duplicates,
            parse_constant=_no_constant,
            parse_float=_finite,
            parse_int=_short,
        )
    except json.JSONDecodeError as error:
        _refuse("syntax", where, error.lineno)
    except (_RuleBroken, RecursionError):
        _refuse_broken_rule(text, where, max_depth)
    if _deeper_than(max_depth, value) or _SUSPECT_ESCAPE.search(text):
        _refuse_broken_rule(text, where, max_depth)
    return value


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise _RuleBroken
    return found


def _no_constant(_: str) -> NoReturn:
    raise _RuleBroken


def _finite(number: str) -> float:
    value = float(number)
    if not math.isfinite(value):
        raise _RuleBroken
    return value


def _short(number: str) -> int:
    if _too_long(number):
        raise _RuleBroken
    return int(number)


def _too_long(number: str) -> bool:
    return len(number.removeprefix("-")) > MAX_DIGITS


def _deeper_than(limit: int, value: Any) -> bool:
    """Whether objects and arrays are nested more than `limit` deep, level by level and so without recursion."""
    level = [value] if isinstance(value, dict | list) else []
    for _ in range(limit):
        level = [
            child
            for parent in level
            for child in (parent.values() if isinstance(parent, dict) else parent)
            if isinstance(child, dict | list)
        ]
    return bool(level)


def _refuse_broken_rule(text: str, where: str, max_depth: int) -> None:
    """Refuse for the first rule that the document breaks; return when it breaks none (its escapes were harmless)."""
    keys: list[set[str]] = []
    last = ""
    for match in _TOKEN.finditer(text):
        part = match.group()
        rule = None
        if part in ("{", "["):
            keys.append(set())
            if len(keys) > max_depth:
                rule = "depth"
        elif part in ("}", "]"):
            keys.pop()
        elif part == ":":
            if last in keys[-1]:
                rule = "duplicate-key"
            keys[-1].add(last)
        elif part.startswith('"'):
            last = json.loads(part)
            rule = _rule_broken_by_text(last)
        elif part != ",":
            rule = _rule_broken_by_literal(part)
        if rule is not None:
            _refuse(rule, where, text.count("\n", 0, match.start()) + 1, max_depth)


def _rule_broken_by_text(text: str) -> str | None:
    if "\x00" in text:
        return "nul"
    return "surrogate" if any("\ud800" <= character <= "\udfff" for character in text) else None


def _rule_broken_by_literal(literal: str) -> str | None:
    if literal in ("true", "false", "null"):
        return None
    if re.fullmatch(r"-?[0-9]+", literal):
        return "long-number" if _too_long(literal) else None
    return None if math.isfinite(float(literal)) else "not-finite"


def _refuse(rule: str, where: str, line: int | None, limit: int = 0) -> NoReturn:
    place = where if line is None else f"{where}, line {line}"
    raise UnreadableJsonError(
        f"{place}: the document {_WHAT[rule].format(limit=limit)}.", where=where, line=line, rule=rule
    ) from None
