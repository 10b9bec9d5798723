"""A client for tests: one question at a time."""

from contextlib import AsyncExitStack

from evals.client.rag_client import RAGClient
from evals.config import EvalConfig
from evals.run.observer import Observer
from evals.runner import EvaluationRunner
from evals.schemas import EvalQuestion, EvalResponse
from evals.testing.loops import InItsLoop


class RagClient(InItsLoop):
    """Asks the configured server; an embedded one is started and given the documents of the datasets.

    Args:
        config: Of the server.

    Raises:
        EvalsError: On entering: the server is not there, or is not healthy.
    """

    def __init__(self, config: EvalConfig) -> None:
        super().__init__()
        self._config = config
        self._client: RAGClient | None = None

    async def open(self, stack: AsyncExitStack) -> None:
        runner = EvaluationRunner(self._config, Observer())
        server = await runner.connect(stack)
        self._client = server.client
        if self._config.embedded or self._config.ingest:
            await runner.give_documents(server.client, await runner.load())

    def ask(self, question: str) -> EvalResponse:
        """Ask one question. What the server does never raises: a failure is in the response's `error`."""
        return self.run(self._opened.ask(question))

    def answer(self, question: EvalQuestion) -> EvalResponse:
        """The same for a question of a dataset, which may be a conversation."""
        return self.run(self._opened.converse(question.turns)) if question.turns else self.ask(question.question)

    @property
    def _opened(self) -> RAGClient:
        if self._client is None:
            raise RuntimeError("enter the client first: with RagClient(config) as client")
        return self._client
