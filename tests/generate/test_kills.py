"""SIGKILL at random moments: what was paid for is not paid for again, and no question is lost."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from generate.conftest import RULES
from servers import HOME, PATIENCE_S

from evals.datasets.file import read_file
from evals.datasets.golden import CORPUS
from evals.generate.journal import QuestionJournal

KILLS, NUMBER, CALLS = 4, 20, 60


def start(folder: Path, url: str) -> "subprocess.Popen[bytes]":
    command = ["generate", CORPUS, "-n", NUMBER, "-o", folder / "q.jsonl", "--runs-dir", folder / "runs", "--no-cache"]
    return subprocess.Popen(
        [sys.executable, "-m", "evals.cli", *map(str, command), "--base-url", url, "--concurrency", "4", "--json"],
        cwd=HOME,
        env={**os.environ, "ANTHROPIC_API_KEY": "sk-test-fine"},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )


def journalled_calls(folder: Path) -> int:
    """Calls that the journal knows; opening it cuts off what a kill has torn."""
    with QuestionJournal(folder / "q.jsonl") as journal:
        return journal.spent.calls


@pytest.mark.slow
@pytest.mark.timeout(400)
def test_kills_at_random_moments_cost_no_reply_that_had_arrived(messages_api: Any, tmp_path: Path) -> None:
    """Each request is made once, and once more for each kill at which it was in flight."""
    seed = time.time_ns() % 10**6
    print(f"seed {seed}")
    messages_api.script(RULES)
    moments, lost = sorted(random.Random(seed).sample(range(2, CALLS), KILLS)), 0  # noqa: S311 - no secret
    for moment in moments:
        child = start(tmp_path, messages_api.url)
        deadline = time.monotonic() + PATIENCE_S
        while messages_api.stats()["requests"] < moment and child.poll() is None and time.monotonic() < deadline:
            time.sleep(0.002)
        child.send_signal(signal.SIGKILL)
        child.communicate()
        while messages_api.stats()["in_flight"]:
            time.sleep(0.01)
        requests = messages_api.stats()["requests"]
        lost = requests - journalled_calls(tmp_path)
    child = start(tmp_path, messages_api.url)
    out, _ = child.communicate(timeout=4 * PATIENCE_S)
    assert child.returncode == 0
    sent = Counter(json.dumps(entry["body"], sort_keys=True) for entry in messages_api.log() if entry["body"])
    assert sum(count - 1 for count in sent.values()) <= lost + 8
    assert lost <= 8 * KILLS  # two for each call that may be in flight
    spent = json.loads(out)["spent"]
    unjournalled = messages_api.stats()["requests"] - spent["calls"]
    assert (
        lost <= unjournalled <= lost + 8
    )  # a request may lie in a socket while its process is killed, and be read late
    questions = read_file(tmp_path / "q.jsonl").questions
    assert len(questions) == len({question.question for question in questions}) == NUMBER
