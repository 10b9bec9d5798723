"""Asking on a worker: one client of the server, made once, for all batches that come."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass

from evals.client import RAGClient
from evals.client.connections.base import ASKED
from evals.client.spec import ServerSpec
from evals.engines.room import Room
from evals.engines.shares import Share
from evals.runtime import SideLoop

AskedText = str | list[str]
"""The text of a question, or the turns of a conversation."""


@dataclass(frozen=True, slots=True)
class Answers:
    """What a worker brings back of a batch.

    Attributes:
        responses: As JSON, in the order of the questions.
        refused: Requests that the server refused this worker so far.
        surplus: Answers of this worker so far that were followed by bytes which belong to none.
        at_risk: Places of the questions asked on a connection that had served another, as `Surplus` has it.
        away: What the server said last, where it is no more waited for.
    """

    responses: list[bytes]
    refused: int
    surplus: int
    at_risk: list[int]
    away: str | None


@dataclass(frozen=True, slots=True)
class HowToAsk:
    """What each worker must know, once.

    Attributes:
        spec: How the server is asked, with ${NAME} as it is written.
        concurrency: Of the whole run: a worker that is left alone has it all.
        max_attempts: How often a question is asked before it counts as failed.
        documents: Their names, by the server's ids.
    """

    spec: ServerSpec
    concurrency: int
    max_attempts: int
    documents: Mapping[str, str]


class Asker:
    """Asks for one worker, on an event loop of its own: nothing that Dask does there holds up a measured time.

    Args:
        how: Of the run.

    Raises:
        ConfigError: A variable that the configuration names is not set on this worker.
    """

    def __init__(self, how: HowToAsk) -> None:
        self._client = RAGClient(how.spec, concurrency=how.concurrency, max_attempts=how.max_attempts)
        self._client.know_documents(how.documents)
        self._room = Room()
        self._batches = 0
        self._side = SideLoop("evals asking")
        self._side.wait(self._client.__aenter__())

    def ask(self, questions: list[AskedText], share: Share) -> Answers:
        """Ask, and block this thread until all are answered."""
        return self._side.wait(self._ask_all(questions, share))

    async def _ask_all(self, questions: list[AskedText], share: Share) -> Answers:
        self._room.resize(share.concurrency)
        self._client.set_rps(share.rps)
        if not self._batches:
            self._client.restart_pace()  # nobody was meant to ask while there was nothing to ask
        self._batches += 1
        try:
            responses = await asyncio.gather(*map(self._ask, questions))
        finally:
            self._batches -= 1
        surplus = self._client.transport.surplus
        at_risk = [place for place, name in enumerate(map(str, questions)) if surplus.at_risk.pop(name, True) is None]
        return Answers(list(responses), self._client.refused, surplus.count, at_risk, self._client.away)

    async def _ask(self, question: AskedText) -> bytes:
        ASKED.set(str(question))
        async with self._room:
            if isinstance(question, str):
                response = await self._client.ask(question)
            else:
                response = await self._client.converse(question)
        return response.model_dump_json().encode()

    def close(self) -> None:
        """Let go of the connections; what is in flight is dropped."""
        self._side.wait(self._client.__aexit__())
        self._side.close()
