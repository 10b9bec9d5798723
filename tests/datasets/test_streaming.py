"""Files of questions are read without being held."""

import json
import tracemalloc
from pathlib import Path

from evals.config import EvalConfig
from evals.datasets.base import LoadOptions
from evals.datasets.file import load_file
from evals.run.workload import load_workload
from evals.schemas import EvalQuestion

FINGERPRINT = "7451fa08443ba2cb3d8db8a18d452b5e0aee2b742ce0013dfd6a0568e9dc6e15"
"""Of three of five questions, as earlier versions made it."""


def write(path: Path, count: int, characters: int) -> Path:
    """Questions, each with a passage of its own of so many characters."""
    with path.open("w") as file:
        for number in range(count):
            gold = {"text": f"{number} " + "x" * characters, "document_id": f"d{number}"}
            row = {"id": f"q{number}", "question": f"Question {number}?", "gold_passages": [gold], "metadata": {"n": 1}}
            file.write(json.dumps(row) + "\n")
    return path


def test_the_questions_of_a_jsonl_file_are_never_all_in_memory(tmp_path: Path) -> None:
    """Neither its text nor its rows nor the questions: of thirty megabytes less than half is held at any time."""
    path = write(tmp_path / "q.jsonl", 300, 100_000)
    tracemalloc.start()
    try:
        dataset = load_file(path, LoadOptions(samples=None, scratch=tmp_path))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert len(dataset.questions) == 300
    assert peak < 15_000_000


def test_what_is_drawn_of_a_file_is_the_same_in_memory_and_on_disk(tmp_path: Path) -> None:
    """The questions, their order and the fingerprint, whose value is that of earlier versions."""
    path = write(tmp_path / "q.jsonl", 5, 10)
    some = load_file(path, LoadOptions(samples=3, seed=7))
    assert [question.id for question in some.questions] == ["q2", "q3", "q4"]
    assert {question.dataset for question in some.questions} == {"q"}
    assert some.fingerprint.sha256 == FINGERPRINT
    assert some.fingerprint.available == 5
    for seed in range(5):
        ids = [question.id for question in load_file(path, LoadOptions(samples=3, seed=seed)).questions]
        assert ids == sorted(ids)
    workload = load_workload(EvalConfig(dataset_file=path, samples_per_dataset=3, seed=7, runs_dir=tmp_path / "runs"))
    assert list(workload.questions) == list(some.questions)
    assert all(isinstance(question, EvalQuestion) for question in workload.questions)
