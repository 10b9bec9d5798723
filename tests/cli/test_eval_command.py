"""`evals eval`: what it prints, what it saves, how it ends."""

import json
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from servers import PATIENCE_S, heed_signals, wait_until

from evals.client import retry
from evals.store.runs import RunStore

Cli = Callable[..., Any]
QUALITY = ("retrieval", "generation", "citation", "abstention")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def test_a_run_prints_all_five_groups_and_saves_itself(ask: Cli, golden_server: str, tmp_path: Path) -> None:
    """The scorecard shows each group, says why generation has no value, and names the saved file."""
    result = ask("--rag-url", golden_server)
    assert result.code == 0, result.err
    for group in (*QUALITY, "performance"):
        assert f"\n{group}" in result.out
    assert "no judge was used" in result.out
    (saved,) = (tmp_path / "runs").glob("*Z.json")
    assert saved.name in result.out.replace("\n", "")
    assert json.loads(saved.read_text())["status"] == "complete"


def test_json_prints_the_run_and_nothing_else(ask: Cli, golden_server: str) -> None:
    """`--json` gives one JSON object on stdout and keeps stderr empty."""
    result = ask("--rag-url", golden_server, "--json")
    assert result.json["question_count"] == 12
    assert result.err == ""


def test_the_embedded_server_needs_no_other(ask: Cli) -> None:
    """`--embedded` starts a server, gives it the corpus and evaluates it."""
    result = ask("--embedded", "--json")
    assert result.code == 0, result.err
    metrics = {metric["name"]: metric["value"] for metric in result.json["scorecard"]["metrics"]}
    assert 0.5 < metrics["recall_at_10"] <= 1


def test_the_embedded_server_is_asked_with_the_limits_that_are_given(ask: Cli) -> None:
    """In a tenth of a millisecond it answers no more than another server."""
    assert ask("--embedded", "--timeout", "0.0001").code == 3


@pytest.mark.parametrize("concurrency", [1, 16])
def test_quality_is_the_same_at_any_concurrency(ask: Cli, golden_server: str, concurrency: int) -> None:
    """The same seed gives the same questions and the same quality to the last digit."""

    def quality(width: int) -> list[tuple[str, float | None]]:
        run = ask("--rag-url", golden_server, "--concurrency", width, "--json").json
        return [(m["name"], m["value"]) for m in run["scorecard"]["metrics"] if m["group"] in QUALITY]

    assert quality(concurrency) == quality(4)


def test_no_server_ends_with_3_and_one_line_that_names_url_and_way_out(ask: Cli, tmp_path: Path) -> None:
    """A dead server is known at the first look, before anything is saved."""
    url = f"http://127.0.0.1:{free_port()}"
    result = ask("--rag-url", url)
    assert result.code == 3
    assert RunStore(tmp_path / "runs").runs() == []
    (line,) = [line for line in result.err.splitlines() if line.startswith("error:")]
    assert url in line
    assert "evals serve" in result.err


def test_only_errors_end_with_4_and_a_saved_run_of_status_failed(
    ask: Cli, start_server: Callable[..., str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server that answers 500 to everything is retried, then given up; nothing becomes a score."""
    monkeypatch.setattr(retry, "FIRST_WAIT_S", 0.001)
    result = ask("--rag-url", start_server("--corpus", "golden", "--misbehave", "status:500"), "--concurrency", 2)
    assert result.code == 4
    (run,) = RunStore(tmp_path / "runs").runs()
    assert run.status == "failed"
    assert run.outcomes.retried == run.error_count > 0
    assert all(metric.value is None for metric in run.scorecard.metrics)


def test_a_missing_corpus_ends_with_2_and_the_way_out(
    ask: Cli, start_server: Callable[..., str], tmp_path: Path
) -> None:
    """Neither an empty server nor one with other documents is evaluated."""
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "cats.md").write_text("# Cats\n\nCats are small animals that sleep for most of the day.\n")
    for corpus in ("none", str(tmp_path / "other")):
        result = ask("--rag-url", start_server("--corpus", corpus))
        assert result.code == 2
        assert "--ingest" in result.err
        assert "--no-preflight" in result.err


def test_a_run_that_the_preflight_refused_is_failed_and_has_no_score(
    ask: Cli, start_server: Callable[..., str], tmp_path: Path
) -> None:
    """Its probes stay in its log; nothing stands on their numbers."""
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "cats.md").write_text("# Cats\n\nCats are small animals that sleep for most of the day.\n")
    assert ask("--rag-url", start_server("--corpus", str(tmp_path / "other"))).code == 2
    (run,) = RunStore(tmp_path / "runs").runs()
    assert (run.status, run.weighted_score.score) == ("failed", None)
    assert set(run.weighted_score.left_out.values()) == {"the server does not hold the documents"}


def test_ingest_gives_the_server_its_corpus(ask: Cli, start_server: Callable[..., str]) -> None:
    """`--ingest` uploads what is missing, and uploads nothing twice."""
    url = start_server("--corpus", "none", "--top-k", "9")
    assert ask("--rag-url", url, "--ingest").code == 0
    again = ask("--rag-url", url, "--ingest", "--json")
    assert again.code == 0
    assert any("were on the server already" in note for note in again.json["notes"])


def test_a_judge_without_a_key_ends_with_2_before_any_question(
    evals_cli: Cli, golden_server: str, tmp_path: Path
) -> None:
    """Nothing is asked that could not be judged, and both ways out are named."""
    runs = tmp_path / "runs"
    result = evals_cli("eval", "--datasets", "golden", "--rag-url", golden_server, "--runs-dir", runs)
    assert result.code == 2
    assert "ANTHROPIC_API_KEY" in result.err
    assert "--no-judge" in result.err
    assert not runs.exists()


@pytest.mark.parametrize(
    ("arguments", "nearest"),
    [
        (["--datasets", "goldn"], "golden"),
        (["--metrics", "recal_at_5"], "recall_at_5"),
        (["--suite", "cor"], "core"),
        (["--gate", "recal_at_5>=1"], "recall_at_5"),
        (["--profile", "rag-sever"], "rag-server"),
    ],
)
def test_an_unknown_name_ends_with_2_and_the_nearest_valid_one(ask: Cli, arguments: list[str], nearest: str) -> None:
    """A typing error is answered with what was probably meant."""
    result = ask(*arguments)
    assert result.code == 2
    assert f"did you mean {nearest!r}" in result.err


def test_an_unknown_configuration_key_ends_with_2_and_the_nearest_valid_one(ask: Cli, tmp_path: Path) -> None:
    """The configuration file is as strict as the flags."""
    path = tmp_path / "config.yml"
    path.write_text("concurency: 3\n")
    result = ask("--config", path)
    assert result.code == 2
    assert "did you mean 'concurrency'" in result.err


@pytest.mark.parametrize(
    "arguments",
    [["--bogus"], ["--samples", "many"], ["--samples", "-1"], ["--timeout", "nan"], ["--rag-url", "nonsense"]],
)
def test_wrong_usage_ends_with_2_and_no_traceback(ask: Cli, arguments: list[str]) -> None:
    """What a user can mistype is never a bug report."""
    result = ask(*arguments)
    assert result.code == 2
    assert "Traceback" not in result.err


def test_a_gate_that_is_not_met_ends_with_1(ask: Cli, golden_server: str) -> None:
    """The run is complete and saved, but does not pass."""
    assert ask("--rag-url", golden_server, "--gate", "recall_at_10>=0").code == 0
    result = ask("--rag-url", golden_server, "--gate", "recall_at_10>1", "--gate", "faithfulness>=0.5")
    assert result.code == 1
    assert "recall_at_10>1" in result.err
    assert "faithfulness has no value" in result.out


def test_too_many_failures_end_with_4_and_beat_the_gate(ask: Cli, start_server: Callable[..., str]) -> None:
    """A run over the error rate is incomplete, whatever its metrics say."""
    url = start_server("--corpus", "golden", "--misbehave", "every:3:status:404")
    result = ask("--rag-url", url, "--gate", "recall_at_10>1", "--max-error-rate", "0.01")
    assert result.code == 4
    assert "--resume" in result.err
    assert ask("--rag-url", url, "--max-error-rate", "1").code == 0


def test_a_dry_run_asks_nothing(ask: Cli, tmp_path: Path) -> None:
    """`--dry-run` says what would be done, without a server."""
    result = ask("--dry-run", "--rag-url", f"http://127.0.0.1:{free_port()}")
    assert result.code == 0
    assert "would ask" in result.out
    assert "12 questions" in result.out
    assert not (tmp_path / "runs").exists()


def test_a_folder_that_cannot_be_written_is_known_before_anything_is_asked(
    evals_cli: Cli, golden_server: str, tmp_path: Path
) -> None:
    """An unusable runs folder is one clear message."""
    (tmp_path / "file").write_text("")
    result = evals_cli(
        "eval", "--no-judge", "--datasets", "golden", "--rag-url", golden_server, "--runs-dir", tmp_path / "file" / "x"
    )
    assert result.code == 2
    assert "--runs-dir" in result.err


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
@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT])
def test_ctrl_c_ends_with_130_and_the_run_can_be_resumed(
    evals_cli: Cli, start_server: Callable[..., str], tmp_path: Path, sign: signal.Signals
) -> None:
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


def test_resume_does_not_take_other_questions(ask: Cli, evals_cli: Cli, golden_server: str, tmp_path: Path) -> None:
    """What decides the questions or metrics of a run cannot be changed half-way."""
    run = ask("--rag-url", golden_server, "--json").json
    result = evals_cli("eval", "--resume", run["id"], "--samples", 5, "--runs-dir", tmp_path / "runs")
    assert result.code == 2
    assert "--samples" in result.err


def test_resume_does_not_mix_two_servers(ask: Cli, evals_cli: Cli, golden_server: str, tmp_path: Path) -> None:
    """A run is of one server; another URL is refused."""
    run = ask("--rag-url", golden_server, "--json").json
    result = evals_cli(
        "eval", "--resume", run["id"], "--rag-url", "http://127.0.0.1:9", "--runs-dir", tmp_path / "runs"
    )
    assert result.code == 2
    assert golden_server in result.err


def test_resume_computes_the_metrics_of_the_run(ask: Cli, evals_cli: Cli, golden_server: str, tmp_path: Path) -> None:
    """Metrics that replaced the suite replace it after a resume too."""
    run = ask("--rag-url", golden_server, "--metrics", "mrr,latency_p50", "--json").json
    again = evals_cli("eval", "--resume", run["id"], "--runs-dir", tmp_path / "runs", "--json").json
    assert [m["name"] for m in again["scorecard"]["metrics"]] == ["mrr", "latency_p50"]


def test_the_url_of_a_profile_is_used(evals_cli: Cli, golden_server: str, tmp_path: Path) -> None:
    """A profile that names its server needs no --rag-url."""
    profile = tmp_path / "mine.yml"
    mine = {
        "url": golden_server,
        "ask": {"path": "/query", "json": {"query": "{{question}}"}},
        "map": {"answer": "answer"},
    }
    profile.write_text(json.dumps(mine))
    flags = ("--no-judge", "--datasets", "golden", "--samples", 3, "--runs-dir", tmp_path / "runs", "--json")
    run = evals_cli("eval", "--profile", profile, *flags).json
    assert run["server"]["url"] == golden_server
    assert run["outcomes"]["answered"] == 3


@pytest.mark.parametrize(
    "arguments",
    [
        ["--embedded", "--rag-url", "http://127.0.0.1:9"],
        ["--rag-url", ""],
        ["--suite", ""],
        ["--dataset-file", "questions.jsonl"],
    ],
)
def test_flags_of_which_one_would_be_ignored_end_with_2(ask: Cli, arguments: list[str]) -> None:
    """Nothing that was given is dropped in silence (the dataset file beside --datasets, for one)."""
    assert ask(*arguments).code == 2


def test_a_configuration_that_never_sends_the_question_ends_with_2(ask: Cli, tmp_path: Path) -> None:
    """A body without {{question}} is a mistake, not an evaluation."""
    path = tmp_path / "config.yml"
    path.write_text("server: {ask: {json: {query: hello}}}\n")
    result = ask("--config", path)
    assert result.code == 2
    assert "{{question}}" in result.err


def test_a_server_that_answers_nothing_has_no_score(ask: Cli, start_server: Callable[..., str], tmp_path: Path) -> None:
    """Timeouts have a latency, which must not become a weighted score."""
    url = start_server("--corpus", "golden", "--misbehave", "slow:5")
    ask("--rag-url", url, "--timeout", "0.2", "--concurrency", 2, "--config", one_attempt(tmp_path))
    (run,) = RunStore(tmp_path / "runs").runs()
    assert run.status == "failed"
    assert run.weighted_score.score is None


def one_attempt(folder: Path) -> Path:
    path = folder / "config.yml"
    path.write_text("max_attempts: 1\nwarmup: 0\n")
    return path


def test_a_dead_server_without_a_health_check_ends_with_3(ask: Cli, tmp_path: Path) -> None:
    """Where nothing ever answers, the server is unreachable, health check or not."""
    profile = tmp_path / "mine.yml"
    mine = {"ask": {"path": "/query", "json": {"query": "{{question}}"}}, "map": {"answer": "answer"}}
    profile.write_text(json.dumps(mine))
    url = f"http://127.0.0.1:{free_port()}"
    result = ask("--profile", profile, "--rag-url", url, "--config", one_attempt(tmp_path))
    assert result.code == 3


def test_a_dry_run_as_json_is_json(ask: Cli, golden_server: str) -> None:
    """`--dry-run --json` prints one object, without metrics of a judge that takes no part."""
    plan = ask("--dry-run", "--json", "--rag-url", golden_server).json
    assert plan["questions"] == 12
    assert "faithfulness" not in plan["metrics"]


def test_a_dry_run_says_that_the_run_would_want_a_key(evals_cli: Cli, tmp_path: Path) -> None:
    """A plan costs no key; who reads it learns now what the run would say, and the ways out."""
    plan = ("eval", "--datasets", "golden", "--samples", 2, "--runs-dir", tmp_path / "runs", "--dry-run")
    result = evals_cli(*plan)
    said = " ".join(result.out.split())
    assert result.code == 0
    assert "the run would refuse to begin" in said
    assert "ANTHROPIC_API_KEY is not set" in said
    assert "export ANTHROPIC_API_KEY=…" in said
    assert "--no-judge" in said
    assert evals_cli(*plan[:-1]).err.startswith(f"error: {evals_cli(*plan, '--json').json['refusal']['message']}")


def test_a_dry_run_is_silent_of_keys_that_are_there_or_not_needed(
    evals_cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a key, and with a run that no judge takes part in."""
    plan = ("eval", "--datasets", "golden", "--samples", 2, "--runs-dir", tmp_path / "runs", "--dry-run", "--json")
    assert evals_cli(*plan, "--no-judge").json["refusal"] is None
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-never-sent")
    assert evals_cli(*plan).json["refusal"] is None


def test_a_path_that_finds_no_chunks_is_told_at_once_and_in_the_run(
    ask: Cli, golden_server: str, tmp_path: Path
) -> None:
    """After the warm-up and in a note, with the keys of the body; a server may send none, so the run goes on."""
    config = tmp_path / "wrong.yml"
    config.write_text("server: {map: {chunks: 'sourcs[].{text: full_text}'}}\n", encoding="utf-8")
    result = ask("--rag-url", golden_server, "--config", config, "--json")
    assert result.code == 0, result.err
    said = "server.map.chunks found nothing in"
    notes = [note for note in result.json["notes"] if "chunks" in note]
    assert len(notes) == 1
    assert notes[0].startswith(f"{said} 12 of 12 answers, so retrieval is not measured: nothing is at `sourcs[]")
    assert "sources[] (" in notes[0]
    shown = ask("--rag-url", golden_server, "--config", config)
    order = " ".join(shown.err.split())
    assert order.index(f"! {said} 1 of 1 answer") < order.index("asking 12 questions")
