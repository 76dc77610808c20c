"""The page about GraphQL: its queries are of the schema and within the limits, and it names the ids that there are."""

import json
import re
from pathlib import Path

import pytest

from kapsoweb.doors.errors import RequestRefusedError
from kapsoweb.doors.graphql import errors
from kapsoweb.doors.graphql.documents import read_document
from kapsoweb.doors.graphql.rules import check_rules
from kapsoweb.doors.graphql.sizes import check_sizes
from kapsoweb.schema import schema

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "graphql.md").read_text(encoding="utf-8")
SENT = [json.loads(text) for text in re.findall(r'"?query"?: ("(?:[^"\\]|\\.)*")', PAGE)]
SHOWN = [part for block in re.findall(r"```graphql\n(.*?)```", PAGE, re.DOTALL) for part in block.split("\n\n")]
OWN = {
    refusal.id
    for refusal in vars(errors).values()
    if isinstance(refusal, type) and issubclass(refusal, RequestRefusedError)
}


def test_the_page_walks_from_a_token_to_a_report() -> None:
    assert len(SENT) == 13
    assert "me" in SENT[0]
    assert "report(id: $report)" in SENT[-1]


@pytest.mark.parametrize("query", [*SENT, *SHOWN])
def test_a_query_on_the_page_is_of_the_schema(query: str) -> None:
    document = read_document(query)
    check_sizes(schema.graphql_schema, document, {})
    check_rules(schema.graphql_schema, document)


def test_the_page_names_every_refusal_of_the_door() -> None:
    while_it_runs = {"bad-request", "invalid-argument"}
    assert {name for name in OWN - while_it_runs if f"`{name}`" not in PAGE} == set()
