"""Running asynchronous work from synchronous code, also where an event loop runs already (a notebook)."""

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
    results: list[T] = []
    errors: list[BaseException] = []
    loop = asyncio.new_event_loop()
    task = loop.create_task(work)

    def drive() -> None:
        try:
            results.append(loop.run_until_complete(task))
        except BaseException as error:  # noqa: BLE001 - carried over to the caller's thread and raised there
            errors.append(error)
        finally:
            loop.close()

    thread = threading.Thread(target=drive, name="evals")
    thread.start()
    try:
        thread.join()
    except KeyboardInterrupt:
        loop.call_soon_threadsafe(task.cancel)
        thread.join()
        raise
    if errors:
        raise errors[0]
    return results[0]
