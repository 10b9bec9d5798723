"""What is wrong with data, in words of its author."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel, ValidationError
from whole_runs import read_answers

from evals.config import EvalConfig
from evals.datasets.file import read_file
from evals.errors import EvalsError
from evals.schemas import EvalQuestion, EvalResponse
from evals.store.journal import RecordLog
from evals.text.matching import MatchSettings
from evals.text.yaml_files import first_problem


def failing(model: type[BaseModel], data: Any) -> ValidationError:
    with pytest.raises(ValidationError) as caught:
        model.model_validate(data)
    return caught.value


@pytest.mark.parametrize(
    ("model", "data", "said"),
    [
        (EvalQuestion, 5, "must hold keys and values, not a number"),
        (EvalQuestion, {}, "question: it is missing"),
        (EvalQuestion, {"question": None}, "question: must be a text, not nothing"),
        (EvalQuestion, {"question": ""}, "question: must not be empty"),
        (EvalQuestion, {"question": "a", "checks": ["x"]}, "checks.0: must hold keys and values, not a text"),
        (EvalQuestion, {"question": "a", "gold_passages": "x"}, "gold_passages: must be a list, not a text"),
        (EvalQuestion, {"question": "a", "metadata": []}, "metadata: must hold keys and values, not a list"),
        (EvalQuestion, {"question": "a", "is_unanswerable": "so"}, "is_unanswerable: must be true or false, not 'so'"),
        (EvalQuestion, {"question": "a", "checks": [{}]}, "checks.0: 'kind' is missing"),
        (EvalResponse, {"latency_ms": "x"}, "latency_ms: must be a number, not 'x'"),
        (EvalResponse, {"latency_ms": float("nan")}, "latency_ms: must be a finite number, not nan"),
        (EvalResponse, {"attempts": 1.5}, "attempts: must be a whole number, not 1.5"),
        (EvalResponse, {"attempts": True, "latency_ms": {}}, "latency_ms: must be a number, not keys and values"),
        (MatchSettings, {"overlap_threshold": 2}, "overlap_threshold: must be at most 1, not 2"),
        (MatchSettings, {"overlap_threshold": 0}, "overlap_threshold: must be above 0, not 0"),
        (MatchSettings, {"inside_min_tokens": 0}, "inside_min_tokens: must be at least 1, not 0"),
        (MatchSettings, {"rule": 7}, "rule: must be 'auto', .* or 'document', not 7"),
    ],
    ids=str,
)  # fmt: skip
def test_what_is_wrong_is_said_plainly(model: type[BaseModel], data: Any, said: str) -> None:
    """No class and no term of the library that checks is in the message."""
    problem = str(first_problem(failing(model, data), model))
    assert re.fullmatch(said, problem), problem


@pytest.mark.parametrize(
    ("read", "name", "content", "said"),
    [
        (EvalConfig.from_file, "c.yml", "judge: 5", "configuration: judge: must hold keys and values, not a number"),
        (read_file, "q.json", '[{"question": 5}]', "q.json, question 1, column question: must be a text, not a number"),
        (read_answers, "a.jsonl", '{"question_id": "q", "usage": 5}',
         "a.jsonl, line 1, usage: must hold keys and values, not a number"),
        (read_answers, "a.jsonl", '{"question_id": "q", "chunks": [{"txt": "x"}]}',
         "a.jsonl, line 1, chunks.0.txt: unknown key"),
        (RecordLog, "r.jsonl", '{"type": "question", "question_id": "q", "question": 5}\n',
         "r.jsonl, line 1: question: must hold keys and values, not a number"),
    ],
    ids=["configuration", "dataset file", "saved answers", "part of one", "records"],
)  # fmt: skip
def test_all_that_is_read_is_told_in_the_same_words(
    tmp_path: Path, read: Callable[[Path], object], name: str, content: str, said: str
) -> None:
    """One formatter for everything that people and other programs write."""
    (tmp_path / name).write_text(content, encoding="utf-8")
    with pytest.raises(EvalsError) as caught:
        list(read(tmp_path / name) or ())  # type: ignore[call-overload]
    assert caught.value.message.partition(f" ({tmp_path}")[0] == said  # where a place follows, it is in the file
