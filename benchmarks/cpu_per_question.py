"""CPU per question of a whole evaluation, above a bare loop that only asks, in one run.

    python benchmarks/cpu_per_question.py [--questions 1000] [--concurrency 16] [--rounds 5]

harness      everything that a run does without a judge: ask, read, journal, match, measure, score, save
bare loop    what anybody would write: `await client.post(…)` in as many tasks, each with its own httpx client of one
             connection; the difference to it, the headline, is what using the harness costs instead of such a loop
transport    the harness's own way to ask (`evals.client.transport`) in as many tasks; it leaves out a part of
             httpx's client, so it is cheaper than the bare loop, and the difference to it is the larger one: what the
             harness does besides asking
"""

import argparse
import asyncio
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

import httpx

from evals.client.transport import Transport
from evals.config import EvalConfig
from evals.runner import EvaluationRunner

MOCK = Path(__file__).with_name("mock_server.py")


def write_questions(path: Path, count: int) -> None:
    """Questions with two gold passages each, one of which the mock retrieves."""
    from mock_server import body

    text = json.loads(body())["sources"][2]["full_text"]
    missed = "a passage that no chunk of the mock server holds, long enough to be compared by its tokens"
    golds = [{"text": text[:200], "document_id": "document-2"}, {"text": missed, "document_id": "document-9"}]
    rows = [
        {"id": f"q{n}", "question": f"Question {n}?", "gold_passages": golds, "is_unanswerable": False}
        for n in range(count)
    ]
    path.write_text("\n".join(map(json.dumps, rows)))


def payload(number: int) -> dict[str, object]:
    """The body of a question."""
    return {"query": f"Question {number}?", "session_id": None, "is_temporary": True}


async def bare(url: str, count: int, concurrency: int) -> None:
    """The same requests by httpx clients, and nothing else."""
    left = iter(range(count))
    limits = httpx.Limits(max_connections=1, max_keepalive_connections=1)

    async def own() -> None:
        async with httpx.AsyncClient(timeout=120, verify=False, limits=limits) as client:  # noqa: S501 - no TLS here
            for number in left:
                response = await client.post(f"{url}/query", json=payload(number))
                assert response.status_code == 200

    await asyncio.gather(*(own() for _ in range(concurrency)))


async def bare_transport(url: str, count: int, concurrency: int) -> None:
    """The same requests by the harness's transport, and nothing else."""
    left = iter(range(count))
    async with Transport(url, concurrency=concurrency) as transport:

        async def own() -> None:
            for number in left:
                reply = await transport.send("POST", "query", json=payload(number))
                assert reply.status == 200

        await asyncio.gather(*(own() for _ in range(concurrency)))


def harness(url: str, questions: Path, runs: Path, concurrency: int) -> None:
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
    run = asyncio.run(EvaluationRunner(config).run())
    assert run.status == "complete", run.notes


def cpu(work: object, *arguments: object) -> float:
    """CPU seconds of a call."""
    start = time.process_time()
    work(*arguments)  # type: ignore[operator]
    return time.process_time() - start


def main() -> None:
    """Measure in turn, and print the median of the differences."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--questions", type=int, default=1000)
    parser.add_argument("--concurrency", type=int, default=16)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    server = subprocess.Popen([sys.executable, str(MOCK)], stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        url = f"http://127.0.0.1:{server.stdout.readline().strip()}"
        with tempfile.TemporaryDirectory() as folder:
            questions = Path(folder) / "questions.jsonl"
            write_questions(questions, options.questions)
            harness(
                url, questions, Path(folder) / "runs", options.concurrency
            )  # imports and caches are warm after this
            rows = []
            for _ in range(options.rounds):
                alone = cpu(lambda: asyncio.run(bare(url, options.questions, options.concurrency)))
                whole = cpu(harness, url, questions, Path(folder) / "runs", options.concurrency)
                transport = cpu(lambda: asyncio.run(bare_transport(url, options.questions, options.concurrency)))
                rows.append((alone, whole, transport))
    finally:
        server.kill()
        server.wait()
    scale = 1000 / options.questions
    figures = {
        "harness": median(whole for _, whole, _ in rows),
        "bare loop": median(alone for alone, _, _ in rows),
        "above the bare loop": median(whole - alone for alone, whole, _ in rows),
        "transport": median(transport for _, _, transport in rows),
        "above the transport": median(whole - transport for _, whole, transport in rows),
    }
    for name, seconds in figures.items():
        print(f"{name:20} {seconds * scale:6.3f} ms CPU a question")
    print(f"{'ratio':20} {median(whole / alone for alone, whole, _ in rows):6.2f} (harness to bare loop)")


if __name__ == "__main__":
    main()
