"""`evals eval`: what it prints, what it saves, how it ends."""

import json
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from servers import PATIENCE_S, heed_signals, wait_until

from evals import EvalRun
from evals.client import http
from evals.store.runs import RunStore

Cli = Callable[..., Any]
QUALITY = ("retrieval", "generation", "citation", "abstention")


def test_a_run_prints_all_five_groups_and_saves_itself(ask: Cli, golden_server: str, tmp_path: Path) -> None:
    """The scorecard shows each group, says why generation has no value, and names the saved file."""
    result = ask("--rag-url", golden_server)
    assert result.code == 0, result.err
    for group in {*QUALITY, "performance"} - {"generation"}:
        assert f"\n{group}" in result.out
    assert "no value: faithfulness, answer_correctness, answer_relevancy (no judge was used)" in result.out
    (saved,) = (tmp_path / "runs").glob("*Z.json")
    assert saved.name in result.out.replace("\n", "")
    assert json.loads(saved.read_text())["status"] == "complete"


def test_the_embedded_server_needs_no_other(ask: Cli) -> None:
    """`--embedded` starts a server, gives it the corpus and evaluates it."""
    result = ask("--embedded", "--json")
    assert result.code == 0, result.err
    metrics = {metric["name"]: metric["value"] for metric in result.json["scorecard"]["metrics"]}
    assert 0.5 < metrics["recall_at_10"] <= 1


def test_quality_is_the_same_at_any_concurrency(ask: Cli, golden_server: str) -> None:
    """The same seed gives the same questions and the same quality; `--json` prints the run and nothing else."""
    found = []
    for width in (1, 4, 16):
        result = ask("--rag-url", golden_server, "--concurrency", width, "--json")
        metrics = result.json["scorecard"]["metrics"]
        found.append([(m["name"], m["value"]) for m in metrics if m["group"] in QUALITY])
        assert (result.json["question_count"], result.err) == (12, "")
    assert found[0] == found[1] == found[2]


def test_no_server_ends_with_3_and_one_line_that_names_url_and_way_out(ask: Cli, tmp_path: Path) -> None:
    """A dead server is known at the first look, before anything is saved."""
    url = "http://127.0.0.1:1"
    result = ask("--rag-url", url)
    assert result.code == 3
    assert RunStore(tmp_path / "runs").runs() == []
    (line,) = [line for line in result.err.splitlines() if line.startswith("error:")]
    assert url in line
    assert "evals serve" in result.err


def test_only_errors_end_with_4(ask: Cli, start_server: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that answers 500 to everything is retried, then given up with the reason; nothing becomes a score."""
    monkeypatch.setattr(http, "_BACKOFF", lambda _state: 0.001)
    url = start_server("--corpus", "golden", "--misbehave", "status:500")
    result = ask("--rag-url", url, "--concurrency", 1, "--json")
    stopped = result.json["outcomes"]["stopped"]
    assert stopped.startswith("the first 2 questions all failed: ")
    assert (result.code, f"10 of 12 questions were not asked; {stopped}" in result.err) == (4, True)
    (run,) = RunStore(tmp_path / "runs").runs()
    assert run.status == "failed"
    assert run.outcomes.retried == run.error_count > 0
    assert all(metric.value is None for metric in run.scorecard.metrics)


def test_a_missing_corpus_ends_with_2_and_the_way_out(ask: Cli, start_server: Cli, tmp_path: Path) -> None:
    """Neither an empty server nor one with other documents is evaluated."""
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "cats.md").write_text("# Cats\n\nCats are small animals that sleep for most of the day.\n")
    for corpus in ("none", str(tmp_path / "other")):
        result = ask("--rag-url", start_server("--corpus", corpus))
        assert (result.code, "--ingest" in result.err) == (2, True)
        assert "--no-preflight" in result.err


def test_ingest_gives_the_server_its_corpus(ask: Cli, start_server: Cli) -> None:
    """`--ingest` uploads what is missing, and uploads nothing twice."""
    url = start_server("--corpus", "none", "--top-k", "9")
    assert ask("--rag-url", url, "--ingest").code == 0
    again = ask("--rag-url", url, "--ingest", "--json")
    assert again.code == 0
    assert any("were on the server already" in note for note in again.json["notes"])


def test_a_judge_without_a_key_ends_before_any_question(evals_cli: Cli, golden_server: str, tmp_path: Path) -> None:
    """Nothing is asked that could not be judged, and both ways out are named."""
    runs = tmp_path / "runs"
    result = evals_cli("eval", "--datasets", "golden", "--rag-url", golden_server, "--runs-dir", runs)
    assert (result.code, "ANTHROPIC_API_KEY" in result.err) == (2, True)
    assert "--no-judge" in result.err
    assert not runs.exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--datasets", "goldn"], "did you mean 'golden'"),
        (["--metrics", "recal_at_5"], "did you mean 'recall_at_5'"),
        (["--suite", "cor"], "did you mean 'core'"),
        (["--gate", "recal_at_5>=1"], "did you mean 'recall_at_5'"),
        (["--profile", "rag-sever"], "did you mean 'rag-server'"),
        (["--bogus"], "No such option"),
        (["--samples", "many"], "Invalid value"),
        (["--samples", "-1"], "--samples must be a number of questions, or 0 for all, not -1"),
        (["--timeout", "nan"], "timeout_s"),
        (["--embedded", "--rag-url", "http://127.0.0.1:9"], "exclude each other"),
        (["--dataset-file", "questions.jsonl"], "exclude each other"),
        (["--rag-url", ""], "--rag-url is empty"),
        (["--suite", ""], "--suite is empty"),
    ],
)
def test_wrong_usage_ends_with_2_and_no_traceback(ask: Cli, arguments: list[str], said: str) -> None:
    """What a user can mistype is no bug report, a name is answered with the nearest, and no flag is dropped."""
    result = ask(*arguments)
    assert (result.code, said in result.err) == (2, True)
    assert "Traceback" not in result.err


def test_a_gate_that_is_not_met_ends_with_1(ask: Cli, golden_server: str) -> None:
    """The run is complete and saved, but does not pass."""
    assert ask("--rag-url", golden_server, "--gate", "recall_at_10>=0").code == 0
    result = ask("--rag-url", golden_server, "--gate", "recall_at_10>1", "--gate", "faithfulness>=0.5")
    assert (result.code, "gate failed: 2 of 2 gates" in result.err) == (1, True)
    assert "recall_at_10>1: not met" in result.out
    assert "faithfulness has no value" in result.out


def test_too_many_failures_end_with_4_and_beat_the_gate(ask: Cli, start_server: Cli) -> None:
    """A run over the error rate is incomplete, whatever its metrics say."""
    url = start_server("--corpus", "golden", "--misbehave", "every:3:status:404")
    result = ask("--rag-url", url, "--gate", "recall_at_10>1", "--max-error-rate", "0.01")
    assert (result.code, "--resume" in result.err) == (4, True)
    assert ask("--rag-url", url, "--max-error-rate", "1").code == 0


def interrupt(url: str, runs: Path, sign: signal.Signals) -> subprocess.CompletedProcess[str]:
    """Start a run in a process of its own, and send it the signal once some questions are answered."""
    command = [sys.executable, "-m", "evals.cli", "eval", "--no-judge", "--datasets", "golden", "--rag-url", url]
    child = subprocess.Popen(
        [*command, "--runs-dir", str(runs), "--concurrency", "2"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=heed_signals,  # noqa: PLW1509
    )

    def has_answers() -> bool:
        answers = sum(log.read_text().count('"type":"answer"') for log in runs.glob("*.jsonl"))
        return answers >= 3 or child.poll() is not None

    wait_until(has_answers, "three answers")
    child.send_signal(sign)
    out, err = child.communicate(timeout=PATIENCE_S)
    return subprocess.CompletedProcess(command, child.returncode, out, err)


@pytest.mark.slow
@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM])
def test_a_run_goes_on_after_ctrl_c(evals_cli: Cli, start_server: Cli, tmp_path: Path, sign: signal.Signals) -> None:
    """A run that is interrupted, or reaches a time limit, keeps every answer and goes on where it stopped."""
    runs = tmp_path / "runs"
    ended = interrupt(start_server("--corpus", "golden", "--misbehave", "slow:0.2"), runs, sign)
    assert ended.returncode == 130
    assert "Traceback" not in ended.stderr
    store = RunStore(runs)
    (run,) = store.runs()
    answered = [record.question.id for record in store.records(run) if record.response is not None]
    assert run.status == "partial"
    assert len(answered) >= 3
    assert f"evals eval --resume {run.id} --runs-dir {runs}" in ended.stderr
    result = evals_cli("eval", "--resume", run.id, "--runs-dir", runs, "--concurrency", 16)
    assert result.code == 0, result.err
    (resumed,) = store.runs()
    assert (resumed.stem, resumed.status) == (run.stem, "complete")
    assert any(note == f"resumed with {len(answered)} of 100 questions answered" for note in resumed.notes)


@pytest.mark.parametrize(
    ("flags", "said"), [(["--samples", 5], "--samples"), (["--rag-url", "http://127.0.0.1:9"], "http://127.0.0.1:9")]
)
def test_resume_takes_the_questions_and_the_server_of_the_run(
    evals_cli: Cli, golden_run: EvalRun, tmp_path: Path, flags: list[object], said: str
) -> None:
    """What decides the questions of a run cannot be changed half-way, and a run is of one server."""
    result = evals_cli("eval", "--resume", golden_run.id, *flags, "--runs-dir", tmp_path / "runs")
    assert (result.code, said in result.err) == (2, True)


def test_a_dry_run_as_json_is_json(ask: Cli, golden_server: str) -> None:
    """One object, without metrics of a judge that takes no part; a URL that cannot be asked is refused as by a run."""
    plan = ask("--dry-run", "--json", "--rag-url", golden_server).json
    assert (plan["questions"], "faithfulness" in plan["metrics"]) == (12, False)
    for url in ("http://localhost:99999", "nonsense"):
        refused = ask("--rag-url", url, "--dry-run")
        assert (refused.code, refused.out) == (2, "")
        assert f"error: not a URL of a server: '{url}'" in refused.err


@pytest.mark.parametrize("key", ["runs_dir", "data_dir", "dataset_file"])
def test_an_empty_path_in_a_configuration_is_refused(evals_cli: Cli, tmp_path: Path, key: str) -> None:
    """It would be the folder that the command happens to be called in."""
    path = tmp_path / "config.yml"
    path.write_text(f'{key}: ""\n')
    refused = evals_cli("eval", "--embedded", "--no-judge", "--config", path)
    assert (refused.code, f"configuration: {key}: must not be empty" in refused.err) == (2, True)


def test_a_score_without_a_judge_says_what_it_does_not_say(ask: Cli, golden_server: str) -> None:
    """On the line of the score, also with --quiet; with metrics that need no judge nothing is missing."""
    lacking = "without a judge: no correctness, no faithfulness)"
    for flags in ((), ("--quiet",)):
        out = ask("--rag-url", golden_server, *flags).out
        (line,) = re.findall(r"^score (?:.*\n?)+?.*\)$", out, re.MULTILINE)
        assert lacking in " ".join(line.split())
    assert "without a judge" not in ask("--rag-url", golden_server, "--metrics", "mrr").out


def test_a_dry_run_says_that_the_run_would_want_a_key(evals_cli: Cli, tmp_path: Path) -> None:
    """A plan costs no key; who reads it learns now what the run would say, and the ways out."""
    plan = ("eval", "--datasets", "golden", "--samples", 2, "--runs-dir", tmp_path / "runs", "--dry-run")
    result = evals_cli(*plan)
    said = " ".join(result.out.split())
    assert result.code == 0
    ways = ("ANTHROPIC_API_KEY is not set", "export ANTHROPIC_API_KEY=…", "--no-judge")
    assert all(words in said for words in ("the run would refuse to begin", *ways))
    assert f"error: {evals_cli(*plan, '--json').json['refusal']['message']}" in evals_cli(*plan[:-1]).err


def test_a_setting_like_a_credential_is_saved(ask: Cli, evals_cli: Cli, golden_server: str, tmp_path: Path) -> None:
    """Neither `keyword_mode` nor a pattern of stars is taken for a credential that is not there any more."""
    path = tmp_path / "config.yml"
    path.write_text(
        "server:\n  clean: ['[***]{3}']\n"
        "  ask: {json: {query: '{{question}}', include_chunks: true, keyword_mode: auto, tokenizer: words}}\n"
    )
    run = ask("--config", path, "--rag-url", golden_server, "--json").json
    assert run["eval_config"]["server"]["ask"]["json"]["keyword_mode"] == "auto"
    result = evals_cli("eval", "--resume", run["id"], "--runs-dir", tmp_path / "runs")
    assert result.code == 0, result.err


def test_a_login_that_is_not_saved_is_given_again(ask: Cli, evals_cli: Cli, golden_server: str, tmp_path: Path) -> None:
    """A run is not resumed without its login, and the message says how it is."""
    url = golden_server.replace("http://", "http://user:S3cretPW@")
    run = ask("--rag-url", url, "--json").json
    resume = ("eval", "--resume", run["id"], "--runs-dir", tmp_path / "runs")
    without = evals_cli(*resume)
    assert (without.code, "server.url" in without.err, "--rag-url" in without.err) == (2, True, True)
    assert evals_cli(*resume, "--rag-url", url).code == 0
