"""How a file's columns become items and labels, as a person chose it. Source: spec held-out, section 1."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from cyclotron.core.draws import check_rate
from cyclotron.core.errors import CyclotronError
from kapsoweb.foundation.canonical import check_json

MAX_FILE_BYTES = 32 * 2**20
MAX_FILE_ROWS = 200_000
MAX_FILE_NAME = 255
MAX_BAD_ROWS = 1000  # kept with an import; all are counted


class InvalidImportError(CyclotronError):
    """A file, or a choice of its columns, that nothing can be brought in with."""

    id = "invalid-import"


@dataclass(frozen=True)
class ImportColumns:
    """Which columns hold what. With a label column each row is decided, sent, and its label recorded as a review.
    Without one the rows are decided at the rates, and those that are sent wait for a review.

    `mapping` says which label a value of the label column means; a value that is a label needs none, and `otherwise`
    takes the rest.
    """

    id_column: str
    text_columns: tuple[str, ...]
    label_column: str | None = None
    mapping: Mapping[str, str] | None = None
    otherwise: str | None = None
    review_rate: float = 1.0
    audit_rate: float = 0.05
    low_confidence: float | None = None

    def __post_init__(self) -> None:
        check_json(asdict(self), "the choice of columns")
        if not self.text_columns:
            raise InvalidImportError("choose at least one text column.", field="textColumns")
        if self.label_column is None and (self.mapping or self.otherwise is not None):
            raise InvalidImportError(
                "values are mapped to labels only with a label column; choose one.", field="labelColumn"
            )
        check_rate(self.review_rate, "review_rate")
        check_rate(self.audit_rate, "audit_rate")
        if self.low_confidence is not None:
            check_rate(self.low_confidence, "low_confidence")
        if not self.review_rate and not self.audit_rate:
            raise InvalidImportError("one of the rates must be above 0, or nothing is reviewed.", field="reviewRate")

    @property
    def names(self) -> list[str]:
        """Every column that is chosen."""
        return [self.id_column, *self.text_columns, *([self.label_column] if self.label_column is not None else [])]

    def as_json(self) -> dict[str, Any]:
        """As it is stored."""
        return {**asdict(self), "text_columns": list(self.text_columns)}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "ImportColumns":
        """Read what `as_json` wrote."""
        return cls(**{**value, "text_columns": tuple(value["text_columns"])})
