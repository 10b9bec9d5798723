"""RAGAS answer relevance in its two ways, and the weighted score of the four."""

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evals.metrics import Sample
from evals.metrics.embedders import Semantics, Vector
from evals.metrics.ragas import RAGAS_WEIGHTS, RagasAnswerRelevance, RagasScore, ragas_score
from evals.schemas import EvalQuestion, EvalResponse, JudgeVerdict, RetrievedChunk
from evals.schemas.verdicts import JudgeFailure, VerdictRequest

MakeCase = Callable[..., Sample]
ABSTENTION = "I don't know."
WRITTEN = ["alike", "across", "opposed"]
NAMES = tuple(RAGAS_WEIGHTS)
VECTORS: dict[str, Vector] = {
    "alike": (2.0, 0.0),
    "across": (0.0, 3.0),
    "opposed": (-1.0, 0.0),
    "half": (1.0, 3**0.5),
}


class Directions:
    """An embedder with a vector for each text; what it does not know points where the question does."""

    name = "directions"

    def __init__(self, **vectors: Vector) -> None:
        self.vectors = vectors
        self.asked: list[str] = []

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        self.asked += texts
        return [self.vectors.get(text, (1.0, 0.0)) for text in texts]


def questions(*texts: str, evasive: bool = False) -> dict[str, Any]:
    """The questions that the judge writes, and whether it takes the answer for an evasive one."""
    return {"questions": list(texts), **label("noncommittal" if evasive else "committal")}


def label(verdict: str) -> dict[str, Any]:
    return {"verdict": verdict, "justification": "because", "quote": ""}


@pytest.fixture
def embedder() -> Directions:
    """Knows three questions: one like the question asked, one at a right angle to it, one against it."""
    return Directions(**VECTORS)


@pytest.mark.parametrize(
    ("written", "value"),
    [
        (["alike", "alike", "alike"], 100.0),
        (["alike", "across", "half"], 50.0),
        (["alike", "alike", "opposed"], 100 / 3),
        (["across", "across", "across"], 0.0),
        (["opposed", "opposed", "opposed"], 0.0),
        (["opposed", "opposed", "alike"], 0.0),
    ],
)
def test_relevance_is_the_mean_cosine_with_the_written_questions(
    judged_case: MakeCase, embedder: Directions, written: list[str], value: float
) -> None:
    """A negative cosine counts in the mean; the mean itself is never below 0."""
    case = judged_case({"generated_questions": questions(*written)}, semantics=Semantics(embedder))
    result = RagasAnswerRelevance().score(case)
    assert result.value == pytest.approx(value)
    assert result.details == {"method": "generated questions", "questions": written, "noncommittal": False}


@pytest.mark.parametrize(("written", "value"), [(["alike", "", "half"], 75.0), (["", " ", ""], None)])
def test_a_blank_question_does_not_count(
    judged_case: MakeCase, embedder: Directions, written: list[str], value: float | None
) -> None:
    """Of those that are there, the mean."""
    case = judged_case({"generated_questions": questions(*written)}, semantics=Semantics(embedder))
    assert RagasAnswerRelevance().score(case).value == (None if value is None else pytest.approx(value))


def test_a_noncommittal_answer_is_worth_nothing(judged_case: MakeCase, embedder: Directions) -> None:
    """However well it fits the questions."""
    said = {"generated_questions": questions("alike", "alike", "alike", evasive=True)}
    assert RagasAnswerRelevance().score(judged_case(said, semantics=Semantics(embedder))).value == 0.0


@pytest.mark.parametrize(
    ("verdict", "value"),
    [("complete", 100.0), ("mostly", 75.0), ("partly", 50.0), ("barely", 25.0), ("not_at_all", 0.0)],
)
def test_without_an_embedder_the_judge_assesses_directly(judged_case: MakeCase, verdict: str, value: float) -> None:
    """Five steps from 0 to 100; the details name the method."""
    result = RagasAnswerRelevance().score(judged_case({"direct_relevance": label(verdict)}))
    assert result.value == value
    assert (result.details["method"], result.details["verdict"]) == ("direct assessment", verdict)


@pytest.mark.parametrize("scorer_only", [False, True])
def test_the_two_methods_are_never_mixed(judged_case: MakeCase, embedder: Directions, scorer_only: bool) -> None:
    """With an embedder only the questions count, without one only the assessment, whatever verdicts there are."""
    both = {"generated_questions": questions("across", "across", "across"), "direct_relevance": label("complete")}
    for semantics, name, value in (
        (Semantics(embedder), "generated_questions", 0.0),
        (Semantics(reason="not installed") if scorer_only else None, "direct_relevance", 100.0),
    ):
        case = judged_case(both, semantics=semantics)
        assert RagasAnswerRelevance().score(case).value == value
        assert [request.name for request in RagasAnswerRelevance().requests(case)] == [name]
        alone = judged_case({k: v for k, v in both.items() if k != name}, semantics=semantics)
        assert RagasAnswerRelevance().score(alone).missing == "judge"


@pytest.mark.parametrize("failure", get_args(JudgeFailure))
@pytest.mark.parametrize("with_embedder", [True, False])
def test_a_failure_of_the_judge_falls_back_on_nothing(
    judged_case: MakeCase, embedder: Directions, failure: str, with_embedder: bool
) -> None:
    """Questions that could not be had are not replaced by an assessment: values of the two do not compare."""
    semantics = Semantics(embedder) if with_embedder else None
    said = {"generated_questions": failure, "direct_relevance": failure}
    result = RagasAnswerRelevance().score(judged_case(said, semantics=semantics))
    assert (result.value, result.missing) == (None, "judge")
    assert failure in (result.reason or "")


def test_repeats_of_the_questions_give_the_median(judged_case: MakeCase, embedder: Directions) -> None:
    """Three repeats, three values, the middle one."""
    sets: list[Any] = [questions(*[text] * 3) for text in ("across", "half", "alike")]
    case = judged_case({"generated_questions": sets}, semantics=Semantics(embedder))
    assert RagasAnswerRelevance().score(case).value == pytest.approx(50.0)
    torn = judged_case({"generated_questions": [*sets[:2], "refused"]}, semantics=Semantics(embedder))
    assert RagasAnswerRelevance().score(torn).details["repeats"] == pytest.approx([0.0, 50.0])


def test_questions_are_written_without_sight_of_the_question(judged_case: MakeCase, embedder: Directions) -> None:
    """Else they would be copied; the assessment sees no reference."""
    (written,) = RagasAnswerRelevance().requests(judged_case({}, semantics=Semantics(embedder)))
    assert set(written.data) == {"answer"}
    (assessed,) = RagasAnswerRelevance().requests(judged_case({}))
    assert set(assessed.data) == {"question", "answer"}


def test_all_texts_are_known_before_they_are_compared(judged_case: MakeCase, embedder: Directions) -> None:
    """A run embeds them at once: the question with those written, of every repeat; nothing without a reply."""
    said = {"generated_questions": [questions("alike", "across", "half"), questions("opposed", "half", "half")]}
    case = judged_case(said, semantics=Semantics(embedder))
    texts = set(RagasAnswerRelevance().texts(case))
    RagasAnswerRelevance().score(case)
    assert set(embedder.asked) == texts == {"How long?", "alike", "across", "half", "opposed"}
    assert not RagasAnswerRelevance().texts(judged_case({}, semantics=Semantics(embedder)))
    assert not RagasAnswerRelevance().texts(judged_case(said))


def test_an_embedder_of_broken_numbers_gives_no_value(judged_case: MakeCase) -> None:
    """Not a number is no 0."""
    case = judged_case(
        {"generated_questions": questions(*WRITTEN)}, semantics=Semantics(Directions(alike=(float("nan"), 1.0)))
    )
    result = RagasAnswerRelevance().score(case)
    assert (result.value, result.reason) == (None, "the embedder gave numbers that are not finite")


@pytest.mark.parametrize("with_embedder", [True, False])
@pytest.mark.parametrize(
    ("asked", "value"),
    [
        ({"is_unanswerable": False}, 0.0),
        ({"is_unanswerable": None}, 0.0),
        ({"is_unanswerable": True}, None),
        ({"is_unanswerable": None, "expected_answer": None}, None),
    ],
)
def test_an_abstention_is_settled_without_the_judge(
    judged_case: MakeCase, embedder: Directions, with_embedder: bool, asked: dict[str, Any], value: float | None
) -> None:
    """0 where the question is known to be answerable, else no value."""
    semantics = Semantics(embedder) if with_embedder else None
    case = judged_case({}, answer=ABSTENTION, asked=asked, semantics=semantics)
    assert RagasAnswerRelevance().requests(case) == []
    assert RagasAnswerRelevance().score(case).value == value


@pytest.mark.parametrize(
    ("parts", "score"),
    [
        pytest.param((100.0, None, 100.0, 83.27), 93.73, id="local_search"),
        pytest.param((100.0, float("nan"), 100.0, 83.27), 93.73, id="nan_is_no_value"),
        pytest.param((0.0, 0.0, 0.0, 83.27), 24.98, id="basic_search"),
        pytest.param((None, None, None, 82.29), 82.29, id="llm_with_context"),
    ],
)
def test_the_worked_examples_of_the_definition(parts: tuple[float | None, ...], score: float) -> None:
    """What has no value is left out, and the weights of the rest add up to 1 again."""
    value = ragas_score(dict(zip(NAMES, parts, strict=True)))
    assert value is not None
    assert round(value, 2) == score


PARTS = st.lists(st.none() | st.floats(0, 100), min_size=4, max_size=4)
WEIGHTS = st.lists(st.floats(0.01, 5), min_size=4, max_size=4)


@given(parts=PARTS, weights=WEIGHTS, factor=st.floats(0.1, 10))
@settings(derandomize=True, deadline=None, max_examples=100)
def test_a_score_is_the_weighted_mean_of_what_is_there(
    parts: list[float | None], weights: list[float], factor: float
) -> None:
    """Against the definition's way of renormalising; within the parts, and only proportions of the weights matter."""
    values, weighed = dict(zip(NAMES, parts, strict=True)), dict(zip(NAMES, weights, strict=True))
    score = ragas_score(values, weighed)
    there = {name: value for name, value in values.items() if value is not None}
    if not there:
        assert score is None
        return
    total = sum(weighed[name] for name in there)
    assert score == pytest.approx(sum(value * (weighed[name] / total) for name, value in there.items()))
    assert score is not None
    assert min(there.values()) - 1e-9 <= score <= max(there.values()) + 1e-9
    assert ragas_score(values, {name: weight * factor for name, weight in weighed.items()}) == pytest.approx(score)


def test_parts_that_weigh_nothing_give_no_score() -> None:
    """No division by 0."""
    assert ragas_score({"ragas_faithfulness": 50.0}, {"ragas_faithfulness": 0.0}) is None


def everything(**changes: Any) -> dict[str, Any]:
    """Half of the claims and of the chunks, all of the reference, and a half-way relevance."""
    claim = {"id": 1, "passages": [], "verdict": "supported"}
    found = {"claims": [{"claim": "c", "importance": "vital"}] * 2}
    unsupported = {"id": 2, "passages": [], "verdict": "contradicted"}
    return {
        "answer_claims": found,
        "answer_in_contexts": {"claims": [claim, unsupported]},
        "reference_claims": {"claims": found["claims"][:1]},
        "reference_in_contexts": {"claims": [claim]},
        "context_relevance": {"contexts": [{"id": 1, "verdict": "relevant"}, {"id": 2, "verdict": "irrelevant"}]},
        "direct_relevance": label("partly"),
        **changes,
    }


CHUNKS = [RetrievedChunk(text="a"), RetrievedChunk(text="b")]


def test_the_score_is_made_of_the_four_metrics(judged_case: MakeCase) -> None:
    """0.3 × 50 + 0.2 × 50 + 0.2 × 100 + 0.3 × 50; the parts stand in the details."""
    result = RagasScore().score(judged_case(everything(), chunks=CHUNKS))
    assert result.value == pytest.approx(60.0)
    assert result.details == {"parts": dict(zip(NAMES, (50.0, 50.0, 100.0, 50.0), strict=True))}


def test_other_weights_are_used(judged_case: MakeCase) -> None:
    """Only recall counts where only recall weighs."""
    weights = dict(zip(NAMES, (0.0, 0.0, 1.0, 0.0), strict=True))
    assert RagasScore(weights=weights).score(judged_case(everything(), chunks=CHUNKS)).value == 100.0


@pytest.mark.parametrize(
    ("asked", "left_out", "value"),
    [
        ({"expected_answer": None}, "ragas_context_recall", (15 + 10 + 15) / 0.8),
        ({"is_unanswerable": True}, "ragas_context_recall", (15 + 15) / 0.6),
    ],
)
def test_a_part_without_a_value_is_left_out_with_its_reason(
    judged_case: MakeCase, asked: dict[str, Any], left_out: str, value: float
) -> None:
    """The rest is renormalised, and the details say what is lacking and why."""
    result = RagasScore().score(judged_case(everything(), chunks=CHUNKS, asked=asked))
    assert result.value == pytest.approx(value)
    assert left_out in result.details["left_out"]
    assert result.details["left_out"][left_out]
    assert result.details["parts"][left_out] is None


@pytest.mark.parametrize(
    ("changes", "needed"),
    [
        ({"answer_claims": "refused"}, ["answer_claims"]),
        ({"context_relevance": "refused"}, ["answer_claims", "answer_in_contexts", "context_relevance"]),
        (
            {"direct_relevance": label("cannot_tell")},
            [
                "answer_claims",
                "answer_in_contexts",
                "context_relevance",
                "reference_claims",
                "reference_in_contexts",
                "direct_relevance",
            ],
        ),
    ],
)
def test_where_the_judges_word_on_a_part_is_lost_the_score_is(
    judged_case: MakeCase, changes: dict[str, Any], needed: list[str]
) -> None:
    """The rest weighed alone would be another number; the lost part and what it took to get there are named."""
    result = RagasScore().score(judged_case(everything(**changes), chunks=CHUNKS))
    assert (result.value, result.missing, result.judged_by) == (None, "judge", needed)
    assert sum(part is None for part in result.details["parts"].values()) == 1


def test_without_any_part_the_score_has_no_value(judged_case: MakeCase) -> None:
    """The judge's failures are named; a server that says neither answer nor chunks is another matter."""
    failed = dict.fromkeys(everything(), "refused")
    result = RagasScore().score(judged_case(failed, chunks=CHUNKS))
    assert (result.value, result.missing) == (None, "judge")
    assert "refused" in (result.reason or "")
    silent = RagasScore().score(judged_case(failed, chunks=None, answer=None))
    assert (silent.value, silent.missing) == (None, "not_applicable")
    assert "no chunks" in (silent.reason or "")


def test_the_score_asks_for_what_its_parts_ask_for_and_nothing_twice(judged_case: MakeCase) -> None:
    """In rounds: what builds on claims is asked once they are known."""
    case = judged_case({}, chunks=CHUNKS)
    first = [request.name for request in RagasScore().requests(case)]
    assert first == ["answer_claims", "context_relevance", "reference_claims", "direct_relevance"]
    later = [request.name for request in RagasScore().requests(judged_case(everything(), chunks=CHUNKS))]
    assert sorted(later) == sorted(everything())
    assert all(one != other for one, other in pairwise(sorted(later)))


def test_a_server_that_only_retrieves_has_a_score_of_retrieval(judged_case: MakeCase) -> None:
    """Precision and recall are there; the two parts on the answer are left out, not 0 or 100."""
    result = RagasScore().score(judged_case(everything(), chunks=CHUNKS, answer=None))
    assert result.value == pytest.approx((10 + 20) / 0.4)
    assert set(result.details["left_out"]) == {"ragas_faithfulness", "ragas_answer_relevance"}


def test_a_part_whose_weight_is_not_named_keeps_its_default(judged_case: MakeCase) -> None:
    """Naming one weight does not take the others away."""
    score = ragas_score({"ragas_faithfulness": 100.0, "ragas_context_recall": 0.0}, {"ragas_faithfulness": 0.6})
    assert score == pytest.approx(100 * 0.6 / (0.6 + RAGAS_WEIGHTS["ragas_context_recall"]))
    case = judged_case({"direct_relevance": label("mostly")}, chunks=None)
    assert RagasScore(weights={"ragas_faithfulness": 1.0}).score(case).value == 75.0


class Writer:
    """A judge that writes these questions, and refuses everything else."""

    def __init__(self, *written: str) -> None:
        self.written = written

    async def decide(self, request: VerdictRequest) -> list[JudgeVerdict]:
        if request.name == "generated_questions":
            return [JudgeVerdict(request=request.name, reply=questions(*self.written))]
        return [JudgeVerdict(request=request.name, failure="refused", message="no")]


@pytest.mark.parametrize("cls", [RagasAnswerRelevance, RagasScore])
def test_from_python_a_metric_brings_its_own_embedder(
    cls: type[RagasAnswerRelevance | RagasScore], embedder: Directions
) -> None:
    """So that questions are written and embedded outside of a run too."""
    metric = cls(Writer("alike", "alike", "across"), semantics=Semantics(embedder))
    result = metric.compute(EvalQuestion(question="How long?"), EvalResponse(answer="96 hours."))
    assert result.value == pytest.approx(200 / 3)


def test_a_judge_that_writes_no_question_gives_no_value(judged_case: MakeCase, embedder: Directions) -> None:
    """There is nothing to take a mean of: a failure of the judge."""
    case = judged_case({"generated_questions": questions("", " ", "")}, semantics=Semantics(embedder))
    result = RagasAnswerRelevance().score(case)
    assert (result.value, result.missing, result.reason) == (None, "judge", "the judge wrote no question")
