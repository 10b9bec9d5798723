"""Waiting until uploaded documents can be found."""

import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from evals.client.mapping import MappingError, find
from evals.client.rag_client import RAGClient
from evals.client.spec import ReadySpec
from evals.client.template import render_path
from evals.client.transport import RETRYABLE_STATUS, TransportFailure
from evals.errors import IngestError
from evals.schemas import ResponseError
from evals.text.counts import counted

_FIRST_POLL_S = 0.05
_LONGEST_POLL_S = 2.0
_REGISTERED_AFTER_S = 5.0
_TOLD_AFTER_S = 0.5
_NOT_FOUND = 404


@dataclass(frozen=True, slots=True)
class Waiting:
    """How to wait, how to know the time, and who hears what is waited for."""

    sleep: Callable[[float], Awaitable[None]]
    clock: Callable[[], float] = time.monotonic
    tell: Callable[[str], None] = lambda message: None


async def wait_until_ready(client: RAGClient, ready: ReadySpec, job: str, count: int, waiting: Waiting) -> None:
    """Ask after a job of so many documents until nothing of it is pending.

    Raises:
        IngestError: It is not done in time, its status cannot be seen, or it says that documents failed.
    """
    path = render_path(ready.path, {"id": job})
    start, pause = waiting.clock(), _FIRST_POLL_S
    while True:
        body, problem = await _status(client, path)
        if problem is None and _evaluate(ready.done_when, body) is True:
            break
        waited_s, shown = waiting.clock() - start, client.redact.text(path)
        _check_patience(shown, ready, problem, waited_s)
        if waited_s >= _TOLD_AFTER_S:
            why = f" ({problem.message})" if problem else ""
            waiting.tell(f"waiting until {counted(count, 'document', 'is')} ready: {shown}{why}, {waited_s:.0f} s")
        await waiting.sleep(pause)
        pause = min(_LONGEST_POLL_S, pause * 1.5)
    failed = _evaluate(ready.failed, client.redact.value(body)) if ready.failed else None
    if isinstance(failed, list) and failed:
        raise IngestError(f"the server could not take {counted(len(failed), 'document')}, first: {failed[0]}")


async def _status(client: RAGClient, path: str) -> tuple[Any, ResponseError | None]:
    try:
        return await client.read_json(path), None
    except TransportFailure as failure:
        return None, failure.error


def _check_patience(path: str, ready: ReadySpec, problem: ResponseError | None, waited_s: float) -> None:
    said = f"{path}: {problem.message}" if problem else path
    if problem and _is_final(problem, waited_s):
        raise IngestError(f"whether the documents are ready cannot be seen at {said}", "check server.ready.path")
    if waited_s > ready.timeout_s:
        raise IngestError(
            f"the documents were not ready after {ready.timeout_s:g} s ({said})", "raise server.ready.timeout_s"
        )


def _is_final(problem: ResponseError, waited_s: float) -> bool:
    """Whether waiting is of no use: a refusal is, and a 404 that lasts longer than a job takes to be registered."""
    if problem.status is None or not 400 <= problem.status < 500 or problem.status in RETRYABLE_STATUS:
        return False
    return problem.status != _NOT_FOUND or waited_s > _REGISTERED_AFTER_S


def _evaluate(expression: str, body: Any) -> Any:
    """The expression's value; None while the status does not yet have the shape that it expects."""
    try:
        return find(expression, body)
    except MappingError:
        return None
