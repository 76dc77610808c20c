"""`kapsoweb token`: API tokens of the local account, for whoever works at the lab's own machine."""

import argparse

from cyclotron.store import ROOM
from kapsoweb.accounts.access import access_all, access_record_by_name, local_caller
from kapsoweb.accounts.actions.tokens import create_token, revoke_token, tokens_of
from kapsoweb.accounts.roles import Role
from kapsoweb.cli.output import Result
from kapsoweb.foundation import clock


def create(given: argparse.Namespace) -> Result:
    """Make a token and print its secret, once."""
    caller = local_caller()
    record = access_record_by_name(caller, ROOM, given.cyclotron).record_id if given.cyclotron else ""
    token, secret = create_token(
        caller,
        name=given.name,
        role=Role(given.role),
        days=given.days,
        room=ROOM if record else "",
        record_id=record,
        now=clock.now(),
    )
    document = {
        "id": token.id,
        "name": token.name,
        "role": token.role,
        "recordId": record or None,
        "expiresAt": token.expires_at.isoformat(),
        "token": secret,
    }
    return Result(document, (secret,))


def listing(given: argparse.Namespace) -> Result:  # noqa: ARG001 - every command takes the namespace
    """List the account's tokens, newest first."""
    caller, now = local_caller(), clock.now()
    names = {held.record_id: held.name for held in access_all(caller)}
    rows = []
    for token in tokens_of(caller):
        rows.append(
            {
                "id": token.id,
                "name": token.name,
                "begins": token.beginning,
                "role": token.role,
                "reaches": names.get(token.record_id, token.record_id) or None,
                "expiresAt": token.expires_at.isoformat(),
                "lastUsedAt": token.last_used_at.isoformat() if token.last_used_at else None,
                "state": token.state_at(now),
            }
        )
    lines = tuple(f"{row['id']}  {row['state']:<7}  {row['role']:<8}  {row['begins']}…  {row['name']}" for row in rows)
    return Result({"tokens": rows}, lines or ("No token yet.",))


def revoke(given: argparse.Namespace) -> Result:
    """End a token at once."""
    token = revoke_token(local_caller(), given.id, now=clock.now())
    return Result({"id": token.id, "state": "revoked"}, (f"{token.name} is revoked.",))
