"""Conditions on other tables that are looked up row by row.

A database may turn `EXISTS` into a join, and chooses how to join by its statistics. Those know nothing of a cyclotron
that has just been filled, or of one among many, and PostgreSQL then expects a single row and passes over all reviews
for each item. A scalar subquery is never turned into a join: it is one look into an index for each row, always.
"""

from typing import Any

from django.db.models import QuerySet, Subquery
from django.db.models.lookups import IsNull


def there_is(rows: QuerySet[Any]) -> IsNull:
    """True where `rows`, which refer to the outer row, has one. Its conditions should be what an index begins with."""
    return IsNull(Subquery(rows.order_by().values("pk")[:1]), False)


def there_is_no(rows: QuerySet[Any]) -> IsNull:
    """True where `rows`, which refer to the outer row, has none."""
    return IsNull(Subquery(rows.order_by().values("pk")[:1]), True)
