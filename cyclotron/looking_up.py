"""Conditions that every database answers alike and fast: on other tables, and on how a text begins.

A database may turn `EXISTS` into a join, and chooses how to join by its statistics. Those know nothing of a cyclotron
that has just been filled, or of one among many, and PostgreSQL then expects a single row and passes over all reviews
for each item. Inside `CASE` it is never turned into a join: it is one look into an index for each row, always. (So is a
scalar subquery that is null; but PostgreSQL takes that for so rare that it reads all rows to find the first.)
"""

import re
from typing import Any

from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import BooleanField, Case, CharField, Exists, QuerySet, Value, When
from django.db.models.lookups import StartsWith
from django.db.models.sql.compiler import SQLCompiler


def there_is(rows: QuerySet[Any]) -> Case:
    """True where `rows`, which refer to the outer row, has one. Its conditions should be what an index begins with."""
    return Case(When(Exists(rows), then=Value(True)), default=Value(False), output_field=BooleanField())


def there_is_no(rows: QuerySet[Any]) -> Case:
    """True where `rows`, which refer to the outer row, has none."""
    return Case(When(Exists(rows), then=Value(False)), default=Value(True), output_field=BooleanField())


@CharField.register_lookup
class Begins(StartsWith):
    """`column__begins="text"`: how a text begins, byte for byte on every database.

    What Django writes for `startswith` is `LIKE`, which on SQLite takes a letter for its capital.
    """

    lookup_name = "begins"

    def as_sql(self, compiler: SQLCompiler, connection: BaseDatabaseWrapper) -> tuple[str, Any]:
        """`LIKE` where it compares as it should."""
        return StartsWith(self.lhs, self.rhs).as_sql(compiler, connection)

    def as_sqlite(self, compiler: SQLCompiler, connection: BaseDatabaseWrapper, **_: Any) -> tuple[str, Any]:
        """`GLOB` on SQLite.

        The plus keeps it, as `LIKE` is kept, from an index of its own: most texts of a list may begin alike, and a page
        of it would then be sorted out of all of them instead of being read in the order of the list.
        """
        column, parameters = self.process_lhs(compiler, connection)
        return f"+{column} GLOB %s", [*parameters, re.sub(r"[*?[]", r"[\g<0>]", str(self.rhs)) + "*"]
