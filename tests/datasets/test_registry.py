"""Datasets by name."""

import pytest

from evals.datasets import registry
from evals.datasets.base import BaseDatasetLoader, LoadOptions
from evals.errors import ConfigError
from evals.schemas import EvalDataset


class Mine(BaseDatasetLoader):
    """A loader of a user."""

    name = "mine"

    def load(self, options: LoadOptions) -> EvalDataset:
        raise NotImplementedError


@pytest.fixture(autouse=True)
def _clean_registry(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forget what a test registers."""
    monkeypatch.setattr(registry, "_registered", {})


def test_the_built_in_datasets_are_listed() -> None:
    """What can be asked for is known without loading anything, each name once."""
    names = registry.list_available()
    assert {"squad_v2", "hotpotqa", "golden"} <= set(names)
    assert len(names) == len(set(names))


@pytest.mark.parametrize("name", registry.list_available())
def test_every_loader_tells_what_the_catalogue_shows(name: str) -> None:
    """Name, aspects, description, licence and origin are all said."""
    loader = registry.get_loader(name)
    assert loader.name == name
    assert set(loader.aspects) <= {"retrieval", "generation", "citation", "abstention"}
    assert all([loader.aspects, loader.description, loader.licence, loader.origin])


def test_a_registered_loader_is_available_by_its_name() -> None:
    """Register works as a decorator, twice over the same class too."""
    assert registry.register(Mine) is Mine
    assert registry.register(Mine) is Mine
    assert isinstance(registry.get_loader("mine"), Mine)
    assert registry.list_available().count("mine") == 1


@pytest.mark.parametrize("taken", ["golden", "mine"])
def test_a_name_that_is_taken_is_refused(taken: str) -> None:
    """A second loader cannot hide the first, and the message says which that is."""
    registry.register(Mine)
    other = type("Other", (Mine,), {"name": taken})
    with pytest.raises(ConfigError, match=f"dataset '{taken}' exists already: .*(Loader|Mine)"):
        registry.register(other)
    assert type(registry.get_loader(taken)) is not other
