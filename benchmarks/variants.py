"""How often variants that are equal get a verdict on latency, and how often one that is slower by a fifth is named.

    python benchmarks/variants.py [--runs 40] [--questions 200]

A mock server in a process of its own answers over loopback after a time that is drawn: of each question a time (spread
0.4 of the logarithm), times noise of each request (spread 0.25), times a wave of 30 % that goes up and down within
seconds; one request in fifty takes three times as long. Each trial is a whole evaluation of two variants.
"""

import argparse
import asyncio
import json
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from math import exp, sin
from pathlib import Path
from random import Random
from statistics import quantiles
from time import monotonic

from evals.compare import SavedRun, compare_runs
from evals.compare.models import RunComparison
from evals.config import EvalConfig
from evals.run.observer import Observer
from evals.store.runs import RunStore
from evals.variants import VariantsRunner, variants_of

MEDIAN_S = 0.05
REPLY = json.dumps({"answer": "Four francs.", "sources": []}).encode()
HEALTHY = b'{"status":"healthy"}'


class Noisy(asyncio.Protocol):
    """Answers each request of a kept-alive connection after a time that is drawn."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self._buffer = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the connection."""
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        """Answer each complete request."""
        self._buffer += data
        while (end := self._buffer.find(b"\r\n\r\n")) >= 0:
            head = self._buffer[:end].lower().decode()
            length = int(head.partition("content-length:")[2].partition("\r\n")[0] or 0)
            if len(self._buffer) < end + 4 + length:
                return
            body, self._buffer = self._buffer[end + 4 : end + 4 + length], self._buffer[end + 4 + length :]
            factor = float(head.partition("x-factor:")[2].partition("\r\n")[0] or 1.0)
            is_query = head.startswith("post")
            delay, content = (factor * self._seconds(body), REPLY) if is_query else (0.0, HEALTHY)
            asyncio.get_running_loop().call_later(delay, self._transport.write, _http(content))  # type: ignore[attr-defined]

    def _seconds(self, body: bytes) -> float:
        own = Random(body).gauss(0, 0.4)  # noqa: S311
        drift = 1 + 0.3 * sin(monotonic())
        tail = 3.0 if self._random.random() < 0.02 else 1.0
        return MEDIAN_S * exp(own + self._random.gauss(0, 0.25)) * drift * tail


def _http(content: bytes) -> bytes:
    head = f"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {len(content)}\r\n\r\n"
    return head.encode() + content


async def serve() -> None:
    """Listen on a free loopback port, print it, and serve until killed."""
    random = Random(1)  # noqa: S311
    server = await asyncio.get_running_loop().create_server(lambda: Noisy(random), "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


@contextmanager
def serving() -> Iterator[str]:
    """The server as a process; yields its URL."""
    child = subprocess.Popen([sys.executable, __file__, "--serve"], stdout=subprocess.PIPE, text=True)
    try:
        assert child.stdout is not None
        yield f"http://127.0.0.1:{child.stdout.readline().strip()}"
    finally:
        child.kill()
        child.wait()


def trial(url: str, folder: Path, seed: int, questions: int, factor: float) -> RunComparison:
    """Evaluate two variants, of which the second takes so many times as long."""
    file = folder / "questions.jsonl"
    rows = ({"id": f"q{n}", "question": f"What is fee {n}?", "expected_answer": "Four"} for n in range(questions))
    file.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    config = EvalConfig.build(
        {
            "dataset_file": str(file),
            "seed": seed,
            "judge": False,
            "metrics": ["latency_p50", "latency_p95"],
            "preflight": False,
            "server": {"url": url, "ask": {"headers": {"X-Trial": "1"}}},
            "variants": {"as it is": {}, "changed": {"ask": {"headers": {"X-Factor": str(factor)}}}},
            "runs_dir": str(folder / f"runs-{seed}-{factor}"),
        }
    )
    done = asyncio.run(VariantsRunner(variants_of(config), Observer()).evaluate())
    store = RunStore(config.runs_dir)
    saved = [SavedRun(each.run, store.open_records(each.run)) for each in done]
    return compare_runs(saved).against[0]


def said(one: RunComparison) -> str:
    """The verdict on the ratio, and whether a percentile has one too."""
    assert one.latency is not None
    percentiles = {pair.verdict for pair in one.pairs if pair.unit == "ms"} & {"better", "worse"}
    return (
        one.latency.verdict
        + (" (ratio alone)" if not percentiles and one.latency.verdict == "slower" else "")
        + (" (percentile alone)" if percentiles and one.latency.verdict in {"equal", "undecided"} else "")
    )


def main() -> None:
    """Print how often what was said."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=40)
    parser.add_argument("--questions", type=int, default=200)
    parser.add_argument("--serve", action="store_true", help="be the server")
    options = parser.parse_args()
    if options.serve:
        asyncio.run(serve())
        return
    with serving() as url, tempfile.TemporaryDirectory() as folder:
        for factor in (1.0, 1.2):
            trials = [trial(url, Path(folder), seed, options.questions, factor) for seed in range(options.runs)]
            told = ", ".join(f"{what} {count}" for what, count in Counter(map(said, trials)).most_common())
            ratios = quantiles([one.latency.ratio for one in trials if one.latency], n=4)
            seen = f"ratios seen: quartiles {', '.join(f'{ratio:.3f}' for ratio in ratios)}"
            print(f"the second takes {factor:g} times as long, {options.runs} runs: {told}; {seen}", flush=True)


if __name__ == "__main__":
    main()
