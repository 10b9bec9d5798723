"""Judging in batches from the command line."""

import json
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from servers import PATIENCE_S, heed_signals, wait_until

from evals.store.runs import RunStore

Cli = Callable[..., Any]
JUDGE = {"then": {"python": "judge"}}


@pytest.fixture
def flags(messages_api: Any, golden_server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Of an evaluation of four golden questions that is judged in batches."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-test-fine")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", messages_api.url)
    messages_api.script(JUDGE)
    messages_api.batches(looks=0)
    folder = ["--runs-dir", str(tmp_path / "runs")]
    return ["eval", "--datasets", "golden", "--samples", "4", "--rag-url", golden_server, "--judge-batch", *folder]


def test_a_plan_says_rounds_and_half_the_price(evals_cli: Cli, flags: list[str], messages_api: Any) -> None:
    """And sends nothing."""
    batched = evals_cli(*flags, "--dry-run", "--json").json["estimate"]
    direct = evals_cli(*flags, "--no-judge-batch", "--dry-run", "--json").json["estimate"]
    assert (batched["rounds"], direct["rounds"]) == (2, 0)
    assert batched["calls"] == direct["calls"]
    assert direct["cost_high_usd"] * 0.45 < batched["cost_high_usd"] < direct["cost_high_usd"] * 0.65
    said = evals_cli(*flags, "--dry-run").out
    assert "at half price in 2 rounds of batches" in " ".join(said.split())
    assert messages_api.log() == []


def test_a_run_says_its_rounds_and_its_record_is_like_any_other(evals_cli: Cli, flags: list[str]) -> None:
    """On standard error, with the results on standard output."""
    done = evals_cli(*flags)
    assert "judging, round 1 of about 2: " in done.err
    assert "requests in a batch" in done.err
    assert done.code == 0, done.err


def test_a_run_that_did_not_wait_says_what_is_left_and_how_to_go_on(
    evals_cli: Cli, flags: list[str], messages_api: Any, tmp_path: Path
) -> None:
    """With exit code 4, as any partial run."""
    messages_api.batches(looks=None)
    config = tmp_path / "config.yml"
    config.write_text("judge: {batch_timeout_s: 0.1, batch_poll_s: 0.05}")
    done = evals_cli(*flags, "--config", config)
    told = " ".join(done.err.split())
    assert done.code == 4
    assert "4 requests to the judge are still in a batch" in told
    assert "when the batch has ended, or to wait for it: evals eval --resume" in told


def test_another_provider_is_refused_with_the_way_out(evals_cli: Cli, flags: list[str]) -> None:
    """Before anything is asked."""
    done = evals_cli(*flags, "--judge-model", "openai:gpt-5.4-mini")
    assert done.code == 2
    assert "openai has no batches" in done.err
    assert "--judge-batch" in done.err


def test_labels_are_judged_in_batches_too(evals_cli: Cli, flags: list[str], messages_api: Any, tmp_path: Path) -> None:
    """`calibrate` shares the judging."""
    rows = [
        {"question": f"When does ferry {n} sail?", "expected_answer": f"At {n}.", "answer": f"At {n}.", "label": label}
        for n, label in enumerate(["correct", "correct", "incorrect"])
    ]
    labels = tmp_path / "labels.jsonl"
    labels.write_text("\n".join(map(json.dumps, rows)))
    done = evals_cli("calibrate", labels, "--judge-batch", "--runs-dir", tmp_path / "runs")
    assert done.code == 0, done.err
    assert len(messages_api.batched()) == 3


@pytest.mark.slow
def test_ctrl_c_leaves_the_batch_and_says_how_to_go_on(
    evals_cli: Cli, flags: list[str], messages_api: Any, tmp_path: Path
) -> None:
    """What was sent is not sent again by the run that goes on."""
    messages_api.batches(looks=None)
    child = subprocess.Popen(
        [sys.executable, "-m", "evals.cli", *flags],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=heed_signals,  # noqa: PLW1509
    )
    looked = "/v1/messages/batches/msgbatch_loopback0001"
    wait_until(lambda: any(entry["path"] == looked for entry in messages_api.log()), "a look at the batch")
    child.send_signal(signal.SIGINT)
    _, err = child.communicate(timeout=PATIENCE_S)
    (run,) = RunStore(tmp_path / "runs").runs()
    told = " ".join(err.split())
    assert child.returncode == 130
    assert "Traceback" not in err
    assert "msgbatch_loopback0001: resuming the run takes the replies" in told
    assert f"evals eval --resume {run.id}" in told
    sent = len(messages_api.batched())
    messages_api.batches(looks=0)
    done = evals_cli("eval", "--resume", run.id, "--runs-dir", tmp_path / "runs")
    asked = [each["custom_id"] for each in messages_api.batched()]
    assert done.code == 0, done.err
    assert len(set(asked)) == len(asked) > sent > 0
