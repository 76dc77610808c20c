"""A cyclotron with one of everything that an address can name, made through the workspace as any door makes it."""

from dataclasses import dataclass

from cyclotron import queries
from cyclotron.adapters.configured import decision_model
from cyclotron.models import Item, Report
from cyclotron.store import Store
from cyclotron.workspace import Workspace
from kapsoweb.accounts.access import local_account
from kapsoweb.accounts.models import Account, ApiToken, Holding
from kapsoweb.jobs.models import Job
from tests.support.api import token
from tests.support.frozen_cyclotrons import frozen_cyclotron
from tests.support.held_cyclotrons import hold, run_queued_jobs
from tests.support.people import caller

CSV = b"record,text,decision\nrow-1,attention in children,include\nrow-2,asphalt on bridges,exclude\n"


@dataclass(frozen=True)
class Whole:
    """The cyclotron's store, its account, and an id for each variable of an address."""

    store: Store
    account: Account
    ids: dict[str, str]

    def forget(self) -> None:
        """Let the account lose its hold, its jobs and its tokens: what an address named is missing to all."""
        Holding.objects.filter(account=self.account).delete()
        Job.objects.filter(account_id=self.account.pk).delete()
        ApiToken.objects.filter(account=self.account).delete()


def whole_cyclotron(name: str = "whole", account: Account | None = None) -> Whole:
    """Decided, learned, frozen, evaluated; an item waits and is held; a file is there; a token reaches it."""
    account = account or local_account()
    store = hold(frozen_cyclotron(), name, account)
    workspace = Workspace(caller(account=account, name=f"maker of {name}"))
    bound = queries.overview(store, model=decision_model().identity, allow_live=True).request_bound or 0
    started = workspace.evaluate(store.cyclotron_id, confirmed_bound=bound, request_id="asked once")
    run_queued_jobs()
    workspace.decide(store.cyclotron_id, identity="waits", values={"text": "attention and placebo"})
    workspace.decide(store.cyclotron_id, identity="waits too", values={"text": "asphalt and gravel"})
    held = workspace.take(store.cyclotron_id)
    file = workspace.upload(store.cyclotron_id, filename="rows.csv", data=CSV)
    token(account=account, only=store.cyclotron_id)
    evaluation = queries.evaluation_record(store, started.id)
    ids = {
        "cyclotronId": store.cyclotron_id,
        "itemKey": str(store.all(Item).order_by("id").values_list("id", flat=True)[0]),
        "assignmentId": held.id if held else "",
        "importId": file.id,
        "evaluationId": started.id,
        "reportId": str(store.all(Report).values_list("id", flat=True)[0]),
        "jobId": evaluation.job_id,
        "tokenId": str(ApiToken.objects.filter(account=account).values_list("id", flat=True)[0]),
    }
    assert all(ids.values()), ids
    return Whole(store, account, ids)
