"""How an exchange joins the traces of the server that is asked."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from evals.schemas import EvalQuestion, EvalResponse

Told = Callable[[EvalResponse], None]
"""Hears how the exchange ended."""


class Tracing:
    """Traces nothing; a subclass does."""

    @contextmanager
    def question(self, question: EvalQuestion) -> Iterator[Told]:
        """What is sent inside is about this question.

        Args:
            question: The one that is asked.
        """
        yield lambda _response: None

    def headers(self) -> Mapping[str, str]:
        """What is sent beside a request, so that the server's own traces join ours."""
        return {}
