"""Another account's records are missing ones, to the byte, at every address of the REST door."""

import pytest

from kapsoweb.accounts.roles import Role
from tests.support.api import Program, refusal, seen
from tests.support.operations import OPERATIONS, everything
from tests.support.people import other_account
from tests.support.whole_cyclotrons import Whole, whole_cyclotron

pytestmark = [pytest.mark.services, pytest.mark.django_db]

OF_A_RECORD = [name for name, operation in OPERATIONS.items() if operation.parameters]
OF_A_PART = [name for name in OF_A_RECORD if len(OPERATIONS[name].parameters) > 1]


@pytest.fixture
def theirs() -> Whole:
    """A cyclotron of another account, with one of everything that an address can name."""
    return whole_cyclotron("theirs", account=other_account())


def test_another_accounts_records_answer_as_missing_ones(theirs: Whole) -> None:
    program = Program(role=Role.OWNER)
    before = everything()
    there = {name: OPERATIONS[name].send(program, theirs.ids) for name in OF_A_RECORD}
    assert everything() == before
    theirs.forget()
    missing = {name: OPERATIONS[name].send(program, theirs.ids) for name in OF_A_RECORD}
    assert {name: answer.status_code for name, answer in there.items()} == dict.fromkeys(OF_A_RECORD, 404)
    assert {name: seen(there[name]) for name in OF_A_RECORD} == {name: seen(missing[name]) for name in OF_A_RECORD}


def test_a_role_tells_nothing_about_what_others_hold(theirs: Whole) -> None:
    for role in (Role.VIEWER, Role.REVIEWER, Role.OPERATOR):
        program = Program(role=role)
        found = {name: OPERATIONS[name].send(program, theirs.ids).status_code for name in OF_A_RECORD}
        assert found == dict.fromkeys(OF_A_RECORD, 404)


def test_a_token_for_one_record_finds_no_other_of_its_account(theirs: Whole) -> None:
    other = whole_cyclotron("other", account=theirs.account)
    program = Program(account=theirs.account, only=other.ids["cyclotronId"])
    before = everything()
    for name in OF_A_RECORD:
        if "tokenId" not in OPERATIONS[name].parameters:
            assert OPERATIONS[name].send(program, theirs.ids).status_code == 404, name
    assert everything() == before


def test_a_part_of_another_cyclotron_answers_as_a_missing_part(theirs: Whole) -> None:
    """A report, import or the like of another account, asked for under a cyclotron of one's own."""
    mine = whole_cyclotron("mine")
    program = Program(role=Role.OWNER)
    before = everything()
    for name in OF_A_PART:
        part = OPERATIONS[name].parameters[-1]
        absent = "9" * 12 if part == "itemKey" else "x" * len(theirs.ids[part])
        there = OPERATIONS[name].send(program, {**mine.ids, part: theirs.ids[part]})
        missing = OPERATIONS[name].send(program, {**mine.ids, part: absent})
        assert there.status_code == missing.status_code >= 400, name
        assert refusal(there) == refusal(missing)
        assert there.content.replace(theirs.ids[part].encode(), b"") == missing.content.replace(absent.encode(), b"")
    assert everything() == before
