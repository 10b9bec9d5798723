"""`evals rescore --config`: what a configuration may say of answers that are there."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evals.store.runs import RunStore

Cli = Callable[..., Any]
ANSWERS = [{"question_id": "q1", "answer": "96 hours"}]
QUESTIONS = [{"id": "q1", "question": "How long?", "expected_answer": "96 hours"}]


@pytest.fixture
def saved(evals_cli: Cli, tmp_path: Path) -> str:
    """The id of a saved run, which needed no server."""
    (tmp_path / "q.json").write_text(json.dumps(QUESTIONS))
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, ANSWERS)))
    done = evals_cli(
        "score", tmp_path / "a.jsonl", "--dataset-file", tmp_path / "q.json", "--metrics", "exact_match", "--no-judge",
        "--runs-dir", tmp_path / "runs", "--json",
    )  # fmt: skip
    assert done.code == 0, done.err
    return str(done.json["id"])


def test_a_key_without_effect_ends_with_2_and_saves_nothing(evals_cli: Cli, saved: str, tmp_path: Path) -> None:
    """A run that says of itself what was not so would be compared as if it were."""
    (tmp_path / "o.yml").write_text("datasets: [squad_v2]\nserver: {url: 'http://other:1'}\nconcurrency: 9\n")
    done = evals_cli("rescore", saved, "--config", tmp_path / "o.yml", "--runs-dir", tmp_path / "runs")
    assert done.code == 2
    assert "concurrency, datasets, server.url have no effect on answers that are there already" in done.err
    assert len(RunStore(tmp_path / "runs").runs()) == 1


def test_the_folder_of_runs_may_stand_in_the_file(evals_cli: Cli, saved: str, tmp_path: Path) -> None:
    """As for `eval`; the run is looked for there and saved there."""
    (tmp_path / "o.yml").write_text(f"runs_dir: {json.dumps(str(tmp_path / 'runs'))}\nconfidence: 0.9\n")
    done = evals_cli("rescore", saved, "--config", tmp_path / "o.yml", "--json")
    assert done.code == 0, done.err
    assert done.json["eval_config"]["confidence"] == 0.9
    assert {run.id for run in RunStore(tmp_path / "runs").runs()} == {saved, done.json["id"]}


def test_a_file_of_questions_has_one_name_everywhere(evals_cli: Cli, saved: str, tmp_path: Path) -> None:
    """In the run, in its slices, in the table of a question a row, and in the statistics of the file."""
    runs = ("--runs-dir", tmp_path / "runs")
    assert RunStore(tmp_path / "runs").load(saved).datasets == ["q"]
    assert '"dataset":"q"' in evals_cli("export", "--run-id", saved, "--format", "json", *runs).out
    header, row = evals_cli("export", "--run-id", saved, "--format", "csv", *runs).out.splitlines()[:2]
    assert dict(zip(header.split(","), row.split(","), strict=False))["dataset"] == "q"
    assert "q: from q.json;" in evals_cli("stats", "--dataset-file", tmp_path / "q.json").out
