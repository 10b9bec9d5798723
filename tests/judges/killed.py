"""A program that evaluates and kills itself: ``python killed.py PLACE NAME NUMBER before|after configuration.json``.

It dies at that call of a function of a module or class, before or after it; nothing is cleaned up, as by a kill from
outside.
"""

import importlib
import json
import os
import signal
import sys
from itertools import count
from pathlib import Path
from typing import Any

from evals.config import EvalConfig
from evals.runner import run_evaluation


def kill_at(place: str, function: str, number: int, when: str) -> None:
    """Replace a function of `module` or a method of `module:Class` by one that kills this process."""
    module, _, name = place.partition(":")
    owner = importlib.import_module(module)
    owner = getattr(owner, name) if name else owner
    real, times = getattr(owner, function), count(1)

    def die(wanted: str, turn: int) -> None:
        if (turn, when) == (number, wanted):
            os.kill(os.getpid(), signal.SIGKILL)

    def deadly(*arguments: Any, **options: Any) -> Any:
        turn = next(times)
        die("before", turn)
        result = real(*arguments, **options)
        die("after", turn)
        return result

    setattr(owner, function, deadly)


if __name__ == "__main__":
    kill_at(sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4])
    run_evaluation(EvalConfig(**json.loads(Path(sys.argv[5]).read_text())))
