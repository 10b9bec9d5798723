"""Rows of published datasets: from the HuggingFace hub, its cache, or local files, such as a clone of a repository."""

import os
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from evals.datasets.tables import first_line, jsonl_rows
from evals.errors import DatasetError, HubUnreachableError

PROBE_TIMEOUT_S = 3.0


PARQUET_BRANCH = "refs/convert/parquet"
"""The hub's own conversion of a repository. It has no card, so to the library its one config has no name."""

_OFFLINE = ("HF_HUB_OFFLINE", "HF_DATASETS_OFFLINE")


_SILENCE_S = 30.0
"""How long a hub is held for gone that let us wait: twelve subsets in the cache shall not cost twelve waits."""


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
    """Read rows from `home/config/split*.parquet` (or .jsonl), or from such files in a folder `split`.

    Args:
        home: The folder of the dataset.
        config: The config asked for; None takes the default one, or the only one there is.
        source: Names the default config and the split.

    Raises:
        DatasetError: There are no such files, or one cannot be read.
    """
    chosen, split = config or only_folder(home) or source.config, source.split
    inside = [path for pattern in (f"{split}*", f"{split}/*") for path in (home / chosen).glob(pattern)]
    files = sorted(path for path in inside if path.suffix in {".parquet", ".jsonl"})
    if not files:
        what, expected = f"no rows of {home.name} in {home.parent}", f"{home / chosen / split}*.parquet or .jsonl"
        raise DatasetError(what, f"expected {expected}; without --data-dir they come from the hub")
    return DatasetRows(_table(files), f"{home.name}/{chosen}/{split} (local files)", chosen)


def only_folder(home: Path) -> str | None:
    """The name of the one folder, hidden ones aside, that a folder holds; None where it is not one, or not there."""
    inside = home.iterdir() if home.is_dir() else ()
    names = [path.name for path in inside if path.is_dir() and not path.name.startswith(".")]
    return names[0] if len(names) == 1 else None


def _table(files: Sequence[Path]) -> Any:
    import pyarrow as pa  # noqa: PLC0415 - 60 MB that only this needs
    import pyarrow.parquet as pq  # noqa: PLC0415

    tables = []
    for path in files:
        try:
            rows = None if path.suffix == ".parquet" else [row for _, row in jsonl_rows(path)]
            tables.append(pq.read_table(path) if rows is None else pa.Table.from_pylist(rows))
        except AttributeError as error:
            raise DatasetError(f"cannot read {path}: every line must be an object") from error
        except (OSError, pa.ArrowException) as error:
            raise DatasetError(f"cannot read {path}: {first_line(error)}") from error
    try:
        return pa.concat_tables(tables, promote_options="permissive")
    except pa.ArrowException as error:
        raise DatasetError(f"the columns of {', '.join(path.name for path in files)} differ: {error}") from error


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
    load_dataset, errors = _library()
    chosen = config or source.config
    try:
        dataset = load_dataset(
            source.repo,
            None if source.revision == PARQUET_BRANCH and chosen == source.config else chosen,
            split=source.split,
            **({"revision": source.revision} if source.revision else {}),
        )
    except errors as error:
        if online:
            raise DatasetError(
                f"cannot load {source.repo} ({chosen}, {source.split}): {first_line(error)}",
                "check the config after the colon of --datasets; --data-dir reads local files instead",
            ) from error
        raise HubUnreachableError(
            f"the dataset hub cannot be reached and {source.repo} is not in the local cache",
            "read local files with --data-dir DIR, name a mirror with HF_ENDPOINT, "
            "or use questions that need no hub: --datasets golden or --dataset-file FILE",
        ) from error
    table = dataset.with_format("arrow")[:]  # which stays on disk
    return DatasetRows(table, f"{source.repo}/{chosen}/{source.split} ({source.revision or 'newest'})", chosen)


_hub = {"online": False, "asked_again_at": float("-inf")}
"""What this process knows of the hub: that it answered, which is not asked again; and monotonic seconds before which a
hub that was silent is not asked again."""


def settle_hub() -> bool:
    """Whether the hub answers; while it does not, its libraries are made to use their cache only."""
    start = time.monotonic()
    if not _hub["online"] and start >= _hub["asked_again_at"]:
        online, end = hub_reachable(), time.monotonic()
        silent = not online and end - start > PROBE_TIMEOUT_S / 2
        _hub.update(online=online, asked_again_at=end + _SILENCE_S if silent else end)
    import_module("huggingface_hub.constants")  # of which others take the switch when they are imported
    for name in {"huggingface_hub.constants", "datasets.config"} & sys.modules.keys():
        sys.modules[name].HF_HUB_OFFLINE = not _hub["online"]  # type: ignore[attr-defined]
    return bool(_hub["online"])


def hub_reachable(environ: Mapping[str, str] | None = None) -> bool:
    """Whether the hub answers at all, known within three seconds and before the heavy import."""
    env = os.environ if environ is None else environ
    if any(env.get(name, "").strip().lower() in {"1", "true", "yes", "on"} for name in _OFFLINE):
        return False
    answered = threading.Event()
    endpoint = env.get("HF_ENDPOINT", "https://huggingface.co")
    # A thread, because looking up a name does not obey any timeout.
    probe = threading.Thread(target=_probe, args=(endpoint, answered), daemon=True)
    probe.start()
    probe.join(PROBE_TIMEOUT_S)
    return answered.is_set()


def _probe(endpoint: str, answered: threading.Event) -> None:
    import httpx  # noqa: PLC0415

    try:
        httpx.head(endpoint, timeout=PROBE_TIMEOUT_S)
        answered.set()
    except (httpx.HTTPError, httpx.InvalidURL):
        return


def _library() -> tuple[Any, tuple[type[Exception], ...]]:
    """`load_dataset` and everything that it raises for what is outside our control."""
    if not sys.stderr.isatty():
        os.environ.setdefault("HF_DATASETS_DISABLE_PROGRESS_BARS", "1")
        os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")
    os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
    import datasets  # noqa: PLC0415 - a second and 150 MB
    import httpx2  # noqa: PLC0415 - what the hub's client raises

    datasets.logging.set_verbosity_error()
    errors = (OSError, ValueError, httpx2.TransportError, datasets.exceptions.DatasetsError, RuntimeError)
    return datasets.load_dataset, errors
