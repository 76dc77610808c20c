"""Requests that nobody wrote by hand: whatever is sent, no fault comes back, and every answer is as the schema says.

A few cases by default; `KAPSOWEB_FUZZ_CASES=5000` for a long run, and `KAPSOWEB_FUZZ_SEED` for another one.
"""

import math
import os
from typing import Any

import pytest
import schemathesis
from django.core.handlers.wsgi import WSGIHandler
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi import checks as openapi_checks

from cyclotron.models import Decision, Review
from tests.support.api import token
from tests.support.whole_cyclotrons import Whole, whole_cyclotron

pytestmark = [pytest.mark.services, pytest.mark.django_db(transaction=True)]

CASES = int(os.environ.get("KAPSOWEB_FUZZ_CASES", "150"))
SEED = int(os.environ.get("KAPSOWEB_FUZZ_SEED", "1"))
CHECKS = [
    not_a_server_error,
    openapi_checks.status_code_conformance,
    openapi_checks.content_type_conformance,
    openapi_checks.response_headers_conformance,
    openapi_checks.response_schema_conformance,
    openapi_checks.unsupported_method,
]


@pytest.fixture
def whole() -> Whole:
    return whole_cyclotron()


def test_no_request_brings_a_fault_or_an_answer_beside_the_schema(whole: Whole) -> None:
    secret = token()
    known = {
        "classifier": "screening",
        "label": "include",
        "itemId": "waits",
        "decisionId": whole.store.all(Decision).values_list("id", flat=True)[0],
        "reviewId": whole.store.all(Review).values_list("identity", flat=True)[0],
        "values": {"text": "attention and placebo"},
        "confirmedRequestBound": 0,
        "recordId": whole.ids["cyclotronId"],
        "idColumn": "record",
        "textColumns": ["text"],
        "labelColumn": "decision",
    }
    schema = schemathesis.openapi.from_wsgi("/api/v1/schema", WSGIHandler())
    operations = [result.ok() for result in schema.get_all_operations()]
    share = math.ceil(CASES / len(operations))
    for operation in operations:

        @seed(SEED)
        @settings(
            max_examples=share,
            deadline=None,
            database=None,
            suppress_health_check=list(HealthCheck),
            phases=[Phase.generate],
        )
        @given(
            case=st.one_of(
                operation.as_strategy(GenerationMode.POSITIVE), operation.as_strategy(GenerationMode.NEGATIVE)
            ),
            plausible=st.integers(0, 3),
        )
        def holds(case: Any, plausible: int) -> None:
            """Three in four name records that are there, for what is refused at the first look tries little."""
            if plausible and case.path_parameters:
                case.path_parameters = {
                    name: whole.ids.get(name, value) for name, value in case.path_parameters.items()
                }
            if plausible > 1 and isinstance(case.body, dict):
                case.body = {name: known.get(name, value) for name, value in case.body.items()}
            case.headers = {**(case.headers or {}), "Authorization": f"Bearer {secret}"}
            case.validate_response(case.call(), checks=CHECKS)

        holds()
