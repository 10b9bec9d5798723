"""A folder of runs, a server that shows it, and one who asks as a browser would; for the tests in Chromium too."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
from servers import PATIENCE_S

from evals.report.app import Listening, bind, create_app
from evals.schemas import EvalQuestion, EvalResponse, EvalRun, GoldPassage, ServerRecord
from evals.schemas.response import RetrievedChunk
from evals.store.runs import RunStore

TOKEN = "a-token-that-nobody-guesses"


@dataclass(frozen=True)
class Shown:
    """A folder of runs and the server that shows it.

    Attributes:
        store: The folder.
        port: On which the server listens.
        client: Asks for paths behind the token.
    """

    store: RunStore
    port: int
    client: httpx.Client

    @property
    def url(self) -> str:
        """The address that `evals view` would print."""
        return f"http://127.0.0.1:{self.port}/{TOKEN}/"

    def get(self, path: str = "", **headers: str) -> httpx.Response:
        """Ask for a path; keywords are headers, with _ for -."""
        return self.client.get(self.url + path, headers=named(headers))

    def post(self, path: str, json: Any, **headers: str) -> httpx.Response:
        """Send JSON as a page of this server does."""
        own = {"origin": f"http://127.0.0.1:{self.port}", "sec_fetch_site": "same-origin", **headers}
        return self.client.post(self.url + path, json=json, headers=named(own))


def named(headers: dict[str, str]) -> dict[str, str]:
    return {name.replace("_", "-"): value for name, value in headers.items()}


@contextmanager
def showing(folder: Path, **settings: Any) -> Iterator[Shown]:
    """Show a folder of runs; keywords as those of `create_app`."""
    store = RunStore(folder)
    store.prepare()
    listener = bind(0)
    port = listener.getsockname()[1]
    with (
        Listening(create_app(folder, token=TOKEN, port=port, **settings), listener),
        httpx.Client(timeout=PATIENCE_S, trust_env=False, verify=False) as client,  # noqa: S501 - no TLS here, and readying it takes a while
    ):
        yield Shown(store, port, client)


def save_run(
    build_run: Callable[..., Any], store: RunStore, run_id: str, values: Any = None, **changes: Any
) -> EvalRun:
    """Save a finished run of some values; keywords as those of `build_run`."""
    values = values or {"q1": {"mrr": 0.5}, "q2": {"mrr": 1.0}, "q3": "timeout"}
    run, records = build_run(run_id, values, **changes)
    done: EvalRun = run.model_copy(update={"completed_at": run.created_at, "status": "complete"})
    done = done.model_copy(update={"record_sum": store.compact(done, records)})
    store.save(done)
    return done


def begin_run(store: RunStore, run_id: str = "feed0001") -> EvalRun:
    """Save a run as it is when it begins: nothing is asked yet."""
    run = EvalRun(
        id=run_id,
        name="on its way",
        created_at=datetime.now(UTC).replace(microsecond=0),
        datasets=["golden"],
        question_count=4,
        server=ServerRecord(url="http://localhost:8001", profile="rag-server"),
        seed=42,
        concurrency=1,
    )
    store.save(run)
    return run


def covered(count: int = 4) -> list[EvalQuestion]:
    """Questions with gold."""
    return [
        EvalQuestion(
            id=f"q{number}",
            question=f"What is covered by part {number}?",
            dataset="golden",
            expected_answer=f"Burst pipes of part {number}.",
            gold_passages=[GoldPassage(text=f"Part {number} covers burst pipes in the cellar and the attic.")],
        )
        for number in range(count)
    ]


def answer_to(question: EvalQuestion, *, right: bool = True) -> EvalResponse:
    """What a server said: a chunk that holds the gold, or another."""
    text = question.gold_passages[0].text if right else "Bicycles are insured up to their present value by option C."
    return EvalResponse(
        answer="Burst pipes are covered.",
        chunks=[RetrievedChunk(text=text, document_name="policy.md")],
        latency_ms=20.0,
    )


def minutes_later(run: EvalRun, minutes: int) -> datetime:
    """A time after a run."""
    return run.created_at + timedelta(minutes=minutes)
