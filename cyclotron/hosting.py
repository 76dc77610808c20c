"""Serving the held-out panel's two operations from another application. Source: spec held-out, section 8.

A host of one account makes one service and says who is admitted; a host of many makes a runtime, whose workspaces each
have a service of one account. `create_app` gives the address for either. It refuses an assembly by which one account
could reach another's cyclotrons, or by which one part of a deployment may call models and another may not.
`docs/embedding.md` has a whole example.
"""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Protocol

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured, PermissionDenied
from django.http import Http404, HttpRequest
from django.urls import URLPattern, re_path

from cyclotron.graphql.held_out import held_out_schema
from cyclotron.service import HeldOutService, OpenedCyclotron, check_flag
from kapsoweb.doors.errors import ForbiddenError
from kapsoweb.doors.graphql.callers import refuse_forgeries
from kapsoweb.doors.graphql.view import graphql_view

AccountOf = Callable[[HttpRequest], str]
Admit = Callable[[HttpRequest], object]


class OpenAccountCyclotron(Protocol):
    """Opens a cyclotron of one account for one call; raises when it is missing or another account's."""

    def __call__(
        self, account_id: str, cyclotron_id: str, max_requests: int | None = None
    ) -> AbstractContextManager[OpenedCyclotron]:
        """As `cyclotron.service.OpenCyclotron`, for the account that asks."""
        ...


@dataclass(frozen=True)
class HostedConfig:
    """What a deployment of many accounts allows: the one flag by which models may be called."""

    allow_live: bool = False

    def __post_init__(self) -> None:
        check_flag(self.allow_live)


@dataclass(frozen=True)
class HostedWorkspace:
    """What one account of a host has."""

    account_id: str
    held_out: HeldOutService


@dataclass(frozen=True, kw_only=True)
class HostedRuntime:
    """Gives each account of a host its workspace, wired from one opener and one configuration."""

    open_cyclotron: OpenAccountCyclotron
    config: HostedConfig = HostedConfig()

    def workspace(self, account_id: str) -> HostedWorkspace:
        """The workspace of one account; its service opens nothing in another's name."""
        if not isinstance(account_id, str) or not account_id:
            raise ImproperlyConfigured("a workspace is of one account, named by a text that is not empty.")

        @contextmanager
        def opened(cyclotron_id: str, max_requests: int | None = None) -> Iterator[OpenedCyclotron]:
            with self.open_cyclotron(account_id, cyclotron_id, max_requests=max_requests) as cyclotron:
                yield cyclotron

        service = HeldOutService(open_cyclotron=opened, allow_live=self.config.allow_live, account_id=account_id)
        return HostedWorkspace(account_id, service)


def create_app(
    *,
    held_out: HeldOutService | None = None,
    admit: Admit | None = None,
    runtime: HostedRuntime | None = None,
    account_of: AccountOf | None = None,
) -> list[URLPattern]:
    """The address `graphql` that serves `heldOutOverview` and `heldOutCommand`, to be included in a host's addresses.

    Either `held_out`, one service for everybody whom `admit(request)` lets pass; or, for a host of many accounts,
    `runtime`, with `account_of(request)` for the account of whoever asks. Both raise for anybody else: a `KapsoError`,
    or Django's `PermissionDenied` or `Http404`. A request without an `Authorization` header must prove by Django's
    token that a page of the host sent it. Raises `ImproperlyConfigured` for an assembly that it does not serve.
    """
    if runtime is not None:
        if held_out is not None:
            raise ImproperlyConfigured(
                "a host of many accounts is served by runtime alone: held_out would be one service for all of them."
            )
        if account_of is None or admit is not None:
            raise ImproperlyConfigured("runtime needs account_of(request), and takes no admit.")
        _refuse_other_flag(runtime.config.allow_live, "runtime.config")
        service_of = _by_account(runtime, account_of)
    elif held_out is None:
        raise ImproperlyConfigured("create_app serves held_out or runtime; give one of them.")
    else:
        if admit is None or account_of is not None:
            raise ImproperlyConfigured("held_out needs admit(request), and takes no account_of.")
        _refuse_other_flag(held_out.allow_live, "held_out")
        service_of = _for_all(held_out, admit)
    view = graphql_view(held_out_schema(lambda service: service), _guarded(service_of))
    return [re_path(r"^graphql/?$", view, name="held-out-graphql")]


def _by_account(runtime: HostedRuntime, account_of: AccountOf) -> Callable[[HttpRequest], HeldOutService]:
    def service_of(request: HttpRequest) -> HeldOutService:
        account_id = account_of(request)
        if not account_id:
            raise PermissionDenied
        service = runtime.workspace(account_id).held_out
        if service.account_id != account_id:
            raise ImproperlyConfigured("a workspace must have a service of its own account, and never a global one.")
        if service.allow_live != runtime.config.allow_live:
            raise ImproperlyConfigured("a workspace's service has another allow_live than the runtime's configuration.")
        return service

    return service_of


def _for_all(held_out: HeldOutService, admit: Admit) -> Callable[[HttpRequest], HeldOutService]:
    def service_of(request: HttpRequest) -> HeldOutService:
        admit(request)
        return held_out

    return service_of


def _guarded(service_of: Callable[[HttpRequest], HeldOutService]) -> Callable[[HttpRequest], HeldOutService]:
    """Who asks, once it is known that no other site made a browser ask; a host's refusals in the door's one shape."""

    def found(request: HttpRequest) -> HeldOutService:
        if "HTTP_AUTHORIZATION" not in request.META:
            refuse_forgeries(request)
        try:
            return service_of(request)
        except (PermissionDenied, PermissionError, Http404):
            raise ForbiddenError("this is not for whoever asks. Nothing was changed.") from None

    return found


def _refuse_other_flag(allow_live: bool, whose: str) -> None:
    """Refuse a flag that is not the deployment's, where the settings have one."""
    deployment = getattr(settings, "KAPSOWEB_ALLOW_LIVE", allow_live)
    if deployment != allow_live:
        raise ImproperlyConfigured(
            f"{whose} has allow_live={allow_live} and KAPSOWEB_ALLOW_LIVE is {deployment}: a deployment has one flag."
        )
