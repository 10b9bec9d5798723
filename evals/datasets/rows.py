"""Rows of a dataset, wherever they come from: a folder of Parquet or JSONL files, or the hub."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, cast

from evals.errors import DatasetError


class DatasetRows(Protocol):
    """A table that is read by column or by place, without holding all rows as objects."""

    @property
    def source(self) -> str:
        """Where the rows came from, as it is recorded."""

    def column(self, name: str) -> list[Any]:
        """All values of one column."""

    def take(self, places: Sequence[int]) -> list[dict[str, Any]]:
        """The rows at these places, in this order."""


@dataclass(frozen=True)
class ArrowRows:
    """Rows of an Arrow table."""

    table: Any
    source: str

    def column(self, name: str) -> list[Any]:
        """All values of one column.

        Raises:
            DatasetError: There is no such column.
        """
        if name not in self.table.column_names:
            raise DatasetError(f"{self.source} has no column {name!r}", f"it has: {', '.join(self.table.column_names)}")
        return cast("list[Any]", self.table.column(name).to_pylist())

    def take(self, places: Sequence[int]) -> list[dict[str, Any]]:
        """The rows at these places, in this order."""
        return cast("list[dict[str, Any]]", self.table.take(list(places)).to_pylist())


def local_rows(folder: Path, name: str, config: str | None, default_config: str, split: str) -> tuple[DatasetRows, str]:
    """Read rows from `folder/name/config/split*.parquet` (or .jsonl).

    Args:
        folder: The data directory.
        name: Our name of the dataset.
        config: The config asked for; None takes the default one, or the only one there is.
        default_config: The dataset's default config.
        split: Start of the files' names.

    Returns:
        The rows and the config that was read.

    Raises:
        DatasetError: There are no such files, or one cannot be read.
    """
    home = folder / name
    chosen = config or only_folder(home) or default_config
    files = sorted(path for path in (home / chosen).glob(f"{split}*") if path.suffix in {".parquet", ".jsonl"})
    if not files:
        raise DatasetError(
            f"no rows of {name} in {folder}",
            f"expected {home / chosen / split}*.parquet or .jsonl; without --data-dir they come from the hub",
        )
    return ArrowRows(_read(files), source=f"{name}/{chosen}/{split} (local files)"), chosen


def only_folder(home: Path) -> str | None:
    """The name of the one folder, hidden ones aside, that a folder holds; None where it is not one, or not there."""
    inside = home.iterdir() if home.is_dir() else ()
    names = [path.name for path in inside if path.is_dir() and not path.name.startswith(".")]
    return names[0] if len(names) == 1 else None


def _read(files: Sequence[Path]) -> Any:
    import pyarrow as pa  # noqa: PLC0415 - 60 MB that only this needs
    import pyarrow.parquet as pq  # noqa: PLC0415

    tables = []
    for path in files:
        try:
            tables.append(pq.read_table(path) if path.suffix == ".parquet" else _read_jsonl(path))
        except (OSError, pa.ArrowException, ValueError) as error:
            raise DatasetError(f"cannot read {path}: {str(error).splitlines()[0]}") from error
    try:
        return pa.concat_tables(tables, promote_options="permissive")
    except pa.ArrowException as error:
        raise DatasetError(f"the columns of {', '.join(path.name for path in files)} differ: {error}") from error


def _read_jsonl(path: Path) -> Any:
    import pyarrow as pa  # noqa: PLC0415

    with path.open(encoding="utf-8") as file:
        rows = [json.loads(line) for line in file if line.strip()]
    if not all(isinstance(row, dict) for row in rows):
        raise ValueError("every line must be an object")
    return pa.Table.from_pylist(rows)
