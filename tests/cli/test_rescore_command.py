"""`evals rescore`: how it ends."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evals import EvalRun
from evals.store.runs import RunStore

Cli = Callable[..., Any]
WRONG = "judge: false\nserver: {map: {answer: nowhere.at.all, chunks: nothing}}\n"


@pytest.fixture
def rescored(golden_run: EvalRun, evals_cli: Cli, tmp_path: Path) -> Cli:
    """Rescore a saved run; `config` is the text of a configuration file."""

    def call(*arguments: object, config: str = "{}") -> Any:
        path = tmp_path / "other.yml"
        path.write_text(config)
        return evals_cli("rescore", golden_run.id, "--config", path, "--runs-dir", tmp_path / "runs", *arguments)

    return call


@pytest.mark.parametrize("flags", [[], ["--json"]])
def test_a_mapping_that_finds_nothing_ends_with_4(rescored: Cli, flags: list[str], tmp_path: Path) -> None:
    """The run is saved and printed all the same, and the message says what is wrong and what to mend."""
    result = rescored("--remap", *flags, config=WRONG)
    assert result.code == 4
    failed = "12 of 12 questions brought no answer (malformed: 12; such as the body has no text"
    assert all(words in result.err for words in (f"the run is failed: {failed}", "server.map"))
    assert "failed" in {run.status for run in RunStore(tmp_path / "runs").runs()}
    if flags:
        assert json.loads(result.out)["status"] == "failed"


def test_a_partial_run_stays_partial(ask: Cli, evals_cli: Cli, start_server: Cli, tmp_path: Path) -> None:
    """What the server did not answer cannot be measured again; the way out asks for it."""
    url = start_server("--corpus", "golden", "--misbehave", "every:3:status:404")
    assert ask("--rag-url", url, "--max-error-rate", "0.01").code == 4
    (run,) = RunStore(tmp_path / "runs").runs()
    result = evals_cli("rescore", run.id, "--metrics", "mrr", "--runs-dir", tmp_path / "runs")
    assert (result.code, "the run is partial" in result.err) == (4, True)
    assert f"evals eval --resume {run.id}" in result.err


def test_a_gate_of_the_configuration_that_is_not_met_ends_with_1(rescored: Cli) -> None:
    """By the same rule as `eval`."""
    result = rescored(config="judge: false\ngate: ['recall_at_10>1']\n")
    assert (result.code, "gate failed" in result.err) == (1, True)


def test_a_rescored_run_is_printed_like_one_that_was_asked(rescored: Cli, tmp_path: Path) -> None:
    """What went wrong, the scorecard, the commands that show it question by question, then where the run is.

    What the configuration leaves out stays as in the run: a judge that was not used is not turned on by its default.
    """
    out = rescored("--metrics", "recall_at_1,faithfulness", config="match: {overlap_threshold: 0.5}\n").out
    new = next(run for run in RunStore(tmp_path / "runs").runs() if run.rescored_from)
    parts = ["went wrong", "recall_at_1", "no judge was used", f"evals show {new.id} --all --runs-dir ", "saved to "]
    places = [out.find(part) for part in parts]
    assert -1 not in places
    assert places == sorted(places)


def test_a_dry_run_says_what_judging_takes(rescored: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Over the answers that are there, without a call and without another run."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-test-never-used")
    plan = rescored("--metrics", "answer_relevancy", "--judge", "--dry-run", "--json").json
    [run] = RunStore(tmp_path / "runs").runs()
    assert plan["source"] == run.id
    assert plan["questions"] == plan["answered"] == 12
    assert plan["metrics"] == ["answer_relevancy"]
    assert 0 < plan["estimate"]["calls"] <= 2 * 12  # whether an answer to what cannot be answered declines is one more
    assert plan["estimate"]["basis"] == "over the answers that are there"


def test_a_key_without_effect_ends_with_2_and_saves_nothing(rescored: Cli, tmp_path: Path) -> None:
    """A run that says of itself what was not so would be compared as if it were."""
    done = rescored(config="datasets: [squad_v2]\nserver: {url: 'http://other:1'}\nconcurrency: 9\n")
    assert done.code == 2
    assert "concurrency, datasets, server.url have no effect on answers that are there already" in done.err
    assert len(RunStore(tmp_path / "runs").runs()) == 1


def test_the_folder_of_runs_may_stand_in_the_file(evals_cli: Cli, golden_run: EvalRun, tmp_path: Path) -> None:
    """As for `eval`; the run is looked for there and saved there."""
    config = {"runs_dir": str(tmp_path / "runs"), "confidence": 0.9, "judge": False}
    (tmp_path / "o.yml").write_text(json.dumps(config))
    done = evals_cli("rescore", golden_run.id, "--config", tmp_path / "o.yml", "--json")
    assert done.code == 0, done.err
    assert done.json["eval_config"]["confidence"] == 0.9
    assert {run.id for run in RunStore(tmp_path / "runs").runs()} == {golden_run.id, done.json["id"]}


def test_a_file_of_questions_has_one_name_everywhere(evals_cli: Cli, tmp_path: Path) -> None:
    """In the run, in its slices, in the table of a question a row, and in the statistics of the file."""
    questions, answers, runs = tmp_path / "q.json", tmp_path / "a.jsonl", ("--runs-dir", tmp_path / "runs")
    questions.write_text(json.dumps([{"id": "q1", "question": "How long?", "expected_answer": "96 hours"}]))
    answers.write_text(json.dumps({"question_id": "q1", "answer": "96 hours"}))
    flags = ("--dataset-file", questions, "--metrics", "exact_match", "--no-judge", "--json")
    run = evals_cli("score", answers, *flags, *runs).json
    assert run["datasets"] == ["q"]
    assert '"dataset":"q"' in evals_cli("export", "--run-id", run["id"], "--format", "json", *runs).out
    header, row = evals_cli("export", "--run-id", run["id"], "--format", "csv", *runs).out.splitlines()[:2]
    assert dict(zip(header.split(","), row.split(","), strict=False))["dataset"] == "q"
    assert "q: from q.json;" in evals_cli("stats", "--dataset-file", questions).out
