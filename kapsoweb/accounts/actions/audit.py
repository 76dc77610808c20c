"""Writing down who did what."""

from datetime import datetime
from typing import Any

from kapsoweb.accounts.caller import Caller
from kapsoweb.accounts.models import AuditEntry
from kapsoweb.foundation.canonical import check_json


def record_audit(
    caller: Caller, action: str, *, now: datetime, room: str = "", record_id: str = "", **detail: Any
) -> AuditEntry:
    """Write down who did what. Call it in the transaction of the action itself; `detail` has ids, labels and counts."""
    return AuditEntry.objects.create(
        account=caller.account,
        at=now,
        actor=caller.actor,
        door=caller.door,
        token_id=caller.token_id or "",
        action=action,
        room=room,
        record_id=record_id,
        detail=check_json(detail, "an audit entry's detail"),
    )
