"""A judged run that is killed at random moments and gone on with, and the count of what was asked and paid for.

Every leg is a process of its own that gets SIGKILL: nothing is cleaned up. After each the log on disk says what is
known; whatever a server was asked beyond that was in flight, and may be asked once more.
"""

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kills.counted import CountedServer, write_questions
from servers import HOME, PATIENCE_S

from evals.schemas import EvalRecord, EvalRun
from evals.schemas.verdicts import JudgeUsage
from evals.store.journal import RecordLog
from evals.store.runs import RunStore

CONCURRENCY = 4
JUDGE_CONCURRENCY = 8
_LONGEST_LEG_S = 6 * PATIENCE_S


@dataclass
class Leg:
    """What a leg asked, and what of it the log does not know.

    Attributes:
        ended: Whether it ended of itself, before it was killed.
        lost: Questions that were asked and whose answer is not on disk.
        unpaid: Requests to the judge whose reply is not on disk.
    """

    ended: bool
    lost: list[str] = field(default_factory=list)
    unpaid: int = 0


class NoJudge:
    """Stands in for a judge in a run without one."""

    def log(self) -> list[dict[str, Any]]:
        """What it was asked."""
        return []

    def stats(self) -> dict[str, int]:
        """How much it was asked."""
        return {"requests": 0, "in_flight": 0}


class Attack:
    """One run, its servers, and what they were asked.

    Args:
        folder: For the run and its configuration.
        server: Of the questions.
        judge: An imitation of the Messages API, which counts requests; or `NoJudge`.
        questions: What is asked.
    """

    def __init__(self, folder: Path, server: CountedServer, judge: Any, questions: list[dict[str, Any]]) -> None:
        self.store = RunStore(folder / "runs")
        self.legs: list[Leg] = []
        self._server = server
        self._judge = judge
        self._config = folder / "config.json"
        self._out = folder / "output.txt"
        self._config.write_text(
            json.dumps(
                {
                    "dataset_file": str(write_questions(folder / "questions.json", questions)),
                    "rag_server_url": server.url,
                    "runs_dir": str(self.store.folder),
                    "suite": ["core"],
                    "warmup": 0,
                    "preflight": False,
                    "concurrency": CONCURRENCY,
                    "judge": not isinstance(judge, NoJudge)
                    and {"base_url": judge.url, "cache": False, "concurrency": JUDGE_CONCURRENCY},
                    "prices": {"claude-sonnet-5-5": {"input": 1, "output": 1}},
                }
            )
        )

    @property
    def run(self) -> EvalRun | None:
        """The run as it is saved; None before that."""
        found = self.store.survey()
        assert not found.unreadable, found.unreadable
        assert len(found.runs) <= 1
        return found.runs[0] if found.runs else None

    def records(self) -> list[EvalRecord]:
        """What the log knows."""
        run = self.run
        there = run is not None and self.store.records_path(run).exists()
        return RecordLog(self.store.records_path(run)) if run is not None and there else []

    def paid(self) -> list[str]:
        """What the judge was asked, each as its body; a request that a kill cut short while it was sent is none."""
        sent = [entry for entry in self._judge.log() if entry["path"] == "/v1/messages" and entry["body"] is not None]
        return [json.dumps(entry["body"], sort_keys=True) for entry in sent]

    def requests(self) -> int:
        """How many both servers have had."""
        return len(self._server.count.asked) + int(self._judge.stats()["requests"])

    def whole(self) -> float:
        """Go on to the end.

        Returns:
            How long it took, in seconds.
        """
        began, child = time.monotonic(), self._start()
        code = child.wait(_LONGEST_LEG_S)
        assert code == 0, self._out.read_text()[-3000:]
        return time.monotonic() - began

    def kill_after(self, requests: int, seconds: float) -> Leg:
        """Go on, and kill once this many requests more have come, and so many seconds later."""
        asked, paid, known = len(self._server.count.asked), len(self.paid()), _verdicts(self.records())
        before, limit = _answered(self.records()), self.requests() + requests
        child = self._start()
        while child.poll() is None and self.requests() < limit:
            time.sleep(0.002)
        deadline = time.monotonic() + seconds
        while child.poll() is None and time.monotonic() < deadline:
            time.sleep(0.001)
        leg = Leg(ended=child.poll() is not None)
        child.send_signal(signal.SIGKILL)
        code = child.wait(PATIENCE_S)
        assert code == (0 if leg.ended else -signal.SIGKILL), self._out.read_text()[-3000:]
        self._settle()
        records = self.records()
        now = self._server.count.asked[asked:]
        again = before & set(now)
        assert not again, f"answers on disk were asked for again: {sorted(again)[:3]}"
        assert before <= _answered(records), "answers were lost"
        assert known <= _verdicts(records), "verdicts were lost"
        leg.lost = [question for question in now if question not in _answered(records)]
        leg.unpaid = len(self.paid()) - paid - len(_verdicts(records) - known)
        self.legs.append(leg)
        return leg

    def _start(self) -> subprocess.Popen[bytes]:
        run = self.run
        way = ["--config", str(self._config)]
        if run is not None:
            way = ["--resume", run.id, "--runs-dir", str(self.store.folder)]
        environment = {**os.environ, "ANTHROPIC_API_KEY": "sk-test-fine", "PYTHONPATH": str(HOME)}
        with self._out.open("wb") as out:
            return subprocess.Popen(
                [sys.executable, "-m", "evals", "eval", *way], cwd=HOME, env=environment, stdout=out, stderr=out
            )

    def _settle(self) -> None:
        """Wait until the servers have noticed that nobody listens any more."""
        while True:
            asked = self.requests()
            time.sleep(0.1)
            if not self._server.count.open and not self._judge.stats()["in_flight"] and self.requests() == asked:
                return


def kill_often(attack: Attack, kills: int, requests: int, rng: random.Random) -> None:
    """Kill this often: most while it asks and judges, some while it starts, and a fifth while it ends and after.

    Args:
        attack: The run.
        kills: How often.
        requests: How many the whole run takes.
        rng: Chooses the moments.
    """
    at_the_end = kills // 5
    while len(attack.legs) < kills - at_the_end:
        left = kills - at_the_end - len(attack.legs) + 1
        if rng.random() < 0.2:
            attack.kill_after(0, rng.uniform(0, 2))
        else:
            share = max(1, (requests - attack.requests()) * 2 // left)
            attack.kill_after(rng.randint(1, share), rng.uniform(0, 0.03))
    attack.kill_after(max(0, requests - attack.requests()), rng.uniform(0, 0.5))
    while len(attack.legs) < kills:
        attack.kill_after(0, rng.uniform(0.5, 4))


def check(attack: Attack, unbroken: Attack) -> None:
    """See that nothing was asked or paid for twice but what was in flight, and that the numbers are the same."""
    check_answers(attack, unbroken)
    ours, theirs = attack.run, unbroken.run
    assert ours is not None
    assert theirs is not None
    assert ours.judge is not None
    assert theirs.judge is not None
    assert (ours.judge.calls, _tokens(ours.judge.usage)) == (theirs.judge.calls, _tokens(theirs.judge.usage))


def check_answers(attack: Attack, unbroken: Attack) -> None:
    """The same, but for what the judge has cost."""
    _check_counts(attack, unbroken)
    ours, theirs = attack.run, unbroken.run
    assert ours is not None
    assert theirs is not None
    assert (ours.status, ours.completed_at is None) == ("complete", False)
    assert _numbers(ours) == _numbers(theirs)
    assert list(map(_told, attack.records())) == list(map(_told, unbroken.records()))


def _check_counts(attack: Attack, unbroken: Attack) -> None:
    lost = Counter(question for leg in attack.legs for question in leg.lost)
    asked = Counter(attack._server.count.asked)
    assert asked == Counter(set(unbroken._server.count.asked)) + lost
    assert max(len(leg.lost) for leg in attack.legs) <= CONCURRENCY
    assert max(leg.unpaid for leg in attack.legs) <= JUDGE_CONCURRENCY
    paid, once = attack.paid(), unbroken.paid()
    assert set(paid) == set(once), (sorted(set(paid) - set(once))[:2], sorted(set(once) - set(paid))[:2])
    assert len(paid) == len(once) + sum(leg.unpaid for leg in attack.legs)


def _numbers(run: EvalRun) -> dict[str, Any]:
    """The scorecard without times, which are those of this run."""
    return {each.name: each.model_dump() for each in run.scorecard.metrics if each.group != "performance"}


def _tokens(usage: JudgeUsage) -> dict[str, int]:
    """Tokens by kind; what is read from and written to a cache is one, as calls at once may both write."""
    tokens = usage.model_dump()
    cached = sum(tokens.pop(kind) for kind in list(tokens) if kind.startswith("cache_"))
    return tokens | {"cached": cached}


def _told(record: EvalRecord) -> dict[str, Any]:
    """A record without times."""
    assert record.response is not None
    scores = {score.name: score.value for score in record.scores if "latency" not in score.name}
    verdicts = sorted((v.request, v.repeat, json.dumps(v.reply)) for v in record.verdicts)
    chunks = [chunk.model_dump() for chunk in record.response.chunks]
    return {"question": record.question, "answer": record.response.answer, "chunks": chunks} | {
        "scores": scores,
        "verdicts": verdicts,
    }


def _answered(records: list[EvalRecord]) -> set[str]:
    return {each.question.question for each in records if each.response is not None and each.response.error is None}


def _verdicts(records: list[EvalRecord]) -> set[tuple[str, str, int]]:
    return {(each.question.id, v.request, v.repeat) for each in records for v in each.verdicts}
