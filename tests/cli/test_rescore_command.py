"""`evals rescore`: how it ends."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evals.store.runs import RunStore

Cli = Callable[..., Any]
WRONG = "judge: false\nserver: {map: {answer: nowhere.at.all, chunks: nothing}}\n"


@pytest.fixture
def rescored(ask: Cli, evals_cli: Cli, golden_server: str, tmp_path: Path) -> Cli:
    """Rescore a saved run; `config` is the text of a configuration file."""
    saved = ask("--rag-url", golden_server, "--json").json

    def call(*arguments: object, config: str | None = None) -> Any:
        path = tmp_path / "other.yml"
        path.write_text(config or "{}")
        return evals_cli("rescore", saved["id"], "--config", path, "--runs-dir", tmp_path / "runs", *arguments)

    return call


def test_a_rescored_run_ends_with_0(rescored: Cli) -> None:
    """Nothing is wrong with it."""
    result = rescored("--metrics", "mrr")
    assert result.code == 0, result.err
    assert "saved to" in result.out


@pytest.mark.parametrize("flags", [[], ["--json"]])
def test_a_mapping_that_finds_nothing_ends_with_4(rescored: Cli, flags: list[str], tmp_path: Path) -> None:
    """The run is saved and printed all the same, and the message says what is wrong and what to mend."""
    result = rescored("--remap", *flags, config=WRONG)
    assert result.code == 4
    assert (
        "the run is failed: 12 of 12 questions brought no answer (malformed: 12; such as the body has no text"
        in result.err
    )
    assert "server.map" in result.err
    assert "failed" in {run.status for run in RunStore(tmp_path / "runs").runs()}
    if flags:
        assert json.loads(result.out)["status"] == "failed"


def test_a_partial_run_stays_partial_and_ends_with_4(
    ask: Cli, evals_cli: Cli, start_server: Callable[..., str], tmp_path: Path
) -> None:
    """What the server did not answer cannot be measured again; the way out asks for it."""
    url = start_server("--corpus", "golden", "--misbehave", "every:3:status:404")
    assert ask("--rag-url", url, "--max-error-rate", "0.01").code == 4
    (run,) = RunStore(tmp_path / "runs").runs()
    result = evals_cli("rescore", run.id, "--metrics", "mrr", "--runs-dir", tmp_path / "runs")
    assert result.code == 4
    assert "the run is partial" in result.err
    assert f"evals eval --resume {run.id}" in result.err


def test_a_gate_of_the_configuration_that_is_not_met_ends_with_1(rescored: Cli) -> None:
    """By the same rule as `eval`."""
    result = rescored(config="judge: false\ngate: ['recall_at_10>1']\n")
    assert result.code == 1
    assert "gate failed" in result.err


def test_a_judge_of_another_provider_is_named_with_its_prefix(rescored: Cli) -> None:
    """A name without one is a model of the run's provider, which has no Claude."""
    judge = "judge: {provider: openai, model: qwen3, base_url: 'http://127.0.0.1:9/v1'}\n"
    result = rescored("--judge-model", "claude-sonnet-5-5", config=judge)
    assert result.code == 2
    assert "name a model of openai" in result.err
    assert "anthropic:claude-sonnet-5-5" in result.err


@pytest.mark.parametrize("config", ["judge: {provider: nobody}\n", "judge: {base_url: nowhere}\n"])
def test_a_wrong_value_is_told_in_our_own_words(rescored: Cli, config: str) -> None:
    """Not in those of the library that checks it."""
    result = rescored(config=config)
    assert result.code == 2
    assert "Value error" not in result.err


def test_a_configuration_changes_only_what_it_names(rescored: Cli) -> None:
    """What it leaves out stays as in the run: a judge that was not used is not turned on by its default."""
    result = rescored(config="match: {overlap_threshold: 0.5}\n")
    assert result.code == 0, result.err
    assert "no judge was used" in result.out


def test_a_dry_run_says_what_the_judge_would_take(
    rescored: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Over the answers that are there, without a call and without another run."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-test-never-used")
    plan = rescored("--metrics", "answer_relevancy", "--judge", "--dry-run", "--json").json
    [run] = RunStore(tmp_path / "runs").runs()
    assert plan["source"] == run.id
    assert plan["questions"] == plan["answered"] == 12
    assert plan["metrics"] == ["answer_relevancy"]
    assert 0 < plan["estimate"]["calls"] <= 2 * 12  # whether an answer to what cannot be answered declines is one more
    assert plan["estimate"]["basis"] == "over the answers that are there"


def test_a_dry_run_without_a_judge_costs_nothing(rescored: Cli, tmp_path: Path) -> None:
    """Metrics that need no judge have no estimate."""
    result = rescored("--metrics", "mrr", "--dry-run")
    assert result.code == 0, result.err
    assert "would compute mrr\nno judge\n" in result.out
    assert len(RunStore(tmp_path / "runs").runs()) == 1


def test_a_rescored_run_is_printed_like_one_that_was_asked(rescored: Cli, tmp_path: Path) -> None:
    """The scorecard, what went wrong, then where the run is and the command that shows it question by question."""
    out = rescored("--metrics", "recall_at_1").out
    new = next(run for run in RunStore(tmp_path / "runs").runs() if run.rescored_from)
    parts = ["recall_at_1", "ended wrong", "saved to ", f"question by question: evals show {new.id} --runs-dir "]
    places = [out.find(part) for part in parts]
    assert -1 not in places
    assert places == sorted(places)


def test_a_gate_of_the_command_line_that_is_not_met_ends_with_1(rescored: Cli) -> None:
    """As with `eval` and `score`."""
    assert rescored("--metrics", "mrr", "--gate", "mrr>=0").code == 0
    result = rescored("--metrics", "mrr", "--gate", "mrr>1")
    assert result.code == 1
    assert "gate failed" in result.err


def test_a_dry_run_without_a_key_says_that_rescoring_would_want_one(rescored: Cli) -> None:
    """As it does of `eval`."""
    result = rescored("--metrics", "answer_relevancy", "--judge", "--dry-run")
    assert result.code == 0
    assert "ANTHROPIC_API_KEY is not set" in " ".join(result.out.split())
