"""The format `cyclotron-held-out-report/v1`: its schema, and reading it back. Source: spec held-out, section 6."""

import json
from collections.abc import Iterator, Mapping
from datetime import datetime
from functools import cache
from importlib.resources import files
from typing import Any

from jsonschema import Draft202012Validator, FormatChecker
from jsonschema.exceptions import ValidationError

from cyclotron.core.errors import InvalidReportError
from cyclotron.core.outcome import Outcome
from kapsoweb.foundation.canonical import UnreadableValueError, check_json
from kapsoweb.foundation.strict_json import UnreadableJsonError, read_json

SCHEMA = "cyclotron-held-out-report/v1"
SCHEMA_FILE = "cyclotron-held-out-report.v1.schema.json"
EXAMPLE_FILE = "cyclotron-held-out-report.v1.example.json"
# Room for a report of about a million items.
MAX_REPORT_BYTES = 256 * 2**20

_ITEM_KEYS = frozenset({"itemId", "label", "before", "after", "weight", "outcome"})
_OUTCOMES = frozenset(outcome.value for outcome in Outcome)
_LONGEST_PATH = 200
_FORMATS = FormatChecker(formats=())


@_FORMATS.checks("date-time", raises=ValueError)
def _is_time(value: object) -> bool:
    return not isinstance(value, str) or datetime.fromisoformat(value).tzinfo is not None


@cache
def report_schema() -> Mapping[str, Any]:
    """The JSON Schema (draft 2020-12) of a report; do not change what is returned."""
    schema: Mapping[str, Any] = json.loads(files("cyclotron.schemas").joinpath(SCHEMA_FILE).read_bytes())
    return schema


@cache
def report_example() -> Mapping[str, Any]:
    """The example that stands beside the schema; do not change what is returned."""
    example: Mapping[str, Any] = json.loads(files("cyclotron.schemas").joinpath(EXAMPLE_FILE).read_bytes())
    return example


@cache
def _validators() -> tuple[Draft202012Validator, Draft202012Validator]:
    """Validators of a report without a look into its items, and of one item."""
    schema = report_schema()
    Draft202012Validator.check_schema(schema)
    items = {key: value for key, value in schema["properties"]["items"].items() if key != "items"}
    without_items = {**schema, "properties": {**schema["properties"], "items": items}}
    one_item = {"$ref": "#/$defs/item", "$defs": schema["$defs"]}
    return (
        Draft202012Validator(without_items, format_checker=_FORMATS),
        Draft202012Validator(one_item, format_checker=_FORMATS),
    )


def read_report(document: Mapping[str, Any] | bytes) -> dict[str, Any]:
    """The report in `document`: bytes of JSON, read strictly, or a value that was read already.

    Reports written before intervals existed are accepted. Raises `InvalidReportError`, whose detail has the `path` of
    the first fault (`$.items[3].weight`) and the `rule` that it breaks, and repeats no value.
    """
    if isinstance(document, bytes):
        try:
            value = read_json(document, where="the report", max_bytes=MAX_REPORT_BYTES)
        except UnreadableJsonError as error:
            raise InvalidReportError(error.message, path="$", **error.detail) from None
    else:
        try:
            value = check_json(document, "the report")
        except UnreadableValueError as error:
            raise InvalidReportError(error.message, path="$", rule="storable") from None
    return check_report(value)


def check_report(value: Any) -> dict[str, Any]:
    """Return `value`, plain finite JSON, when it conforms to the schema; otherwise raise `InvalidReportError`."""
    whole, one_item = _validators()
    _raise_first(whole.iter_errors(value), "$")
    for position, item in enumerate(value["items"]):
        if not _plainly_an_item(item):
            _raise_first(one_item.iter_errors(item), f"$.items[{position}]")
    report: dict[str, Any] = value
    return report


def _raise_first(errors: Iterator[ValidationError], root: str) -> None:
    for error in errors:
        path = (root + error.json_path[1:])[:_LONGEST_PATH]
        raise InvalidReportError(
            f"the report breaks its schema at {path}: the rule is `{error.validator}`; see {SCHEMA_FILE}.",
            path=path,
            rule=error.validator,
        )


def _plainly_an_item(item: Any) -> bool:
    """Whether `item` conforms, by a look that is a hundred times as fast as the validator's.

    It may say no of an item that conforms (the validator then decides), never yes of one that does not.
    """
    return (
        type(item) is dict
        and item.keys() == _ITEM_KEYS
        and _is_short_text(item["itemId"], 512)
        and _is_short_text(item["label"], 64)
        and (item["before"] is None or _is_short_text(item["before"], 64))
        and (item["after"] is None or _is_short_text(item["after"], 64))
        and type(item["weight"]) in (float, int)
        and 1 <= item["weight"] <= 2.0**64
        and type(item["outcome"]) is str
        and item["outcome"] in _OUTCOMES
    )


def _is_short_text(value: Any, longest: int) -> bool:
    return type(value) is str and 0 < len(value) <= longest
