"""Every dataset by name. A new dataset is one class and one line in `LOADERS`.

Other packages add theirs with `register`, or with an entry point of the group `evals.datasets` that names a loader.
"""

from importlib.metadata import EntryPoint, entry_points

from evals.datasets.base import BaseDatasetLoader
from evals.datasets.golden import GoldenLoader
from evals.datasets.hotpotqa import HotpotQALoader
from evals.datasets.msmarco import MSMarcoLoader
from evals.datasets.qasper import QasperLoader
from evals.datasets.ragbench import RAGBenchLoader
from evals.datasets.squad_v2 import SquadV2Loader
from evals.errors import ConfigError, DatasetError, UnknownNameError, broken_plugin, load_plugin

LOADERS = RAGBenchLoader, QasperLoader, SquadV2Loader, HotpotQALoader, MSMarcoLoader, GoldenLoader

_registered: dict[str, type[BaseDatasetLoader]] = {}


def register(loader: type[BaseDatasetLoader]) -> type[BaseDatasetLoader]:
    """Register a loader by its name; usable as a class decorator.

    Raises:
        ConfigError: It is no loader, or another one has the name.
        DatasetError: A plug-in has the name, and cannot be loaded.
    """
    if not _is_loader(loader):
        raise ConfigError(f"{loader!r} is not a subclass of BaseDatasetLoader")
    taken = _find(loader.name)
    if taken not in {None, loader}:
        raise ConfigError(f"a dataset {loader.name!r} exists already: {taken.__module__}.{taken.__qualname__}")
    _registered[loader.name] = loader
    return loader


def get_loader(name: str) -> BaseDatasetLoader:
    """The loader of this name.

    Raises:
        UnknownNameError: There is none.
        DatasetError: It is that of a plug-in which cannot be loaded.
    """
    if (loader := _find(name)) is None:
        raise UnknownNameError("dataset", name, list_available())
    return loader()


def list_available() -> list[str]:
    """The names of all datasets; plug-ins are not loaded for it."""
    return list(dict.fromkeys([*(loader.name for loader in LOADERS), *_plugged(), *_registered]))


def parse_name(name: str) -> tuple[str, str | None]:
    """Split `name:config` into name and config."""
    base, _, config = name.partition(":")
    return base, config or None


def check_name(name: str) -> None:
    """Check that there is a dataset of this name, and where it is `name:config`, that it has configs at all.

    Raises:
        UnknownNameError: There is no such dataset.
        ConfigError: It has no configs.
        DatasetError: It is that of a plug-in which cannot be loaded.
    """
    base, config = parse_name(name)
    if not get_loader(base).has_configs and config is not None:
        raise ConfigError(f"the dataset {base!r} has no configs, and {name!r} names one", f"write {base!r}")


def _find(name: str) -> type[BaseDatasetLoader] | None:
    """The loader class of this name; of the plug-ins only the one that has it is loaded."""
    known = {loader.name: loader for loader in LOADERS} | _registered
    if name in known or name not in _plugged():
        return known.get(name)
    point = _plugged()[name]
    loaded = load_plugin(point, DatasetError)
    if not _is_loader(loaded):
        raise broken_plugin(point, f"is no dataset: {loaded!r} is not a subclass of BaseDatasetLoader", DatasetError)
    return loaded  # type: ignore[no-any-return]


def _plugged() -> dict[str, EntryPoint]:
    """The entry points of other packages by name; of several with one name the first counts."""
    return {point.name: point for point in reversed(list(entry_points(group="evals.datasets")))}


def _is_loader(value: object) -> bool:
    return isinstance(value, type) and issubclass(value, BaseDatasetLoader)
