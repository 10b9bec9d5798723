"""Asking many questions: bounded, and stopped where going on is pointless."""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable, Iterator

from evals.client import RAGClient
from evals.schemas import EvalQuestion, EvalResponse

STOPPED = "asking ended early: "
"""How the note of a run begins that says why not all was asked; a run that goes on makes it anew."""
_REFUSED = frozenset({401, 403})
_GONE_AFTER = 5
"""So many rounds of failed connections in a row mean that the server is gone."""


class StopRule:
    """Decides from the exchanges so far whether to go on.

    Args:
        concurrency: How many questions are asked at a time: what counts is rounds, not questions.
    """

    def __init__(self, concurrency: int) -> None:
        self._concurrency = concurrency
        self._answered = 0
        self._failed_in_row = 0
        self._unconnected_in_row = 0
        self._kinds: Counter[str] = Counter()
        self.reason: str | None = None
        """Why to stop; None means go on."""
        self.refused = False
        """Whether the server refused us (401 or 403)."""

    def see(self, response: EvalResponse) -> None:
        """Take one exchange into account."""
        if response.error is None:
            self._answered += 1
            self._failed_in_row = self._unconnected_in_row = 0
            return
        self._kinds[response.error.message] += 1
        self._failed_in_row += 1
        self._unconnected_in_row = self._unconnected_in_row + 1 if response.error.kind == "connect" else 0
        if response.error.status in _REFUSED:
            self.refused = True
            self.reason = f"the server refuses us: {response.error.message}"
        elif not self._answered and self._failed_in_row >= 2 * self._concurrency:
            message = self._kinds.most_common(1)[0][0]
            self.reason = f"the first {self._failed_in_row} questions all failed: {message}"
        elif self._unconnected_in_row >= _GONE_AFTER * self._concurrency:
            self.reason = f"the server is gone: {response.error.message}"


async def ask_all(
    client: RAGClient,
    questions: Iterable[EvalQuestion],
    *,
    concurrency: int,
    on_answer: Callable[[EvalQuestion, EvalResponse], None],
    stop: StopRule,
) -> None:
    """Ask the questions in their order, `concurrency` at a time, until they are done or the rule says stop.

    Args:
        client: Asks.
        questions: What to ask.
        concurrency: Number of workers.
        on_answer: Called as each exchange ends; what it raises ends the asking.
        stop: Sees every exchange.
    """
    waiting = iter(questions)
    workers = [asyncio.create_task(_work(client, waiting, on_answer, stop)) for _ in range(concurrency)]
    try:
        await asyncio.gather(*workers)
    finally:
        for worker in workers:
            worker.cancel()
        await asyncio.gather(*workers, return_exceptions=True)


async def _work(
    client: RAGClient,
    waiting: Iterator[EvalQuestion],
    on_answer: Callable[[EvalQuestion, EvalResponse], None],
    stop: StopRule,
) -> None:
    for question in waiting:
        response = await client.ask(question.question)
        stop.see(response)
        on_answer(question, response)
        if stop.reason:
            return
