"""Who may use a route, said beside its code: every view of every door carries an `Access` as its attribute `access`.

The rule names the least role with which anything at all can be done at the route; where its methods differ, the action
behind the greater one asks for the greater role itself. A test walks all routes and fails on one without a rule.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from kapsoweb.accounts.caller import Caller
from kapsoweb.accounts.roles import Role

View = TypeVar("View", bound=Callable[..., object])


@dataclass(frozen=True)
class Access:
    """`needs`: the least role, or None for a route that is public. `whole_account`: a token for one record only is
    refused. `record`: the URL argument that holds a record's id; another account's answers as a missing one."""

    needs: Role | None
    whole_account: bool = False
    record: str | None = None


PUBLIC = Access(needs=None)


def access(*, needs: Role | None, whole_account: bool = False, record: str | None = None) -> Callable[[View], View]:
    """Declare a function view's rule. It belongs outermost: a decorator above it would hide the attribute."""
    rule = Access(needs=needs, whole_account=whole_account, record=record)

    def declare(view: View) -> View:
        view.access = rule  # type: ignore[attr-defined]  # functions are open to attributes
        return view

    return declare


def access_of(view: object) -> Access | None:
    """The rule of a view as a URL pattern holds it (a function, or what `as_view` made of a class); None without."""
    rule = getattr(view, "access", None) or getattr(getattr(view, "view_class", None), "access", None)
    return rule if isinstance(rule, Access) else None


def hold(rule: Access, caller: Caller) -> None:
    """Raise `NotAllowedError` where the rule alone forbids it; a record's rule is held where the record is opened."""
    if rule.needs is None:
        return
    if rule.whole_account:
        caller.require_whole_account(rule.needs)
    elif rule.record is None:
        caller.require(rule.needs)
