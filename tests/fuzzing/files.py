"""What a user or a crash damages on disk: configurations, profiles, questions, answers, saved runs, gates."""

import atexit
import json
import random
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import yaml
from fuzzing.damage import damaged_bytes, damaged_json, damaged_text
from fuzzing.limits import Outcome, run_within_limits
from whole_runs import saved_run

from evals.schemas import EvalQuestion, EvalRecord, EvalResponse, RetrievedChunk

JUDGED, PLAIN = "631f81a2", "3fce6905"


def _make_runs() -> Path:
    """Two runs of the same questions."""
    response = EvalResponse(answer="It takes 96 hours [1].", chunks=[RetrievedChunk(text="It takes 96 hours.")])
    folder = Path(mkdtemp(prefix="evals-fuzzing-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    for run_id in (JUDGED, PLAIN):
        records = [
            EvalRecord(
                question=EvalQuestion.model_validate({**each, "gold_passages": [{"text": "It takes 96 hours."}]}),
                response=response,
            )
            for each in QUESTIONS
        ]
        saved_run(folder, records, id=run_id, name=run_id)
    return folder


Attempt = Callable[[random.Random], list[str]]
"""Makes one damaged input of a generator of numbers, has it read, and says which promises were broken."""

QUESTIONS: list[dict[str, Any]] = [
    {
        "id": f"q{number}",
        "question": f"How long does the X{number}00 run?",
        "expected_answer": "96 hours",
        "answers": ["96 h", "four days"],
        "is_unanswerable": False,
        "gold_passages": [{"text": "The battery lasts 96 hours.", "document_id": "x.md", "span": [1, 20]}, "A text."],
        "metadata": {"difficulty": "easy", "n": number},
    }
    for number in range(3)
]
FIXTURES = _make_runs()
_CONFIGURATION: dict[str, Any] = {
    "dataset_file": "questions.json",
    "samples_per_dataset": 3,
    "server": {
        "url": "http://127.0.0.1:9/",
        "profile": "rag-server",
        "headers": {"X-Team": "a"},
        "health": {"path": "/health"},
        "clean": ["\\[\\d+\\]"],
        "timeout_s": 3,
    },
    "judge": {"model": "claude-sonnet-5-5", "repeats": 1, "max_cost_usd": 2.5},
    "match": {"rule": "auto"},
    "scoring": {"weights": {"retrieval": 0.5}},
    "prices": {"m": {"input": 1, "output": 2}},
    "suite": ["core"],
    "metrics": ["mrr", "recall_at_5"],
    "gate": ["mrr>=0.5"],
    "seed": 7,
    "shard": "1/2",
}
_PROFILE: dict[str, Any] = {
    "url": "http://127.0.0.1:9",
    "ask": {"method": "POST", "path": "/ask", "json": {"q": "{{question}}", "k": 5}},
    "health": {"path": "/health"},
    "map": {
        "answer": "answer.text",
        "chunks": "sources[*].{text: text, document_name: name, score: score}",
        "usage": "usage",
    },
    "citations": {"base": 1, "marker": "\\[(\\d+)\\]"},
    "clean": ["<b>"],
    "timeout_s": 5,
}


def configurations(folder: Path) -> Attempt:
    """Configuration files, as YAML and as JSON."""
    _write_questions(folder)
    path = folder / "c.yml"

    def attempt(rng: random.Random) -> list[str]:
        path.write_bytes(_damaged_yaml(rng, _CONFIGURATION))
        return run_within_limits(["eval", "--dry-run", "--config", str(path)]).problems

    return attempt


def profiles(folder: Path) -> Attempt:
    """Files that say how a kind of server is asked and read."""
    _write_questions(folder)
    path = folder / "p.yml"
    command = ["eval", "--dry-run", "--no-judge", "--dataset-file", "questions.json", "--profile", str(path)]

    def attempt(rng: random.Random) -> list[str]:
        path.write_bytes(_damaged_yaml(rng, _PROFILE))
        return run_within_limits(command).problems

    return attempt


def datasets(folder: Path) -> Attempt:
    """Files of questions in every format, and files of answers."""
    whole = {name: path.read_bytes() for name, path in _write_questions(folder).items()}

    def attempt(rng: random.Random) -> list[str]:
        name = rng.choice(sorted(whole))
        path = folder / f"damaged-{name}"
        as_value = name.endswith(".json") and rng.random() < 0.7
        path.write_bytes(damaged_json(rng, QUESTIONS) if as_value else damaged_bytes(rng, whole[name]))
        questions, answers = (folder / "questions.json", path) if name == "answers.jsonl" else (path, None)
        if answers is None and rng.random() < 0.7:
            return run_within_limits(["eval", "--dry-run", "--no-judge", "--dataset-file", str(path)]).problems
        answers = answers or folder / "answers.jsonl"
        command = ["score", str(answers), "--dataset-file", str(questions), "--no-judge", "--runs-dir"]
        return run_within_limits([*command, str(_emptied(folder / "scored"))]).problems

    return attempt


def saved_runs(folder: Path) -> Attempt:
    """The files of runs, edited by hand."""
    runs = _saved(folder)

    def attempt(rng: random.Random) -> list[str]:
        path, whole = _one_of(rng, runs, ".json")
        with _mended(runs):
            path.write_bytes(damaged_json(rng, json.loads(whole)))
            return _looked_at(rng, runs, path).problems

    return attempt


def records(folder: Path) -> Attempt:
    """The records of runs, with lines damaged, lost, twice and in another order."""
    runs = _saved(folder)

    def attempt(rng: random.Random) -> list[str]:
        path, whole = _one_of(rng, runs, ".records.jsonl")
        lines = whole.splitlines(keepends=True)
        number = rng.randrange(len(lines))
        if rng.random() < 0.6:
            lines[number] = damaged_json(rng, json.loads(lines[number])).replace(b"\n", b" ") + b"\n"
        elif rng.random() < 0.5:
            lines[number] = damaged_bytes(rng, lines[number])
        else:
            lines = rng.choices(lines, k=rng.randint(0, 2 * len(lines)))
        with _mended(runs):
            path.write_bytes(b"".join(lines))
            return _looked_at(rng, runs, path).problems

    return attempt


def indexes(folder: Path) -> Attempt:
    """The indexes beside the records: whatever they hold, what is shown is what the records say."""
    runs = _saved(folder)
    shown = {name: run_within_limits(_show(runs, name)).out for name in (JUDGED, PLAIN)}
    kept = {path: path.read_bytes() for path in runs.glob("*.columns.npz")}

    def attempt(rng: random.Random) -> list[str]:
        path = rng.choice(sorted(kept))
        name = path.name.partition("_")[0]
        with _mended(runs):
            path.write_bytes(_damaged_index(rng, kept[path]))
            seen = run_within_limits(_show(runs, name))
            problems = [*seen.problems, *_looked_at(rng, runs, path).problems]
        return problems if seen.out == shown[name] else [*problems, f"shows another run: {seen.out} {seen.err}"]

    return attempt


def gates(folder: Path) -> Attempt:
    """Conditions as people type them."""
    runs = _saved(folder)
    whole = ("mrr>=0.8", "mrr@low>=0.8", "recall_at_5 > 50%", "p95_latency<=2000", "score>=60", "faithfulness>=.9")

    def attempt(rng: random.Random) -> list[str]:
        texts = [damaged_text(rng, rng.choice(whole)).replace("\x00", "") for _ in range(rng.randint(1, 3))]
        flags = [f"--gate={text[:2000]}" for text in texts]
        return run_within_limits(["gate", PLAIN, "--runs-dir", str(runs), *flags]).problems

    return attempt


def _damaged_yaml(rng: random.Random, value: Any) -> bytes:
    if rng.random() < 0.5:
        return damaged_json(rng, value)
    return damaged_bytes(rng, yaml.safe_dump(value, allow_unicode=True).encode())


def _damaged_index(rng: random.Random, data: bytes) -> bytes:
    return damaged_bytes(rng, data)


def _write_questions(folder: Path) -> dict[str, Path]:
    lines = [json.dumps(question) for question in QUESTIONS]
    rows = ["id,question,expected_answer,is_unanswerable"]
    rows += [f'{each["id"]},"{each["question"]}",{each["expected_answer"]},false' for each in QUESTIONS]
    answers = [
        {"question_id": each["id"], "answer": "It takes 96 hours [1].", "chunks": ["It takes 96 hours.", {"text": "x"}]}
        for each in QUESTIONS
    ]
    texts = {
        "questions.json": json.dumps(QUESTIONS),
        "questions.jsonl": "\n".join(lines),
        "questions.csv": "\n".join(rows),
        "questions.tsv": "\n".join(rows).replace(",", "\t"),
        "answers.jsonl": "\n".join(map(json.dumps, answers)),
    }
    for name, text in texts.items():
        (folder / name).write_text(text)
    return {name: folder / name for name in texts}


def _saved(folder: Path) -> Path:
    """Runs of an earlier version, whose indexes are made by looking at them."""
    runs = folder / "runs"
    shutil.copytree(FIXTURES, runs)
    for name in (JUDGED, PLAIN):
        outcome = run_within_limits(_show(runs, name))
        assert not outcome.problems, outcome.problems
    return runs


def _show(runs: Path, name: str) -> list[str]:
    return ["show", name, "--runs-dir", str(runs)]


def _one_of(rng: random.Random, runs: Path, ending: str) -> tuple[Path, bytes]:
    name = rng.choice((JUDGED, PLAIN))
    (path,) = (path for path in runs.glob(f"{name}_*{ending}") if path.name.count(".") == ending.count("."))
    return path, path.read_bytes()


def _looked_at(rng: random.Random, runs: Path, path: Path) -> Outcome:
    """One of the commands over a damaged file."""
    return run_within_limits([*_command(rng, path.name.partition("_")[0]), "--runs-dir", str(runs)])


@contextmanager
def _mended(runs: Path) -> Iterator[None]:
    """After the block the folder is as it was."""
    kept = {path: path.read_bytes() for path in runs.iterdir() if path.is_file()}
    try:
        yield
    finally:
        for made in set(runs.iterdir()) - kept.keys():
            made.unlink() if made.is_file() else shutil.rmtree(made)
        for path, data in kept.items():
            path.write_bytes(data)


def _command(rng: random.Random, name: str) -> Sequence[str]:
    return rng.choice(
        (
            ["show", name],
            ["show", name, "--json"],
            ["runs"],
            ["compare", JUDGED, PLAIN],
            ["gate", name, "--gate=mrr>=0.1"],
            ["gate", name, f"--baseline={PLAIN}"],
            ["export", "--run-id", name, "--format", "csv"],
            ["export", "--run-id", name, "--format", "markdown"],
            ["rescore", name, "--no-judge"],
            ["eval", "--resume", name, "--dry-run"],
        )
    )


def _emptied(folder: Path) -> Path:
    shutil.rmtree(folder, ignore_errors=True)
    return folder
