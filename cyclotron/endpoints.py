"""Reading a stored version back as what decides: its endpoint and its ML model."""

from dataclasses import dataclass, field
from functools import lru_cache

from cyclotron.core.configuration import Answer, Configuration, Decided, DecisionRequest, Endpoint
from cyclotron.core.definition import ClassifierDefinition
from cyclotron.core.learning.ml_model import MlModel, decide_without_ml
from cyclotron.models import Classifier, MlModelRecord, Version
from cyclotron.store import Store
from kapsoweb.foundation.canonical import digest_of_parts


@dataclass(frozen=True)
class Column:
    """One column of a comparison, or the active classifier: an endpoint with its ML model (None without one)."""

    version: int
    refit: int
    endpoint: Endpoint
    ml_model: MlModel | None

    @property
    def fingerprint(self) -> str:
        """Digest of the endpoint and the ML model: what fixes every decision that this column makes."""
        return digest_of_parts(self.endpoint.digest, self.ml_model.digest if self.ml_model else "")

    def decide(self, answer: Answer) -> Decided:
        """Turn a model's answer into a decision."""
        if self.ml_model is None:
            return decide_without_ml(self.endpoint.definition, answer)
        return self.ml_model.decide(self.endpoint.definition, answer)

    def request(self, model: str, text: str, clock: str | None = None) -> DecisionRequest:
        """The request that asks this column's endpoint about one text."""
        return DecisionRequest(
            model=model,
            endpoint=self.endpoint,
            text=text,
            clock=clock if self.endpoint.definition.uses_clock else None,
        )


def definition_of(classifier: Classifier) -> ClassifierDefinition:
    """The classifier's definition as it was stored."""
    return ClassifierDefinition.from_json(classifier.definition)


@dataclass(frozen=True)
class _EndpointKey:
    """Identifies an endpoint by content; carries the row from which a miss reads the (deferred) configuration."""

    definition: ClassifierDefinition
    digest: str
    version: Version = field(compare=False)


@lru_cache(maxsize=32)
def _endpoint(key: _EndpointKey) -> Endpoint:
    # A learned configuration has thousands of term weights; reading and digesting it once a decision would be the
    # larger part of deciding. A version's digest covers its configuration, so an entry can never be stale.
    return Endpoint(key.definition, Configuration.from_json(key.version.configuration))


def column_of(definition: ClassifierDefinition, version: Version, record: MlModelRecord | None) -> Column:
    """A stored version with one of its ML models (or none) as a column."""
    return Column(
        version=version.number,
        refit=record.refit if record else 0,
        endpoint=_endpoint(_EndpointKey(definition, version.digest, version)),
        ml_model=MlModel.from_json(record.numbers) if record else None,
    )


def active_column(classifier: Classifier) -> Column:
    """The active version with its active ML model; the classifier must have been loaded through its store."""
    version = classifier.active_version
    if version is None:
        raise AssertionError("a stored classifier always has an active version")
    return column_of(definition_of(classifier), version, classifier.active_ml_model)


def first_version(store: Store, classifier: Classifier) -> Version:
    """Version 1, as the store was created."""
    return store.rows(Version).defer("configuration").get(classifier=classifier, number=1)
