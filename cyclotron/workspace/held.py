"""A cyclotron as somebody reached it."""

from dataclasses import dataclass

from cyclotron.store import Store, store_of
from kapsoweb.accounts.models import Holding


@dataclass(frozen=True)
class HeldCyclotron:
    """The account's hold on a cyclotron, and the store that has it."""

    holding: Holding

    @property
    def id(self) -> str:
        """The cyclotron's id."""
        return self.holding.record_id

    @property
    def name(self) -> str:
        """The name that the account knows it by."""
        return self.holding.name

    @property
    def store(self) -> Store:
        """Where it is stored."""
        return store_of(self.holding)
