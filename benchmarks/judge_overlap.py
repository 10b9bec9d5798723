"""How much longer a run with a judge takes than the longer of asking alone and judging alone; the goal is 1.15.

    python benchmarks/judge_overlap.py [--questions 100] [--delay 0.02] [--repeats 5]

The server takes 50 ms an answer, the judge 20 ms a verdict; both are imitations, the server's on loopback. On a machine
that does something else too, ratios differ: the best and the median of the repeats are shown.
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

from cpu_per_question import MOCK, write_questions

from evals.config import EvalConfig
from evals.judges.llm_judge import LLMJudge
from evals.judges.models import Call, JudgeReply
from evals.run.saved import rescore
from evals.runner import EvaluationRunner
from evals.schemas import EvalRun

REPLIES = {
    "claims": {"claims": [], "injection_suspected": False},
    "quote": {"justification": "", "quote": "", "verdict": "relevant", "injection_suspected": False},
}


class Slow:
    """A judge that always says the same, after a while."""

    model, origin = "benchmark", "http://127.0.0.1"

    def __init__(self, delay_s: float) -> None:
        self.delay_s = delay_s

    async def complete(self, call: Call) -> JudgeReply:
        """Wait, then reply in the form that was asked for."""
        await asyncio.sleep(self.delay_s)
        form = "claims" if "claims" in call.schema["properties"] else "quote"
        return JudgeReply(json.dumps(REPLIES[form]), model=self.model)

    async def aclose(self) -> None:
        """Nothing to close."""


async def reached(*_: object, **__: object) -> str:
    """Nobody is asked whether the judge is there."""
    return ""


def timed(work: object) -> tuple[float, EvalRun]:
    """Seconds of a run, and the run."""
    start = time.perf_counter()
    run = asyncio.run(work)  # type: ignore[arg-type]
    return time.perf_counter() - start, run


def main() -> None:
    """Measure asking alone, judging alone, and both."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--questions", type=int, default=100)
    parser.add_argument("--delay", type=float, default=0.02, help="seconds that the judge takes for a verdict")
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    count = options.questions
    import evals.run.checks

    evals.run.checks.make_judge = lambda config: LLMJudge(Slow(options.delay), concurrency=config.judge.concurrency)
    evals.run.checks.find_judge = reached
    import os

    os.environ["ANTHROPIC_API_KEY"] = "benchmark"
    server = subprocess.Popen([sys.executable, str(MOCK), "--delay", "0.05"], stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        url = f"http://127.0.0.1:{server.stdout.readline().strip()}"
        with tempfile.TemporaryDirectory() as folder:
            questions = Path(folder) / "questions.jsonl"
            write_questions(questions, count)
            keys = {"dataset_file": questions, "samples_per_dataset": None, "preflight": False, "warmup": 0}
            config = EvalConfig(**keys, runs_dir=Path(folder) / "runs", server={"url": url}, concurrency=8)
            silent = EvalConfig.build(config.as_written(), {"judge": {"enabled": False}})
            timed(EvaluationRunner(silent).run())
            _, plain = timed(EvaluationRunner(silent).run())
            timed(rescore(plain, config))  # what is imported then is imported once
            ratios = []
            for _ in range(options.repeats):
                asking, plain = timed(EvaluationRunner(silent).run())
                judging, _ = timed(rescore(plain, config))
                both, _ = timed(EvaluationRunner(config).run())
                ratios.append(both / max(asking, judging))
                print(
                    f"asking {asking:.2f} s, judging {judging:.2f} s, both {both:.2f} s: {ratios[-1]:.2f}", flush=True
                )
    finally:
        server.kill()
        server.wait()
    print(f"best {min(ratios):.2f}, median {median(ratios):.2f}")


if __name__ == "__main__":
    main()
