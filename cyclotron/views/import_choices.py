"""What somebody chose for a file: its columns, what its labels mean, and the rates, as an address or a form holds them.

An address holds names of columns, labels and numbers. What stands in the file's cells never gets into it: a value of
the label column goes by its place among the values (`meaning-0` is what the most frequent one means).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django import forms
from django.http import QueryDict

from cyclotron.core.imports import ImportColumns
from cyclotron.queries import FileColumn, OpenedFile
from kapsoweb.foundation.errors import KapsoError
from kapsoweb.foundation.wording import sentence_case

_SHARE = {"invalid": "Enter a number from 0 to 1.", "min_value": "Enter a number from 0 to 1."}
_SHARE["max_value"] = _SHARE["min_value"]
_DECIMAL = {"inputmode": "decimal", "autocomplete": "off"}

# What columns of that use are called in most files.
_IDENTITIES = ("id", "identity", "key", "uid", "uuid", "pmid", "pubmedid", "doi", "number")
_TEXTS = ("text", "title", "abstract", "abstracts", "body", "content", "comment", "message", "description", "summary")
_LABELS = ("label", "label1", "labels", "class", "category", "decision", "included", "include", "target")


class RatesForm(forms.Form):
    """At which rates rows without a label are sent to review."""

    use_required_attribute = False

    review_rate = forms.FloatField(
        label="Review rate",
        help_text="The share of all decisions that is sent to review, 0 to 1.",
        initial=1.0,
        min_value=0,
        max_value=1,
        required=True,
        widget=forms.TextInput(attrs=_DECIMAL),
        error_messages={"required": "Enter a number from 0 to 1.", **_SHARE},
    )
    audit_rate = forms.FloatField(
        label="Audit rate",
        help_text="The share that is sent at random even where the review rate would not.",
        initial=0.05,
        min_value=0,
        max_value=1,
        widget=forms.TextInput(attrs=_DECIMAL),
        error_messages={"required": "Enter a number from 0 to 1.", **_SHARE},
    )
    low_confidence = forms.FloatField(
        label="Low confidence",
        help_text="Decisions with a confidence below this are sent as well; left empty, none is for that reason.",
        min_value=0,
        max_value=1,
        required=False,
        widget=forms.TextInput(attrs=_DECIMAL),
        error_messages=_SHARE,
    )


@dataclass(frozen=True)
class ImportChoices:
    """The choices for one opened file.

    `values` are the values of the label column with their counts; `meanings` has, at the same places, the label that
    each means, or nothing. `columns` is None where the choices are not complete, and `problems` says what is missing.
    """

    id_column: str
    text_columns: tuple[str, ...]
    label_column: str
    values: tuple[tuple[str, int], ...]
    meanings: tuple[str, ...]
    otherwise: str
    rates: RatesForm
    columns: ImportColumns | None
    problems: tuple[str, ...]

    @property
    def rates_are_open(self) -> bool:
        """Whether the rates are shown at once: when one of them is wrong or unusual."""
        return bool(self.rates.errors) or any(str(field.value() or "") != _start(field.name) for field in self.rates)

    def fields(self) -> list[tuple[str, str]]:
        """What a form sends to choose the same again."""
        chosen = [("id", self.id_column), *(("text", name) for name in self.text_columns)]
        chosen += [("label", self.label_column), ("of", self.label_column)]
        chosen += [(f"meaning-{place}", label) for place, label in enumerate(self.meanings)]
        chosen += [("otherwise", self.otherwise)]
        return chosen + [(field.name, str(field.value() or "")) for field in self.rates]


def choices_of(
    given: QueryDict, file: OpenedFile, columns: Sequence[FileColumn], labels: Sequence[str]
) -> ImportChoices:
    """Read the choices; an address without any gets those that the columns' names suggest."""
    usable = [column.name for column in columns if column.usable and column.name]
    fresh = "id" not in given
    id_column = _named(usable, _IDENTITIES) if fresh else given.get("id", "")
    label_column = _named(usable, _LABELS) if fresh else given.get("label", "")
    texts = [name for name in usable if name.casefold() in _TEXTS] if fresh else given.getlist("text")
    id_column = id_column if id_column in usable else ""
    label_column = label_column if label_column in usable else ""
    text_columns = tuple(name for name in usable if name in texts)
    values = file.values(label_column) if label_column else ()
    same = given.get("of") == label_column
    meanings = tuple(
        _meaning(given.get(f"meaning-{place}"), value, labels) if same else _meaning(None, value, labels)
        for place, (value, _) in enumerate(values)
    )
    otherwise = given.get("otherwise", "") if same and given.get("otherwise") in labels else ""
    rates = RatesForm({name: given.get(name, _start(name)) for name in RatesForm.base_fields})
    problems = tuple(_missing(id_column, text_columns))
    chosen = None
    if rates.is_valid() and not problems:
        try:
            chosen = ImportColumns(
                id_column=id_column,
                text_columns=text_columns,
                label_column=label_column or None,
                mapping=_mapping(values, meanings),
                otherwise=otherwise or None,
                **rates.cleaned_data,
            )
        except KapsoError as error:
            problems = (sentence_case(error.message),)
    elif not rates.is_valid():
        problems += ("Correct the rates.",)
    return ImportChoices(id_column, text_columns, label_column, values, meanings, otherwise, rates, chosen, problems)


def _meaning(given: str | None, value: str, labels: Sequence[str]) -> str:
    """The label that was chosen for a value, or, where nothing was, the label that the value is."""
    if given is not None:
        return given if given in labels else ""
    return next((label for label in labels if label == value.strip()), "")


def _mapping(values: Sequence[tuple[str, int]], meanings: Sequence[str]) -> dict[str, str] | None:
    """What the values mean, those left out that are the label themselves."""
    said = zip(values, meanings, strict=True)
    return {value: label for (value, _), label in said if label and label != value} or None


def _missing(id_column: str, text_columns: Sequence[str]) -> Iterable[str]:
    if not id_column:
        yield "Choose the column that holds each item's identity."
    if not text_columns:
        yield "Choose at least one text column."


def _named(usable: Sequence[str], names: Sequence[str]) -> str:
    """The first of `names` that a column has, whatever its case."""
    by_name = {column.strip().casefold(): column for column in reversed(usable)}
    return next((by_name[name] for name in names if name in by_name), "")


def _start(name: str) -> str:
    initial = RatesForm.base_fields[name].initial
    return "" if initial is None else f"{initial:g}"
