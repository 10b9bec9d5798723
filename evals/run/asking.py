"""Asking many questions: bounded, in their order, and stopped where going on is pointless."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from typing import Any, TypeVar

from evals.client.rag_client import RAGClient
from evals.errors import EvalsError, ServerRefusedError, ServerUnreachableError
from evals.schemas.dataset import EvalQuestion
from evals.schemas.response import EvalResponse, Outcomes

STOPPED = "asking ended early: "
"""How the note of a run begins that says why not all was asked; a resumed run makes it anew."""

CHANGED = "the server's configuration changed during the run"
_REFUSED = frozenset({401, 403})


T = TypeVar("T")
Ask = Callable[[EvalQuestion], Awaitable[EvalResponse]]
"""Asks one question; a failure of the server is a response with an error."""


class StopRule:
    """Decides from the exchanges so far whether to continue.

    A refused login ends the run, so does a server that is gone or overloaded, and so do the first 2 × concurrency
    questions if all of them fail.

    Args:
        concurrency: Questions in flight.
    """

    def __init__(self, concurrency: int) -> None:
        self._limit = 2 * concurrency
        self._answered = self._failed = 0
        self._messages: Counter[str] = Counter()
        self.reason: str | None = None
        """Why to stop; None means continue."""
        self.refused = False
        """Whether the server refused the login."""

    def take(self, response: EvalResponse, unavailable: str | None = None) -> None:
        """Take one exchange into account.

        Args:
            response: What came of it.
            unavailable: Why no more is asked of the server, where it is gone or overloaded.
        """
        if response.error is None:
            self._answered += 1
            return
        self._failed += 1
        self._messages[response.error.message] += 1
        if response.error.status in _REFUSED:
            self.refused = True
            self.reason = f"the server refuses the login: {response.error.message}"
        elif unavailable is not None:
            self.reason = unavailable
        elif not self._answered and self._failed >= self._limit:
            message = self._messages.most_common(1)[0][0]
            self.reason = f"the first {self._failed} questions all failed: {message}"

    def problem(self, client: RAGClient, outcomes: Outcomes) -> EvalsError | None:
        """Why no question was answered, where the server refused the login or was never there; else None."""
        if outcomes.answered:
            return None
        if self.refused:
            hint = client.login_hint or "set server.headers, for example a bearer token"
            return ServerRefusedError(self.reason or "refused", hint)
        if set(outcomes.transport) == {"connect"}:
            reason = f"nothing answers at {client.url}: {self.reason or self._messages.most_common(1)[0][0]}"
            return ServerUnreachableError(reason, "start the server, or name yours with --rag-url")
        return None


async def ask_all(
    ask: Callable[[T], Awaitable[EvalResponse]],
    items: Iterable[T],
    *,
    concurrency: int,
    stop: StopRule,
    unavailable: Callable[[], str | None] = lambda: None,
) -> AsyncIterator[tuple[T, EvalResponse]]:
    """Ask the questions, `concurrency` at a time, until they are done or the rule says stop.

    Each worker asks one question after the other; what is in flight when asking stops is waited for.

    Args:
        ask: Asks one question; a failure of the server is a response with an error.
        items: The questions, in the order in which they are asked; or what else `ask` takes.
        concurrency: Number of workers.
        stop: Takes every exchange into account.
        unavailable: Says why no more is asked of the server, while it is gone or overloaded.

    Yields:
        Each question with its response, as exchanges end.
    """
    waiting = iter(items)
    ended: asyncio.Queue[tuple[T, EvalResponse, asyncio.Event] | None] = asyncio.Queue()

    async def work() -> None:
        try:
            for item in waiting:
                if stop.reason is not None:
                    return
                response = await ask(item)
                stop.take(response, unavailable())
                ended.put_nowait((item, response, taken := asyncio.Event()))
                await taken.wait()  # in the journal before the next question is sent
        finally:
            ended.put_nowait(None)

    workers = [asyncio.create_task(work()) for _ in range(concurrency)]
    try:
        left = concurrency
        while left:
            exchange = await ended.get()
            if exchange is None:
                left -= 1
                continue
            yield exchange[0], exchange[1]
            exchange[2].set()
        await asyncio.gather(*workers)  # raises what a worker raised
    finally:
        for worker in workers:
            worker.cancel()
        await asyncio.gather(*workers, return_exceptions=True)


def has_changed(start: Mapping[str, Any], end: Mapping[str, Any] | None) -> bool | None:
    """Whether what could be read at both ends differs; None where nothing could."""
    both = [path for path, body in start.items() if body is not None and (end or {}).get(path) is not None]
    return any(start[path] != (end or {})[path] for path in both) if both else None
