"""CPU per question of a whole evaluation beside bare loops that only ask, by component, in one run.

    python benchmarks/cpu_per_question.py [--questions 5000] [--concurrency 64] [--rounds 5] [--delay 0]

harness      everything that a run does without a judge: load, ask, read, journal, match, measure, score, save
bare loop    the same requests and nothing else by aiohttp, the library beneath the harness: one session for all
asking       `RAGClient.ask` with the journal: what a run does while it asks
httpx loop   the same requests and nothing else by httpx, with one client a worker

They take turns, and differences are medians over the turns. One turn more is measured in parts: the CPU time of
each component, without that of the others that it calls. What the parts leave is the transport and the event loop.
Questions a second are those of the whole run, loading and saving included, beside those of the bare loop.
"""

import argparse
import asyncio
import json
import ssl
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from statistics import median
from threading import local
from typing import Any, NamedTuple
from unittest.mock import patch

import aiohttp
import httpx

from evals.client import RAGClient
from evals.client.profile import resolve_spec
from evals.config import EvalConfig
from evals.runner import EvaluationRunner
from evals.schemas import EvalQuestion
from evals.store.journal import Journal

MOCK = Path(__file__).with_name("mock_server.py")
PARTS = {
    "load questions": ["evals.runner.load_workload"],
    "log questions": ["evals.store.journal.Journal.plan"],
    "read answers": ["evals.client.rag_client.RAGClient._read"],
    "log answers": ["evals.store.journal.Journal.answer"],
    "read the log": ["evals.store.journal.RecordLog.record"],
    "measure": ["evals.run.scoring.score_of"],
    "outcomes": ["evals.run.scoring.ending_of"],
    "write records": ["evals.run.scoring.record_line"],
    "statistics": ["evals.run.scoring.Scoring.summarise"],
    "write columns": ["evals.scoring.results.Results.save"],
}
"""The components, each with what is timed of it."""


class Taken(NamedTuple):
    """What some work took, in seconds."""

    cpu: float
    wall: float


class Parts:
    """CPU seconds by component; what one calls of another is the other's."""

    def __init__(self) -> None:
        self.seconds: Counter[str] = Counter()
        self._inner = local()

    @contextmanager
    def timed(self) -> Iterator[None]:
        """Time the components while this is open."""
        with ExitStack() as stack:
            for part, places in PARTS.items():
                for place in places:
                    stack.enter_context(self._patched(part, place))
            yield

    def _patched(self, part: str, place: str) -> Any:
        patched = patch(place, autospec=False)
        original, _ = patched.get_original()
        patched.new = self._watched(part, original)
        return patched

    def _watched(self, part: str, original: Callable[..., Any]) -> Callable[..., Any]:
        def watched(*args: Any, **kwargs: Any) -> Any:
            outside = getattr(self._inner, "seconds", 0.0)
            self._inner.seconds = 0.0
            start = time.thread_time()
            try:
                return original(*args, **kwargs)
            finally:
                whole = time.thread_time() - start
                self.seconds[part] += whole - self._inner.seconds
                self._inner.seconds = outside + whole

        return watched


def write_questions(path: Path, count: int) -> None:
    """Questions with two gold passages each, one of which the mock retrieves."""
    from mock_server import compose

    missed = "a passage that no chunk of the mock server holds, long enough to be compared by its tokens"
    with path.open("w") as file:
        for n in range(count):
            source = compose(n)["sources"][2]
            golds = [
                {"text": source["full_text"][:200], "document_id": source["document_name"]},
                {"text": missed, "document_id": "document-missed"},
            ]
            row = {"id": f"q{n}", "question": f"Question {n}?", "gold_passages": golds, "is_unanswerable": False}
            file.write(json.dumps(row) + "\n")


def payload(number: int) -> dict[str, object]:
    """The body of a question."""
    return {"query": f"Question {number}?", "session_id": None, "is_temporary": True}


async def bare(url: str, count: int, concurrency: int) -> None:
    """The same requests by aiohttp, and nothing else."""
    left = iter(range(count))
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:

        async def own() -> None:
            for number in left:
                async with session.post(f"{url}/query", json=payload(number)) as response:
                    await response.read()
                assert response.status == 200

        await asyncio.gather(*(own() for _ in range(concurrency)))


async def bare_httpx(url: str, count: int, concurrency: int) -> None:
    """The same requests by httpx with one client a worker, and nothing else."""
    left, context = iter(range(count)), ssl.create_default_context()

    async def own() -> None:
        async with httpx.AsyncClient(verify=context) as client:
            for number in left:
                assert (await client.post(f"{url}/query", json=payload(number))).status_code == 200

    await asyncio.gather(*(own() for _ in range(concurrency)))


async def asking(url: str, count: int, concurrency: int, runs: Path) -> None:
    """The questions asked and journalled, and nothing else."""
    left = iter(range(count))
    with Journal(runs / f"asking_{time.time_ns()}.jsonl", "run the benchmark again") as journal:
        journal.plan(EvalQuestion(id=f"q{number}", question=f"Question {number}?", dataset="made") for number in left)
        left = iter(range(count))
        async with RAGClient(resolve_spec({"url": url}), concurrency=concurrency) as client:

            async def own() -> None:
                for number in left:
                    response = await client.ask(f"Question {number}?")
                    assert response.error is None
                    journal.answer(f"q{number}", response)

            await asyncio.gather(*(own() for _ in range(concurrency)))


async def harness(url: str, questions: Path, runs: Path, concurrency: int) -> None:
    """A whole evaluation."""
    config = EvalConfig(
        dataset_file=questions,
        samples_per_dataset=None,
        judge=False,
        concurrency=concurrency,
        preflight=False,
        warmup=0,
        runs_dir=runs,
        server={"url": url},
    )
    run = await EvaluationRunner(config).run()
    assert run.status == "complete", run.notes


def taken(work: Callable[[], Any]) -> Taken:
    """What it takes, in an event loop of its own."""
    cpu, wall = time.process_time(), time.perf_counter()
    asyncio.run(work())
    return Taken(time.process_time() - cpu, time.perf_counter() - wall)


@contextmanager
def mock_server(delay_s: float, short: bool = False) -> Iterator[str]:
    """A server in another process; its URL."""
    command = [sys.executable, str(MOCK), "--delay", str(delay_s), *(["--short"] if short else [])]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        yield f"http://127.0.0.1:{server.stdout.readline().strip()}"
    finally:
        server.kill()
        server.wait()


WAYS = ("bare loop", "harness", "asking", "httpx loop")


def tell(rounds: list[list[Taken]], parts: Counter[str], count: int) -> None:
    """Print the figures of a run."""
    cpu = {name: median(one[place].cpu for one in rounds) for place, name in enumerate(WAYS)}
    above = median(one[1].cpu - one[0].cpu for one in rounds)
    figures = {**cpu, "above the bare loop": above, **{f"  {part}": seconds for part, seconds in parts.most_common()}}
    for name, seconds in figures.items():
        print(
            f"{name:28} {seconds * 1000 / count:6.3f} ms CPU a question  {seconds / cpu['bare loop']:6.2f} bare loops"
        )
    for place, name in enumerate(WAYS):
        speed, ratio = (
            median(each)
            for each in zip(*((count / one[place].wall, one[0].wall / one[place].wall) for one in rounds), strict=True)
        )
        print(f"{name:28} {speed:6.0f} questions a second  {ratio:6.2f} bare loops")
    print(f"asking takes {median(one[2].cpu / one[3].cpu for one in rounds):.2f} of the CPU of the httpx loop")


def main() -> None:
    """Measure in turn, and print the medians."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--questions", type=int, default=5000)
    parser.add_argument("--concurrency", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--delay", type=float, default=0.0, help="seconds before each answer of the server")
    parser.add_argument("--short", action="store_true", help="one short body for every question: the floor")
    options = parser.parse_args()
    with mock_server(options.delay, options.short) as url, tempfile.TemporaryDirectory() as folder:
        questions, runs = Path(folder) / "questions.jsonl", Path(folder) / "runs"
        ways = [
            partial(bare, url, options.questions, options.concurrency),
            partial(harness, url, questions, runs, options.concurrency),
            partial(asking, url, options.questions, options.concurrency, Path(folder)),
            partial(bare_httpx, url, options.questions, options.concurrency),
        ]
        write_questions(questions, 200)
        taken(ways[1])  # imports and caches are warm after this
        write_questions(questions, options.questions)
        rounds = [[taken(way) for way in ways] for _ in range(options.rounds)]
        parts = Parts()
        with parts.timed():
            taken(ways[1])
    tell(rounds, parts.seconds, options.questions)


if __name__ == "__main__":
    main()
