"""What of a call the vendor keeps: where marks stand, who goes first, and what is read instead of written."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from evals.cli.views.run import print_run
from evals.judges.backends.anthropic import message_params
from evals.judges.backends.base import Call, Prefix, kept_prefixes
from evals.judges.prompt import load_prompt
from evals.judges.throttle import PrefixGate
from evals.scoring.conclusion import measured

from evals.cli.terminal import console
from evals.config import EvalConfig
from evals.judges.replies import call_of
from evals.metrics.judged import prompts_asked_twice
from evals.metrics.registry import select
from evals.run.saved import rescore
from evals.runner import run_evaluation
from evals.schemas import EvalRun, JudgeVerdict
from evals.schemas.verdicts import Prompt, VerdictRequest
from evals.store.runs import RunStore

SCHEMA = {"type": "object", "additionalProperties": False, "required": ["v"], "properties": {"v": {"type": "string"}}}
DATA = {"contexts": [{"id": 1, "text": "It lasts 96 hours. " * 300}], "question": "How long?", "claims": ["96 hours"]}
IN_CONTEXTS = VerdictRequest(name="answer_in_contexts", prompt="claims_in_contexts", data=DATA)


def call(system: int, content: int = 30, *shared: int) -> Call:
    return Call("s" * system, "c" * content, SCHEMA, 1000, shared)


def marks(model: str, of: Call) -> list[bool]:
    """Which of the texts that are sent bear a mark, in order."""
    body = message_params(model, of)
    content = body["messages"][0]["content"]
    blocks = [*body["system"], *(content if isinstance(content, list) else [{"text": content}])]
    assert "".join(block["text"] for block in blocks) == of.system + of.content
    return ["cache_control" in block for block in blocks]


@pytest.mark.parametrize(
    ("model", "least"),
    [
        ("claude-sonnet-5-5", 4 * 1024),
        ("claude-haiku-5-5", 4 * 512),
        ("claude-opus-5-5", 4 * 512),
        ("claude-opus-4-7", 5 * 2048),
        ("claude-haiku-4-5-20251001", 5 * 4096),
        ("claude-of-tomorrow", 5 * 4096),
    ],
)
def test_a_mark_stands_where_the_prefix_is_long_enough_for_the_model(model: str, least: int) -> None:
    """By a bound on the characters of a token that holds for certain; a shorter prompt carries none."""
    assert marks(model, call(least)) == [True, False]
    assert marks(model, call(least - 1)) == [False, False]


def test_what_calls_share_of_the_data_is_marked_too() -> None:
    """Also where the instructions alone are too short; the texts sent are the same, cut in other places."""
    assert marks("claude-sonnet-5-5", call(5000, 900, 300)) == [True, True, False]
    assert marks("claude-sonnet-5-5", call(4000, 900, 300, 900)) == [False, True, True]
    assert marks("claude-sonnet-5-5", call(100, 900, 300, 900)) == [False, False]
    assert kept_prefixes("openai", "claude-sonnet-5-5", call(5000)) == []


def test_the_contexts_of_a_question_are_shared_where_they_are_asked_about_twice() -> None:
    """All data but the claims; writing them for a single call would cost a quarter more. Repeats share all."""
    twice = prompts_asked_twice(select([], ["claim_recall", "ragas_faithfulness"]))
    assert twice == {"claims_in_contexts"}
    assert prompts_asked_twice(select([], ["ragas_faithfulness", "faithfulness"])) == frozenset()
    sent = call_of(IN_CONTEXTS, shared=twice)
    (end,) = sent.shared
    assert sent.content[end:] == ', "claims": ["96 hours"]}'
    assert call_of(IN_CONTEXTS).shared == ()
    assert call_of(IN_CONTEXTS, repeats=2, shared=twice).shared == (end, len(sent.content))
    assert call_of(IN_CONTEXTS.model_copy(update={"once": True}), repeats=2).shared == ()


@pytest.fixture
def judged(
    golden_server: str,
    start_messages_api: Callable[..., Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Callable[..., EvalRun]:
    """Judge golden answers that are all there, with instructions as long as rubrics with examples are."""

    def longer(name: str) -> Prompt:
        prompt = load_prompt(name)
        return replace(prompt, system=prompt.system + "An example of what is meant. " * 150)

    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-test-fine")
    monkeypatch.setattr("evals.judges.replies.load_prompt", longer)
    api = start_messages_api("--delay", "0.02")
    api.script({"then": {"python": "judge"}})
    base = {"datasets": ["golden"], "samples_per_dataset": 12, "rag_server_url": golden_server, "runs_dir": tmp_path}
    answered = run_evaluation(EvalConfig(**base, judge={"enabled": False}))

    def run(suite: str, **judge: Any) -> EvalRun:
        config = EvalConfig(**base, suite=[suite], judge={"base_url": api.url, **judge})
        return asyncio.run(rescore(answered, config))

    return run


def verdicts(run: EvalRun) -> list[JudgeVerdict]:
    found = RunStore(run.eval_config["runs_dir"]).records(run)
    return [verdict for record in found for verdict in record.verdicts if verdict.usage is not None]


def about_contexts(run: EvalRun) -> list[list[JudgeVerdict]]:
    """For each question whose contexts are asked about more than once: the verdicts, in the order of their arrival."""
    found = RunStore(run.eval_config["runs_dir"]).records(run)
    each = ([v for v in record.verdicts if v.request.endswith("_in_contexts")] for record in found)
    return [verdicts for verdicts in each if len(verdicts) > 1]


def test_the_second_call_on_the_same_contexts_reads_them(judged: Callable[..., EvalRun]) -> None:
    """What the other claims of a question are checked against is written once; the data that is sent is whole."""
    found = about_contexts(judged("claims"))
    assert len(found) >= 4
    for first, *later in found:
        assert first.usage is not None
        assert all(v.usage and v.usage.cache_read_tokens > first.usage.cache_read_tokens + 200 for v in later)
    assert all(v.failure is None for verdicts in found for v in verdicts)


def test_repeats_read_all_that_was_written(judged: Callable[..., EvalRun], capsys: pytest.CaptureFixture[str]) -> None:
    """A quarter more once, and a tenth each other time; the run shows how much was read."""
    run = judged("core", repeats=3, cache=False)
    assert run.judge is not None
    usage = run.judge.usage
    print_run(console(), measured(run, run.records()), None, every=True)
    assert f"({usage.cache_read_tokens:,} from the vendor's cache)" in " ".join(capsys.readouterr().out.split())
    assert usage.cache_read_tokens > 1.9 * usage.cache_write_tokens
    assert usage.input_tokens - usage.cache_read_tokens - usage.cache_write_tokens < 0.01 * usage.input_tokens
    assert all(v.failure is None for v in verdicts(run))


def gated(work: Callable[[PrefixGate], Any], clock: Callable[[], float] = lambda: 0.0) -> Any:
    return asyncio.run(work(PrefixGate(clock)))


def prefixes(*keys: str) -> list[Prefix]:
    return [Prefix(key, 5000) for key in keys]


def test_only_the_fellows_of_the_first_call_wait() -> None:
    """Calls with another prefix, and those without, go on meanwhile; all fellows go together once it is answered."""
    went: list[str] = []

    async def work(gate: PrefixGate) -> None:
        answered = asyncio.Event()

        async def make(name: str, keys: Sequence[str], until: asyncio.Event | None = None) -> None:
            async with gate.turn(prefixes(*keys)):
                went.append(name)
                if until is not None:
                    await until.wait()

        first = asyncio.create_task(make("first", "a", answered))
        later = {"f1": "a", "f2": "ab", "o": "b", "n": ""}
        others = [asyncio.create_task(make(name, keys)) for name, keys in later.items()]
        await asyncio.sleep(0.01)
        assert went == ["first", "o", "n"]
        answered.set()
        await asyncio.gather(first, *others)

    gated(work)
    assert sorted(went[3:]) == ["f1", "f2"]


def test_where_the_first_call_fails_the_next_is_the_first() -> None:
    """So that nobody waits for ever, and still only one writes."""
    went: list[int] = []

    async def work(gate: PrefixGate) -> None:
        async def make(number: int) -> None:
            async with gate.turn(prefixes("a")):
                went.append(number)
                await asyncio.sleep(0)
                if number < 2:
                    raise ConnectionError

        tasks = [asyncio.create_task(make(number)) for number in range(5)]
        await asyncio.sleep(0)
        assert went == [0]
        await asyncio.gather(*tasks, return_exceptions=True)

    gated(work)
    assert went == [0, 1, 2, 3, 4]


def test_a_call_that_is_cut_off_holds_up_nobody() -> None:
    """A cancelled first call lets the next one go."""

    async def work(gate: PrefixGate) -> bool:
        async def make(seconds: float) -> bool:
            async with gate.turn(prefixes("a", "ab")):
                await asyncio.sleep(seconds)
            return True

        first = asyncio.create_task(make(60))
        second = asyncio.create_task(make(0))
        await asyncio.sleep(0)
        first.cancel()
        return await asyncio.wait_for(second, 5)

    assert gated(work)


def test_a_prefix_that_was_not_used_for_long_is_written_anew() -> None:
    """The vendor keeps it for five minutes after its last use; nobody waits before that."""
    now, together = [0.0], [0]

    async def work(gate: PrefixGate) -> None:
        async def make() -> None:
            async with gate.turn(prefixes("a")):
                together[-1] += 1
                await asyncio.sleep(0)

        for seconds in (0, 200, 200, 600):
            now[0] += seconds
            together.append(0)
            tasks = [asyncio.create_task(make()) for _ in range(3)]
            await asyncio.sleep(0)
            together.append(0)
            await asyncio.gather(*tasks)

    gated(work, lambda: now[0])
    assert together[1::2] == [1, 3, 3, 1]
