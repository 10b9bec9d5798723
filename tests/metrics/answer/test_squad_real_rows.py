"""Exact match and F1 over the whole SQuAD v2 dev set, against what the official script prints for a real system."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pyarrow import parquet

from evals.metrics.squad import SquadEM, SquadF1, best, exact, f1
from evals.schemas import EvalQuestion, EvalResponse
from evals.text.refusals import reading

pytestmark = pytest.mark.real_rows


@pytest.fixture(scope="module")
def folder() -> Path:
    named = os.environ.get("EVALS_REAL_DATA")
    if not named:
        pytest.skip("EVALS_REAL_DATA names no folder")
    return Path(named) / "squad_v2"


def test_the_totals_are_those_that_the_official_script_prints(folder: Path) -> None:
    """All, answerable and unanswerable questions: 11,873 predictions, empty ones being abstentions."""
    official: dict[str, Any] = json.loads((folder / "official-output-bidaf-elmo.json").read_text())
    predictions = json.loads((folder / "predictions-bidaf-elmo.json").read_text())
    rows = parquet.read_table(folder / "validation-11873.parquet", columns=["id", "answers"]).to_pylist()
    scores: dict[bool, list[tuple[float, float]]] = {True: [], False: []}
    for row in rows:
        prediction, golds = predictions[row["id"]], row["answers"]["text"]
        scores[bool(golds)].append((best(exact, prediction, golds), best(f1, prediction, golds)))
    found: dict[str, float] = {}
    for prefix, part in (("", scores[True] + scores[False]), ("HasAns_", scores[True]), ("NoAns_", scores[False])):
        found[f"{prefix}exact"] = 100 * sum(exact for exact, _ in part) / len(part)
        found[f"{prefix}f1"] = 100 * sum(f1 for _, f1 in part) / len(part)
        found[f"{prefix}total"] = len(part)
    assert found.keys() <= official.keys()
    assert found == pytest.approx({key: official[key] for key in found}, rel=1e-12)


@pytest.mark.slow
def test_the_metrics_give_published_predictions_what_the_official_script_gives(folder: Path) -> None:
    """Through the metrics, as of an extractive system: exact match 65.7037 and F1 67.8765 over 11,873 questions."""
    official: dict[str, Any] = json.loads((folder / "official-output-bidaf-elmo.json").read_text())
    predictions = json.loads((folder / "predictions-bidaf-elmo.json").read_text())
    rows = parquet.read_table(folder / "validation-11873.parquet", columns=["id", "question", "answers"]).to_pylist()
    for metric, name in ((SquadEM(), "exact"), (SquadF1(), "f1")):
        responses = [EvalResponse(answer=predictions[row["id"]], extractive=True) for row in rows]
        pairs = zip(rows, responses, strict=True)
        values = [metric.compute(_question(row), response).value for row, response in pairs]
        assert 100 * sum(value or 0.0 for value in values) / len(values) == pytest.approx(official[name], abs=1e-6)


def test_few_published_spans_are_taken_for_refusals(folder: Path) -> None:
    """At most one in a hundred, where nothing says that the system is extractive."""
    predictions = json.loads((folder / "predictions-bidaf-elmo.json").read_text())
    rows = parquet.read_table(folder / "validation-11873.parquet", columns=["id", "question"]).to_pylist()
    spans = [(predictions[row["id"]], row["question"]) for row in rows if predictions[row["id"]]]
    assert sum(reading(span, question).declines for span, question in spans) <= 0.01 * len(spans)


@pytest.fixture
def published(folder: Path, tmp_path: Path) -> Path:
    """The dev set in the form in which it is published, made of the rows."""
    rows = parquet.read_table(folder / "validation-11873.parquet").to_pylist()
    home = tmp_path / "dev-v2.0.json"
    home.write_text(json.dumps({"version": "v2.0", "data": [_article(row) for row in rows]}))
    return home


def _article(row: dict[str, Any]) -> dict[str, Any]:
    texts, starts = row["answers"]["text"], row["answers"]["answer_start"]
    answers = [{"text": text, "answer_start": start} for text, start in zip(texts, starts, strict=True)]
    asked = {"id": row["id"], "question": row["question"], "is_impossible": not texts, "answers": answers}
    return {"title": row["title"], "paragraphs": [{"context": row["context"], "qas": [asked]}]}


@pytest.mark.slow
@pytest.mark.parametrize("form", ["squad", "lines"])
def test_published_predictions_score_what_the_official_script_prints(
    published: Path, folder: Path, tmp_path: Path, evals_cli: Callable[..., Any], form: str
) -> None:
    """Three unanswerable questions get a span that sounds like a refusal, which the script calls wrong."""
    official = json.loads((folder / "official-output-bidaf-elmo.json").read_text())
    predictions = json.loads((folder / "predictions-bidaf-elmo.json").read_text())
    rows = parquet.read_table(folder / "validation-11873.parquet", columns=["id", "answers"]).to_pylist()
    abstained = [row["id"] for row in rows if not row["answers"]["text"] and not predictions[row["id"]]][:3]
    predictions |= dict.fromkeys(abstained, "her statement suggested a lack of remorse")
    file = tmp_path / ("predictions.json" if form == "squad" else "predictions.jsonl")
    answers = ({"question_id": key, "answer": text, "extractive": True} for key, text in predictions.items())
    lines = map(json.dumps, answers)  # which must say what the form of SQuAD says by itself
    file.write_text(json.dumps(predictions) if form == "squad" else "\n".join(lines))
    flags = ("--dataset-file", published, "--metrics", "squad_em,squad_f1", "--runs-dir", tmp_path / "runs")
    card = evals_cli("score", file, *flags, "--no-judge", "--json").json["scorecard"]["metrics"]
    for found, name in zip(card, ("exact", "f1"), strict=True):
        assert found["value"] * len(rows) == pytest.approx(official[name] * len(rows) / 100 - 3, abs=1e-6)


def _question(row: dict[str, Any]) -> EvalQuestion:
    golds = row["answers"]["text"]
    expected, variants = (golds[0], golds[1:]) if golds else (None, [])
    return EvalQuestion(question=row["question"], expected_answer=expected, answers=variants, is_unanswerable=not golds)
