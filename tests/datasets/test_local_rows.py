"""Rows from local Parquet files."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from evals.datasets.base import LoadOptions
from evals.datasets.registry import get_loader
from evals.errors import DatasetError

Put = Callable[..., Path]
SquadRow = Callable[..., dict[str, Any]]


def load(folder: Path, **options: Any) -> list[str]:
    """The ids of the questions that a data directory gives, in order."""
    dataset = get_loader("squad_v2").load(LoadOptions(data_dir=folder, **options))
    return sorted(question.id for question in dataset.questions)


@pytest.mark.parametrize("file", ["validation-00000-of-00001.parquet", "validation.parquet"])
def test_all_files_of_a_split_and_no_others_are_read(put: Put, squad_row: SquadRow, file: str) -> None:
    """With or without a shard number, as one table."""
    put("squad_v2", [squad_row("a", "Kings")], file)
    put("squad_v2", [squad_row("t")], "train-00000-of-00001.parquet")
    assert load(put("squad_v2", [squad_row("b", "Queens")], "validation-1.parquet")) == ["squad_v2:a", "squad_v2:b"]


def test_shards_whose_types_differ_in_width_are_one_table(put: Put, squad_row: SquadRow) -> None:
    """Whole numbers of 64 bits in the one and of 32 in the other."""
    folder, row = put("squad_v2", [squad_row("a", "Kings")]), squad_row("b", "Queens")
    answers = pa.struct([("text", pa.list_(pa.string())), ("answer_start", pa.list_(pa.int32()))])
    columns = {name: pa.array([value], answers if name == "answers" else None) for name, value in row.items()}
    pq.write_table(pa.table(columns), folder / "squad_v2" / "squad_v2" / "validation-1.parquet")
    assert load(folder) == ["squad_v2:a", "squad_v2:b"]


def test_shards_that_do_not_fit_are_our_error(put: Put, squad_row: SquadRow) -> None:
    """Files of one split with other types are told by name."""
    put("squad_v2", [squad_row("a", "Kings")])
    folder = put("squad_v2", [{**squad_row("b"), "answers": "Kings"}], "validation-1.parquet")
    with pytest.raises(DatasetError, match=r"columns of validation-0\.parquet, validation-1\.parquet differ"):
        load(folder)


@pytest.mark.parametrize("file", ["validation-00000-of-00001.parquet", "validation/0000.parquet"])
def test_a_clone_of_the_hubs_repository_is_read(put: Put, squad_row: SquadRow, file: str) -> None:
    """Under the repository's name, with files named by the split, or in a folder of it, as the Parquet branch has."""
    folder = put("squad_v2", [squad_row("a", "Kings"), squad_row("b")], "rows.parquet")
    clone = folder / "rajpurkar__squad_v2"
    (folder / "squad_v2").rename(clone)
    (clone / "squad_v2" / file).parent.mkdir(exist_ok=True)
    (clone / "squad_v2" / "rows.parquet").rename(clone / "squad_v2" / file)
    dataset = get_loader("squad_v2").load(LoadOptions(data_dir=folder))
    assert sorted(question.id for question in dataset.questions) == ["squad_v2:a", "squad_v2:b"]
    assert dataset.fingerprint.source == "rajpurkar__squad_v2/squad_v2/validation (local files)"


@pytest.mark.parametrize("beside", [".cache", None])
def test_the_only_config_present_is_the_one(put: Put, squad_row: SquadRow, beside: str | None) -> None:
    """A data directory with one config of another name is read without naming it; hidden folders do not count."""
    folder = put("squad_v2", [squad_row("a")], config="squad_mine")
    if beside:
        (folder / "squad_v2" / beside).mkdir()
    dataset = get_loader("squad_v2").load(LoadOptions(data_dir=folder))
    assert dataset.fingerprint.config == "squad_mine"
    assert dataset.fingerprint.source == "squad_v2/squad_mine/validation (local files)"


def test_of_several_configs_the_default_is_read(put: Put, squad_row: SquadRow) -> None:
    """With more than one config the dataset's default counts, and another one on demand."""
    put("squad_v2", [squad_row("other")], config="other")
    folder = put("squad_v2", [squad_row("a")])
    assert load(folder) == ["squad_v2:a"]
    assert load(folder, config="other") == ["squad_v2:other"]


@pytest.mark.parametrize("config", [None, "nope"])
def test_a_missing_file_says_where_it_was_expected(tmp_path: Path, config: str | None) -> None:
    """The message names the path and what happens without --data-dir."""
    with pytest.raises(DatasetError, match="no rows of squad_v2") as caught:
        load(tmp_path, config=config)
    expected = tmp_path / "squad_v2" / (config or "squad_v2") / "validation"
    assert f"{expected}*.parquet (JSON lines are not read)" in (caught.value.hint or "")
    assert "--data-dir" in (caught.value.hint or "")


@pytest.mark.parametrize("column", ["id", "title", "context", "question", "answers"])
def test_a_missing_column_is_named(put: Put, squad_row: SquadRow, column: str) -> None:
    """Rows of another shape than the hub's are told by the column that they lack."""
    row = squad_row("a", "Kings")
    del row[column]
    with pytest.raises(DatasetError, match=f"has no column '{column}'"):
        load(put("squad_v2", [row]))


@pytest.mark.parametrize("content", [b"PAR1 nonsense", b""], ids=["corrupt", "empty"])
def test_a_file_that_cannot_be_read_is_our_error(put: Put, squad_row: SquadRow, content: bytes) -> None:
    """Damage is told in one sentence that names the file."""
    folder = put("squad_v2", [squad_row("a")])
    (folder / "squad_v2" / "squad_v2" / "validation-0.parquet").write_bytes(content)
    with pytest.raises(DatasetError, match=r"cannot read .*validation-0\.parquet"):
        load(folder)
