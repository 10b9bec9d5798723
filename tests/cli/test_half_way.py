"""What happens to a run half-way: an expired token, a full disk, a folder that somebody deletes."""

import json
import resource
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from http import HTTPStatus
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from other_servers import loopback

from evals.schemas import EvalRun
from evals.store.runs import RunStore

Cli = Callable[..., Any]
Event = Callable[[int], None]
COUNT = 8


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    return tmp_path / "runs"


@pytest.fixture
def ask(evals_cli: Cli, tmp_path: Path, runs: Path) -> Iterator[Callable[[Event], Any]]:
    """Ask eight questions, one at a time, of a server that does something at each, before it answers."""
    with ExitStack() as running:

        def call(event: Event) -> Any:
            numbers = count(1)

            def answer(_: object) -> dict[str, Any]:
                event(next(numbers))
                return {"answer": "It is four francs."}

            url = running.enter_context(loopback.serving({("POST", "/ask"): answer}))
            questions, config = tmp_path / "questions.jsonl", tmp_path / "config.json"
            rows = ({"id": f"q{n}", "question": f"Fee {n}?", "expected_answer": "Four"} for n in range(COUNT))
            questions.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
            asked = {"path": "/ask", "json": {"q": "{{question}}"}}
            server = {"url": url, "profile": "none", "ask": asked, "map": {"answer": "answer"}}
            config.write_text(json.dumps({"server": server, "warmup": 0, "preflight": False, "metrics": ["squad_f1"]}))
            flags = ("--dataset-file", questions, "--no-judge", "--runs-dir", runs, "--concurrency", 1)
            return evals_cli("eval", "--config", config, *flags)

        yield call


def only_run(runs: Path) -> EvalRun:
    (run,) = RunStore(runs).runs()
    return run


def answered(runs: Path) -> int:
    return sum(record.response is not None and record.response.error is None for record in only_run(runs).records())


def resumed(evals_cli: Cli, runs: Path) -> None:
    """Continue the run; afterwards it has all answers."""
    assert evals_cli("eval", "--resume", only_run(runs).id, "--runs-dir", runs).code == 0
    assert (only_run(runs).status, answered(runs)) == ("complete", COUNT)


def again(runs: Path) -> str:
    return f"evals eval --resume {only_run(runs).id} --runs-dir {runs}"


@pytest.mark.parametrize("status", [HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN])
def test_an_expired_token_half_way_advises_to_go_on(ask: Cli, evals_cli: Cli, runs: Path, status: HTTPStatus) -> None:
    """With a new token the answers that are there are kept: nobody is told to begin a new run."""
    expired = [True]

    def expire(number: int) -> None:
        if number > 3 and expired[0]:
            raise loopback.Refusal(status, "the token has expired")

    result = ask(expire)
    assert (result.code, f"then continue with: {again(runs)}" in result.err) == (4, True)
    assert "new run" not in result.err
    assert answered(runs) == 3
    expired[0] = False
    resumed(evals_cli, runs)


def test_a_full_disk_gives_the_command_that_goes_on(ask: Cli, evals_cli: Cli, runs: Path) -> None:
    """It can be copied as it stands, and what was answered before is whole."""
    old = resource.getrlimit(resource.RLIMIT_FSIZE)

    def fill(number: int) -> None:
        if number == 4:
            (log,) = runs.glob("*.records.jsonl")
            resource.setrlimit(resource.RLIMIT_FSIZE, (log.stat().st_size + 10, old[1]))

    try:
        result = ask(fill)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, old)
    assert result.code == 4
    assert again(runs) in result.err
    assert answered(runs) == 3
    resumed(evals_cli, runs)


@pytest.mark.parametrize("number", [1, 4, COUNT])
def test_a_deleted_folder_is_noticed_and_no_answer_is_lost(ask: Cli, evals_cli: Cli, runs: Path, number: int) -> None:
    """The message says that it was deleted, and where the answers are; the run goes on from them."""
    result = ask(lambda now: shutil.rmtree(runs) if now == number else None)
    (log,) = runs.glob("*.records.jsonl")
    assert (result.code, f"{log} was deleted during the run" in result.err) == (4, True)
    assert again(runs) in result.err
    assert answered(runs) == number
    resumed(evals_cli, runs)
