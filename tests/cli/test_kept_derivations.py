"""What commands print of a saved run is derived once, when it ends, and is the same when it is derived anew."""

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from evals import EvalRun
from evals.cli import saved
from evals.export import FORMATS
from evals.scoring import digest
from evals.scoring.conclusion import measured
from evals.store.runs import RunStore

Cli = Callable[..., Any]
WAYS = (
    ("show",),
    ("show", "--failures", "3", "--by", "difficulty"),
    ("show", "--matching"),
    *(("export", "--format", form) for form, one in FORMATS.items() if not (one.is_folder or one.is_binary)),
)


@pytest.fixture
def golden_run(ask: Cli, golden_server: str, tmp_path: Path) -> EvalRun:
    """A run of twelve questions that ended here: a copy has no index that fits."""
    return RunStore(tmp_path / "runs").load(ask("--rag-url", golden_server, "--json").json["id"])


@pytest.fixture
def look(evals_cli: Cli, golden_run: EvalRun, tmp_path: Path) -> Cli:
    """Run one of the commands over the saved run."""

    def run(name: str, *flags: str) -> str:
        named = ("--run-id", golden_run.id) if name == "export" else (golden_run.id,)
        result = evals_cli(name, *named, *flags, "--runs-dir", tmp_path / "runs")
        assert result.code == 0, result.err
        return str(result.out)

    return run


def test_slices_are_read_from_what_is_kept(look: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second time no record is walked for them."""
    first = look("show", "--failures", "0", "--by", "difficulty")

    def refuse(*_: object) -> None:
        raise AssertionError("walked anew")

    monkeypatch.setattr(digest, "columns_of", refuse)
    monkeypatch.setattr(digest, "slice_value", refuse)
    assert look("show", "--failures", "0", "--by", "difficulty") == first


@pytest.mark.parametrize("datasets", [["golden"], ["golden", "squad"]], ids=len)
def test_a_run_of_several_datasets_keeps_its_slices_when_it_ends(
    golden_run: EvalRun, tmp_path: Path, datasets: list[str]
) -> None:
    """So that showing it walks no records; one of a single dataset has none to show."""
    store = RunStore(tmp_path / "runs")
    next((tmp_path / "runs").glob("*.records.index")).unlink()
    run = store.load(golden_run.id).model_copy(update={"datasets": datasets})
    records = store.open_records(run)
    seen = measured(run, records)
    seen.keep(records)
    stamp = digest.stamp_of(run)
    assert (records.derived("values of dataset", stamp) is not None) == (len(datasets) > 1)
    assert seen.values("dataset") == [record.question.dataset for record in records]
    assert measured(run, store.open_records(run)).values("dataset") == seen.values("dataset")


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS, ids=" ".join)
def test_what_is_kept_prints_as_what_is_derived(look: Cli, way: tuple[str, ...], tmp_path: Path) -> None:
    """To the last character, with an index, without one, and where the folder cannot be written."""
    (index,) = (tmp_path / "runs").glob("*.records.index")
    with_it = look(*way)
    index.unlink()
    assert look(*way) == with_it
    index.unlink()
    index.mkdir()  # nothing can be written there
    assert look(*way) == with_it


def test_a_run_that_says_something_else_is_derived_anew(
    look: Cli, golden_run: EvalRun, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another configuration of matching, or another version, may see the same records otherwise."""
    made = []
    real = digest.digest_of
    monkeypatch.setattr(digest, "digest_of", lambda *given: made.append(1) or real(*given))
    path = golden_run.path
    assert path is not None
    path.write_text(path.read_text().replace('"overlap_threshold": 0.7', '"overlap_threshold": 0.9'))
    look("show")
    monkeypatch.setattr(digest, "__version__", "99")
    look("show")
    look("show")
    assert len(made) == 2


def test_one_question_is_read_alone(
    evals_cli: Cli, golden_run: EvalRun, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not one other record is read for it."""
    store = RunStore(tmp_path / "runs")
    records = store.open_records(store.load(golden_run.id))
    read: list[str] = []
    real = type(records)._read
    monkeypatch.setattr(
        type(records), "_read", lambda self, file, number: read.append(self.ids[number]) or real(self, file, number)
    )
    result = evals_cli("show", golden_run.id, "--question", records.ids[5], "--runs-dir", tmp_path / "runs")
    assert (result.code, set(read)) == (0, {records.ids[5]})


@pytest.mark.parametrize("is_kept", [False, True])
def test_a_terminal_shows_the_first_look_at_a_run_of_an_earlier_version(
    golden_run: EvalRun, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_kept: bool
) -> None:
    """It reads all records, which takes seconds where there are many; later looks take no time to speak of."""
    store, shown = RunStore(tmp_path / "runs"), io.StringIO()
    for path in () if is_kept else store.folder.glob("*.index"):
        path.unlink()
    monkeypatch.setattr(saved, "console", lambda _: Console(file=shown, force_terminal=True, width=100))
    monkeypatch.setattr(saved.sys.stderr, "isatty", lambda: True, raising=False)
    found = saved.first_look(golden_run, store.open_records(golden_run))
    assert found.run == golden_run
    assert ("reading 12 questions, once" in shown.getvalue()) is not is_kept
