"""Going on with a saved run, by the Python API."""

import asyncio
import json
import re
from collections.abc import Callable
from http import HTTPStatus
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from other_servers import loopback

from evals.config import EvalConfig
from evals.errors import ConfigError
from evals.run.resume import check_resumable, resumed_config
from evals.runner import EvaluationRunner
from evals.schemas import EvalRun, ServerRecord

URL = "http://127.0.0.1:9"
Start = Callable[..., str]


def configure(runs: Path | str = "runs", **keys: Any) -> EvalConfig:
    base = {"rag_server_url": URL, "datasets": ["golden"], "samples_per_dataset": 12, "metrics": ["mrr"]}
    return EvalConfig.build({**base, "judge": False, "runs_dir": str(runs), **keys})


def run_with(config: EvalConfig, resume: str | None = None) -> EvalRun:
    return asyncio.run(EvaluationRunner(config, resume=resume).run())


@pytest.fixture
def saved(build_run: Callable[..., Any]) -> Callable[..., EvalRun]:
    """A saved run of a configuration, at `URL`."""

    def make(config: EvalConfig, *, masked: list[str] | None = None, **changes: Any) -> EvalRun:
        server = ServerRecord(url=URL, profile="rag-server", masked=masked)
        run: EvalRun = build_run("a1", {"q1": {"mrr": 1.0}}, eval_config=config.as_written(), server=server, **changes)[
            0
        ]
        return run

    return make


@pytest.fixture
def partial(start_server: Start, tmp_path: Path) -> EvalRun:
    """A run of which every third question failed, asked four at a time."""
    url = start_server("--corpus", "golden", "--misbehave", "every:3:status:404")
    return run_with(configure(tmp_path, rag_server_url=url, max_error_rate=0.01))


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"metrics": ["mrr", "recall_at_5"]}, "metrics"),
        ({"suite": ["core"]}, "suite"),
        ({"samples_per_dataset": 5}, "samples_per_dataset"),
        ({"match": {"rule": "text"}}, "match.rule"),
        ({"on_error": "worst"}, "on_error"),
        ({"server": {"url": URL, "ask": {"path": "/other"}}}, "server.ask.path"),
        ({"judge": True}, "judge.enabled"),
        ({"embedded": True}, "embedded"),
    ],
)
def test_a_run_does_not_go_on_with_something_else(changed: dict[str, Any], named: str, saved: Any) -> None:
    """What decides what is asked and measured is the same for all questions; the message names what is not."""
    with pytest.raises(ConfigError, match=f"another value of .*{re.escape(named)}"):
        check_resumable(saved(configure()), EvalConfig.build(configure().model_dump(), changed))


def test_what_only_says_how_is_asked_may_change(saved: Any) -> None:
    """Load, patience, money and gates; defaults written in full are no change."""
    changed = {
        "concurrency": 16,
        "rps": 2,
        "runs_dir": "elsewhere",
        "preflight": False,
        "max_error_rate": 0.5,
        "gate": ["mrr>=0.5"],
        "server": {"timeout_s": 3, "profile": "rag-server"},
        "judge": {"max_cost_usd": 3},
        "suite": [],
    }
    config = resumed_config(saved(configure()), changed)
    assert (config.concurrency, config.server["timeout_s"], config.judge.max_cost_usd) == (16, 3, 3)


def test_what_was_said_of_fewer_answers_is_said_anew_of_all(tmp_path: Path) -> None:
    """Two counts of one thing would be one too many."""
    failing = {"Question 10?", "Question 11?"}

    def answer(request: Any) -> dict[str, Any]:
        number = int(re.findall(r"\d+", request.body["question"])[0])
        if request.body["question"] in failing:
            raise loopback.Refusal(HTTPStatus.INTERNAL_SERVER_ERROR, "not now")
        return {"answer": "It is blue.", **({} if number in {0, 1, 10, 11} else {"chunks": [{"text": "It is blue."}]})}

    rows = [{"question": f"Question {n}?", "gold_passages": [{"text": "It is blue."}]} for n in range(12)]
    (tmp_path / "q.json").write_text(json.dumps(rows))
    with loopback.serving({("POST", "/say"): answer}) as url:
        server = {
            "url": url, "profile": "none", "ask": {"path": "/say", "json": {"question": "{{question}}"}},
            "map": {"answer": "answer", "chunks": "chunks"},
        }  # fmt: skip
        keys = {"dataset_file": str(tmp_path / "q.json"), "server": server, "judge": False, "runs_dir": str(tmp_path)}
        config = EvalConfig.build({**keys, "max_attempts": 1, "preflight": False, "warmup": 0})
        first = run_with(config)
        failing.clear()
        last = run_with(config, first.id)
    said = [[note[:12] for note in run.notes if "list of chunks" in note] for run in (first, last)]
    assert said == [["2 of 10 answ"], ["4 of 12 answ"]]


def test_judging_answers_that_failed_is_estimated_too(start_server: Start, judge_api: Any, tmp_path: Path) -> None:
    """They are asked for again, and judged then."""
    url = start_server("--corpus", "golden", "--misbehave", "every:3:status:404")
    judged = {"metrics": ["answer_correctness"], "judge": True, "max_error_rate": 0.01}
    config, observer = configure(tmp_path, rag_server_url=url, **judged), Mock()
    first = run_with(config)
    asyncio.run(EvaluationRunner(config, observer, resume=first.id).run())
    assert observer.estimate.call_args.args[0].calls == sum(first.outcomes.transport.values()) > 0


def test_answers_of_two_servers_do_not_become_one_run(partial: EvalRun, start_server: Start, tmp_path: Path) -> None:
    """The runner refuses another server before it asks it, and leaves the saved run as it is."""
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    other = start_server("--corpus", "golden", "--top-k", "3")
    with pytest.raises(ConfigError, match=re.escape(f"asked {partial.server.url}, not {other}")):
        run_with(configure(tmp_path, rag_server_url=other, max_error_rate=0.01), partial.id)
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_a_server_of_the_environment_is_compared_too(saved: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another RAG_SERVER_URL than when the run began is another server."""
    config = EvalConfig.build({**configure().model_dump(), "server": {}})
    monkeypatch.setenv("RAG_SERVER_URL", f"{URL}/")
    check_resumable(saved(config), config)
    monkeypatch.setenv("RAG_SERVER_URL", "http://127.0.0.1:8")
    with pytest.raises(ConfigError, match=r"127\.0\.0\.1:8"):
        check_resumable(saved(config), config)


def test_a_profile_that_was_edited_does_not_go_on(saved: Any, tmp_path: Path) -> None:
    """The configuration names the same file; half of the answers would be read in another way."""
    profile = tmp_path / "mine.yml"
    profile.write_text("ask: {path: /ask, json: {q: '{{question}}'}}\nmap: {answer: text}\n")
    config = configure(server={"profile": str(profile), "url": URL})
    run = saved(config)
    run = run.model_copy(
        update={"server": run.server.model_copy(update={"spec_sha256": config.server_spec().fingerprint()})}
    )
    check_resumable(run, config)
    profile.write_text(profile.read_text() + "timeout_s: 5\n")
    check_resumable(run, config.model_copy())
    profile.write_text(profile.read_text().replace("answer: text", "answer: other"))
    with pytest.raises(ConfigError, match="is not what it was"):
        check_resumable(run, config.model_copy())


def test_a_credential_in_clear_is_given_again_or_the_run_does_not_go_on(saved: Any) -> None:
    """By the same value or as a variable; the mask itself is never sent."""
    config = configure(server={"url": URL, "headers": {"X-Api-Key": "PLAINKEY999"}})
    run = saved(config, masked=["headers.X-Api-Key"])
    check_resumable(run, config)
    check_resumable(run, configure(server={"url": URL, "headers": {"X-Api-Key": "${PATH}"}}))
    with pytest.raises(ConfigError, match=r"server\.headers\.X-Api-Key"):
        resumed_config(run, {})
    masked = configure(server={"url": URL, "headers": {"X-Mode": "***"}})  # of a run that does not say what is masked
    with pytest.raises(ConfigError, match=r"server\.headers\.X-Mode"):
        check_resumable(saved(masked), masked)
    stars = configure(server={"url": URL, "clean": ["[***]{3}"]})
    check_resumable(saved(stars), stars)


def test_a_run_that_is_resumed_says_at_which_loads_it_was_asked(
    partial: EvalRun, start_server: Start, tmp_path: Path
) -> None:
    """Its concurrency is the greatest, and a note says that latency is of both."""
    assert (partial.concurrency, partial.concurrencies) == (4, [])
    config = configure(tmp_path, rag_server_url=partial.server.url, max_error_rate=0.01, concurrency=2)
    resumed = run_with(config, partial.id)
    assert (resumed.concurrency, resumed.concurrencies) == (4, [4, 2])
    again = run_with(EvalConfig.build(config.model_dump(), {"concurrency": 16}), partial.id)
    assert (again.concurrency, again.concurrencies) == (16, [4, 2, 16])
    notes = [note for note in again.notes if note.startswith("asked at concurrency")]
    assert notes == ["asked at concurrency 4 and 2 and 16: latency is of all these, and does not compare"]
    (file,) = tmp_path.glob("*Z.json")
    assert json.loads(file.read_text())["concurrencies"] == [4, 2, 16]


def test_a_run_that_asked_nothing_itself_does_not_go_on(saved: Any) -> None:
    """A rescored run is measured again from its source, in the folder where that is."""
    config = configure("a b")
    with pytest.raises(ConfigError, match="measured the answers of run ef01") as caught:
        check_resumable(saved(config, rescored_from="ef01"), config)
    assert "`evals rescore ef01 --runs-dir 'a b'`" in (caught.value.hint or "")
