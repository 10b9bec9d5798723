"""The evaluation as a test.

    pytest tests/test_rag_eval.py --run-eval --eval-samples=5

Without `--run-eval` only the metric calculations and the loading of the golden set are tested, in isolation. With it,
the server that RAG_SERVER_URL names is evaluated, or the embedded one where the variable is not set.
"""

import pytest

from evals.datasets.base import LoadOptions
from evals.datasets.registry import get_loader
from evals.metrics import MRR, RecallAtK
from evals.schemas import EvalQuestion, EvalResponse, GoldPassage, RetrievedChunk


@pytest.fixture
def samples(request: pytest.FixtureRequest) -> int:
    """The number of questions; the test is skipped where no evaluation is wanted, or without the plugin."""
    if not request.config.getoption("--run-eval", default=False):
        pytest.skip("evaluates a server only with --run-eval")
    return int(request.config.getoption("--eval-samples") or 5)


def test_the_metrics_of_a_known_answer_are_known() -> None:
    """Two golds of which one stands at rank 2: half recalled, reciprocal rank one half."""
    golds = [
        GoldPassage(text="the battery lasts for 96 hours in all"),
        GoldPassage(text="the case is made of steel only"),
    ]
    question = EvalQuestion(id="1", question="How long?", gold_passages=golds)
    chunks = [RetrievedChunk(text="something else"), RetrievedChunk(text=f"Note: {golds[0].text}.")]
    response = EvalResponse(answer="96 hours", chunks=chunks)
    assert RecallAtK(5).compute(question, response).value == 0.5
    assert MRR().compute(question, response).value == 0.5


def test_the_golden_set_loads() -> None:
    """Questions with their corpus, without a network."""
    dataset = get_loader("golden").load(LoadOptions(samples=5))
    assert len(dataset.questions) == 5
    assert dataset.documents


def test_the_server_answers_and_is_measured(samples: int, request: pytest.FixtureRequest) -> None:
    """A run over a few golden questions is complete, and its metrics have values."""
    run = request.getfixturevalue("rag_run")
    assert run.status == "complete", run.notes
    assert run.question_count == samples
    assert run.scorecard.get("latency_p50").value is not None
