"""Rows of published datasets: from the HuggingFace hub, its cache, or local files, such as a clone of a repository."""

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from evals.datasets.tables import first_line
from evals.errors import DatasetError, HubUnreachableError

_CONFIG_HINT = "check the config after the colon of --datasets; --data-dir reads local files instead"
_HUB_HINT = "use --data-dir DIR, a mirror (HF_ENDPOINT), your own questions (--dataset-file FILE) or --datasets golden"
PROBE_TIMEOUT_S = 3.0

PARQUET_BRANCH = "refs/convert/parquet"
"""The hub's own conversion of a repository. It has no card, so to the library its one config has no name."""


@dataclass(frozen=True)
class DatasetRows:
    """An Arrow table that is read by column or by place, without holding all rows as objects.

    Attributes:
        table: Of a folder of files, or of the hub's cache, where it lies on disk.
        source: Where the rows came from, as it is recorded.
        config: The config that they are of.
    """

    table: Any
    source: str
    config: str

    def column(self, name: str) -> list[Any]:
        """All values of one column.

        Raises:
            KeyError: There is no such column.
        """
        if name not in self.table.column_names:
            raise KeyError(name)
        return list(self.table[name].to_pylist())

    def take(self, places: Sequence[int]) -> list[dict[str, Any]]:
        """The rows at these places, in this order."""
        return list(self.table.take(list(places)).to_pylist())


@dataclass(frozen=True, slots=True)
class HubSource:
    """Where a dataset is on the hub.

    Attributes:
        repo: Repository, as owner/name.
        config: Its default config.
        split: The split that is used.
        revision: Branch, tag or commit; None for the newest.
    """

    repo: str
    config: str
    split: str
    revision: str | None = None


def home_of(folder: Path, name: str, source: HubSource) -> Path:
    """The folder of a dataset in a data directory: a clone of its repository, `owner__name`, else our name."""
    clone = folder / source.repo.replace("/", "__")
    return clone if clone.is_dir() else folder / name


def local_rows(home: Path, config: str | None, source: HubSource) -> DatasetRows:
    """Read rows from `home/config/split*.parquet`, or from such files in a folder `split`.

    Args:
        home: The folder of the dataset.
        config: The config asked for; None takes the default one, or the only one.
        source: Names the default config and the split.

    Raises:
        DatasetError: There are no such files, or one cannot be read.
    """
    import pyarrow as pa  # noqa: PLC0415 - 60 MB that only this needs
    import pyarrow.parquet as pq  # noqa: PLC0415

    configs = [path.name for path in home.glob("[!.]*/")]
    folder = home / (config or (configs[0] if len(configs) == 1 else source.config))
    files = sorted(path for form in ("*", "/*") for path in folder.glob(f"{source.split}{form}.parquet"))
    if not files:
        what, expected = f"no rows of {home.name} in {home.parent}", f"{folder / source.split}*.parquet"
        raise DatasetError(what, f"expected {expected} (JSON lines are not read); without --data-dir, the hub has them")
    tables, problem = [], ""
    try:
        for path in files:
            problem = f"cannot read {path}"
            tables.append(pq.read_table(path))
        problem = f"the columns of {', '.join(path.name for path in files)} differ"
        table = pa.concat_tables(tables, promote_options="permissive")
    except (OSError, pa.ArrowException) as error:
        raise DatasetError(f"{problem}: {first_line(error)}") from error
    return DatasetRows(table, f"{home.name}/{folder.name}/{source.split} (local files)", folder.name)


def hub_rows(source: HubSource, config: str | None = None) -> DatasetRows:
    """Load rows through the `datasets` library.

    Args:
        source: Where the dataset is.
        config: Another config than the default.

    Raises:
        HubUnreachableError: The hub cannot be reached and the cache does not hold the dataset.
        DatasetError: The hub answers, but the dataset cannot be loaded.
    """
    online = settle_hub()
    quiet = () if sys.stderr.isatty() else ("HF_DATASETS_DISABLE_PROGRESS_BARS", "HF_HUB_DISABLE_PROGRESS_BARS")
    for name in ("HF_HUB_DISABLE_TELEMETRY", *quiet):
        os.environ.setdefault(name, "1")
    import datasets  # noqa: PLC0415 - a second and 150 MB
    import httpx2  # noqa: PLC0415 - what the hub's client raises

    datasets.logging.set_verbosity_error()
    chosen = config or source.config
    named = None if source.revision == PARQUET_BRANCH and chosen == source.config else chosen
    errors = (OSError, ValueError, httpx2.TransportError, datasets.exceptions.DatasetsError, RuntimeError)
    try:
        dataset = datasets.load_dataset(source.repo, named, split=source.split, revision=source.revision)
    except errors as error:
        if online:
            what = f"cannot load {source.repo} ({chosen}, {source.split}): {first_line(error)}"
            raise DatasetError(what, _CONFIG_HINT) from error
        what = f"the dataset hub cannot be reached and {source.repo} is not in the local cache"
        raise HubUnreachableError(what, _HUB_HINT) from error
    table = dataset.with_format("arrow")[:]  # which stays on disk
    return DatasetRows(table, f"{source.repo}/{chosen}/{source.split} ({source.revision or 'newest'})", chosen)


@cache
def settle_hub() -> bool:
    """Whether the hub answers, asked once in a process; where it does not, its libraries read their cache only."""
    import httpx  # noqa: PLC0415
    from huggingface_hub import constants  # noqa: PLC0415

    if constants.HF_HUB_OFFLINE:
        return False
    try:
        httpx.head(constants.ENDPOINT, timeout=PROBE_TIMEOUT_S)
    except (httpx.HTTPError, httpx.InvalidURL):  # else each load would try for 23 seconds
        for name in {"huggingface_hub.constants", "datasets.config"} & sys.modules.keys():
            sys.modules[name].HF_HUB_OFFLINE = True  # type: ignore[attr-defined]
        return False
    return True
