"""Questions asked by the client of one server, each test with the keys of its own."""

import asyncio
from collections.abc import Mapping
from typing import Any

from evals.client import RAGClient
from evals.client.profile import resolve_spec
from evals.schemas import EvalQuestion, EvalResponse


async def no_sleep(_seconds: float) -> None:
    """Wait for nothing."""


def ask_all(server: Mapping[str, Any], *questions: str | EvalQuestion, **client: Any) -> list[EvalResponse]:
    """Ask one question after the other of the server with these keys, by a client with these options."""

    async def run() -> list[EvalResponse]:
        async with RAGClient(resolve_spec(server), **client) as rag:
            return [await rag.ask(question) for question in questions]

    return asyncio.run(run())


def ask(server: Mapping[str, Any], question: str | EvalQuestion = "Why?", **client: Any) -> EvalResponse:
    """Ask one question."""
    return ask_all(server, question, **client)[0]
