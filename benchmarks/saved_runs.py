"""Time and memory of the commands over saved runs, each in a fresh process, over runs made by writing their records.

python benchmarks/saved_runs.py [--questions 500,1000] [--only show,compare]

A question has five chunks of 800 characters, no two alike, and the values of the core metrics, by rule; a tenth of the
questions fails, another tenth is declined, and each run loses the gold of more. Memory is the peak of the process
beyond what its imports take; time is that of the whole process, start-up included. "first" is what a run without
`columns.npz` takes, whose records are read once; "again" is what any later command takes, and the first after `eval`.
"""

import argparse
import os
import random
import re
import resource
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path

from evals.config import EvalConfig
from evals.metrics.registry import select
from evals.run.scoring import Scoring
from evals.schemas import EvalQuestion, EvalRecord, EvalResponse, EvalRun, GoldPassage, ResponseError, RetrievedChunk
from evals.schemas.response import ServerRecord
from evals.scoring.results import changed_ns
from evals.scoring.settings import settings_of
from evals.store.journal import record_line, write_records
from evals.store.runs import RunStore

WORDS = [f"{start}{end}" for start in ("bra", "cle", "dro", "fin", "gru", "hal", "jor", "kel") for end in
         ("ban", "cot", "dell", "fer", "gon", "hest", "lin", "mar", "nor", "pell", "rast", "ton")]  # fmt: skip
SAMPLE = 200
"""Questions that fare differently; those after them fare like them, with texts of their own."""
MEASURE = """
import sys, runpy
def peak():
    return next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM"))
sys.argv = ["evals", *sys.argv[1:]]
from importlib import import_module
from evals.cli import COMMANDS
import_module("evals.cli.commands." + COMMANDS[sys.argv[1]][1].partition(".")[0])
before = peak()
try:
    runpy.run_module("evals.cli", run_name="__main__")
finally:
    print("peak", before, peak(), file=sys.stderr)
"""
COMMANDS = {
    "--help": None,
    "runs": ("runs",),
    "show, first": ("show", "a"),
    "show, again": ("show", "a"),
    "show --question": ("show", "a", "--question", "q7"),
    "show --failed": ("show", "a", "--failed", "declined"),
    "show --by kind": ("show", "a", "--by", "kind"),
    "export csv": ("export", "--run-id", "a"),
    "export json": ("export", "--run-id", "a", "--format", "json"),
    "export markdown": ("export", "--run-id", "a", "--format", "markdown"),
    "gate": ("gate", "b", "--gate", "mrr>=0.1"),
    "compare 2, first": ("compare", "a", "b"),
    "compare 2, again": ("compare", "a", "b"),
    "gate --baseline": ("gate", "b", "--gate", "mrr>=0.1", "--baseline", "a"),
    "compare 3 --pareto": ("compare", "a", "b", "c", "--pareto"),
}


def text(rng: random.Random, characters: int) -> str:
    """Words drawn by chance."""
    return " ".join(rng.choices(WORDS, k=characters // 7))


def record(number: int, lost: float, seed: str) -> EvalRecord:
    """One question with its answer; its text is the same in all runs."""
    rng, luck = random.Random(f"question {number}"), random.Random(f"{seed} {number % SAMPLE}")  # noqa: S311
    texts = [text(rng, 800) for _ in range(5)]
    fact = f"{rng.choice(WORDS)} {rng.randrange(10_000)}"
    question = EvalQuestion(
        id=f"q{number}",
        question=f"What is the number of {text(rng, 40)}?",
        expected_answer=fact,
        gold_passages=[GoldPassage(document_id=f"doc-{number % 997}", text=texts[0][:400])],
        is_unanswerable=False,
        dataset="made",
        metadata={"kind": f"kind {number % 6}"},
    )
    if luck.random() < 0.1:
        return EvalRecord(question=question, response=EvalResponse(error=ResponseError(kind="timeout", message="late")))
    found = texts[1:] if luck.random() < lost else texts
    luck.shuffle(found)
    answer = "I do not know." if luck.random() < 0.1 else f"The number is {fact} [1]."
    chunks = [
        RetrievedChunk(chunk_id=f"{number}-{place}", document_id=f"doc-{number % 997}", text=each)
        for place, each in enumerate(found)
    ]
    response = EvalResponse(answer=answer, chunks=chunks, citations=[], latency_ms=round(100 + 900 * luck.random(), 3))
    return EvalRecord(question=question, response=response)


def make_run(folder: Path, name: str, questions: int, lost: float) -> None:
    """Write a run of so many questions, record by record, as `eval` would have left it."""
    created = datetime(2026, 1, 2, 3, 4, ord(name) % 60, tzinfo=UTC)
    server = ServerRecord(url="http://127.0.0.1:1", profile="rag-server")
    run = EvalRun(
        id=name, name=name, created_at=created, completed_at=created, datasets=["made"], question_count=questions,
        status="complete", server=server, seed=42, concurrency=4,
    )  # fmt: skip
    store = RunStore(folder)
    store.prepare()
    scoring = Scoring(run, select(["core"], []), settings_of(run), EvalConfig())
    lines = (record_line(scoring.score(record(number, lost, name))) for number in range(questions))
    path = store.records_path(run)
    records, scoring.results.offsets = write_records(path, lines)
    done = scoring.summarise(ended="whole", stopped=None, notes=[], record_sum=records)
    store.save(done)
    scoring.results.save(store.columns_path(done), records, changed_ns(path))


def measured(folder: Path, arguments: tuple[str, ...] | None) -> tuple[float, float, float | None]:
    """Seconds of a command, those of CPU, and its peak memory in MB beyond its imports; none for --help."""
    command = [sys.executable, "-m", "evals.cli", "--help"]
    if arguments is not None:
        command = [sys.executable, "-c", MEASURE, *arguments, "--runs-dir", str(folder)]
    start, used = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
    seconds, spent = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = spent.ru_utime + spent.ru_stime - used.ru_utime - used.ru_stime
    peaks = re.search(r"peak (\d+) (\d+)", done.stderr)
    if arguments is not None and (peaks is None or "Traceback" in done.stderr):
        raise SystemExit(done.stderr)
    return seconds, cpu, (int(peaks[2]) - int(peaks[1])) / 1024 if peaks else None


def main() -> None:
    """Make runs of each size, and print a row a command and size."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--questions", default="300", help="sizes, with commas")
    parser.add_argument("--only", default="", help="beginnings of commands, with commas")
    parser.add_argument("--folder", type=Path, help="where runs are kept for the next time")
    given = parser.parse_args()
    wanted = tuple(given.only.split(","))
    os.environ.setdefault("PYTHONPYCACHEPREFIX", str(Path(tempfile.gettempdir()) / "saved-runs-bytecode"))
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # start-up is measured as an installed program has it
    print(f"{'questions':>9}  {'command':<20}{'seconds':>9}{'CPU':>8}{'MB':>8}{'  MB allowed'}")
    with tempfile.TemporaryDirectory() as scratch:
        for questions in map(int, given.questions.split(",")):
            folder = (given.folder or Path(scratch)) / str(questions)
            for name, lost in (("a", 0.1), ("b", 0.2), ("c", 0.3)):
                if not list(folder.glob(f"{name}_*.json")):
                    make_run(folder, name, questions, lost)
            measured(folder, ("runs",))  # compiles
            for title, arguments in COMMANDS.items():
                if title.startswith(wanted):
                    for columns in folder.glob("*.columns.npz") if title.endswith("first") else ():
                        columns.unlink()
                    print_row(questions, title, *measured(folder, arguments))


def print_row(questions: int, title: str, seconds: float, cpu: float, peak: float | None) -> None:
    """One line of the table."""
    runs = {"compare 2, first": 2, "compare 2, again": 2, "gate --baseline": 2, "compare 3 --pareto": 3}.get(title, 1)
    memory = "" if peak is None else f"{peak:8.0f}{60 + 0.4 * questions * runs / 1000:12.0f}"
    print(f"{questions:>9}  {title:<20}{seconds:9.2f}{cpu:8.2f}{memory}", flush=True)


if __name__ == "__main__":
    main()
