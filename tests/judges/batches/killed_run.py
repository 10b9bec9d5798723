"""A program that evaluates in batches and kills itself at a stage: ``python killed_run.py STAGE configuration.json``.

Nothing is cleaned up, as by a kill from outside: see `test_killed.py`.
"""

import json
import os
import signal
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

from evals.judges.batch_api import AnthropicBatches

from evals.config import EvalConfig
from evals.runner import run_evaluation
from evals.store.journal import Journal


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def before_sending() -> None:
    async def send(*_: Any) -> Any:
        die()

    AnthropicBatches.send_batch = send  # type: ignore[method-assign]


def after_sending() -> None:
    sending = AnthropicBatches.send_batch

    async def send(*arguments: Any) -> Any:
        await sending(*arguments)
        die()

    AnthropicBatches.send_batch = send  # type: ignore[method-assign]


def while_waiting() -> None:
    async def state(*_: Any) -> Any:
        die()

    AnthropicBatches.state = state  # type: ignore[method-assign]


def while_reading() -> None:
    reading = AnthropicBatches.results

    async def results(*arguments: Any) -> AsyncIterator[Any]:
        count = 0
        async for result in reading(*arguments):
            count += 1
            if count > 3:
                die()
            yield result

    AnthropicBatches.results = results  # type: ignore[method-assign,assignment]


def before_writing() -> None:
    def verdict(*_: Any) -> None:
        die()

    Journal.verdict = verdict  # type: ignore[method-assign]


def in_the_second_round() -> None:
    sending, times = AnthropicBatches.send_batch, iter(range(9))

    async def send(*arguments: Any) -> Any:
        state = await sending(*arguments)
        if next(times):
            die()
        return state

    AnthropicBatches.send_batch = send  # type: ignore[method-assign]


STAGES: dict[str, Callable[[], None]] = {
    stage.__name__: stage
    for stage in (before_sending, after_sending, while_waiting, while_reading, before_writing, in_the_second_round)
}

if __name__ == "__main__":
    STAGES[sys.argv[1]]()
    run_evaluation(EvalConfig(**json.loads(Path(sys.argv[2]).read_text())))
