"""What Dask calls on a worker. A task holds questions and a share, nothing else.

How the server is asked comes by a plugin, in which ${NAME} stands as it is written: each worker fills it in from its
own environment. Dask is imported here, so this module is imported where a cluster is at hand.
"""

import threading
from typing import Any

from distributed import WorkerPlugin, get_worker, secede

from evals.engines.asker import Answers, AskedText, Asker, HowToAsk
from evals.engines.shares import Share
from evals.errors import EngineError


class AskerPlugin(WorkerPlugin):  # type: ignore[misc]  # Dask publishes no types
    """Gives a worker its `Asker`, with the first batch; Dask calls `setup` and `teardown`.

    Args:
        name: Of the plugin; of each run another.
        how: Of the run.
    """

    def __init__(self, name: str, how: HowToAsk) -> None:
        self.name = name
        self._how = how

    def setup(self, worker: Any) -> None:
        """Begin on a worker."""
        self._lock = threading.Lock()
        self._asker: Asker | None = None

    def teardown(self, worker: Any) -> None:
        """End there."""
        if self._asker is not None:
            self._asker.close()

    @property
    def asker(self) -> Asker:
        """Who asks here.

        Raises:
            ConfigError: A variable that the configuration names is not set on this worker.
        """
        with self._lock:
            if self._asker is None:
                self._asker = Asker(self._how)
            return self._asker


def ask_batch(plugin: str, questions: list[AskedText], share: Share) -> Answers:
    """Ask on this worker.

    Args:
        plugin: Its name.
        questions: Their texts.
        share: What this worker may do from now on.
    """
    there = get_worker().plugins.get(plugin)
    if there is None:
        raise EngineError(f"the worker {get_worker().address} has not got what it asks with")
    secede()  # asking is waiting: the next batch may begin
    answers: Answers = there.asker.ask(questions, share)
    return answers
