"""Conditions on other tables that are looked up row by row.

A database may turn `EXISTS` into a join, and chooses how to join by its statistics. Those know nothing of a cyclotron
that has just been filled, or of one among many, and PostgreSQL then expects a single row and passes over all reviews
for each item. Inside `CASE` it is never turned into a join: it is one look into an index for each row, always. (So is a
scalar subquery that is null; but PostgreSQL takes that for so rare that it reads all rows to find the first.)
"""

from typing import Any

from django.db.models import BooleanField, Case, Exists, QuerySet, Value, When


def there_is(rows: QuerySet[Any]) -> Case:
    """True where `rows`, which refer to the outer row, has one. Its conditions should be what an index begins with."""
    return Case(When(Exists(rows), then=Value(True)), default=Value(False), output_field=BooleanField())


def there_is_no(rows: QuerySet[Any]) -> Case:
    """True where `rows`, which refer to the outer row, has none."""
    return Case(When(Exists(rows), then=Value(False)), default=Value(True), output_field=BooleanField())
