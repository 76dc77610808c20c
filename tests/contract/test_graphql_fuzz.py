"""Queries that nobody wrote by hand: whatever is asked, no fault comes back, and every answer is of the two shapes.

A few cases by default; `KAPSOWEB_FUZZ_CASES=5000` for a long run, and `KAPSOWEB_FUZZ_SEED` for another one.
"""

import json
import os
from typing import Any

import pytest
from graphql import (
    ArgumentNode,
    ListValueNode,
    NameNode,
    ObjectFieldNode,
    ObjectValueNode,
    ValueNode,
    Visitor,
    parse_const_value,
    print_ast,
    visit,
)
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from hypothesis_graphql import from_schema

from cyclotron.models import Decision, Review
from kapsoweb.schema import schema
from tests.support.graphql import GraphQL
from tests.support.whole_cyclotrons import Whole, whole_cyclotron

pytestmark = [pytest.mark.services, pytest.mark.django_db]

CASES = int(os.environ.get("KAPSOWEB_FUZZ_CASES", "150"))
SEED = int(os.environ.get("KAPSOWEB_FUZZ_SEED", "1"))
VALUES = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-(10**40), 10**40),
        st.floats(allow_nan=False, allow_infinity=False),
        st.text(max_size=20),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.sampled_from(["text", "cyclotronId", "a"]), inner, max_size=3)
    ),
    max_leaves=6,
)


def literal(value: Any) -> ValueNode:
    """A JSON value as a literal of the language."""
    if isinstance(value, list):
        return ListValueNode(values=tuple(map(literal, value)))
    if isinstance(value, dict):
        fields = (ObjectFieldNode(name=NameNode(value=name), value=literal(inner)) for name, inner in value.items())
        return ObjectValueNode(fields=tuple(fields))
    return parse_const_value(json.dumps(value))


class Plausible(Visitor):
    """Names records that are there, for what is refused at the first look tries little."""

    def __init__(self, known: dict[str, Any]) -> None:
        super().__init__()
        self.known = known

    def enter(self, node: Any, *_: Any) -> Any:
        """Replace what an argument or an input field of a known name holds."""
        if isinstance(node, ArgumentNode | ObjectFieldNode) and node.name.value in self.known:
            kind = ArgumentNode if isinstance(node, ArgumentNode) else ObjectFieldNode
            return kind(name=node.name, value=literal(self.known[node.name.value]))
        return None


@pytest.fixture
def whole() -> Whole:
    return whole_cyclotron()


def test_no_query_brings_a_fault(whole: Whole) -> None:
    program = GraphQL()
    known = {
        **whole.ids,
        "id": whole.ids["cyclotronId"],
        "reviewId": whole.store.all(Review).values_list("identity", flat=True)[0],
        "decisionId": whole.store.all(Decision).values_list("id", flat=True)[0],
        "key": whole.ids["itemKey"],
        "classifier": "screening",
        "label": "include",
        "values": {"text": "attention and placebo", "n": 2**53 + 1},
        "payload": {"cyclotronId": whole.ids["cyclotronId"], "confirmedRequestBound": 0},
        "action": "evaluate",
        "first": 5,
        "after": None,
        "itemId": "waits",
        "idColumn": "record",
        "textColumns": ["text"],
        "labelColumn": "decision",
    }
    seen: list[str] = []

    @seed(SEED)
    @settings(
        max_examples=CASES,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.generate],
    )
    @given(
        document=from_schema(
            schema.graphql_schema,
            custom_scalars={
                "JSON": VALUES.map(literal),
                "BigInt": st.integers().map(literal),
                "Time": st.just(literal("2026-03-01T12:00:00Z")),
            },
            print_ast=lambda document: document,
        ),
        names=st.sets(st.sampled_from(sorted(known))),
    )
    def holds(document: Any, names: set[str]) -> None:
        given_names = {name: known[name] for name in names} if names else known
        answer = program.ask(print_ast(visit(document, Plausible(given_names))))
        body = json.loads(answer.content)
        assert answer.status_code in (200, 400), body
        assert set(body) <= ({"data", "errors"} if answer.status_code == 200 else {"errors"})
        found = [error["extensions"]["id"] for error in body.get("errors", [])]
        assert "internal-error" not in found, (print_ast(document), body)
        seen.extend(found or ["answered"])

    holds()
    assert "answered" in seen
