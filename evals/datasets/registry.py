"""Every dataset by name. A new dataset is one class and one line in `LOADERS`.

Other packages add theirs with `register`, or with an entry point of the group `evals.datasets` that names a loader.
"""

from importlib.metadata import entry_points

from evals.datasets.base import BaseDatasetLoader
from evals.datasets.golden import GoldenLoader
from evals.datasets.hotpotqa import HotpotQALoader
from evals.datasets.msmarco import MSMarcoLoader
from evals.datasets.qasper import QasperLoader
from evals.datasets.ragbench import RAGBenchLoader
from evals.datasets.squad_v2 import SquadV2Loader
from evals.errors import ConfigError, UnknownNameError

LOADERS: tuple[type[BaseDatasetLoader], ...] = (
    RAGBenchLoader,
    QasperLoader,
    SquadV2Loader,
    HotpotQALoader,
    MSMarcoLoader,
    GoldenLoader,
)

_registered: dict[str, type[BaseDatasetLoader]] = {}


def register(loader: type[BaseDatasetLoader]) -> type[BaseDatasetLoader]:
    """Make a loader available by its name; usable as a class decorator.

    Raises:
        ConfigError: It is no loader, or another one has the name.
    """
    if not (isinstance(loader, type) and issubclass(loader, BaseDatasetLoader)):
        raise ConfigError(f"{loader!r} is not a subclass of BaseDatasetLoader")
    taken = _all().get(loader.name)
    if taken is not None and taken is not loader:
        raise ConfigError(f"a dataset {loader.name!r} exists already: {taken.__module__}.{taken.__qualname__}")
    _registered[loader.name] = loader
    return loader


def get_loader(name: str) -> BaseDatasetLoader:
    """The loader of this name.

    Raises:
        UnknownNameError: There is none.
    """
    loaders = _all()
    if name not in loaders:
        raise UnknownNameError("dataset", name, loaders)
    return loaders[name]()


def list_available() -> list[str]:
    """The names of all datasets."""
    return list(_all())


def parse_name(name: str) -> tuple[str, str | None]:
    """Split `name:config` into name and config."""
    base, _, config = name.partition(":")
    return base, config or None


def _all() -> dict[str, type[BaseDatasetLoader]]:
    found = {loader.name: loader for loader in LOADERS}
    for point in entry_points(group="evals.datasets"):
        found.setdefault(point.name, point.load())
    return {**found, **_registered}
