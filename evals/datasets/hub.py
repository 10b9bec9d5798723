"""Rows from the HuggingFace hub, its cache, or a local clone of a hub repository."""

import os
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from evals.datasets.tables import only_folder
from evals.errors import DatasetError, HubUnreachableError

PROBE_TIMEOUT_S = 3.0


PARQUET_BRANCH = "refs/convert/parquet"
"""The hub's own conversion of a repository. It has no card, so to the library its one config has no name."""

_SWITCH = "HF_HUB_OFFLINE"

_OFFLINE = (_SWITCH, "HF_DATASETS_OFFLINE")


_SILENCE_S = 30.0
"""How long a hub is held for gone that let us wait: twelve subsets in the cache shall not cost twelve waits."""


@dataclass(frozen=True)
class HubRows:
    """Rows of a memory-mapped `datasets.Dataset`."""

    dataset: Any
    source: str
    config: str

    def column(self, name: str) -> list[Any]:
        """All values of one column.

        Raises:
            DatasetError: There is no such column.
        """
        if name not in self.dataset.column_names:
            raise DatasetError(f"{self.source} has no column {name!r}: the dataset on the hub has changed")
        return list(self.dataset[name])

    def take(self, places: Sequence[int]) -> list[dict[str, Any]]:
        """The rows at these places, in this order."""
        return [cast("dict[str, Any]", self.dataset[place]) for place in places]


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


def clone_of(folder: Path, source: HubSource) -> Path | None:
    """The local clone of a hub repository, `folder/owner__name`, where there is one."""
    path = folder / source.repo.replace("/", "__")
    return path if path.is_dir() else None


def hub_rows(source: HubSource, config: str | None = None, *, clone: Path | None = None) -> HubRows:
    """Load rows through the `datasets` library.

    Args:
        source: Where the dataset is.
        config: Another config than the default.
        clone: A local clone to load instead of the hub's repository.

    Raises:
        HubUnreachableError: The hub cannot be reached and the cache does not hold the dataset.
        DatasetError: The hub answers, but the dataset cannot be loaded.
    """
    online = clone is not None or settle_hub()
    load_dataset, errors = _library()
    chosen = config or (only_folder(clone) if clone else None) or source.config
    try:
        dataset = load_dataset(
            str(clone or source.repo),
            None if source.revision == PARQUET_BRANCH and chosen == source.config else chosen,
            split=source.split,
            **({"revision": source.revision} if source.revision else {}),
        )
    except errors as error:
        if online:
            raise DatasetError(
                f"cannot load {source.repo} ({chosen}, {source.split}): {_first_line(error)}",
                "check the config after the colon of --datasets; --data-dir reads local files instead",
            ) from error
        raise unreachable(source) from error
    where = "local clone" if clone else source.revision or "newest"
    return HubRows(dataset, config=chosen, source=f"{source.repo}/{chosen}/{source.split} ({where})")


def unreachable(source: HubSource) -> HubUnreachableError:
    """The error for a hub that does not answer, with the three ways out."""
    return HubUnreachableError(
        f"the dataset hub cannot be reached and {source.repo} is not in the local cache",
        "read local files with --data-dir DIR, name a mirror with HF_ENDPOINT, "
        "or use questions that need no hub: --datasets golden or --dataset-file FILE",
    )


@dataclass
class _Hub:
    """What this process knows of the hub, and what it did about it.

    Attributes:
        online: It answered; this is not asked again.
        asked_again_at: Monotonic seconds before which a hub that was silent is not asked again.
        kept_off: Whether the libraries were made to use their cache only.
        switch: What the user's environment held in `HF_HUB_OFFLINE` before that.
    """

    online: bool = False
    asked_again_at: float = float("-inf")
    kept_off: bool = False
    switch: str | None = None


_hub = _Hub()


def settle_hub() -> bool:
    """Whether the hub answers; while it does not, its libraries are made to use their cache only."""
    if not _hub.online:
        _hub.online = _answers_now()
        if _hub.online:
            _go_online()
        else:
            _go_offline()
    return _hub.online


def _answers_now() -> bool:
    start = time.monotonic()
    if start < _hub.asked_again_at:
        return False
    environ = dict(os.environ)
    if _hub.kept_off and environ.get(_SWITCH) == "1":  # which is ours: the user's is asked
        environ[_SWITCH] = _hub.switch or ""
    answered = hub_reachable(environ)
    if not answered and time.monotonic() - start > PROBE_TIMEOUT_S / 2:
        _hub.asked_again_at = time.monotonic() + _SILENCE_S
    return answered


def hub_reachable(environ: Mapping[str, str] | None = None) -> bool:
    """Whether the hub answers at all, known within three seconds and before the heavy import."""
    env = os.environ if environ is None else environ
    if any(env.get(name, "").strip().lower() in {"1", "true", "yes", "on"} for name in _OFFLINE):
        return False
    answered = threading.Event()
    # A thread, because looking up a name does not obey any timeout.
    probe = threading.Thread(
        target=_probe, args=(env.get("HF_ENDPOINT", "https://huggingface.co"), answered), daemon=True
    )
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


def _go_offline() -> None:
    """Make the libraries use their cache only; they read the environment when they are imported."""
    if not _hub.kept_off:
        _hub.kept_off, _hub.switch = True, os.environ.get(_SWITCH)
    os.environ[_SWITCH] = "1"
    _tell_libraries(offline=True)


def _go_online() -> None:
    """Undo what `_go_offline` did, if it did."""
    if not _hub.kept_off:
        return
    if _hub.switch is None:
        os.environ.pop(_SWITCH, None)
    else:
        os.environ[_SWITCH] = _hub.switch
    _hub.kept_off = False
    _tell_libraries(offline=False)


def _tell_libraries(*, offline: bool) -> None:
    for name in ("huggingface_hub.constants", "datasets.config"):
        module = sys.modules.get(name)
        if module is not None:
            module.HF_HUB_OFFLINE = offline  # type: ignore[attr-defined]


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


def _first_line(error: Exception) -> str:
    return str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
