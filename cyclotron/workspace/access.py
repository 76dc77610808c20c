"""What every part of the workspace rests on: reaching a cyclotron, writing to it, and the audit entry."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.conf import settings
from django.db import transaction

from cyclotron.core.live_calls import refuse_unless_live
from cyclotron.store import ROOM
from cyclotron.workspace.held import HeldCyclotron
from kapsoweb.accounts.access import access_record
from kapsoweb.accounts.actions import record_audit
from kapsoweb.accounts.caller import Caller
from kapsoweb.accounts.roles import Role
from kapsoweb.foundation import clock


class Reaching:
    """A caller, and the cyclotrons that they reach."""

    def __init__(self, caller: Caller) -> None:
        self.caller = caller

    def open(self, cyclotron_id: str, *, needs: Role = Role.VIEWER) -> HeldCyclotron:
        """A cyclotron by its id; raises `RecordNotFound`, or `NotAllowedError` when it is there and the role is not."""
        return HeldCyclotron(access_record(self.caller, ROOM, cyclotron_id, needs=needs))

    @contextmanager
    def writing(self, cyclotron_id: str, needs: Role) -> Iterator[HeldCyclotron]:
        """The cyclotron for one write: its action and its audit entry are kept together or not at all."""
        held = self.open(cyclotron_id, needs=needs)
        with transaction.atomic(), held.store.transaction():
            yield held

    def audit(self, held: HeldCyclotron, action: str, **detail: Any) -> None:
        """Write down what the caller did with a cyclotron."""
        record_audit(self.caller, action, now=clock.now(), room=ROOM, record_id=held.id, **detail)


def require_live() -> None:
    """Refuse what may call a model where live calls are off."""
    refuse_unless_live(settings.KAPSOWEB_ALLOW_LIVE)
