"""What the tests of the metrics share: a question with gold, a response, and a metric between them."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import pytest

from evals.metrics import Sample
from evals.metrics.embedders import Semantics
from evals.schemas import EvalQuestion, EvalResponse, JudgeVerdict, MetricResult, RetrievedChunk

MakeCase = Callable[..., Sample]
Measure = Callable[..., MetricResult]


@pytest.fixture(scope="session")
def judged_case() -> Callable[..., Sample]:
    """Build a judged record from what the judge said, by the names of its inquiries.

    A reply is a mapping, a failure a text such as "refused", and a list holds one of the two for each repeat. `asked`
    replaces fields of the question, other keywords those of the response.
    """

    def make(
        said: Mapping[str, Any] | None = None,
        *,
        asked: Mapping[str, Any] | None = None,
        semantics: Semantics | None = None,
        **response: Any,
    ) -> Sample:
        question = {"id": "q", "question": "How long?", "expected_answer": "It lasts 96 hours."} | dict(asked or {})
        answered = {"answer": "96 hours.", "chunks": [RetrievedChunk(text="It lasts 96 hours.")]} | response
        verdicts = [verdict for name, what in (said or {}).items() for verdict in _verdicts(name, what)]
        case = Sample(EvalQuestion(**question), EvalResponse(**answered), verdicts, judged=True)
        case.semantics = semantics
        return case

    return make


@pytest.fixture(scope="session")
def claim_replies() -> Callable[..., dict[str, Any]]:
    """Build the replies to the inquiries on claims, for `judged_case`.

    A claim of the answer is (verdict by the reference, numbers of the chunks that support it), one of the expected
    answer (verdict by the answer, numbers of the chunks, importance). None for the chunks: the judge could not tell.
    """

    def make(answer: Sequence[tuple[Any, ...]] = (), reference: Sequence[tuple[Any, ...]] = ()) -> dict[str, Any]:
        return {
            "answer_claims": {"claims": [{"claim": f"a{n}"} for n, _ in enumerate(answer)]},
            "reference_claims": {
                "claims": [{"claim": f"r{n}", "importance": claim[2]} for n, claim in enumerate(reference)]
            },
            "answer_in_contexts": {"claims": [_support(n, claim[1]) for n, claim in enumerate(answer, start=1)]},
            "reference_in_contexts": {"claims": [_support(n, claim[1]) for n, claim in enumerate(reference, start=1)]},
            "claims_compared": {
                "answer_claims": [{"id": n, "verdict": claim[0]} for n, claim in enumerate(answer, start=1)],
                "reference_claims": [{"id": n, "verdict": claim[0]} for n, claim in enumerate(reference, start=1)],
            },
        }

    return make


def _support(number: int, chunks: Iterable[int] | None) -> dict[str, Any]:
    verdict = "cannot_tell" if chunks is None else "supported" if chunks else "not_said"
    return {"id": number, "passages": [{"id": n, "quote": "q"} for n in chunks or ()], "verdict": verdict}


def _verdicts(name: str, said: Any) -> list[JudgeVerdict]:
    repeats = said if isinstance(said, list) else [said]
    return [_verdict(name, one, repeat) for repeat, one in enumerate(repeats)]


def _verdict(name: str, said: Any, repeat: int) -> JudgeVerdict:
    if isinstance(said, str):
        return JudgeVerdict.model_validate({"request": name, "repeat": repeat, "failure": said, "message": "why"})
    return JudgeVerdict(request=name, repeat=repeat, reply=said)
