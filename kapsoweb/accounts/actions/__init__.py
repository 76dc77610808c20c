"""The only code that writes the accounts room's tables: keyword-only, with an explicit caller and time."""

from kapsoweb.accounts.actions.audit import record_audit
from kapsoweb.accounts.actions.holding import check_name, hold_record, make_local_account
from kapsoweb.accounts.actions.signing_in import create_first_owner, create_sign_in_link, use_sign_in_link

__all__ = [
    "check_name",
    "create_first_owner",
    "create_sign_in_link",
    "hold_record",
    "make_local_account",
    "record_audit",
    "use_sign_in_link",
]
