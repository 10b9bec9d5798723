"""Replies shared between processes that judge the same answers at once, and unusable decisions kept for a day."""

import asyncio
import subprocess
import sys
import threading
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from evals.judges.backends.base import BackendError, JudgeReply
from judges.test_llm_judge import ASKED, RIGHT, Scripted, decide, decide_all, says, several

from evals.config import EvalConfig
from evals.judges.cache import JudgeCache, StoredReply
from evals.judges.llm_judge import LEASE_S, LLMJudge
from evals.runner import run_evaluation
from evals.schemas import EvalRun

HOLDER = """
import sys, time
from pathlib import Path
from evals.judges.cache import JudgeCache
cache = JudgeCache(Path(sys.argv[1]))
cache.claim(sys.argv[2])
print("claimed", flush=True)
time.sleep(60)
"""


def test_two_judges_at_once_pay_for_each_decision_once(tmp_path: Path) -> None:
    """Who comes second waits for the reply that is in flight, and takes it from the cache."""
    backends = [Scripted(says({**RIGHT, "quote": ""})) for _ in range(2)]

    async def run() -> list[bool]:
        judges = [LLMJudge(backend, cache=JudgeCache(tmp_path)) for backend in backends]
        found = await asyncio.gather(*(judge.decide(request) for judge in judges for request in several(10)))
        return [verdict.cached for verdicts in found for verdict in verdicts]

    cached = asyncio.run(run())
    assert sum(len(backend.calls) for backend in backends) == 10
    assert sum(cached) == 10
    assert not list(tmp_path.rglob("*.lock"))


def test_two_runs_at_once_ask_the_judge_as_often_as_one(config: Callable[..., EvalConfig], messages_api: Any) -> None:
    """Over HTTP: one folder, the same answers, two runs that start together."""
    messages_api.script({"then": {"slow": 0.02, "then": {"python": "judge"}}})
    shared = config(judge={"cache": True})
    runs: list[EvalRun] = []
    threads = [threading.Thread(target=lambda: runs.append(run_evaluation(shared))) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    judged = [run.judge for run in runs if run.judge is not None]
    decisions = [record.calls + record.cached for record in judged]
    assert len(judged) == 2
    assert decisions[0] == decisions[1] == len(messages_api.log()) == sum(record.calls for record in judged)


def test_a_killed_process_lets_go_of_its_claims(tmp_path: Path) -> None:
    """The system does that: nobody waits for the lease."""
    command = [sys.executable, "-c", HOLDER, str(tmp_path), "abcd"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "claimed\n"
        cache = JudgeCache(tmp_path)
        assert not cache.claim("abcd")
        holder.kill()
        holder.wait(10)
        assert cache.claim("abcd")
    cache.release("abcd")


def test_a_process_that_hangs_is_waited_for_until_its_lease_ends(tmp_path: Path) -> None:
    """Then the decision is asked here too, and its reply is kept."""
    waits: list[float] = []

    async def wait(seconds: float) -> None:
        waits.append(seconds)

    backend, cache, hanging = Scripted(says(RIGHT)), JudgeCache(tmp_path), JudgeCache(tmp_path)
    key = decide(Scripted(says(RIGHT))).key or ""
    assert hanging.claim(key)
    assert decide(backend, cache=cache, sleep=wait).reply == RIGHT
    assert sum(waits) == LEASE_S
    assert cache.get(key) is not None
    hanging.release(key)


UNUSABLE = [
    ([says("", stop="refused")], "refused"),
    ([says('{"verd', stop="truncated")], "truncated"),
    ([says("certainly!")], "unparsable"),
]


@pytest.mark.parametrize(("script", "failure"), UNUSABLE)
def test_a_decision_that_stayed_unusable_is_not_paid_again_within_a_day(
    tmp_path: Path, script: list[JudgeReply], failure: str
) -> None:
    """A later run takes the failure over; `retry_lost` asks again, and so does a run of the next day."""
    first = decide(Scripted(*script), cache=JudgeCache(tmp_path))
    silent = Scripted(BackendError("nobody should call", fatal=True))
    again = decide(silent, cache=JudgeCache(tmp_path))
    assert (again.failure, again.message, again.attempts, again.cached) == (failure, first.message, 0, True)
    assert decide(Scripted(says(RIGHT)), cache=JudgeCache(tmp_path, retry_lost=True)).reply == RIGHT
    assert decide(silent, cache=JudgeCache(tmp_path)).reply == RIGHT


def test_an_unusable_decision_is_asked_again_after_a_day(tmp_path: Path) -> None:
    """What a model refuses today it may answer tomorrow."""
    cache = JudgeCache(tmp_path)
    decide(Scripted(says("certainly!")), cache=cache)
    (path,) = tmp_path.rglob("*.json")
    lost = StoredReply.model_validate_json(path.read_bytes())
    assert lost.asked_at is not None
    old = lost.model_copy(update={"asked_at": lost.asked_at - timedelta(days=1, minutes=1)})
    path.write_text(old.model_dump_json())
    assert decide(Scripted(says(RIGHT)), cache=cache).reply == RIGHT


@pytest.mark.parametrize("said", [BackendError("gone"), BackendError("bad request")])
def test_a_call_without_a_reply_is_no_unusable_decision(tmp_path: Path, said: BackendError) -> None:
    """Nothing was said: the next run asks."""
    decide(Scripted(said), cache=JudgeCache(tmp_path))
    assert decide(Scripted(says(RIGHT)), cache=JudgeCache(tmp_path)).reply == RIGHT


def test_a_decision_whose_second_call_was_prevented_is_asked_again(tmp_path: Path) -> None:
    """The budget held one call of two: the reply may still be usable."""
    price = {"price": lambda _model, _usage: 1.0, "max_cost_usd": 1.0}
    verdicts = decide_all(Scripted(says("certainly!")), [ASKED], cache=JudgeCache(tmp_path), **price)
    assert [verdict.failure for verdict in verdicts] == ["unparsable"]
    assert decide(Scripted(says(RIGHT)), cache=JudgeCache(tmp_path)).reply == RIGHT
