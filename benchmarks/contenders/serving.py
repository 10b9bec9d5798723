"""A contender as a process that is told by lines of JSON what to do, so that all of them are warm and take turns.

A line is {"url", "count", "concurrency"}; the reply is {"seconds", "cpu_s"}: of the questions alone, not of the start.
"""

import json
import sys
import time
from collections.abc import Callable

Work = Callable[[str, int, int], None]


def payload(number: int) -> dict[str, object]:
    """The body of a question."""
    return {"query": f"Question {number}?", "session_id": None, "is_temporary": True}


def serve(work: Work) -> None:
    """Do as told until standard input ends."""
    print("ready", flush=True)
    for line in sys.stdin:
        told = json.loads(line)
        wall, cpu = time.perf_counter(), time.process_time()
        work(told["url"], told["count"], told["concurrency"])
        took = {"seconds": time.perf_counter() - wall, "cpu_s": time.process_time() - cpu}
        print(json.dumps(took), flush=True)
