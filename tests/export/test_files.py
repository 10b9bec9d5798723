"""Formats, and the files they are written to."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from evals.scoring.conclusion import measured

from evals.errors import ConfigError, StoreError, UnknownNameError
from evals.export import FORMATS, export_files, export_pieces, export_run, format_of, write_export
from evals.schemas import EvalRecord, EvalRun

Build = Callable[..., Any]


def test_json_holds_the_run_and_its_records(build_run: Build) -> None:
    """Both can be read back as what they were."""
    known = {key: {"is_unanswerable": True} for key in ("q1", "q2")}
    run, records = build_run("a", {"q1": {"mrr": 0.5}, "q2": "timeout"}, questions=known)
    data = json.loads(export_run(run, records, "json"))
    assert {one["link"]: one["questions"] for one in data.pop("diagnosis")["links"]} == {
        "transport": ["q2"],
        "should_have_abstained": ["q1"],
    }
    assert data.pop("risk_coverage") is None
    assert data.pop("stages") == []
    assert data.pop("abstention")["missed_abstention"]["count"] == 1
    assert [EvalRecord.model_validate(record) for record in data.pop("records")] == records
    assert EvalRun.model_validate(data) == run


@pytest.mark.parametrize("form", FORMATS)
def test_a_run_without_records_can_be_exported(build_run: Build, form: str, tmp_path: Path) -> None:
    """A run that ended before its first question is written too."""
    run, _ = build_run("a", {})
    export_files(measured(run, []), form, tmp_path / "out")
    assert (tmp_path / "out").exists()


def test_an_unknown_format_is_answered_with_the_nearest(build_run: Build) -> None:
    """A typing error is answered with what was probably meant."""
    with pytest.raises(UnknownNameError) as caught:
        export_run(*build_run("a", {}), "markdwon")
    assert "did you mean 'markdown'" in (caught.value.hint or "")


@pytest.mark.parametrize(("form", "mark"), [("csv", True), ("review", True), ("json", False), ("markdown", False)])
def test_only_spreadsheets_begin_with_a_byte_order_mark(tmp_path: Path, form: str, mark: bool) -> None:
    """Spreadsheets know UTF-8 by it; other programs stumble over it."""
    path = tmp_path / "out"
    write_export(path, "a,ü\r\n", form)
    assert path.read_bytes() == (b"\xef\xbb\xbf" if mark else b"") + "a,ü\r\n".encode()


def test_a_file_is_replaced_whole(tmp_path: Path) -> None:
    """A link keeps pointing to the file, and nothing else is left behind."""
    target, link = tmp_path / "target.csv", tmp_path / "link.csv"
    target.write_text("old")
    link.symlink_to(target)
    write_export(link, "new", "json")
    assert target.read_text() == "new"
    assert link.is_symlink()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link.csv", "target.csv"]


def test_a_device_is_written_and_stays_one() -> None:
    """Nothing takes the place of /dev/null."""
    null = Path("/dev/null")
    write_export(null, "text", "json")
    assert null.is_char_device()


@pytest.mark.parametrize("where", ["missing/out.csv", "."])
def test_a_file_that_cannot_be_written_is_one_clear_error(tmp_path: Path, where: str) -> None:
    """The message names the file, and the hint the way out."""
    with pytest.raises(StoreError, match="cannot write") as caught:
        write_export(tmp_path / where, "text", "csv")
    assert caught.value.hint == "name another file"


@pytest.mark.parametrize("form", FORMATS)
def test_a_name_says_the_format(form: str) -> None:
    """By its ending, the longest that fits, in whatever case; no two formats have one ending."""
    for ending in FORMATS[form].endings:
        assert format_of(Path(f"a.b{ending.upper()}")) == form
        assert [name for name, one in FORMATS.items() if ending in one.endings] == [form]
    assert FORMATS[form].endings


@pytest.mark.parametrize("name", ["x.txt", "x", "csv"])
def test_a_name_that_says_no_format_is_answered_with_all(name: str) -> None:
    """Nothing is guessed."""
    with pytest.raises(ConfigError, match="says no format") as caught:
        format_of(Path(name))
    assert all(f"{form} (" in (caught.value.hint or "") for form in FORMATS)


def test_what_is_no_text_is_no_text(build_run: Build) -> None:
    """A folder has no pieces, and Parquet is no string."""
    run, records = build_run("a", {})
    with pytest.raises(ConfigError, match=r"folder of corpus\.jsonl"):
        export_pieces(run, records, "beir")
    with pytest.raises(ConfigError, match="parquet is no text"):
        export_run(run, records, "parquet")
