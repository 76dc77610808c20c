"""The store handle: which database holds a cyclotron, and which cyclotron it is.

Every query and action of this room takes a `Store` first and reads the database through it, so that one cyclotron may
live in the lab's database, in a SQLite file of a host, or in a snapshot. No foreign key leaves the room's tables.
"""

from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, TypeVar

from django.db import models, transaction

from cyclotron.core.errors import NoSuchClassifierError, NoSuchCyclotronError
from cyclotron.models import Classifier, StoredCyclotron
from kapsoweb.accounts.models import Holding
from kapsoweb.foundation.canonical import check_text

ROOM = "cyclotron"
AnyModel = TypeVar("AnyModel", bound=models.Model)


@dataclass(frozen=True)
class Store:
    """A database alias and the id of one cyclotron in it."""

    using: str
    cyclotron_id: str

    def all(self, model: type[AnyModel]) -> "models.QuerySet[AnyModel]":
        """Rows of `model` that belong to this cyclotron (the model must have a `cyclotron` column)."""
        return model._default_manager.using(self.using).filter(cyclotron_id=self.cyclotron_id)

    def rows(self, model: type[AnyModel]) -> "models.QuerySet[AnyModel]":
        """Rows of a model that hangs below one with a `cyclotron` column; the caller narrows them by that parent."""
        return model._default_manager.using(self.using)

    def transaction(self) -> AbstractContextManager[Any]:
        """One transaction in the store's database."""
        return transaction.atomic(using=self.using)

    def lock(self) -> StoredCyclotron:
        """Lock the cyclotron's row until the transaction ends: writers of one cyclotron take turns."""
        return self._found(self._cyclotrons().select_for_update())

    def cyclotron(self) -> StoredCyclotron:
        """The cyclotron's row; raises `NoSuchCyclotronError`."""
        return self._found(self._cyclotrons())

    def classifiers(self) -> "models.QuerySet[Classifier]":
        """The cyclotron's classifiers in order, with what is active; configurations are read only where needed."""
        active = self.all(Classifier).select_related("active_version", "active_ml_model")
        return active.defer("active_version__configuration").order_by("position")

    def classifier(self, name: str | None = None) -> Classifier:
        """The classifier called `name`, or the first; raises `NoSuchClassifierError`."""
        rows = self.classifiers()
        found = rows.first() if name is None else rows.filter(name=check_text(name, "a classifier's name")).first()
        if found is None:
            known = list(self.all(Classifier).order_by("position").values_list("name", flat=True))
            raise NoSuchClassifierError(
                f"The cyclotron has no such classifier; it has: {', '.join(known)}.", classifiers=known
            )
        return found

    def _found(self, rows: "models.QuerySet[StoredCyclotron]") -> StoredCyclotron:
        found = rows.filter(id=self.cyclotron_id).first()
        if found is None:
            raise NoSuchCyclotronError(f"There is no cyclotron {self.cyclotron_id}.", cyclotronId=self.cyclotron_id)
        return found

    def _cyclotrons(self) -> "models.QuerySet[StoredCyclotron]":
        return StoredCyclotron.objects.using(self.using)


def store_of(holding: Holding) -> Store:
    """The store that an account's holding points at."""
    return Store(using=holding.store, cyclotron_id=holding.record_id)
