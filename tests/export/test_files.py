"""Formats, and the files they are written to."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from whole_runs import kept_run

from evals.errors import ConfigError
from evals.export import FORMATS, export_pieces, export_run, format_of, write_export
from evals.schemas import EvalRecord, EvalRun

Build = Callable[..., Any]


def test_json_holds_the_run_and_its_records(build_run: Build, tmp_path: Path) -> None:
    """Both can be read back as what they were, with the questions by how they ended."""
    known = {key: {"is_unanswerable": True} for key in ("q1", "q2")}
    run, records = build_run("a", {"q1": {"mrr": 0.5}, "q2": "timeout"}, questions=known)
    saved = kept_run(tmp_path, run, records)
    data = json.loads(export_run(saved.run, "json"))
    kinds = {kind: ids for kind, ids in data.pop("outcomes_by_kind").items() if ids}
    assert kinds == {"failed": ["q2"], "answered_unanswerable": ["q1"]}
    assert [EvalRecord.model_validate(record) for record in data.pop("records")] == records
    assert EvalRun.model_validate(data) == saved.run


@pytest.mark.parametrize("values", [{}, {"q1": {"mrr": 1.0}}], ids=["no records", "records"])
@pytest.mark.parametrize("form", FORMATS)
def test_only_spreadsheets_begin_with_a_mark(build_run: Build, tmp_path: Path, form: str, values: Any) -> None:
    """Spreadsheets know UTF-8 by it; a run that ended before its first question is written too."""
    path = tmp_path / "out"
    write_export(path, kept_run(tmp_path, *build_run("a", values)), form)
    assert path.read_bytes().startswith(b"\xef\xbb\xbf") is (form == "csv")


@pytest.mark.parametrize("form", FORMATS)
def test_a_name_says_the_format(form: str) -> None:
    """By its ending, the longest that fits, in whatever case."""
    assert format_of(Path(f"a.b{FORMATS[form].ending.upper()}")) == form


def test_what_is_no_text_is_no_text(build_run: Build, tmp_path: Path) -> None:
    """Parquet is bytes; a run that is nowhere has no records."""
    run, records = build_run("a", {"q1": {"mrr": 1.0}})
    saved = kept_run(tmp_path, run, records)
    with pytest.raises(ConfigError, match="parquet is no text"):
        export_run(saved.run, "parquet")
    with pytest.raises(ConfigError, match="is in no folder"):
        export_run(run, "csv")
    assert b"".join(piece for piece in export_pieces(saved, "parquet") if isinstance(piece, bytes))[:4] == b"PAR1"
