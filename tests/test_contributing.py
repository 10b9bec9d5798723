"""What CONTRIBUTING.md asks of whoever adds something."""

import pytest

from evals.config import EvalConfig
from evals.judges.models import PROVIDERS
from evals.secrets import secrets_in_environment
from evals.text.matching import MatchSettings


@pytest.mark.parametrize("name", PROVIDERS)
def test_every_key_of_a_provider_is_masked(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A provider names the variables of its keys, and what they hold counts as a secret."""
    variables = PROVIDERS[name].key_variables
    assert variables
    for variable in variables:
        monkeypatch.setenv(variable, f"secret of {variable}")
    assert {f"secret of {variable}" for variable in variables} <= set(secrets_in_environment())


def test_the_defaults_of_matching_are_the_same_in_a_configuration_and_without_one() -> None:
    """A metric called from Python recognises the golds that it does in a run."""
    assert EvalConfig().match == MatchSettings()
