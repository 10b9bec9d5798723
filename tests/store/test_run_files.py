"""Saved runs: finding them by id and reading them."""

import json
import os
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from evals.errors import RunNotFoundError, StoreError
from evals.schemas import EvalRun
from evals.schemas.results import SCHEMA_VERSION
from evals.store.runs import RunStore, find_run


def test_a_run_is_saved_under_its_id_and_time(store: RunStore, run: EvalRun) -> None:
    """The file's name tells id and time of creation, and its records stand beside it."""
    assert store.save(run).name == "abc12345_20260115T100000Z.json"
    assert store.records_path(run).name == "abc12345_20260115T100000Z.records.jsonl"


@pytest.mark.parametrize("prefix", ["a", "abc1", "abc12345"])
def test_a_unique_prefix_finds_its_run(store: RunStore, make_run: Callable[..., EvalRun], prefix: str) -> None:
    """As much of an id as is unique is enough."""
    store.save(make_run("abc12345"))
    store.save(make_run("xyz"))
    assert store.load(prefix).id == "abc12345"


def test_a_whole_id_goes_before_longer_ids_that_begin_with_it(
    store: RunStore, make_run: Callable[..., EvalRun]
) -> None:
    """An id that is the prefix of another one still names its run."""
    for run_id in ("abc", "abc-2"):
        store.save(make_run(run_id))
    assert store.load("abc").id == "abc"


def test_an_ambiguous_prefix_names_the_candidates(store: RunStore, make_run: Callable[..., EvalRun]) -> None:
    """Where several runs begin so, nothing is guessed."""
    for run_id in ("abc1", "abc2"):
        store.save(make_run(run_id))
    with pytest.raises(RunNotFoundError, match="start of 2 runs: abc1, abc2") as caught:
        store.load("abc")
    assert caught.value.exit_code == 2


@pytest.mark.parametrize("run_id", ["", ".", "..", "../x", "a/b", "a\\b", "*", "a*", "[a]", "ABC", "a\n", "a_2026"])
def test_what_is_no_id_reaches_no_file(store: RunStore, run: EvalRun, run_id: str) -> None:
    """Separators, dots and wildcards are taken as they are written."""
    store.save(run)
    with pytest.raises(RunNotFoundError, match="no run '"):
        store.load(run_id)


@pytest.mark.parametrize("name", ["Chunks of 512", "baseline", "a/b", "*"])
def test_a_name_that_one_run_has_finds_it(store: RunStore, make_run: Callable[..., EvalRun], name: str) -> None:
    """Whole and as it is written; a whole id goes before it."""
    wanted, other = make_run("abc12345", name=name), make_run("def67890", name="abc12345")
    store.save(wanted)
    store.save(other)
    assert store.load(name) == wanted
    assert store.load("abc12345") == wanted
    with pytest.raises(RunNotFoundError, match="no run"):
        store.load(f"{name} ")


def test_the_start_of_an_id_that_is_the_name_of_another_run_is_refused(
    store: RunStore, make_run: Callable[..., EvalRun]
) -> None:
    """Nobody sees in a script which of the two was taken; of one run it is both."""
    store.save(make_run("f50fb259", name="large"))
    store.save(make_run("abc12345", name="f5"))
    with pytest.raises(RunNotFoundError, match="'f5' is the name of run abc12345, and an id starts with it: f50fb259"):
        store.load("f5")
    store.save(make_run("e5e5e5e5", name="e5"))
    assert store.load("e5").id == "e5e5e5e5"


def test_a_name_of_several_runs_names_them(store: RunStore, make_run: Callable[..., EvalRun]) -> None:
    """Which one is meant is the user's to say."""
    for run_id in ("abc12345", "def67890"):
        store.save(make_run(run_id, name="nightly"))
    with pytest.raises(RunNotFoundError, match="'nightly' is the name of 2 runs: abc12345, def67890") as caught:
        store.load("nightly")
    assert (caught.value.exit_code, caught.value.hint) == (2, "give the id of one")


def test_the_path_of_a_file_finds_its_run_wherever_it_is(
    store: RunStore, run: EvalRun, full_log: Path, tmp_path: Path
) -> None:
    """With its records, which stand beside it; a file that is not there is no run."""
    path = store.save(run)
    elsewhere = RunStore(tmp_path / "elsewhere")
    found = elsewhere.load(str(path))
    assert found == run
    assert [record.question.id for record in elsewhere.records(found)] == ["q0", "q1", "q2"]
    with pytest.raises(RunNotFoundError, match="no run"):
        elsewhere.load(f"{path}.json")


@pytest.mark.parametrize("exists", [True, False])
def test_an_unknown_id_says_where_to_look(tmp_path: Path, exists: bool) -> None:
    """With an empty folder or none, the message names the folder and the command that lists runs."""
    folder = tmp_path if exists else tmp_path / "none"
    with pytest.raises(RunNotFoundError, match="no run 'abc'") as caught:
        RunStore(folder).load("abc")
    assert str(folder) in caught.value.message
    assert "evals runs" in (caught.value.hint or "")


def save_raw(store: RunStore, run: EvalRun, **changes: Any) -> None:
    """Save a run's JSON with keys changed."""
    data = {**json.loads(run.model_dump_json()), **changes}
    store.run_path(run).write_text(json.dumps(data), encoding="utf-8")


def test_a_run_of_a_newer_version_says_so(store: RunStore, run: EvalRun) -> None:
    """A file with a newer schema is not read wrongly, and the way out is named."""
    save_raw(store, run, schema_version=SCHEMA_VERSION + 1, something_new=1)
    with pytest.raises(StoreError, match="newer version") as caught:
        store.load(run.id)
    assert "upgrade" in (caught.value.hint or "")


@pytest.mark.parametrize(
    ("changes", "part"),
    [({"question_count": "many"}, "question_count"), ({"seeed": 1}, "seeed"), ({"id": "A/B"}, "id")],
)
def test_a_file_that_is_no_run_names_the_key(store: RunStore, run: EvalRun, changes: dict[str, Any], part: str) -> None:
    """Valid JSON that is no run says which key is wrong."""
    save_raw(store, run, **changes)
    with pytest.raises(StoreError, match=f"is not a run: {part}:"):
        store.load(run.id)


def test_runs_are_listed_oldest_first(store: RunStore, make_run: Callable[..., EvalRun]) -> None:
    """The order is that of creation, not of ids."""
    start = datetime(2026, 1, 15, tzinfo=UTC)
    for days, run_id in [(2, "a"), (0, "c"), (1, "b")]:
        store.save(make_run(run_id, created_at=start + timedelta(days=days)))
    assert [run.id for run in store.runs()] == ["c", "b", "a"]


def test_what_cannot_be_read_does_not_hide_the_runs_beside_it(
    store: RunStore, make_run: Callable[..., EvalRun], full_log: Path
) -> None:
    """Broken and newer runs are told apart from the good ones; logs and notes are none."""
    store.save(make_run("good"))
    save_raw(store, make_run("newer"), schema_version=99)
    (store.folder / "broken_20260115T100000Z.json").write_text("{")
    (store.folder / "notes.json").write_text("{}")
    runs, unreadable = store.survey()
    assert [run.id for run in runs] == [run.id for run in store.runs()] == ["good"]
    broken, newer = sorted(unreadable, key=lambda error: "newer" in error.message)
    assert "broken_2026" in broken.message
    assert "newer version (schema 99)" in newer.message
    assert "upgrade" in (newer.hint or "")


def test_half_a_character_in_a_run_is_read_as_a_question_mark(store: RunStore, run: EvalRun) -> None:
    """What no encoding can hold would end whatever shows or copies the run."""
    path = store.save(run)
    path.write_text(path.read_text().replace('"trial"', '"tr\\ud800ial"'))
    read = store.load(run.id)
    assert read.name == "tr?ial"
    assert "tr?ial" in read.model_dump_json()


@pytest.mark.parametrize("order", [("aaaa", "bbbb"), ("bbbb", "aaaa")])
def test_of_two_runs_of_one_second_the_last_is_the_one_that_was_written_last(
    tmp_path: Path, order: tuple[str, str]
) -> None:
    """A script that makes two runs and compares `last` with the other means the second."""
    for age, run_id in enumerate(order):
        path = tmp_path / f"{run_id}_20261128T120000Z.json"
        path.write_text("{}")
        os.utime(path, ns=(age, age))
    assert find_run(tmp_path, "last").name.startswith(order[1])
