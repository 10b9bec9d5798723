"""The passage scorer over LegalBench-RAG's own files, with what BM25 retrieves from its corpus."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import bm25s
import pytest

from evals.cli import app
from evals.cli.terminal import run
from evals.scoring.passages import score_predictions

pytestmark = pytest.mark.real_rows
Retrieve = Callable[[list[str]], Path]


@pytest.fixture(scope="module")
def folder() -> Path:
    named = os.environ.get("EVALS_REAL_DATA")
    if not named:
        pytest.skip("EVALS_REAL_DATA names no folder")
    return Path(named) / "legalbench_rag"


@pytest.fixture(scope="module")
def tests(folder: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((folder / "privacy_qa.json").read_text(encoding="utf-8"))["tests"]
    return found


@pytest.fixture(scope="module")
def retrieve(folder: Path, tests: list[dict[str, Any]], tmp_path_factory: pytest.TempPathFactory) -> Retrieve:
    """Write predictions: for each query the ten chunks that BM25 ranks highest."""

    def write(chunks: list[str]) -> Path:
        index = bm25s.BM25()
        index.index(bm25s.tokenize(chunks, show_progress=False), show_progress=False)
        queries = [test["query"] for test in tests]
        found, _ = index.retrieve(bm25s.tokenize(queries, show_progress=False), k=10, show_progress=False)
        path = tmp_path_factory.mktemp("predictions") / "bm25.json"
        rows = zip(queries, found, strict=True)
        path.write_text(
            json.dumps([{"query": q, "retrieved_passages": [chunks[place] for place in row]} for q, row in rows]),
            encoding="utf-8",
        )
        return path

    return write


@pytest.fixture(scope="module")
def texts(folder: Path) -> list[str]:
    paths = sorted((folder / "corpus").rglob("*.txt"))
    return [path.read_bytes().decode() for path in paths]


def test_bm25_over_the_corpus_gives_the_block(
    folder: Path,
    retrieve: Retrieve,
    texts: list[str],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The benchmark's own file loads as it is, two queries of it standing twice, and the five lines are printed."""
    path = retrieve([text[start : start + 800] for text in texts for start in range(0, len(text), 400)])
    monkeypatch.setattr("sys.argv", ["evals", "score", str(path), str(folder / "privacy_qa.json")])
    code = run(app)
    out, err = capsys.readouterr()
    lines = out.splitlines()
    assert (code, err) == (0, "")
    assert [line.split(": ")[0] for line in lines[2:-1]] == [
        "exact_match", "span_f1", "recall@10", "ndcg@10", "num_examples",
    ]  # fmt: skip
    assert lines[-2] == "num_examples: 194.0000"
    values = dict(line.split(": ") for line in lines[2:-1])
    assert 0 < float(values["ndcg@10"]) <= float(values["recall@10"]) < 1
    assert 0.1 < float(values["span_f1"]) < 0.9


def test_the_gold_passages_themselves_score_1(folder: Path, tests: list[dict[str, Any]], tmp_path: Path) -> None:
    """Whoever retrieves the gold has all but nDCG at its best: a gold inside another takes a rank and gains nothing."""
    path = tmp_path / "oracle.json"
    rows = [{"query": t["query"], "retrieved_passages": [s["answer"] for s in t["snippets"]]} for t in tests]
    path.write_text(json.dumps(rows), encoding="utf-8")
    found = score_predictions(path, folder / "privacy_qa.json", k=50)
    assert (found.exact_match, found.span_f1, found.recall) == pytest.approx((1, 1, 1))
    assert 0.99 < found.ndcg < 1
    assert (found.num_examples, found.notes) == (194, [])
