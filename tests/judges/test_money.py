"""What calls cost, what is known of it, and what a run says of its judge."""

import asyncio
import json
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from evals.judges.backends.base import BackendError, Call, Identity, JudgeReply
from judges import test_llm_judge
from judges.test_llm_judge import ASKED, Scripted, decide_all

from evals.cli.flags import EvalFlags
from evals.cli.measuring import overrides
from evals.judges.cache import JudgeCache, StoredReply
from evals.judges.llm_judge import LLMJudge
from evals.judges.record import tally_of
from evals.judges.replies import call_of
from evals.schemas import JudgeVerdict
from evals.schemas.verdicts import JudgeUsage, VerdictRequest

RIGHT = {"justification": "same", "quote": "", "verdict": "correct", "injection_suspected": False}
USAGE = JudgeUsage(input_tokens=60_000, output_tokens=10)
JUDGE = Identity("judge-1", "http://judge", "anthropic")
says = partial(test_llm_judge.says, usage=USAGE, model=JUDGE.model)


def tiered(_model: str, usage: JudgeUsage) -> float:
    """A dollar for a million tokens, five in a request of more than 100,000."""
    return usage.input_tokens * (5 if usage.input_tokens > 100_000 else 1) / 1e6


def decide(backend: Scripted, requests: Sequence[VerdictRequest] = (ASKED,), **options: Any) -> list[JudgeVerdict]:
    return decide_all(backend, requests, **{"provider": JUDGE.provider, "price": tiered, **options})


def test_each_call_has_a_price_of_its_own() -> None:
    """Two small requests do not cost what a big one costs."""
    (verdict,) = decide(Scripted(says("hm"), says(RIGHT)))
    assert verdict.usage == USAGE + USAGE
    assert verdict.cost_usd == pytest.approx(0.12)


@pytest.mark.parametrize("counted", [0, 1])
def test_a_reply_that_tells_no_tokens_hides_none_of_the_others(counted: int) -> None:
    """What is known is summed up, and it is said of how many calls it is not."""
    usages = [USAGE if n == counted else None for n in range(2)]
    (verdict,) = decide(Scripted(says("hm", usage=usages[0]), says(RIGHT, usage=usages[1])))
    assert (verdict.usage, verdict.cost_usd, verdict.unpriced) == (USAGE, 0.06, 1)
    record = tally_of({"q": [verdict]}).record(JUDGE, 1, prevented=0)
    assert (record.calls, record.cost_usd, record.unpriced) == (2, 0.06, 1)
    assert tally_of({"q": [verdict]}).notes(JUDGE, prevented=0) == [
        "the judge's cost is a lower bound: that of 1 of 2 calls is not known"
    ]


def test_a_call_that_may_have_been_paid_for_is_not_free() -> None:
    """A torn reply counts among the calls of unknown cost, one that was refused does not."""

    class Failing(Scripted):
        async def complete(self, call: Call) -> JudgeReply:
            said = await super().complete(call)
            if len(self.calls) < 3:
                raise BackendError("torn", retryable=True, unanswered=len(self.calls) == 1)
            return said

    (verdict,) = decide(Failing(says(RIGHT)))
    assert (verdict.attempts, verdict.cost_usd, verdict.unpriced) == (3, 0.06, 1)


def test_a_cost_of_which_nothing_is_known_is_none() -> None:
    """Not 0, and there is no bound to speak of."""
    (verdict,) = decide(Scripted(says(RIGHT, usage=None)))
    record = tally_of({"q": [verdict]}).record(JUDGE, 1, prevented=0)
    assert (verdict.cost_usd, record.cost_usd, record.unpriced) == (None, None, 1)
    assert tally_of({"q": [verdict]}).notes(JUDGE, prevented=0) == []


def test_what_was_spent_before_counts_with_what_replaced_it() -> None:
    """A verdict of former versions, which says less of itself, counts too."""
    old = JudgeVerdict(request="r", failure="unparsable", attempts=2, usage=USAGE, cost_usd=0.5)
    new = JudgeVerdict(request="r", reply={}, attempts=0, cost_usd=0.0, cached=True, earlier=old.spent)
    unknown = JudgeVerdict(request="s", reply={}, attempts=1, usage=USAGE)
    record = tally_of({"q": [new, unknown]}).record(JUDGE, 1, prevented=0)
    assert (record.calls, record.cached, record.cost_usd, record.unpriced) == (3, 1, 0.5, 1)
    assert record.usage == USAGE + USAGE


def test_a_budget_that_cannot_be_counted_is_told_at_once() -> None:
    """When the first reply without tokens is there, not at the end."""
    heard: list[int] = []
    backend = Scripted(says(RIGHT, usage=None))

    async def run() -> list[str]:
        judge = LLMJudge(backend, max_cost_usd=1.0, price=tiered, concurrency=1, repeats=5)
        judge.on_remark = lambda _remark: heard.append(len(backend.calls))
        await judge.decide(ASKED)
        return judge.remarks

    assert ["judge.max_cost_usd" in remark for remark in asyncio.run(run())] == [True]
    assert heard == [1]


def test_the_same_request_at_the_same_time_is_paid_for_once() -> None:
    """About two questions with the same answer; the second one has it for nothing."""
    backend = Scripted(says(RIGHT))
    verdicts = decide(backend, [ASKED] * 3)
    assert len(backend.calls) == 1
    assert [(v.reply, v.attempts, v.cached, v.cost_usd) for v in verdicts] == [
        (RIGHT, 1, False, 0.06), (RIGHT, 0, True, 0.0), (RIGHT, 0, True, 0.0),
    ]  # fmt: skip


def test_a_failure_is_not_shared() -> None:
    """The next one asks for itself."""
    backend = Scripted(says("hm"), says("hm"), says(RIGHT))
    verdicts = decide(backend, [ASKED] * 2)
    assert [verdict.failure for verdict in verdicts] == ["unparsable", None]
    assert len(backend.calls) == 3


def test_only_decisions_with_two_verdicts_can_flip() -> None:
    """Those that were asked for once, or failed but for one, say nothing of it."""

    def verdict(request: str, repeat: int, said: str | None) -> JudgeVerdict:
        return JudgeVerdict(request=request, repeat=repeat, reply={"verdict": said} if said else None)

    verdicts = {
        "q": [verdict("a", 0, "yes"), verdict("a", 1, "no"), verdict("b", 0, "yes"), verdict("b", 1, None)],
        "r": [JudgeVerdict(request="claims", reply={"claims": []}), verdict("a", 0, "yes"), verdict("a", 1, "yes")],
    }
    assert tally_of(verdicts).record(JUDGE, 2, prevented=0).flip_rate == 0.5
    assert tally_of(verdicts).record(JUDGE, 1, prevented=0).flip_rate is None


@pytest.mark.parametrize(
    ("asked", "named", "told"),
    [
        ("judge-1", "judge-2", True),
        ("judge-1", "judge-10", True),
        ("judge-1", "judge-1", False),
        ("judge-1", "judge-1-20261001", False),
        ("gpt-4o", "gpt-4o-2024-08-06", False),
        ("judge-1", None, False),
    ],
)
def test_another_model_than_the_one_asked_is_named(asked: str, named: str | None, told: bool) -> None:
    """A date behind the name is no other model."""
    verdicts = {"q": [JudgeVerdict(request="r", reply={}, model=named, cost_usd=0.0)] * 2}
    notes = tally_of(verdicts).notes(Identity(asked, "o"), prevented=0)
    assert [str(named) in note for note in notes] == [True] * told


def test_what_a_reply_cost_is_known_when_it_comes_from_the_cache(tmp_path: Path) -> None:
    """It is kept with its tokens, its request's name and its time."""
    cache = JudgeCache(tmp_path)
    decide(Scripted(says(RIGHT)), cache=cache)
    (path,) = tmp_path.rglob("*.json")
    stored = StoredReply.model_validate_json(path.read_bytes())
    assert (stored.usage, stored.request_id, stored.stop) == (USAGE, "req_1", "end")
    assert stored.asked_at is not None
    again = decide(Scripted(says("must not be asked")), cache=cache)
    assert [(v.cost_usd, v.saved_usd, v.attempts) for v in again] == [(0.0, 0.06, 0)]
    assert tally_of({"q": again}).record(JUDGE, 1, prevented=0).saved_usd == 0.06


def test_a_reply_kept_by_a_former_version_is_used(tmp_path: Path) -> None:
    """Its key lacks the provider, and its file all but reply and model."""
    path = JudgeCache(tmp_path)._path(JudgeCache.legacy_key(JUDGE, call_of(ASKED), 0))
    path.parent.mkdir()
    path.write_text(json.dumps({"reply": RIGHT, "model": "judge-1"}))
    backend = Scripted(says("must not be asked"))
    assert [verdict.reply for verdict in decide(backend, cache=JudgeCache(tmp_path))] == [RIGHT]
    assert len(backend.calls) == 0


@pytest.mark.parametrize(
    "content",
    [
        json.dumps({"reply": RIGHT, "model": 5}),
        "[" * 200_000,
        json.dumps({"reply": RIGHT, "usage": {"input_tokens": -1}}),
        json.dumps({"reply": [RIGHT]}),
        "[]",
        "\0\1",
    ],
)
def test_a_damaged_file_of_the_cache_costs_a_call_and_no_run(tmp_path: Path, content: str) -> None:
    """Whatever is wrong with it, the judge is asked."""
    cache = JudgeCache(tmp_path)
    decide(Scripted(says(RIGHT)), cache=cache)
    (path,) = tmp_path.rglob("*.json")
    path.write_text(content)
    assert [verdict.cached for verdict in decide(Scripted(says(RIGHT)), cache=cache)] == [False]


def test_a_flag_that_names_a_judge_wants_one() -> None:
    """Also over a configuration without; `--no-judge` beside it stays what it says."""
    assert overrides(EvalFlags(judge_model="m"))["judge"] == {"model": "m", "enabled": True}
    assert overrides(EvalFlags(judge_model="m", judge=False))["judge"]["enabled"] is False
    assert overrides(EvalFlags(max_cost=1.0))["judge"] == {"max_cost_usd": 1.0}
