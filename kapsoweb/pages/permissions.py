"""Why a button is off for somebody: said beside it, in the words of the role they have and the one it takes."""

from kapsoweb.accounts.caller import Caller
from kapsoweb.accounts.roles import Role


def why_not(caller: Caller, needed: Role, doing: str) -> str:
    """The reason why `caller` may not do it, or nothing: `Your role here is viewer; freezing needs operator.`"""
    if caller.role.allows(needed):
        return ""
    return f"Your role here is {caller.role.value}; {doing} needs {needed.value}."
