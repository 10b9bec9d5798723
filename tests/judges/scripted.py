"""A model that says what a test wants, and the requests that the tests make of it."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

from evals.judges.llm_judge import LLMJudge
from evals.judges.models import Call, JudgeReply
from evals.runtime import run_anywhere
from evals.schemas.verdicts import JudgeUsage, JudgeVerdict, VerdictRequest

GOOD = {"quote": "at noon", "justification": "It says so.", "verdict": "relevant", "injection_suspected": False}
USED = JudgeUsage(input_tokens=900, output_tokens=100)

Said = JudgeReply | Exception | Callable[[Call], Awaitable[JudgeReply]]


def says(reply: Any, **fields: Any) -> JudgeReply:
    """A reply of this JSON or text, which took 1,000 tokens."""
    text = reply if isinstance(reply, str) else json.dumps(reply)
    return JudgeReply(text, **{"model": "scripted", "usage": USED, **fields})


def asks(question: str = "When does the ferry sail?", **fields: Any) -> VerdictRequest:
    """A request on an answer to this question."""
    data = {"question": question, "answer": "The ferry sails at noon."}
    return VerdictRequest(**{"name": "answer_relevancy", "prompt": "answer_relevancy", "data": data, **fields})


class Scripted:
    """Says one thing after the other, and the last again and again; notes what it is asked."""

    model, origin = "scripted", "http://127.0.0.1"

    def __init__(self, *said: Said) -> None:
        self.said = list(said) or [says(GOOD)]
        self.calls: list[Call] = []

    async def complete(self, call: Call) -> JudgeReply:
        self.calls.append(call)
        await asyncio.sleep(0)
        said = self.said.pop(0) if len(self.said) > 1 else self.said[0]
        if isinstance(said, Exception):
            raise said
        return said if isinstance(said, JudgeReply) else await said(call)

    async def aclose(self) -> None:
        """Nothing to close."""


def penny(_model: str, usage: JudgeUsage) -> float:
    """A cent for each call of the usual size."""
    return (usage.input_tokens + usage.output_tokens) / 100_000


def decide(judge: LLMJudge, *requests: VerdictRequest, **options: Any) -> list[JudgeVerdict]:
    """The verdicts on requests that are made one after the other."""

    async def all_of_them() -> list[JudgeVerdict]:
        found: list[JudgeVerdict] = []
        for request in requests or (asks(),):
            found += await judge.decide(request, **options)
        return found

    return run_anywhere(all_of_them())


def decide_at_once(judge: LLMJudge, *requests: VerdictRequest) -> list[JudgeVerdict]:
    """The verdicts on requests that are made at the same time; of those that end in an error, none."""

    async def all_of_them() -> list[Any]:
        return await asyncio.gather(*map(judge.decide, requests), return_exceptions=True)

    return [verdict for verdicts in run_anywhere(all_of_them()) if isinstance(verdicts, list) for verdict in verdicts]
