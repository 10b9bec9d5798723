"""A reference server in a thread that counts what it is asked, for runs of many questions about invented policies."""

import asyncio
import json
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from servers import PATIENCE_S
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from evals.reference_server import Settings
from evals.reference_server.__main__ import Server, bind
from evals.reference_server.app import Library, create_app
from evals.reference_server.documents import read_document

_DELAY_S = 0.02
_COVERED = ("burst pipes", "hail on glass", "a stolen bicycle", "frozen meters", "fallen trees", "a broken lens")


class Count:
    """What a server was asked, in the order of its coming.

    Attributes:
        asked: The questions.
        open: How many of them are being answered.
    """

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.open = 0


class _Counted:
    """Stands before the application, and answers a little later than it."""

    def __init__(self, app: ASGIApp, count: Count) -> None:
        self._app = app
        self._count = count

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope.get("path") != "/query":
            await self._app(scope, receive, send)
            return

        async def counting() -> Message:
            message = await receive()
            if body := message.get("body"):
                self._count.asked.append(json.loads(body)["query"])
            return message

        self._count.open += 1
        try:
            await asyncio.sleep(_DELAY_S)
            await self._app(scope, counting, send)
        finally:
            self._count.open -= 1


class CountedServer:
    """A reference server with a document a question.

    Args:
        questions: As `policies` makes them.

    Attributes:
        url: Where it listens.
        count: Of what it was asked.
    """

    def __init__(self, questions: Sequence[dict[str, Any]]) -> None:
        documents = [
            read_document(gold["text"].encode(), gold["document_id"], 180)
            for each in questions
            for gold in each["gold_passages"]
        ]
        app, self.count = create_app(Settings(), Library(documents)), Count()
        app.add_middleware(_Counted, count=self.count)
        listener = bind("127.0.0.1", 0)
        self._server = Server(app)
        self._thread = threading.Thread(target=self._server.run, args=([listener],))
        self._thread.start()
        self.url = f"http://127.0.0.1:{listener.getsockname()[1]}"

    def stop(self) -> None:
        """End it, and wait for that."""
        self._server.should_exit = True
        self._thread.join(PATIENCE_S)


def policies(count: int) -> list[dict[str, Any]]:
    """Questions of which each has an answer and a document of its own, so that an answer at a wrong question shows."""
    return [_policy(number) for number in range(count)]


def _policy(number: int) -> dict[str, Any]:
    covered, days = _COVERED[number % len(_COVERED)], 10 + number * 7 % 83
    said = f"Policy PX{number:04d} covers {covered} for {days} days."
    return {
        "id": f"q{number:04d}",
        "question": f"What does policy PX{number:04d} cover?",
        "expected_answer": said,
        "gold_passages": [{"text": said, "document_id": f"px{number:04d}.md"}],
    }


def write_questions(path: Path, questions: Sequence[dict[str, Any]]) -> Path:
    """The file of questions that a configuration names."""
    path.write_text(json.dumps(list(questions)))
    return path
