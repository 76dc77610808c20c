"""The decision model that the settings ask for."""

from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import urlsplit

from django.conf import settings

from cyclotron.adapters.decision_model import DecisionModel
from cyclotron.adapters.local import LocalModel
from cyclotron.adapters.openai import OpenAIModel
from cyclotron.core.configuration import Answer, DecisionRequest
from cyclotron.core.errors import CyclotronError

_LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})


class ModelNotConfiguredError(CyclotronError):
    """A setting of the decision model is missing or has no known value; `detail` has `setting`."""

    id = "model-not-configured"


def decision_model() -> DecisionModel:
    """The model by `KAPSOWEB_DECISION_MODEL`: `local`, or `openai` with `KAPSOWEB_MODEL_URL`, `_NAME` and `_KEY`.

    The same settings give the same object, so that its connections are shared. An endpoint on this machine needs no
    key. Raises `ModelNotConfiguredError`.
    """
    kind = settings.KAPSOWEB_DECISION_MODEL
    if kind == "local":
        return _local()
    if kind == "openai":
        url, name = _needed("KAPSOWEB_MODEL_URL"), _needed("KAPSOWEB_MODEL_NAME")
        key = settings.KAPSOWEB_MODEL_KEY if _is_loopback(url) else _needed("KAPSOWEB_MODEL_KEY")
        return _openai(url, name, key)
    raise ModelNotConfiguredError("KAPSOWEB_DECISION_MODEL must be local or openai.", setting="KAPSOWEB_DECISION_MODEL")


@dataclass
class UnconfiguredModel:
    """Stands where no model is configured, so that what needs none can go on; whoever asks it learns why."""

    error: ModelNotConfiguredError
    identity: str = ""
    concurrency: int = 1

    def answer(self, request: DecisionRequest) -> Answer:  # noqa: ARG002 - the port passes it
        """Raise the error."""
        raise self.error


def decision_model_or_none() -> DecisionModel:
    """The model that the settings ask for, or what says why there is none."""
    try:
        return decision_model()
    except ModelNotConfiguredError as error:
        return UnconfiguredModel(error)


def _needed(setting: str) -> str:
    value: str = getattr(settings, setting)
    if not value.strip():
        raise ModelNotConfiguredError(
            f"{setting} is not set; KAPSOWEB_DECISION_MODEL=openai needs it (or choose local).", setting=setting
        )
    return value


def _is_loopback(url: str) -> bool:
    try:
        return urlsplit(url).hostname in _LOOPBACK
    except ValueError:
        return False


@lru_cache(maxsize=1)
def _local() -> LocalModel:
    return LocalModel()


@lru_cache(maxsize=8)
def _openai(url: str, name: str, key: str) -> OpenAIModel:
    return OpenAIModel(url, name, key)
