"""Exact match and F1 over the whole SQuAD v2 dev set, against what the official script prints for a real system."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from pyarrow import parquet

from evals.metrics.answer.squad import SquadEM, SquadF1, best_exact, best_f1
from evals.schemas import EvalQuestion, EvalResponse

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
        scores[bool(golds)].append((best_exact(prediction, golds), best_f1(prediction, golds)))
    found: dict[str, float] = {}
    for prefix, part in (("", scores[True] + scores[False]), ("HasAns_", scores[True]), ("NoAns_", scores[False])):
        found[f"{prefix}exact"] = 100 * sum(exact for exact, _ in part) / len(part)
        found[f"{prefix}f1"] = 100 * sum(f1 for _, f1 in part) / len(part)
        found[f"{prefix}total"] = len(part)
    assert found.keys() <= official.keys()
    assert found == pytest.approx({key: official[key] for key in found}, rel=1e-12)


def test_the_metrics_give_published_predictions_what_the_official_script_gives(folder: Path) -> None:
    """Through the metrics, abstentions and all: exact match 65.7037 and F1 67.8765 over 11,873 questions."""
    official: dict[str, Any] = json.loads((folder / "official-output-bidaf-elmo.json").read_text())
    predictions = json.loads((folder / "predictions-bidaf-elmo.json").read_text())
    rows = parquet.read_table(folder / "validation-11873.parquet", columns=["id", "question", "answers"]).to_pylist()
    for metric, name in ((SquadEM(), "exact"), (SquadF1(), "f1")):
        values = [metric.compute(_question(row), EvalResponse(answer=predictions[row["id"]])).value for row in rows]
        assert 100 * sum(value or 0.0 for value in values) / len(values) == pytest.approx(official[name], abs=1e-6)


def _question(row: dict[str, Any]) -> EvalQuestion:
    golds = row["answers"]["text"]
    expected, variants = (golds[0], golds[1:]) if golds else (None, [])
    return EvalQuestion(question=row["question"], expected_answer=expected, answers=variants, is_unanswerable=not golds)
