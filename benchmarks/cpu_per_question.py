"""CPU per question above a bare loop over the same HTTP clients, in one run.

    python benchmarks/cpu_per_question.py [--questions 1000] [--concurrency 16] [--rounds 5]

The harness does everything that a run does without a judge: ask, read, journal, match, measure, score, save.
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


async def bare(url: str, count: int, concurrency: int) -> None:
    """The same requests by the same clients, and nothing else."""
    async with Transport(url, concurrency=concurrency) as transport:
        left = iter(range(count))

        async def own(client_number: int) -> None:
            client = transport._clients[client_number]
            for number in left:
                payload = {"query": f"Question {number}?", "session_id": None, "is_temporary": True}
                response = await client.post(url + "/query", json=payload)
                assert response.status_code == 200

        await asyncio.gather(*(own(n) for n in range(concurrency)))


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
    parser = argparse.ArgumentParser(description=__doc__)
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
                rows.append((alone, whole))
    finally:
        server.kill()
        server.wait()
    scale = 1000 / options.questions
    print(f"bare loop   {median(a for a, _ in rows) * scale:6.3f} ms CPU a question")
    print(f"harness     {median(w for _, w in rows) * scale:6.3f} ms CPU a question")
    print(f"difference  {median(w - a for a, w in rows) * scale:6.3f} ms CPU a question")
    print(f"ratio       {median(w / a for a, w in rows):6.2f}")


if __name__ == "__main__":
    main()
