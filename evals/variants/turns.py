"""Asking several servers the same questions in turn, so that what drifts in an hour drifts for all of them alike."""

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Protocol

from evals.client.conversation import ask_traced
from evals.client.tracing import Tracing
from evals.run.asking import StopRule
from evals.schemas import EvalQuestion, EvalResponse


class Asks(Protocol):
    """Who asks a server: a client, or what stands for one in a simulation."""

    @property
    def away(self) -> str | None:
        """What the server said last where it is no more waited for."""

    async def ask(self, question: str) -> EvalResponse:
        """Ask one question."""

    async def converse(self, turns: Sequence[str]) -> EvalResponse:
        """Ask the turns of a conversation; the answer is that to the last one."""


@dataclass(frozen=True, slots=True)
class Lane:
    """One variant while it is asked.

    Attributes:
        client: Asks its server.
        there: Its answers by question; `on_answer` adds to them.
        on_answer: Called as each exchange ends.
        stop: Says when to ask it no more; the others go on.
        tracing: How its questions are traced.
    """

    client: Asks
    there: Mapping[str, EvalResponse]
    on_answer: Callable[[EvalQuestion, EvalResponse], None]
    stop: StopRule = field(default_factory=lambda: StopRule(1))
    tracing: Tracing = field(default_factory=Tracing)

    def wants(self, question: EvalQuestion) -> bool:
        """Whether this question is still to be asked here."""
        return self.stop.reason is None and question.id not in self.there

    async def ask(self, question: EvalQuestion) -> None:
        """Ask the question, and tell of what came."""
        response = await ask_traced(self.client, question, self.tracing)
        self.stop.see(response, self.client.away)
        self.on_answer(question, response)


async def ask_in_turn(lanes: Sequence[Lane], questions: Sequence[EvalQuestion], *, concurrency: int, seed: int) -> None:
    """Ask each question of all variants, one after the other, before the next one.

    The order of the variants is drawn anew for each question, so that none is always the one that finds the caches of a
    server warm. It depends on the seed and the question alone: a run that goes on draws it alike.

    Args:
        lanes: The variants.
        questions: In their order.
        concurrency: Questions in flight; of each one, one variant at a time.
        seed: Of the draws.
    """
    waiting = iter(questions)
    workers = [asyncio.create_task(_work(lanes, waiting, seed)) for _ in range(concurrency)]
    try:
        await asyncio.gather(*workers)
    finally:
        for worker in workers:
            worker.cancel()
        await asyncio.gather(*workers, return_exceptions=True)


async def _work(lanes: Sequence[Lane], waiting: Iterator[EvalQuestion], seed: int) -> None:
    for question in waiting:
        for place in order_of(len(lanes), question.id, seed):
            if lanes[place].wants(question):
                await lanes[place].ask(question)
        if all(lane.stop.reason for lane in lanes):
            return


def order_of(count: int, question_id: str, seed: int) -> list[int]:
    """In which order the variants are asked a question."""
    places = list(range(count))
    Random(f"{seed}/{question_id}").shuffle(places)  # noqa: S311 - no secret
    return places
