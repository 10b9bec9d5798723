"""A whole run of ours: load, ask, read, log, all core metrics without a judge, save. A cluster where one is named."""

import asyncio
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from cpu_per_question import write_questions
from serving import serve

from evals.config import EvalConfig
from evals.runner import EvaluationRunner

DASK = "local" if "--dask" in sys.argv else None


def run(url: str, count: int, concurrency: int) -> None:
    """Ask so many questions, in a folder of its own."""
    with tempfile.TemporaryDirectory() as folder:
        questions = Path(folder) / "questions.jsonl"
        write_questions(questions, count)
        config = EvalConfig.build(
            {
                "dataset_file": str(questions),
                "judge": False,
                "concurrency": concurrency,
                "preflight": False,
                "warmup": 0,
                "runs_dir": str(Path(folder) / "runs"),
                "server": {"url": url},
                "dask": DASK,
            }
        )
        run = asyncio.run(EvaluationRunner(config).run())
    assert run.status == "complete", run.notes


if __name__ == "__main__":
    serve(run)
