"""`parquet`: the same table in pandas, polars and DuckDB."""

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow.parquet as pq
import pytest
from extras import full
from whole_runs import kept_run

from evals.export import export_pieces
from evals.report import sheets
from evals.scoring.saved import SavedRun

Build = Callable[..., Any]


@pytest.fixture
def found(build_run: Build, tmp_path: Path) -> SavedRun:
    """A run with a value, a value that is undefined, a failure and metadata of several types."""
    run, records = build_run(
        "a",
        {"q1": {"mrr": 0.5, "recall_at_1": None}, "q2": "timeout", "q3": {"mrr": 1.0, "recall_at_1": 0.0}},
        questions={
            "q1": {"metadata": {"page": 7, "kind": "easy", "tags": ["x"], "mixed": 1, "sure": True}},
            "q2": {"metadata": {"page": 1.5, "mixed": "one", "huge": 2**70}},
        },
    )
    return kept_run(tmp_path, run, records)


def written_by(saved: SavedRun) -> bytes:
    return b"".join(piece for piece in export_pieces(saved, "parquet") if isinstance(piece, bytes))


def test_a_row_a_question_has_types(found: SavedRun) -> None:
    """What is undefined is null; what has parts is JSON, and metadata are texts."""
    read = pq.read_table(io.BytesIO(written_by(found)))
    first, second, _ = read.to_pylist()
    assert (first["id"], first["outcome"], first["mrr"], first["recall_at_1"]) == ("q1", "unknown", 0.5, None)
    assert json.loads(first["chunks"]) == [{"rank": 1, "is_gold": False, "text": "About q1."}]
    assert (second["mrr"], second["answer"], second["error"]) == (None, None, "timeout: no answer came")
    types = {field.name: str(field.type) for field in read.schema}
    assert {types[name] for name in ("mrr", "latency_ms")} == {"double"}
    assert (types["declined"], types["attempts"], types["meta.page"]) == ("bool", "int32", "string")
    assert (first["meta.page"], first["meta.tags"], first["meta.mixed"]) == ("7", '["x"]', "1")
    assert (second["meta.mixed"], second["meta.huge"]) == ("one", str(2**70))


def test_rows_are_written_in_groups(found: SavedRun, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a large run no more than a group is held."""
    monkeypatch.setattr(sheets, "_GROUP", 2)
    assert pq.ParquetFile(io.BytesIO(written_by(found))).num_row_groups == 2


def by_pandas(path: Path, column: str) -> tuple[list[str], int, float]:
    table = pd.read_parquet(path)
    return list(table.columns), len(table), float(table[column].mean())


def by_polars(path: Path, column: str) -> tuple[list[str], int, float]:
    table = full("polars").read_parquet(path)
    return list(table.columns), table.height, float(table[column].mean())


def by_duckdb(path: Path, column: str) -> tuple[list[str], int, float]:
    with full("duckdb").connect() as connection:
        names = [row[0] for row in connection.execute("describe from read_parquet(?)", [str(path)]).fetchall()]
        asked = f"select count(*), avg({column}) from read_parquet(?)"  # noqa: S608 - a name of ours
        rows, mean = connection.execute(asked, [str(path)]).fetchone()
    return names, rows, mean


@pytest.mark.parametrize("read", [by_pandas, by_polars, by_duckdb])
def test_pandas_polars_and_duckdb_read_the_same(found: SavedRun, read: Callable[..., Any], tmp_path: Path) -> None:
    """Rows, names and the mean of a metric, with nulls left out."""
    path = tmp_path / "x.parquet"
    path.write_bytes(written_by(found))
    names, rows, mean = read(path, "mrr")
    assert (names, rows, mean) == (pq.read_table(path).column_names, 3, 0.75)
