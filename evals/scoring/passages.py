"""Score a file of retrieved passages against a file of gold passages.

The files are those of LegalBench-RAG: gold is `{"tests": [{"query", "snippets": [{"file_path", "span", "answer"}]}]}`,
predictions are `[{"query", "retrieved_passages": ["…"]}]`, in the order of their rank.
"""

import json
from collections import defaultdict, deque
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from evals.errors import ConfigError, DatasetError
from evals.metrics.retrieval import exact_match, ndcg_at, newly_held, span_f1
from evals.text.decoding import read_whole
from evals.text.numbers import agree, counted
from evals.text.yaml_files import first_problem

_NAMED = 3
_SHOWN = 80


@dataclass(frozen=True, slots=True)
class PassageScores:
    """The means over all queries that have gold; each is between 0 and 1.

    Attributes:
        k: The cut-off of recall and nDCG.
        num_examples: Number of queries.
        notes: What a reader of the numbers must know: what is missing, unknown or left out.
    """

    exact_match: float
    span_f1: float
    recall: float
    ndcg: float
    k: int
    num_examples: int
    notes: list[str] = field(default_factory=list)

    def labelled(self) -> dict[str, float]:
        """The numbers by the labels under which they are printed."""
        return {
            "exact_match": self.exact_match,
            "span_f1": self.span_f1,
            f"recall@{self.k}": self.recall,
            f"ndcg@{self.k}": self.ndcg,
            "num_examples": self.num_examples,
        }


class _Entry(BaseModel):
    """An entry of either file."""

    model_config = ConfigDict(strict=True)


class _Snippet(_Entry):
    answer: str = ""


class _Test(_Entry):
    query: str
    snippets: list[_Snippet]


class _Tests(_Entry):
    tests: list[_Test]


class _Prediction(_Entry):
    query: str
    retrieved_passages: list[str]


@dataclass
class _Gold:
    """The gold passages of every query; the nth test of a query waits for the nth prediction of it."""

    tests: int = 0
    scored: int = 0
    empty: list[str] = field(default_factory=list)
    without_text: int = 0
    waiting: dict[str, deque[list[str]]] = field(default_factory=lambda: defaultdict(deque))


def score_predictions(predictions: Path, gold: Path, *, k: int = 10) -> PassageScores:
    """Score a file of predictions against a file of gold passages.

    A query without a prediction scores 0, one without gold is left out; both are noted.

    Args:
        predictions: For each query the retrieved passages, best first.
        gold: For each query the passages that answer it.
        k: Cut-off rank of recall and nDCG.

    Raises:
        ConfigError: k is not positive.
        DatasetError: A file cannot be read or has another shape; the message names file and entry.
    """
    if k < 1:
        raise ConfigError(f"k must be at least 1, not {k}")
    wanted, entries = _read_gold(gold), _read_json(predictions)
    if not isinstance(entries, list):
        raise DatasetError(f"{predictions.name}: expected a JSON list", "predictions come first, then gold")
    totals = [0.0] * 4
    unknown: list[str] = []
    for number, entry in enumerate(entries, start=1):
        found = _valid(_Prediction, entry, f"{predictions.name}, entry {number}")
        waiting = wanted.waiting.get(found.query.strip())
        if not waiting:
            unknown.append(found.query.strip())
        elif golds := waiting.popleft():
            measured = _measure(found.retrieved_passages, golds, k)
            totals = [total + value for total, value in zip(totals, measured, strict=True)]
    exact, f1, recall, ndcg = (total / wanted.scored for total in totals)
    return PassageScores(exact, f1, recall, ndcg, k, wanted.scored, _notes(wanted, len(entries), unknown))


def _measure(passages: list[str], golds: list[str], k: int) -> tuple[float, float, float, float]:
    """Exact match, span F1, recall and nDCG of one query."""
    held = newly_held(passages[:k], golds)
    return (
        exact_match(passages, golds),
        span_f1(passages, golds),
        sum(map(len, held)) / len(golds),
        ndcg_at([float(bool(found)) for found in held], [1.0] * len(golds), k),
    )


def _notes(gold: _Gold, predictions: int, unknown: list[str]) -> list[str]:
    notes = []
    if predictions != gold.tests:
        notes.append(f"{counted(predictions, 'prediction')} for {gold.tests} {agree(gold.tests, 'query', 'queries')}")
    missing = [query for query, waiting in gold.waiting.items() for golds in waiting if golds]
    for queries, what in (
        (missing, "without a prediction, scored 0"),
        (unknown, "predicted that the gold file does not hold, or holds fewer times, ignored"),
        (gold.empty, "without a gold passage, left out"),
    ):
        if queries:
            notes.append(f"{len(queries)} {agree(len(queries), 'query', 'queries')} {what}: {_some(queries)}")
    if gold.without_text:
        notes.append(f"{counted(gold.without_text, 'gold snippet')} without `answer`, not counted")
    return notes


def _some(queries: list[str]) -> str:
    shown = [repr(query if len(query) <= _SHOWN else f"{query[: _SHOWN - 1]}…") for query in queries[:_NAMED]]
    return ", ".join(shown) + (", …" if len(queries) > _NAMED else "")


def _read_json(path: Path) -> Any:
    try:
        return json.loads(read_whole(path).decode("utf-8-sig"))
    except OSError as error:
        raise DatasetError(f"cannot read {path}: {error.strerror}") from error
    except RecursionError as error:
        raise DatasetError(f"{path.name}: not valid JSON (it is nested too deeply)") from error
    except ValueError as error:
        raise DatasetError(f"{path.name}: not valid JSON ({error})") from error


def _read_gold(path: Path) -> _Gold:
    gold = _Gold()
    for test in _valid(_Tests, _read_json(path), path.name).tests:
        query = test.query.strip()
        golds = [snippet.answer for snippet in test.snippets if snippet.answer.strip()]
        gold.tests += 1
        gold.without_text += len(test.snippets) - len(golds)
        gold.waiting[query].append(golds)
        gold.scored += bool(golds)
        gold.empty += [] if golds else [query]
    if not gold.scored:
        raise DatasetError(f"{path.name}: no query has a gold passage")
    return gold


_Shape = TypeVar("_Shape", bound=_Entry)


def _valid(shape: type[_Shape], data: Any, where: str) -> _Shape:
    try:
        return shape.model_validate(data)
    except ValidationError as error:
        raise DatasetError(f"{where}: {first_problem(error, shape)}", "predictions come first, then gold") from error
