"""The decision model that the settings ask for."""

import pytest
from pytest_django.fixtures import Settings

from cyclotron.adapters.configured import ModelNotConfiguredError, decision_model
from cyclotron.adapters.local import LocalModel
from cyclotron.adapters.openai import OpenAIModel


@pytest.fixture(autouse=True)
def _endpoint(settings: Settings) -> None:
    settings.KAPSOWEB_DECISION_MODEL = "openai"
    settings.KAPSOWEB_MODEL_URL = "https://example.org/v1"
    settings.KAPSOWEB_MODEL_NAME = "some-model"
    settings.KAPSOWEB_MODEL_KEY = "marker-of-the-key"


def test_the_local_model_needs_no_other_setting(settings: Settings) -> None:
    settings.KAPSOWEB_DECISION_MODEL = "local"
    settings.KAPSOWEB_MODEL_URL = settings.KAPSOWEB_MODEL_NAME = settings.KAPSOWEB_MODEL_KEY = ""
    assert isinstance(decision_model(), LocalModel)
    assert decision_model() is decision_model()


def test_an_endpoint_is_named_by_its_settings_and_holds_no_key_in_its_identity() -> None:
    model = decision_model()
    assert isinstance(model, OpenAIModel)
    assert model.identity == "openai:https://example.org/v1:some-model"


def test_the_same_settings_give_the_same_model_and_others_another(settings: Settings) -> None:
    first = decision_model()
    assert decision_model() is first
    settings.KAPSOWEB_MODEL_NAME = "another-model"
    assert decision_model() is not first


@pytest.mark.parametrize("missing", ["KAPSOWEB_MODEL_URL", "KAPSOWEB_MODEL_NAME", "KAPSOWEB_MODEL_KEY"])
def test_a_missing_setting_is_named(settings: Settings, missing: str) -> None:
    setattr(settings, missing, "")
    with pytest.raises(ModelNotConfiguredError) as caught:
        decision_model()
    assert caught.value.id == "model-not-configured"
    assert caught.value.detail == {"setting": missing}
    assert missing in caught.value.message
    assert "marker" not in caught.value.message


def test_an_endpoint_on_this_machine_needs_no_key(settings: Settings) -> None:
    settings.KAPSOWEB_MODEL_KEY = ""
    for host in ("127.0.0.1:8080", "localhost:8080", "[::1]:8080"):
        settings.KAPSOWEB_MODEL_URL = f"http://{host}/v1"
        assert isinstance(decision_model(), OpenAIModel)


def test_a_model_of_another_kind_is_refused(settings: Settings) -> None:
    settings.KAPSOWEB_DECISION_MODEL = "oracle"
    with pytest.raises(ModelNotConfiguredError) as caught:
        decision_model()
    assert caught.value.detail == {"setting": "KAPSOWEB_DECISION_MODEL"}
