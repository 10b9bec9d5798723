"""What others build on and stays as it is: command lines, names, files, groups and weights."""

import importlib
from pathlib import Path
from typing import Any

import pytest
import typer

from evals.cli import app
from evals.metrics.registry import select
from evals.scoring.config import ScoringConfig

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
COMMANDS: dict[str, dict[str, Any]] = {
    "eval --samples 10 --no-judge": {"samples": 10, "judge": False},
    "eval --samples 100": {"samples": 100},
    "eval --datasets ragbench,squad_v2,hotpotqa --samples 20": {"datasets": "ragbench,squad_v2,hotpotqa"},
    "eval --rag-url http://my-server:8001 --samples 10": {"rag_url": "http://my-server:8001"},
    "eval --config eval_config.yml": {"config": Path("eval_config.yml")},
    "datasets": {},
    "stats": {},
    "export --run-id abc123 --format csv": {"run_id": "abc123"},
    "compare run1 run2 --pareto": {"pareto": True},
}
USAGE_ERROR = typer.BadParameter.__mro__[1]
"""What the parser raises; its module differs with the version of typer."""


@pytest.mark.parametrize(("module", "names"), CLASSES.items(), ids=list(CLASSES))
def test_every_name_is_in_its_module(module: str, names: list[str]) -> None:
    """Classes and functions can be imported from the modules named."""
    loaded = importlib.import_module(module)
    assert [name for name in names if not hasattr(loaded, name)] == []


@pytest.mark.parametrize("name", FILES)
def test_every_file_is_there(name: str) -> None:
    """The layout is the one described."""
    assert (HOME / name).exists()


def parse(line: str) -> dict[str, Any]:
    """The values of a command line, as the command's own parser reads them."""
    group: Any = typer.main.get_command(app)
    words = line.split()
    command = group.commands[words[0]]
    parsed: dict[str, Any] = command.make_context(words[0], words[1:]).params
    return parsed


@pytest.mark.parametrize(("line", "meant"), COMMANDS.items(), ids=list(COMMANDS))
def test_every_command_line_is_understood(line: str, meant: dict[str, Any]) -> None:
    """Each line parses to what it means: command, arguments and flags are there (what it does is tested elsewhere)."""
    assert meant.items() <= parse(line).items()


@pytest.mark.parametrize("line", ["eval --sample 10", "eval --samples ten", "datasets golden", "export --run-id"])
def test_a_command_line_that_is_wrong_is_not(line: str) -> None:
    """A flag, a value or an argument that the command does not take is refused by the parser."""
    with pytest.raises(USAGE_ERROR):
        parse(line)


def test_the_five_groups_hold_their_metrics() -> None:
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


def test_the_default_weights_stay_as_they_are() -> None:
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
