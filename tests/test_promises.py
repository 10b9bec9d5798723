"""What was promised to the first users, item by item: commands, names, files and keys."""

import importlib
import subprocess
import sys
from pathlib import Path

import pytest

from evals.config import ScoringConfig
from evals.metrics.registry import select

HOME = Path(__file__).resolve().parent.parent

CLASSES = {
    "evals.metrics.retrieval": ["RecallAtK", "PrecisionAtK", "MRR", "NDCG"],
    "evals.metrics.generation": ["Faithfulness", "AnswerCorrectness", "AnswerRelevancy"],
    "evals.metrics.citation": ["CitationPrecision", "CitationRecall", "SectionAccuracy"],
    "evals.metrics.abstention": ["UnanswerableAccuracy", "FalsePositiveRate", "FalseNegativeRate"],
    "evals.metrics.performance": ["LatencyP50", "LatencyP95", "CostPerQuery"],
    "evals.metrics.base": ["BaseMetric"],
    "evals.judges.llm_judge": ["LLMJudge"],
    "evals.datasets.base": ["BaseDatasetLoader"],
    "evals.datasets.registry": ["register", "get_loader", "list_available"],
    "evals.schemas.dataset": ["EvalQuestion", "GoldPassage", "EvalDataset"],
    "evals.schemas.response": ["EvalResponse", "Citation", "RetrievedChunk", "TokenUsage"],
    "evals.schemas.results": ["MetricResult", "MetricGroup", "Scorecard", "WeightedScore", "ParetoPoint", "EvalRun"],
    "evals.config": ["EvalConfig", "DatasetName"],
    "evals.runner": ["EvaluationRunner", "RAGClient"],
    "evals": ["EvalConfig", "run_evaluation", "DatasetName"],
}
FILES = [
    "evals/__init__.py",
    "evals/__main__.py",
    "evals/config.py",
    "evals/runner.py",
    "evals/datasets/ragbench.py",
    "evals/datasets/qasper.py",
    "evals/datasets/squad_v2.py",
    "evals/datasets/hotpotqa.py",
    "evals/datasets/msmarco.py",
    "evals/datasets/golden.py",
    "evals/data/golden_qa.json",
    "evals/judges/llm_judge.py",
    "eval_config.yml",
    "docker-compose.yml",
    "tests/test_rag_eval.py",
]
COMMANDS = [
    "eval --samples 10 --no-judge",
    "eval --samples 100",
    "eval --datasets ragbench,squad_v2,hotpotqa --samples 20",
    "eval --rag-url http://my-server:8001 --samples 10",
    "eval --config eval_config.yml",
    "datasets",
    "stats",
    "export --run-id abc123 --format csv",
    "compare run1 run2 --pareto",
]


@pytest.mark.parametrize(("module", "names"), CLASSES.items(), ids=list(CLASSES))
def test_every_name_is_where_it_was_promised(module: str, names: list[str]) -> None:
    """Classes and functions can be imported from the modules named."""
    loaded = importlib.import_module(module)
    assert [name for name in names if not hasattr(loaded, name)] == []


@pytest.mark.parametrize("name", FILES)
def test_every_file_is_there(name: str) -> None:
    """The layout is the one described."""
    assert (HOME / name).exists()


@pytest.mark.parametrize("line", COMMANDS)
def test_every_command_line_is_understood(line: str) -> None:
    """Each line parses: command and flags exist (what it does is tested elsewhere)."""
    words = line.split()
    shown = subprocess.run(
        [sys.executable, "-m", "evals.cli", words[0], "--help"], capture_output=True, text=True, check=True
    ).stdout
    assert [word for word in words if word.startswith("--") and word not in shown] == []


def test_the_five_groups_hold_the_metrics_promised() -> None:
    """Default cut-offs: recall at 1, 3, 5, 10; precision at 1, 3, 5."""
    groups: dict[str, list[str]] = {}
    for metric in select(["core"], []):
        groups.setdefault(metric.group.value, []).append(metric.name)
    assert groups == {
        "retrieval": [
            *(f"recall_at_{k}" for k in (1, 3, 5, 10)),
            *(f"precision_at_{k}" for k in (1, 3, 5)),
            "mrr",
            "ndcg_at_10",
        ],
        "generation": ["faithfulness", "answer_correctness", "answer_relevancy"],
        "citation": ["citation_precision", "citation_recall", "section_accuracy"],
        "abstention": ["unanswerable_accuracy", "abstention_false_positive_rate", "abstention_false_negative_rate"],
        "performance": ["latency_p50", "latency_p95", "cost_per_query"],
    }


def test_the_default_weights_are_those_promised() -> None:
    """Accuracy 0.30, faithfulness 0.20, citation 0.20, retrieval 0.15, cost 0.10, latency 0.05."""
    weights = {
        "accuracy": 0.30,
        "faithfulness": 0.20,
        "citation": 0.20,
        "retrieval": 0.15,
        "cost": 0.10,
        "latency": 0.05,
    }
    assert ScoringConfig().weights == weights
