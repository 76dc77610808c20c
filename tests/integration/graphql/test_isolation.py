"""Another account's records are missing ones, to the byte, at every field of the GraphQL door."""

from itertools import product
from typing import Any

import pytest

from cyclotron.models import Review
from kapsoweb.accounts.roles import Role
from kapsoweb.doors.graphql.fields import root_fields
from kapsoweb.schema import schema
from tests.support.api import seen
from tests.support.graphql import GraphQL
from tests.support.graphql_documents import DOCUMENTS, MUTATIONS, OF_A_CYCLOTRON, QUERIES
from tests.support.operations import everything
from tests.support.people import other_account
from tests.support.whole_cyclotrons import Whole, whole_cyclotron

pytestmark = [pytest.mark.services, pytest.mark.django_db]

OF_A_RECORD = [name for name, document in DOCUMENTS.items() if document.ids]
OF_A_PART = [name for name, document in DOCUMENTS.items() if len(document.ids) > 1]


@pytest.fixture
def theirs() -> Whole:
    """A cyclotron of another account, with one of everything that a field can name."""
    return with_review(whole_cyclotron("theirs", account=other_account()))


def with_review(whole: Whole) -> Whole:
    """The same with the identity of one of its reviews."""
    whole.ids["reviewId"] = whole.store.all(Review).order_by("id").values_list("identity", flat=True)[0]
    return whole


def test_every_field_is_tried() -> None:
    assert {*QUERIES, *MUTATIONS} == {field.name for field in root_fields(schema.graphql_schema)}
    shown = schema.graphql_schema.get_type("Cyclotron").fields
    own = {"id", "name", "createdAt", "seed", "fingerprint", "learnEvery", "classifiers"}
    assert set(OF_A_CYCLOTRON) == set(shown) - own


def only_missing(answer: Any) -> bool:
    body = answer.json()
    found = [error["extensions"]["id"] for error in body["errors"]]
    return answer.status_code == 200 and found == ["record-not-found"] and set(body["data"].values()) == {None}


def test_another_accounts_records_answer_as_missing_ones(theirs: Whole) -> None:
    program = GraphQL(role=Role.OWNER)
    before = everything()
    there = {name: DOCUMENTS[name].send(program, theirs.ids) for name in OF_A_RECORD}
    assert everything() == before
    theirs.forget()
    missing = {name: DOCUMENTS[name].send(program, theirs.ids) for name in OF_A_RECORD}
    assert [name for name in OF_A_RECORD if not only_missing(there[name])] == []
    assert {name: seen(there[name]) for name in OF_A_RECORD} == {name: seen(missing[name]) for name in OF_A_RECORD}


def test_a_role_tells_nothing_about_what_others_hold(theirs: Whole) -> None:
    for role in (Role.VIEWER, Role.REVIEWER, Role.OPERATOR):
        program = GraphQL(role=role)
        asked = {name: DOCUMENTS[name].send(program, theirs.ids) for name in OF_A_RECORD}
        assert [name for name in OF_A_RECORD if not only_missing(asked[name])] == []


def test_a_token_for_one_record_finds_no_other_of_its_account(theirs: Whole) -> None:
    other = whole_cyclotron("other", account=theirs.account)
    program = GraphQL(account=theirs.account, only=other.ids["cyclotronId"])
    before = everything()
    for name in OF_A_RECORD:
        if "tokenId" not in DOCUMENTS[name].ids:
            assert only_missing(DOCUMENTS[name].send(program, theirs.ids)), name
    assert everything() == before


def test_a_part_of_another_cyclotron_answers_as_a_missing_part(theirs: Whole) -> None:
    """A report, import or the like of another account, asked for under a cyclotron of one's own."""
    mine = with_review(whole_cyclotron("mine"))
    program = GraphQL(role=Role.OWNER)
    before = everything()
    for name in OF_A_PART:
        part = DOCUMENTS[name].ids[-1]
        absent = "9" * 12 if part == "itemKey" else "x" * len(theirs.ids[part])
        if part == "reviewId":
            continue  # identities of reviews are the callers' own, and these two cyclotrons have the same ones
        there = DOCUMENTS[name].send(program, {**mine.ids, part: theirs.ids[part]})
        missing = DOCUMENTS[name].send(program, {**mine.ids, part: absent})
        assert there.status_code == missing.status_code == 200, name
        assert len(there.json()["errors"]) == 1, name
        assert there.content.replace(theirs.ids[part].encode(), b"") == missing.content.replace(absent.encode(), b"")
    assert everything() == before


STRANGE = ["", " ", "é" * 600, "%00", "../x", "0", "-1", "9" * 30, "x"]


@pytest.mark.parametrize("strange", STRANGE)
def test_a_strange_id_is_a_missing_one(strange: str) -> None:
    program = GraphQL(role=Role.OWNER)
    ids = {part: strange for document in DOCUMENTS.values() for part in document.ids}
    for name in OF_A_RECORD:
        answer = DOCUMENTS[name].send(program, ids)
        found = answer.json()["errors"][0]["extensions"]["id"]
        assert answer.status_code == 200, name
        assert found in ("record-not-found", "invalid-payload", "invalid-token-request"), (name, found)


def test_a_strange_id_of_a_part_is_a_missing_one() -> None:
    mine = with_review(whole_cyclotron("mine"))
    program = GraphQL(role=Role.OWNER)
    before = everything()
    for name, strange in product(OF_A_PART, STRANGE):
        answer = DOCUMENTS[name].send(program, {**mine.ids, DOCUMENTS[name].ids[-1]: strange})
        found = answer.json()["errors"][0]["extensions"]["id"]
        assert found.startswith("no-such-") or found == "assignment-lost", (name, found)
    assert everything() == before
