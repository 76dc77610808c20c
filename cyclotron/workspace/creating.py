"""The workspace's cyclotrons themselves: list them, create one, change how often it learns."""

from django.db import transaction
from django.db.models import QuerySet

from cyclotron import actions
from cyclotron.core.definition import CyclotronDefinition
from cyclotron.core.errors import DefinitionChangedError
from cyclotron.store import ROOM
from cyclotron.workspace.held import HeldCyclotron
from cyclotron.workspace.learning import Learning
from kapsoweb.accounts.access import access_record_by_name, access_records
from kapsoweb.accounts.actions import check_name, hold_record
from kapsoweb.accounts.errors import NameTakenError, RecordNotFound
from kapsoweb.accounts.models import Holding
from kapsoweb.accounts.roles import Role
from kapsoweb.foundation import clock


class Creating(Learning):
    """What the account holds, and what operators add to it."""

    def cyclotrons(self) -> QuerySet[Holding]:
        """All that the caller reaches, by name."""
        return access_records(self.caller, ROOM)

    def create(self, *, name: str, definition: CyclotronDefinition) -> HeldCyclotron:
        """Create a cyclotron in the lab's database and give the account its hold. Operators."""
        self.caller.require_whole_account(Role.OPERATOR)
        check_name(name)
        now = clock.now()
        with transaction.atomic():
            store = actions.create_cyclotron(name=name, definition=definition, now=now)
            holding = hold_record(
                account=self.caller.account,
                room=ROOM,
                name=name,
                store=store.using,
                record_id=store.cyclotron_id,
                now=now,
            )
            held = HeldCyclotron(holding)
            self.audit(held, "cyclotron.created", name=name, fingerprint=definition.fingerprint)
        return held

    def create_or_open(self, *, name: str, definition: CyclotronDefinition) -> HeldCyclotron:
        """The account's cyclotron of that name, created from the definition when there is none. Operators.

        A `learn_every` in the definition becomes the store's. Raises `DefinitionChangedError` when the name is held
        with another definition.
        """
        self.caller.require_whole_account(Role.OPERATOR)
        try:
            held = self._named(name)
        except RecordNotFound:
            try:
                return self.create(name=name, definition=definition)
            except NameTakenError:  # another opener was first
                held = self._named(name)
        if held.store.cyclotron().fingerprint != definition.fingerprint:
            raise DefinitionChangedError(
                f"{name} is held with another definition; a changed definition needs a new name.", name=name
            )
        if definition.learn_every is not None:
            self.set_learning_interval(held.id, definition.learn_every)
        return held

    def set_learning_interval(self, cyclotron_id: str, learn_every: int) -> None:
        """Change after how many new training reviews learning is due. Operators."""
        with self.writing(cyclotron_id, Role.OPERATOR) as held:
            before = held.store.lock().learn_every
            actions.set_learning_interval(held.store, learn_every, now=clock.now())
            if learn_every != before:
                self.audit(held, "cyclotron.changed", learnEvery=learn_every)
                self._learn_when_due(held)

    def _named(self, name: str) -> HeldCyclotron:
        return HeldCyclotron(access_record_by_name(self.caller, ROOM, name, needs=Role.OPERATOR))
