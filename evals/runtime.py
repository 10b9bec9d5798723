"""Running coroutines to their end, inside and outside of an event loop."""

import asyncio
import threading
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


def run_anywhere(work: Coroutine[Any, Any, T]) -> T:
    """Run to the end: here where no event loop runs, else in a thread with a loop of its own.

    Ctrl-C cancels the work, lets it clean up, and is raised afterwards.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    return _run_in_thread(work)


def _run_in_thread(work: Coroutine[Any, Any, T]) -> T:
    loop = asyncio.new_event_loop()
    task = loop.create_task(work)
    thread = threading.Thread(target=loop.run_until_complete, args=[asyncio.wait([task])], name="evals")
    thread.start()
    try:
        thread.join()
    except KeyboardInterrupt:
        loop.call_soon_threadsafe(task.cancel)
        thread.join()
        raise
    finally:
        loop.close()
    return task.result()
