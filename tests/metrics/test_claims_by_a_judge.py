"""The claims suite with `LLMJudge` and a scripted model: replies that do not fit are failures of the judge."""

import json
from collections import Counter
from collections.abc import Callable
from importlib.resources import files
from typing import Any

import pytest

from evals.judges.llm_judge import LLMJudge
from evals.judges.models import Call, JudgeReply
from evals.judges.prompts import load_prompt
from evals.metrics.citation_support import CitationSupportPrecision, CitationSupportRecall, OverCitationRate
from evals.metrics.claims import ClaimPrecision, ClaimRecall, Hallucination, NuggetVital
from evals.metrics.judged import JudgedMetric
from evals.schemas import EvalQuestion, EvalResponse, MetricResult, RetrievedChunk

PROMPTS = sorted(path.name.removesuffix(".yml") for path in files("evals.judges").joinpath("prompts").iterdir())
QUESTION = EvalQuestion(id="q", question="How long, and for whom?", expected_answer="It lasts 96 hours for members.")
RESPONSE = EvalResponse(
    answer="It lasts 96 hours [1]. Guests pay [2].",
    chunks=[RetrievedChunk(text="It lasts 96 hours."), RetrievedChunk(text="Members only.")],
    citations=[],
)


def item(number: int, verdict: str, quote: str = "", **fields: Any) -> dict[str, Any]:
    return {"id": number, "justification": "So it says.", "quote": quote, "verdict": verdict, **fields}


def passages(number: int, verdict: str, *found: tuple[int, str]) -> dict[str, Any]:
    listed = [{"id": chunk, "quote": quote} for chunk, quote in found]
    return {"id": number, "justification": "So it says.", "passages": listed, "verdict": verdict}


def cites(number: int) -> list[dict[str, Any]]:
    return [{"id": number, "alone": True, "without": False}]


SAID: dict[str, dict[str, Any]] = {
    "answer_claims": {"claims": [{"claim": "It lasts 96 hours."}, {"claim": "Guests pay."}]},
    "reference_claims": {
        "claims": [
            {"claim": "It lasts 96 hours.", "importance": "vital"},
            {"claim": "It is for members.", "importance": "vital"},
        ]
    },
    "answer_in_contexts": {"claims": [passages(1, "supported", (1, "It lasts 96 hours")), passages(2, "not_said")]},
    "reference_in_contexts": {
        "claims": [passages(1, "supported", (1, "It lasts 96 hours")), passages(2, "supported", (2, "Members only"))]
    },
    "claims_compared": {
        "answer_claims": [item(1, "correct", "It lasts 96 hours"), item(2, "not_stated")],
        "reference_claims": [item(1, "conveyed", "It lasts 96 hours"), item(2, "missing")],
    },
    "citation_support": {
        "statements": [
            item(1, "supported", "It lasts 96 hours.", citations=cites(1)),
            item(2, "unsupported", citations=cites(2)),
        ]
    },
}


class Model:
    """Replies by the prompt and the claims that it is asked about."""

    model, origin = "judge-1", "http://judge"

    def __init__(self, **changed: Any) -> None:
        self.said = SAID | changed
        self.calls: Counter[str] = Counter()

    async def complete(self, call: Call) -> JudgeReply:
        name = next(name for name in PROMPTS if load_prompt(name).system == call.system)
        if name == "claims_in_contexts":
            of_answer = "Guests pay." in call.content
            name = "answer_in_contexts" if of_answer else "reference_in_contexts"
        self.calls[name] += 1
        said = self.said[name]
        stop: Any = "end" if isinstance(said, dict) else said
        return JudgeReply(
            json.dumps({**said, "injection_suspected": False}) if stop == "end" else "", stop, "judge-1", None
        )

    async def aclose(self) -> None:
        return None


def compute(metric: type[JudgedMetric], model: Model, **options: Any) -> MetricResult:
    return metric(judge=LLMJudge(model, **options)).compute(QUESTION, RESPONSE)


def changed(name: str, part: str, change: Callable[[list[Any]], list[Any]]) -> dict[str, Any]:
    """The good reply to one inquiry with another list in it."""
    return {name: SAID[name] | {part: change(SAID[name][part])}}


@pytest.mark.parametrize(
    ("metric", "value", "asked"),
    [
        (ClaimPrecision, 0.5, {"answer_claims", "reference_claims", "claims_compared"}),
        (ClaimRecall, 1.0, {"reference_claims", "reference_in_contexts"}),
        (Hallucination, 0.5, {"answer_claims", "reference_claims", "answer_in_contexts", "claims_compared"}),
        (NuggetVital, 0.5, {"answer_claims", "reference_claims", "claims_compared"}),
        (CitationSupportRecall, 0.5, {"citation_support"}),
        (CitationSupportPrecision, 0.5, {"citation_support"}),
        (OverCitationRate, 0.0, {"citation_support"}),
    ],
)
def test_a_metric_asks_what_it_needs_once(metric: type[JudgedMetric], value: float, asked: set[str]) -> None:
    """No more, no less, and its calls are those that it announces."""
    model = Model()
    assert compute(metric, model).value == value
    assert model.calls == dict.fromkeys(asked, 1)
    assert metric.judge_calls == len(asked)


@pytest.mark.parametrize(("stop", "failure", "calls"), [("refused", "refused", 1), ("truncated", "truncated", 2)])
def test_a_judge_that_does_not_find_the_claims_is_asked_nothing_about_them(stop: str, failure: str, calls: int) -> None:
    """The refusal is the reason of every metric that builds on it."""
    model = Model(answer_claims=stop)
    result = compute(Hallucination, model)
    assert (result.value, result.missing) == (None, "judge")
    assert (result.reason or "").startswith(f"judge {failure}: ")
    assert model.calls == {"answer_claims": calls, "reference_claims": 1}


def test_each_repeat_finds_claims_anew_and_judges_its_own() -> None:
    """Else repeats say nothing of how much hangs on the claims that were found."""
    model = Model()
    assert compute(ClaimPrecision, model, repeats=3).value == 0.5
    assert model.calls == {"answer_claims": 3, "reference_claims": 3, "claims_compared": 3}
