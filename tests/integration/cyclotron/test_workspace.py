"""The one path of every door: the record first, then the role, then the action and its audit entry together."""

import json
from dataclasses import replace
from typing import Any

import pytest
from django.db import transaction
from pytest_django.fixtures import Settings

from cyclotron.core.errors import LiveCallsOffError, NoSuchReviewError
from cyclotron.models import Evaluation, Permit, Review
from cyclotron.store import Store
from cyclotron.workspace import Workspace, access
from kapsoweb.accounts.access import local_account
from kapsoweb.accounts.caller import Caller
from kapsoweb.accounts.errors import NotAllowedError, RecordNotFound
from kapsoweb.accounts.models import AuditEntry
from kapsoweb.accounts.roles import Role
from tests.support.held_cyclotrons import held_cyclotron
from tests.support.operations import everything
from tests.support.people import caller, other_account
from tests.support.whole_cyclotrons import CSV, Whole, whole_cyclotron
from tests.support.workspace_calls import (
    CALLS,
    COLUMNS,
    EVERY_CALL,
    FOREIGN,
    OTHER_METHODS,
    WHOLE_ACCOUNT,
    first_review,
    waiting_decision,
)

pytestmark = [pytest.mark.services, pytest.mark.django_db]

BELOW = {role: [lesser for lesser in Role if not lesser.allows(role)] for role in Role}
AUDITED = [name for name, call in EVERY_CALL.items() if call.audited]
LIVE = [name for name, call in CALLS.items() if call.live]


@pytest.fixture
def whole() -> Whole:
    return whole_cyclotron()


def callers() -> dict[Role, Caller]:
    return {role: caller(role) for role in Role}


def audited() -> list[tuple[str, str, str]]:
    return list(AuditEntry.objects.order_by("id").values_list("action", "actor", "record_id"))


# roles --------------------


def test_every_method_is_tried() -> None:
    methods = {name for name in dir(Workspace) if not name.startswith("_")}
    tried = {name.split()[0].partition(".")[0] for name in EVERY_CALL}
    assert methods == tried | OTHER_METHODS


@pytest.mark.parametrize("name", EVERY_CALL)
def test_a_role_may_do_what_it_may_and_a_lesser_one_changes_nothing(name: str, whole: Whole) -> None:
    call, here = EVERY_CALL[name], whole.store.cyclotron_id
    everybody = callers()
    before = everything()
    for role in BELOW[call.needs]:
        with pytest.raises(NotAllowedError) as refused:
            call.make(Workspace(everybody[role]), here, whole)
        assert refused.value.detail["role"] == role.value
        assert everything() == before
    for role in Role:
        if role.allows(call.needs):
            with transaction.atomic():
                call.make(Workspace(everybody[role]), here, whole)
                done = audited()[len(before["kapso_accounts.AuditEntry"]) :]
                assert [entry[:2] for entry in done][-1:] == (
                    [(call.audited, everybody[role].actor)] if call.audited else []
                )
                transaction.set_rollback(True)
            assert everything() == before


def test_every_role_sees_what_the_account_holds(whole: Whole) -> None:
    for somebody in callers().values():
        assert [holding.name for holding in Workspace(somebody).cyclotrons()] == ["whole"]
    assert not Workspace(caller(account=other_account())).cyclotrons().exists()


# other accounts, other records --------------------


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("role", list(Role))
def test_another_accounts_cyclotron_is_a_missing_one_to_the_letter_whatever_the_role(name: str, role: Role) -> None:
    theirs = whole_cyclotron("theirs", account=other_account())
    stranger = Workspace(caller(role))
    before = everything()
    said = []
    for wanted in (theirs.store.cyclotron_id, "cy_missing"):
        with pytest.raises(RecordNotFound) as missing:
            CALLS[name].make(stranger, wanted, theirs)
        said.append(json.dumps(missing.value.as_json()).replace(wanted, "…"))
    assert said[0] == said[1]
    assert everything() == before


@pytest.mark.parametrize("name", EVERY_CALL)
def test_a_token_for_another_record_reaches_nothing_here(name: str, whole: Whole) -> None:
    other = held_cyclotron("other", training=0, audit=2)
    scoped = Workspace(replace(caller(Role.OWNER), only=other.cyclotron_id))
    before = everything()
    with pytest.raises(NotAllowedError if name in WHOLE_ACCOUNT else RecordNotFound):
        EVERY_CALL[name].make(scoped, whole.store.cyclotron_id, whole)
    assert everything() == before
    assert [holding.record_id for holding in scoped.cyclotrons()] == [other.cyclotron_id]


# the audit log --------------------


@pytest.mark.parametrize("name", [name for name in AUDITED if not EVERY_CALL[name].model_inside])
def test_what_cannot_be_written_down_is_not_done(name: str, whole: Whole, monkeypatch: pytest.MonkeyPatch) -> None:
    class LogIsFullError(Exception):
        pass

    def full(*_: Any, **given: Any) -> None:
        raise LogIsFullError

    owner = caller(Role.OWNER)
    before = everything()
    monkeypatch.setattr(access, "record_audit", full)
    with pytest.raises(LogIsFullError), transaction.atomic():  # and what the trial itself did before goes with it
        EVERY_CALL[name].make(Workspace(owner), whole.store.cyclotron_id, whole)
    assert everything() == before


def test_the_audit_log_names_ids_labels_and_counts_and_no_text(whole: Whole) -> None:
    owner = caller(Role.OWNER)
    for call in CALLS.values():
        with transaction.atomic():
            call.make(Workspace(owner), whole.store.cyclotron_id, whole)
            details = json.dumps(list(AuditEntry.objects.values_list("detail", flat=True)))
            assert "attention" not in details
            assert "asphalt" not in details
            transaction.set_rollback(True)


def test_what_changes_nothing_is_not_written_down(whole: Whole) -> None:
    operator, here = Workspace(caller(Role.OPERATOR)), whole.store.cyclotron_id
    operator.set_learning_interval(here, 7)
    operator.review(here, identity="said", decision_id=waiting_decision(), label="include")
    operator.undo(here, identity="said")
    operator.import_decisions(here, [FOREIGN])
    started = operator.upload(here, filename="more.csv", data=CSV)
    operator.start_import(here, started.id, columns=COLUMNS)
    operator.discard_import(here, whole.ids["importId"])
    before = audited()
    operator.set_learning_interval(here, 7)
    operator.review(here, identity="said", decision_id=waiting_decision(), label="include")
    operator.undo(here, identity="said")
    operator.import_decisions(here, [FOREIGN])
    operator.freeze(here)
    operator.cancel_evaluation(here, whole.ids["evaluationId"])
    operator.start_import(here, started.id, columns=COLUMNS)
    operator.discard_import(here, whole.ids["importId"])
    assert audited() == before


# reviews --------------------


def test_a_review_is_in_the_callers_name(whole: Whole) -> None:
    ada, here = Workspace(caller(Role.REVIEWER, name="ada")), whole.store.cyclotron_id
    ada.review(here, identity="said", decision_id=waiting_decision(), label="include")
    assert Review.objects.get(identity="said").reviewer == "ada"


def test_a_reviewer_undoes_their_own_reviews_and_an_operator_anybodys(whole: Whole) -> None:
    here = whole.store.cyclotron_id
    ada, bob = (Workspace(caller(Role.REVIEWER, name=name)) for name in ("ada", "bob"))
    operator = Workspace(caller(Role.OPERATOR))
    ada.review(here, identity="hers", decision_id=waiting_decision(), label="include")
    before = everything()
    for identity in ("hers", first_review()):
        with pytest.raises(NotAllowedError):
            bob.undo(here, identity=identity)
    with pytest.raises(NoSuchReviewError):
        bob.undo(here, identity="no such review")
    assert everything() == before
    assert ada.undo(here, identity="hers") is True
    assert ada.undo(here, identity="hers") is False
    assert operator.undo(here, identity=first_review()) is True
    assert [entry[:2] for entry in audited()[-2:]] == [
        ("review.undone", "ada"),
        ("review.undone", operator.caller.actor),
    ]


# live calls --------------------


@pytest.mark.parametrize("name", LIVE)
def test_with_calls_off_nothing_begins_that_could_make_one(name: str, whole: Whole, settings: Settings) -> None:
    here = whole.store.cyclotron_id
    everybody = callers()
    before = everything()
    settings.KAPSOWEB_ALLOW_LIVE = False
    with pytest.raises(LiveCallsOffError):
        CALLS[name].make(Workspace(everybody[Role.OPERATOR]), here, whole)
    settings.KAPSOWEB_DECISION_MODEL = "openai"  # which is not configured, and not looked for
    with pytest.raises(LiveCallsOffError):
        CALLS[name].make(Workspace(everybody[Role.OPERATOR]), here, whole)
    with pytest.raises(NotAllowedError):
        CALLS[name].make(Workspace(everybody[Role.REVIEWER]), here, whole)
    with pytest.raises(RecordNotFound):
        CALLS[name].make(Workspace(everybody[Role.OPERATOR]), "cy_missing", whole)
    assert everything() == before


@pytest.mark.parametrize("name", [name for name in CALLS if name not in LIVE])
def test_with_calls_off_everything_else_goes_on(name: str, whole: Whole, settings: Settings) -> None:
    settings.KAPSOWEB_ALLOW_LIVE = False
    CALLS[name].make(Workspace(caller(Role.OWNER)), whole.store.cyclotron_id, whole)


def test_an_evaluation_with_everything_cached_is_done_at_once_and_one_without_is_a_job() -> None:
    store: Store = held_cyclotron()
    operator = Workspace(caller(Role.OPERATOR))
    overview = operator.held_out.overview(store.cyclotron_id)
    started = operator.evaluate(store.cyclotron_id, confirmed_bound=overview["requestBound"])
    assert (started.state, bool(started.job_id)) == ("running", overview["requestBound"] > 0)
    assert (Evaluation.objects.count(), Permit.objects.count()) == (1, 0)
    assert operator.held_out.account_id == local_account().id
