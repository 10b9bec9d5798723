"""Of two runs one of whose servers retrieves the wrong chunks for some questions, the comparison finds these."""

import hashlib
from collections.abc import Callable
from pathlib import Path

import pytest

from evals import EvalConfig, run_evaluation
from evals.compare import SavedRun, compare_runs
from evals.schemas import EvalRun
from evals.scoring.diagnosis.stages import Link

SHARE, SEED = 0.4, 7


@pytest.fixture(scope="module")
def runs(start_server: Callable[..., str], tmp_path_factory: pytest.TempPathFactory) -> list[EvalRun]:
    """A run of a server that is well, and one of a server that is not."""
    folder: Path = tmp_path_factory.mktemp("runs")
    urls = [start_server("--corpus", "golden", *more) for more in ([], ["--misbehave", f"wrong-chunks:{SHARE}:{SEED}"])]
    common = {"datasets": ["golden"], "samples_per_dataset": 122, "judge": {"enabled": False}, "runs_dir": folder}
    return [run_evaluation(EvalConfig.build({**common, "server": {"url": url}})) for url in urls]


def is_damaged(question: str) -> bool:
    return int(hashlib.sha256(f"{SEED}:{question}".encode()).hexdigest(), 16) < SHARE * 2**256


@pytest.mark.slow
def test_the_comparison_names_the_metric_and_the_questions(runs: list[EvalRun]) -> None:
    """Retrieval is worse, and the questions that lost it are among those that were damaged."""
    comparison = compare_runs([SavedRun(run, run.records()) for run in runs])
    damaged = {one.question.id for one in runs[0].records() if is_damaged(one.question.question)}
    assert 30 <= len(damaged) <= 70
    verdicts = {pair.name: pair.verdict for pair in comparison.pairs}
    assert {pair.name for pair in comparison.regressions if pair.primary} == {"recall_at_5"}
    assert verdicts["recall_at_5"] == verdicts["mrr"] == "worse"
    assert {change.question_id for change in comparison.lost} <= damaged


def test_the_diagnosis_moves_exactly_the_damaged_questions(runs: list[EvalRun]) -> None:
    """Those with gold to not_retrieved, whatever link they had; and no question that was left alone."""
    comparison = compare_runs([SavedRun(run, run.records()) for run in runs])
    records = {record.question.id: record for record in runs[0].records()}
    damaged = {key for key, record in records.items() if is_damaged(record.question.question)}
    moved = {key: move for move in comparison.moves for key in move.questions}
    assert set(moved) <= damaged
    with_gold = {key for key in damaged if records[key].question.gold_passages}
    assert {move.last for key, move in moved.items() if key in with_gold} == {Link.NOT_RETRIEVED}
    before = {key for move in comparison.moves for key in move.questions if move.last is Link.NOT_RETRIEVED}
    stayed = with_gold - before
    assert with_gold - stayed == set(moved) & with_gold
    assert all(not record_found(records[key]) for key in stayed)


def record_found(record: object) -> bool:
    """Whether any gold was found where nothing was damaged."""
    scores = {score.name: score.value for score in record.scores}  # type: ignore[attr-defined]
    return bool(scores["recall_at_10"])
