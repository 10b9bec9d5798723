"""Exact match and F1 over the whole SQuAD v2 dev set, against what the official script prints for a real system."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from metrics.records import score
from pyarrow import parquet

from evals.metrics.squad import best, exact, f1
from evals.text.refusals import reading

pytestmark = pytest.mark.real_rows


@pytest.fixture(scope="module")
def rows(real_data: Path) -> Any:
    return parquet.read_table(real_data / "squad_v2" / "validation-11873.parquet").to_pylist()


@pytest.fixture(scope="module")
def official(real_data: Path) -> Any:
    return json.loads((real_data / "squad_v2" / "official-output-bidaf-elmo.json").read_text())


@pytest.fixture
def predictions(real_data: Path) -> Any:
    """Answers by the question's id; empty ones are abstentions."""
    return json.loads((real_data / "squad_v2" / "predictions-bidaf-elmo.json").read_text())


def test_the_totals_are_those_that_the_official_script_prints(rows: Any, official: Any, predictions: Any) -> None:
    """All, answerable and unanswerable questions: 11,873 predictions, empty ones being abstentions."""
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
@pytest.mark.parametrize(("name", "theirs"), [("squad_em", "exact"), ("squad_f1", "f1")])
def test_the_metrics_give_published_predictions_what_the_official_script_gives(
    rows: Any, official: Any, predictions: Any, name: str, theirs: str
) -> None:
    """Through the metrics, as of an extractive system: exact match 65.7037 and F1 67.8765 over 11,873 questions."""
    total = 0.0
    for row in rows:
        golds = row["answers"]["text"]
        asked = {"expected_answer": golds[0], "answers": golds[1:]} if golds else {"expected_answer": None}
        asked |= {"question": row["question"], "is_unanswerable": not golds}
        total += score(name, predictions[row["id"]], extractive=True, **asked).value or 0.0
    assert 100 * total / len(rows) == pytest.approx(official[theirs], abs=1e-6)


def test_few_published_spans_are_taken_for_refusals(rows: Any, predictions: Any) -> None:
    """At most one in a hundred, where nothing says that the system is extractive."""
    spans = [(predictions[row["id"]], row["question"]) for row in rows if predictions[row["id"]]]
    assert sum(reading(span, question).declines for span, question in spans) <= 0.01 * len(spans)


def _article(row: dict[str, Any]) -> dict[str, Any]:
    """A question in the form in which the dev set is published."""
    texts, starts = row["answers"]["text"], row["answers"]["answer_start"]
    answers = [{"text": text, "answer_start": start} for text, start in zip(texts, starts, strict=True)]
    asked = {"id": row["id"], "question": row["question"], "is_impossible": not texts, "answers": answers}
    return {"title": row["title"], "paragraphs": [{"context": row["context"], "qas": [asked]}]}


@pytest.mark.slow
@pytest.mark.parametrize("form", ["squad", "lines"])
def test_published_predictions_score_what_the_official_script_prints(
    rows: Any, official: Any, predictions: Any, tmp_path: Path, evals_cli: Callable[..., Any], form: str
) -> None:
    """Three unanswerable questions get a span that sounds like a refusal, which the script calls wrong."""
    published = tmp_path / "dev-v2.0.json"
    published.write_text(json.dumps({"version": "v2.0", "data": [_article(row) for row in rows]}))
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
