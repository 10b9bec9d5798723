"""Whole runs that an imitation of the Chat Completions API judges."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evals.cli import app
from evals.cli.terminal import run as run_app
from evals.config import EvalConfig
from evals.runner import run_evaluation
from evals.schemas import EvalRun

GENERATION = ("faithfulness", "answer_correctness", "answer_relevancy")
JUDGE = {"then": {"judge": True}}


@pytest.fixture
def judged(golden_server: str, chat_api: Any, tmp_path: Path) -> Callable[..., EvalRun]:
    """Evaluate a few golden questions with a judge that needs no key."""
    chat_api.behaviour = type(chat_api.behaviour)(needs_key=False, models="qwen")
    chat_api.script(JUDGE)

    def run(**judge: Any) -> EvalRun:
        return run_evaluation(
            EvalConfig(
                datasets=["golden"],
                samples_per_dataset=8,
                rag_server_url=golden_server,  # type: ignore[call-arg]
                runs_dir=tmp_path / "runs",
                judge={"model": "openai:qwen3:8b", "base_url": chat_api.url, **judge},  # type: ignore[arg-type]
            )
        )

    return run


def values(run: EvalRun) -> list[float | None]:
    return [summary.value for name in GENERATION if (summary := run.scorecard.get(name)) is not None]


def test_a_local_model_judges_a_run_without_a_key(judged: Callable[..., EvalRun], chat_api: Any) -> None:
    """Every generation metric has a value, and the run tells who judged, without a price that nobody knows."""
    run = judged()
    assert run.status == "complete"
    assert len(values(run)) == 3
    assert None not in values(run)
    assert run.judge is not None
    assert (run.judge.model, run.judge.origin) == ("qwen3:8b", chat_api.url.removesuffix("/v1"))
    assert run.judge.calls == len(chat_api.log)
    assert run.judge.usage.cache_read_tokens > 0
    assert run.judge.cost_usd is None
    assert run.eval_config["judge"]["provider"] == "openai"
    assert "openai" in run.package_versions


def test_a_server_without_schemas_judges_the_same(judged: Callable[..., EvalRun], chat_api: Any) -> None:
    """Calls in flight find out together, and none of them is lost."""
    first = judged(cache=False)
    chat_api.behaviour = type(chat_api.behaviour)(
        needs_key=False, models="qwen", takes_schema=False, limit="max_tokens", plain_errors=True
    )
    second = judged(cache=False)
    assert values(second) == values(first)
    assert second.outcomes.judge == {}


def test_the_command_line_chooses_provider_and_address(
    chat_api: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """`--judge-model openai:NAME --judge-base-url URL` is all that a local judge needs; rescoring takes them too."""
    chat_api.script(JUDGE)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-fine")

    def evals(*arguments: object) -> Any:
        monkeypatch.setattr("sys.argv", ["evals", *map(str, arguments), "--runs-dir", str(tmp_path / "r"), "--json"])
        capsys.readouterr()
        assert run_app(app) == 0
        return json.loads(capsys.readouterr().out)

    judge = ("--judge-model", "openai:gpt-5.4-mini", "--judge-base-url", chat_api.url)
    found = evals("eval", "--embedded", "--samples", 4, *judge)
    assert (found["judge"]["model"], found["judge"]["calls"]) == ("gpt-5.4-mini", len(chat_api.log))
    assert chat_api.log[0]["headers"]["authorization"] == "Bearer sk-test-fine"
    assert "sk-test-fine" not in json.dumps(found)
    again = evals("rescore", found["id"], "--judge-model", "gpt-5.4-nano")
    assert (again["judge"]["model"], again["judge"]["origin"]) == ("gpt-5.4-nano", found["judge"]["origin"])
