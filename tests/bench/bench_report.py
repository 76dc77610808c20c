"""Metrics, sign test, and a report's way out and in again."""

import json
from collections.abc import Callable

from jsonschema import Draft202012Validator
from scipy.stats import binomtest
from sklearn.metrics import balanced_accuracy_score

from cyclotron.core.metrics import endpoint_metrics
from cyclotron.core.report import build_report
from cyclotron.core.report_format import read_report, report_schema
from cyclotron.core.significance import sign_test
from cyclotron.core.verification import verify_report
from kapsoweb.foundation.strict_json import read_json
from tests.bench.bench_intervals import columns
from tests.bench.measuring import Bench
from tests.support.held_out_reports import random_items, report_inputs

ITEMS = 2_000
MILLION = 1_000_000


def metrics() -> Callable[[], object]:
    found = columns(MILLION)
    return lambda: endpoint_metrics(found, found.after)


def scikit_learn() -> Callable[[], object]:
    found = columns(MILLION)
    return lambda: balanced_accuracy_score(found.label, found.after, sample_weight=found.weight)


def building() -> Callable[[], object]:
    inputs = report_inputs(random_items(ITEMS))
    return lambda: build_report(inputs)


def reading(work: Callable[[bytes], object]) -> Callable[[], Callable[[], object]]:
    def prepare() -> Callable[[], object]:
        document = json.dumps(build_report(report_inputs(random_items(ITEMS)))).encode()
        return lambda: work(document)

    return prepare


def validated(document: bytes) -> object:
    return Draft202012Validator(report_schema()).validate(json.loads(document))


PLAIN = f"json.loads of a report, {ITEMS:,} items"
BENCHES = [
    Bench("all metrics of one endpoint, n = 1,000,000", metrics, against="scikit-learn's metric, n = 1,000,000"),
    Bench(
        "scikit-learn's metric, n = 1,000,000",
        scikit_learn,
        against="all metrics of one endpoint, n = 1,000,000",
        repeats=3,
    ),
    Bench("sign test, 5,000 pairs", lambda: lambda: sign_test(2450, 2550), against="SciPy's binomtest, 5,000 pairs"),
    Bench(
        "SciPy's binomtest, 5,000 pairs",
        lambda: lambda: binomtest(2450, 5000).pvalue,
        against="sign test, 5,000 pairs",
    ),
    Bench(PLAIN, reading(json.loads), against=f"read_json of a report, {ITEMS:,} items"),
    Bench(
        f"read_json of a report, {ITEMS:,} items", reading(lambda data: read_json(data, where="bench")), against=PLAIN
    ),
    Bench(f"read_report, {ITEMS:,} items", reading(read_report), against=PLAIN),
    Bench(f"jsonschema on the whole report, {ITEMS:,} items", reading(validated), against=PLAIN, repeats=3),
    Bench(f"verify_report, {ITEMS:,} items", reading(verify_report), against=PLAIN),
    Bench(f"build_report, {ITEMS:,} items", building, against=PLAIN),
]
