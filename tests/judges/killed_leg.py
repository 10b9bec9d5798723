"""A program that kills itself: ``python killed_leg.py EVENT NUMBER configuration.json [resume RUN | rescore RUN]``.

It dies when that many events of a kind ("answer", "verdict") are logged; nothing is cleaned up, as by a kill from
outside: see `test_legs.py`.
"""

import asyncio
import json
import os
import signal
import sys
from itertools import count
from pathlib import Path
from typing import Any

from evals.config import EvalConfig
from evals.run.saved import rescore
from evals.runner import EvaluationRunner
from evals.store.journal import Journal
from evals.store.runs import RunStore


def kill_at(event: str, number: int) -> None:
    """Kill this process after the event that is counted so, from 1."""
    real, times = getattr(Journal, event), count(1)

    def log(*arguments: Any) -> None:
        real(*arguments)
        if next(times) == number:
            os.kill(os.getpid(), signal.SIGKILL)

    setattr(Journal, event, log)


if __name__ == "__main__":
    kill_at(sys.argv[1], int(sys.argv[2]))
    config = EvalConfig(**json.loads(Path(sys.argv[3]).read_text()))
    if sys.argv[4:5] == ["rescore"]:
        asyncio.run(rescore(RunStore(config.runs_dir).load(sys.argv[5]), config))
    else:
        asyncio.run(EvaluationRunner(config, resume=sys.argv[5] if sys.argv[4:] else None).run())
