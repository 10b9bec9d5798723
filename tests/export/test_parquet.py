"""`parquet` and `parquet-metrics`: the same table in pandas, polars and DuckDB."""

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from evals.report.tables import to_parquet_metrics
from evals.scoring.conclusion import measured

from evals.export import export_pieces
from evals.report import tables

Build = Callable[..., Any]


@pytest.fixture
def found(build_run: Build) -> Any:
    """A run with a value, a value that is undefined, a failure and metadata of several types."""
    return build_run(
        "a",
        {"q1": {"mrr": 0.5, "recall_at_1": None}, "q2": "timeout", "q3": {"mrr": 1.0, "recall_at_1": 0.0}},
        questions={
            "q1": {"metadata": {"page": 7, "kind": "easy", "tags": ["x"], "mixed": 1, "sure": True}},
            "q2": {"metadata": {"page": 1.5, "mixed": "one", "huge": 2**70}},
        },
    )


def table(run: Any, records: Any, form: str) -> Any:
    return pq.read_table(io.BytesIO(b"".join(export_pieces(run, records, form))))


def test_a_row_a_question_has_types_and_reasons(found: Any) -> None:
    """What is undefined is null, and the reason stands in a column of its own."""
    read = table(*found, "parquet")
    first, second, _ = read.to_pylist()
    assert (first["run"], first["id"], first["mrr"], first["mrr_reason"]) == ("a", "q1", 0.5, None)
    assert (first["recall_at_1"], first["recall_at_1_reason"]) == (None, "it does not apply")
    assert (second["mrr"], second["answer"], second["error"]) == (None, None, "timeout: no answer came")
    types = {field.name: str(field.type) for field in read.schema}
    assert {types[name] for name in ("mrr", "latency_ms", "meta.page")} == {"double"}
    assert (types["abstained"], types["attempts"], types["meta.sure"]) == ("bool", "int32", "bool")
    assert (first["meta.page"], first["meta.tags"], first["meta.mixed"]) == (7.0, '["x"]', "1")
    assert (second["meta.mixed"], second["meta.huge"]) == ('"one"', str(2**70))


def test_a_row_a_metric_has_the_kind_of_what_is_missing(found: Any) -> None:
    """Every metric of every question, in their order."""
    rows = table(*found, "parquet-metrics").to_pylist()
    assert [(row["id"], row["metric"], row["value"]) for row in rows] == [
        ("q1", "mrr", 0.5),
        ("q1", "recall_at_1", None),
        ("q3", "mrr", 1.0),
        ("q3", "recall_at_1", 0.0),
    ]
    assert (rows[1]["reason"], rows[1]["missing"], rows[1]["group"]) == (
        "it does not apply",
        "not_applicable",
        "retrieval",
    )


def test_rows_are_written_in_groups(found: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a large run no more than a group is held."""
    monkeypatch.setattr(tables, "_GROUP", 2)
    written = b"".join(to_parquet_metrics(measured(*found)))
    assert pq.ParquetFile(io.BytesIO(written)).num_row_groups == 2


def by_pandas(path: Path, column: str) -> tuple[list[str], int, float]:
    table = pytest.importorskip("pandas").read_parquet(path)
    return list(table.columns), len(table), float(table[column].mean())


def by_polars(path: Path, column: str) -> tuple[list[str], int, float]:
    table = pytest.importorskip("polars").read_parquet(path)
    return list(table.columns), table.height, float(table[column].mean())


def by_duckdb(path: Path, column: str) -> tuple[list[str], int, float]:
    with pytest.importorskip("duckdb").connect() as connection:
        names = [row[0] for row in connection.execute("describe from read_parquet(?)", [str(path)]).fetchall()]
        asked = f"select count(*), avg({column}) from read_parquet(?)"  # noqa: S608 - a name of ours
        rows, mean = connection.execute(asked, [str(path)]).fetchone()
    return names, rows, mean


@pytest.mark.parametrize("form", ["parquet", "parquet-metrics"])
@pytest.mark.parametrize("read", [by_pandas, by_polars, by_duckdb])
def test_pandas_polars_and_duckdb_read_the_same(
    found: Any, form: str, read: Callable[..., Any], tmp_path: Path
) -> None:
    """Rows, names and the mean of a metric, with nulls left out."""
    path = tmp_path / "x.parquet"
    path.write_bytes(b"".join(export_pieces(*found, form)))
    names, rows, mean = read(path, "mrr" if form == "parquet" else "value")
    written = pq.read_table(path)
    assert names == written.column_names
    assert rows == len(written) > 0
    assert mean == (0.75 if form == "parquet" else 0.5)
