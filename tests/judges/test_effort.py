"""How hard the judge is told to think: what is sent, what it is saved under, and what is told of it."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from chat_api.server import ChatApi
from evals.judges.backends.anthropic import AnthropicBackend
from evals.judges.backends.base import Backend, Call, Identity
from evals.judges.backends.openai import OpenAIBackend

from evals.cli.flags import CalibrateFlags, EvalFlags, RescoreFlags, ScoreFlags
from evals.cli.measuring import config_layers, overrides
from evals.config import EvalConfig
from evals.errors import ConfigError
from evals.judges.cache import JudgeCache
from evals.judges.money import of_judge
from evals.judges.record import tally_of
from evals.run.checks import make_judge
from evals.schemas import JudgeVerdict
from evals.schemas.verdicts import JudgeRecord

SCHEMA = {
    "type": "object",
    "additionalProperties": False,
    "required": ["verdict"],
    "properties": {"verdict": {"type": "string"}},
}
CALL = Call(system="You are a judge.", content='{"answer": "yes"}', schema=SCHEMA, max_tokens=3000)
PLAIN = Identity("m", "http://judge", "anthropic")


def ask(backend: Backend) -> None:
    async def once() -> None:
        try:
            await backend.complete(CALL)
        finally:
            await backend.aclose()

    asyncio.run(once())


@pytest.mark.parametrize("effort", [None, "low", "max"])
def test_claude_is_told_the_effort(messages_api: Any, effort: str | None) -> None:
    """Beside the form of the reply; without one nothing is sent, so that the model's own default holds."""
    ask(AnthropicBackend("claude-sonnet-5-5", api_key="sk-test", base_url=messages_api.url, effort=effort))
    assert messages_api.log()[0]["body"]["output_config"].get("effort") == effort


@pytest.mark.parametrize("effort", [None, "minimal"])
def test_a_chat_api_is_told_the_effort(chat_api: ChatApi, effort: str | None) -> None:
    """By the name that it has there."""
    ask(OpenAIBackend("gpt-5.4-mini", base_url=chat_api.url, api_key="sk-test", effort=effort))
    assert chat_api.bodies()[0].get("reasoning_effort") == effort


def test_an_effort_that_the_provider_does_not_know_is_refused() -> None:
    """Before anything is paid for, with those that there are."""
    with pytest.raises(ConfigError, match="openai takes none, minimal, low, medium, high, xhigh"):
        EvalConfig.build({"judge": {"model": "openai:gpt-5.4", "effort": "max"}})
    assert EvalConfig.build({"judge": {"effort": "max"}}).judge.effort == "max"


def test_another_effort_is_another_question() -> None:
    """The key of a reply without an effort is what it was before there were any."""
    keys = {JudgeCache.key(Identity("m", "http://judge", "anthropic", effort), CALL, 0) for effort in ("low", "high")}
    assert len(keys | {JudgeCache.key(PLAIN, CALL, 0)}) == 3
    assert JudgeCache.key(PLAIN, CALL, 0) == "75ee50726ddc46e284091c7ec808545c21f535dee8266a1165325e110a48a9a8"


def test_the_judge_of_a_run_says_its_effort(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In its record, and verdicts without a key count as its own only where the effort was the same."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-test")
    config = EvalConfig.build({"judge": {"effort": "low"}, "runs_dir": str(tmp_path)})
    judge = make_judge(config).identity
    assert judge == config.judge.identity
    assert tally_of({}).record(judge, 1, prevented=0).effort == "low"
    keyless = [JudgeVerdict(request="r", reply={})]
    for effort, taken in (("low", keyless), (None, [])):
        before = JudgeRecord(model=judge.model, origin=judge.origin, effort=effort)
        assert of_judge(keyless, before, judge) == taken


@pytest.mark.parametrize("flags", [EvalFlags, RescoreFlags, ScoreFlags, CalibrateFlags])
def test_the_flag_sets_the_effort_wherever_a_judge_is_named(
    flags: type[EvalFlags | RescoreFlags | ScoreFlags | CalibrateFlags],
) -> None:
    """And wants a judge, as the flag of its model does."""
    assert overrides(flags(judge_effort="low"))["judge"] == {"effort": "low", "enabled": True}


def test_the_flag_goes_before_the_file_and_is_checked_against_its_provider(tmp_path: Path) -> None:
    """`minimal` is an effort of openai, which the file names; `max` is none."""
    file = tmp_path / "c.yml"
    file.write_text("judge: {model: 'openai:gpt-5.4', effort: high}\n")
    layered = EvalConfig.build(*config_layers(EvalFlags(config=file, judge_effort="minimal")))
    assert (layered.judge.provider, layered.judge.effort) == ("openai", "minimal")
    with pytest.raises(ConfigError, match="no such effort: max"):
        EvalConfig.build(*config_layers(EvalFlags(config=file, judge_effort="max")))


def test_a_wrong_effort_ends_the_command_before_anything_is_asked(evals_cli: Any, tmp_path: Path) -> None:
    """With the ones that there are."""
    done = evals_cli("eval", "--datasets", "golden", "--judge-effort", "hard", "--dry-run", "--runs-dir", tmp_path)
    assert done.code == 2
    assert "no such effort: hard (anthropic takes low, medium, high, xhigh, max)" in done.err
