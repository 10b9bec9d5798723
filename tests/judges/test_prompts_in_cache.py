"""The prompts as they are, against an API that keeps no prefix below the least one and none before the first reply."""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from evals.judges.backends.base import least_characters
from evals.judges.prompt import load_prompt

from evals.config import EvalConfig
from evals.run.saved import rescore
from evals.runner import run_evaluation
from evals.schemas import EvalRun, JudgeVerdict
from evals.store.runs import RunStore

PROMPTS = sorted(path.name.removesuffix(".yml") for path in files("evals.judges").joinpath("prompts").iterdir())
NOT_TOGETHER = ("abstention", "direct_relevance", "generated_questions")
"""One of them stands in for another, or is asked about unanswerable questions."""

Judged = tuple[list[JudgeVerdict], list[dict[str, Any]]]


@pytest.fixture
def judged(
    golden_server: str, start_messages_api: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[[str], Judged]:
    """Judge golden answers by all suites: the verdicts that were paid for, and the requests that were received."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-test-fine")
    api = start_messages_api("--delay", "0.02")
    api.script({"then": {"python": "judge"}})
    base = {"datasets": ["golden"], "samples_per_dataset": 8, "rag_server_url": golden_server, "runs_dir": tmp_path}
    answered = run_evaluation(EvalConfig(**base, judge={"enabled": False}))

    def run(model: str) -> Judged:
        config = EvalConfig(**base, suite=["all"], judge={"base_url": api.url, "model": model})
        return paid(asyncio.run(rescore(answered, config))), api.log()

    return run


def paid(run: EvalRun) -> list[JudgeVerdict]:
    found = RunStore(run.eval_config["runs_dir"]).records(run)
    return [verdict for record in found for verdict in record.verdicts if verdict.usage is not None]


def reading(verdict: JudgeVerdict) -> bool:
    return verdict.usage is not None and verdict.usage.cache_read_tokens > 0


def kept_beginnings(body: dict[str, Any]) -> Iterator[tuple[str, ...]]:
    """What stands before each mark of a request, with what else tells one prefix from another."""
    content = body["messages"][0]["content"]
    blocks = [*body["system"], *(content if isinstance(content, list) else [])]
    form = str(body["output_config"])
    for end, block in enumerate(blocks, start=1):
        if "cache_control" in block:
            yield (body["model"], form, *(block["text"] for block in blocks[:end]))


@pytest.mark.slow
@pytest.mark.parametrize("model", ["claude-haiku-5-5", "claude-sonnet-5-5"])
def test_every_prompt_that_reaches_the_least_prefix_is_read_from_its_second_call(
    judged: Callable[[str], Judged], model: str
) -> None:
    """One call of each writes it; a prompt that does not reach it is marked only where the data makes it long enough.

    No call goes before the first one with its prefix is answered.
    """
    found, log = judged(model)
    calls = Counter(v.prompt_hash for v in found)
    lengths = {load_prompt(name).hash: len(load_prompt(name).system) for name in PROMPTS}
    assert len(calls) >= len(PROMPTS) - len(NOT_TOGETHER)
    reaching = {key for key in calls if lengths[key] >= least_characters(model)}
    unread = Counter(v.prompt_hash for v in found if not reading(v))
    assert {key: unread[key] for key in reaching} == dict.fromkeys(reaching, 1)
    answered: dict[tuple[str, ...], float] = {}
    shared = 0
    for entry in log:
        for beginning in kept_beginnings(entry["body"]):
            shared += beginning in answered
            assert answered.setdefault(beginning, 0.0) <= entry["time"]
            answered[beginning] = answered[beginning] or entry["time"] + entry["seconds"]
    assert shared >= 3
