"""Who decides that an answer declines, and what metrics make of it: decided in the sample, once for all metrics."""

from typing import Any

import pytest

from evals.metrics import Sample, parse_metric
from evals.metrics.sample import ABSTENTION, CORRECTNESS
from evals.schemas import Citation, EvalQuestion, EvalResponse, GoldPassage, JudgeVerdict, RetrievedChunk

ANSWER = "The battery of the device lasts 96 hours in all."
DOUBTFUL = "The manual has a chapter on the battery of the device."
REFUSAL = "I'm sorry, but the provided context does not contain any information on that."
GOLD = "The battery of the device lasts for 96 hours."


def verdict(label: str, *, repeat: int = 0, request: str = ABSTENTION, **fields: Any) -> JudgeVerdict:
    """A verdict of this label; of the label "refused" a failure."""
    if label == "refused":
        return JudgeVerdict(request=request, repeat=repeat, failure="refused", message="why")
    return JudgeVerdict(request=request, repeat=repeat, reply={"verdict": label, **fields})


def sample_of(answer: str, *labels: str, judged: bool = True, **fields: Any) -> Sample:
    """An answered question with these verdicts on whether the answer declines."""
    question = EvalQuestion(question="How long does the battery last?", gold_passages=[GoldPassage(text=GOLD)])
    response = EvalResponse(answer=answer, chunks=[RetrievedChunk(text=GOLD)], citations=[Citation(index=1)], **fields)
    verdicts = [verdict(label, repeat=repeat) for repeat, label in enumerate(labels)]
    return Sample(question, response, verdicts, judged=judged)


@pytest.mark.parametrize(
    ("answer", "labels", "declines", "word", "is_disputed"),
    [
        (ANSWER, ["answers"], False, False, False),
        (ANSWER, ["declines"], True, True, True),
        (REFUSAL, ["answers"], False, False, True),
        (REFUSAL, ["declines"], True, True, False),
        (ANSWER, ["answers", "declines", "declines"], True, True, True),
        (ANSWER, ["refused", "declines"], True, True, True),
    ],
)
def test_the_judge_has_the_word(answer: str, labels: list[str], declines: bool, word: bool, is_disputed: bool) -> None:
    """Of repeats the most decide; where the model reads it otherwise, that is disputed."""
    decision = sample_of(answer, *labels).decision
    assert (decision.declines, decision.by_judge, decision.word) == (declines, True, word)
    assert (decision.lost, decision.is_disputed) == (None, is_disputed)


@pytest.mark.parametrize(
    ("labels", "reason"),
    [
        ([], "the judge was not asked whether the answer abstains"),
        (["refused"], "judge refused, asked whether the answer abstains: why"),
        (["cannot_tell"], "the judge could not tell whether the answer abstains"),
        (["declines", "answers"], "the judge could not tell whether the answer abstains"),
    ],
)
def test_without_the_judges_word_only_what_hangs_on_it_is_lost(labels: list[str], reason: str) -> None:
    """The reason says why; retrieval has its value all the same."""
    sample = sample_of(DOUBTFUL, *labels)
    assert (sample.decision.lost, sample.decision.is_disputed) == ((reason, "judge"), False)
    lost = parse_metric("declined_rate").score(sample)
    assert (lost.value, lost.reason, lost.missing, lost.judged_by) == (None, reason, "judge", [ABSTENTION])
    assert parse_metric("citation_recall").score(sample).reason == reason
    assert (parse_metric("mrr").score(sample).value, parse_metric("mrr").score(sample).judged_by) == (1.0, [])


@pytest.mark.parametrize(
    "sample",
    [
        sample_of(REFUSAL, judged=False),
        sample_of(REFUSAL, refused=True),
        sample_of("I don't know."),
        sample_of("", extractive=True),
    ],
    ids=["no judge", "flagged by the server", "few words", "extractive"],
)
def test_a_judge_is_not_asked_where_nothing_is_open(sample: Sample) -> None:
    """Without a judge the model decides; a flag, few words and an empty span decide by themselves."""
    decision = sample.decision
    assert (decision.declines, decision.by_judge, decision.lost) == (True, False, None)
    assert parse_metric("declined_rate").requests(sample) == []


@pytest.mark.parametrize("is_unanswerable", [False, True])
@pytest.mark.parametrize(("answer", "by_judge"), [(ANSWER, False), (REFUSAL, False), (DOUBTFUL, True)])
def test_the_judge_decides_what_the_model_finds_doubtful(answer: str, by_judge: bool, is_unanswerable: bool) -> None:
    """Of any question; a plain answer and a clear refusal cost no call."""
    question = EvalQuestion(question="How long does the battery last?", is_unanswerable=is_unanswerable)
    sample = Sample(question, EvalResponse(answer=answer), judged=True)
    assert (sample.decision.by_judge, sample.decision.lost is not None) == (by_judge, by_judge)
    assert bool(parse_metric("declined_rate").requests(sample)) is by_judge


def test_correctness_decides_where_it_is_asked_anyway() -> None:
    """Of a question with an expected answer; of an unanswerable one, the inquiry about abstention."""
    question = EvalQuestion(question="How long?", expected_answer="96 hours")
    response, verdicts = EvalResponse(answer=ANSWER), [verdict("declines", request=CORRECTNESS)]
    sample = Sample(question, response, verdicts, judged=True, asks_correctness=True)
    assert (sample.decision.inquiry, sample.abstained) == (CORRECTNESS, True)
    unanswerable = question.model_copy(update={"is_unanswerable": True})
    assert Sample(unanswerable, response, asks_correctness=True).decision.inquiry == ABSTENTION


def test_a_dispute_stands_in_the_details_of_what_hangs_on_it() -> None:
    """And in no other result."""
    sample = sample_of(ANSWER, "declines")
    assert parse_metric("declined_rate").score(sample).details["abstention_disputed"] is True
    assert "abstention_disputed" not in parse_metric("mrr").score(sample).details


@pytest.mark.parametrize("keeps_flagged", [False, True])
def test_a_flagged_verdict_does_not_count_unless_the_run_keeps_it(keeps_flagged: bool) -> None:
    """Only what hangs on it is lost."""
    sample = sample_of(ANSWER)
    sample.verdicts, sample.keeps_flagged = [verdict("answers", injection_suspected=True)], keeps_flagged
    result = parse_metric("declined_rate").score(sample)
    assert (result.value, result.missing) == ((0.0, None) if keeps_flagged else (None, "injection"))
    assert result.judged_by == [ABSTENTION]
    assert parse_metric("mrr").score(sample).value == 1.0


def test_a_flag_on_whether_an_answer_declines_is_told_of_a_metric_that_hangs_on_it() -> None:
    """Where the run keeps flagged verdicts, a reader sees which values they are in."""
    sample, relevancy = sample_of(DOUBTFUL), JudgeVerdict(request="answer_relevancy", reply={"verdict": "relevant"})
    flagged = verdict("answers", injection_suspected=True).model_copy(update={"injection_suspected": True})
    sample.verdicts, sample.keeps_flagged = [flagged, relevancy], True
    result = parse_metric("answer_relevancy").score(sample)
    assert (result.value, result.details["injection_suspected"]) == (1.0, True)
    assert "injection_suspected" not in parse_metric("mrr").score(sample).details


def test_new_verdicts_decide_anew() -> None:
    """What was decided before they came does not stay."""
    sample = sample_of(DOUBTFUL)
    assert sample.decision.lost is not None
    sample.verdicts = [verdict("declines")]
    assert (sample.decision.lost, sample.abstained) == (None, True)
