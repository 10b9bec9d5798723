"""Abstention: who decides that an answer declines, once for all metrics, and what metrics make of it."""

from typing import Any

import pytest
from metrics.records import lack, record, score, values, verdicts_on

from evals.metrics import Sample, parse_metric
from evals.metrics.sample import ABSTENTION, CORRECTNESS
from evals.schemas import Citation, GoldPassage, JudgeVerdict, RetrievedChunk

ANSWER = "The battery of the device lasts 96 hours in all."
DOUBTFUL = "The manual has a chapter on the battery of the device."
REFUSAL = "I'm sorry, but the provided context does not contain any information on that."
GOLD = "The battery of the device lasts for 96 hours."


def said(*labels: str, request: str = ABSTENTION) -> list[JudgeVerdict]:
    """A verdict of each label; of the label "refused" a failure."""
    return verdicts_on(request, [label if label == "refused" else {"verdict": label} for label in labels])


def flagged(label: str) -> JudgeVerdict:
    """A verdict of which the judge says that the data speaks to it."""
    reply = {"verdict": label, "injection_suspected": True}
    return JudgeVerdict(request=ABSTENTION, reply=reply, injection_suspected=True)


def sample_of(answer: str, *labels: str, **fields: Any) -> Sample:
    """An answered question with these verdicts on whether the answer declines."""
    found = {"gold_passages": [GoldPassage(text=GOLD)], "chunks": [RetrievedChunk(text=GOLD)]}
    usual = {"question": "How long does the battery last?", "citations": [Citation(index=1)], "judged": True}
    return record(answer, verdicts=said(*labels), **(usual | found | fields))


@pytest.mark.parametrize(
    ("answer", "labels", "declines", "is_disputed"),
    [
        (ANSWER, ["answers"], False, False),
        (ANSWER, ["declines"], True, True),
        (REFUSAL, ["answers"], False, True),
        (REFUSAL, ["declines"], True, False),
        (ANSWER, ["answers", "declines", "declines"], True, True),
        (ANSWER, ["refused", "declines"], True, True),
    ],
)
def test_the_judge_has_the_word(answer: str, labels: list[str], declines: bool, is_disputed: bool) -> None:
    """Of repeats the most decide; where the model reads it otherwise, that is disputed."""
    decision = sample_of(answer, *labels).decision
    assert (decision.declines, decision.by_judge, decision.word) == (declines, True, declines)
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
    assert (*lack(lost), lost.judged_by) == (None, "judge", reason, [ABSTENTION])
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
    sample = sample_of(answer, is_unanswerable=is_unanswerable)
    assert (sample.decision.by_judge, sample.decision.lost is not None) == (by_judge, by_judge)
    assert bool(parse_metric("declined_rate").requests(sample)) is by_judge


@pytest.mark.parametrize(("is_unanswerable", "inquiry"), [(None, CORRECTNESS), (True, ABSTENTION)])
def test_correctness_decides_where_it_is_asked_anyway(is_unanswerable: bool | None, inquiry: str) -> None:
    """Of a question with an expected answer; of an unanswerable one, the inquiry about abstention."""
    asked = {"expected_answer": "96 hours", "is_unanswerable": is_unanswerable}
    verdicts = said("declines", request=CORRECTNESS)
    sample = record(ANSWER, verdicts=verdicts, judged=True, asks_correctness=True, **asked)
    assert (sample.decision.inquiry, sample.abstained) == (inquiry, inquiry == CORRECTNESS)


def test_a_dispute_stands_in_the_details_of_what_hangs_on_it() -> None:
    """And in no other result."""
    sample = sample_of(ANSWER, "declines")
    assert parse_metric("declined_rate").score(sample).details["abstention_disputed"] is True
    assert "abstention_disputed" not in parse_metric("mrr").score(sample).details


@pytest.mark.parametrize(("keeps_flagged", "value", "missing"), [(False, None, "injection"), (True, 0.0, None)])
def test_a_flagged_verdict_does_not_count_unless_the_run_keeps_it(
    keeps_flagged: bool, value: float | None, missing: str | None
) -> None:
    """Only what hangs on it is lost."""
    sample = sample_of(ANSWER)
    sample.verdicts, sample.keeps_flagged = [flagged("answers")], keeps_flagged
    result = parse_metric("declined_rate").score(sample)
    assert (result.value, result.missing, result.judged_by) == (value, missing, [ABSTENTION])
    assert values(["mrr"], sample) == [1.0]


def test_a_flag_on_whether_an_answer_declines_is_told_of_a_metric_that_hangs_on_it() -> None:
    """Where the run keeps flagged verdicts, a reader sees which values they are in."""
    sample = sample_of(DOUBTFUL, keeps_flagged=True)
    sample.verdicts = [flagged("answers"), *said("relevant", request="answer_relevancy")]
    result = parse_metric("answer_relevancy").score(sample)
    assert (result.value, result.details["injection_suspected"]) == (1.0, True)
    assert "injection_suspected" not in parse_metric("mrr").score(sample).details


def test_new_verdicts_decide_anew() -> None:
    """What was decided before they came does not stay."""
    sample = sample_of(DOUBTFUL)
    assert sample.decision.lost is not None
    sample.verdicts = said("declines")
    assert (sample.decision.lost, sample.abstained) == (None, True)


# The metrics, without a judge.

RATES = ("unanswerable_accuracy", "abstention_false_positive_rate", "abstention_false_negative_rate", "declined_rate")


@pytest.mark.parametrize(
    ("is_unanswerable", "answer", "expected"),
    [
        (True, "", [1, None, 0, 1]),
        (False, "", [0, 1, None, 1]),
        (True, ANSWER, [0, None, 1, 0]),
        (None, REFUSAL, [None, None, None, 1]),
        (None, ANSWER, [None, None, None, 0]),
    ],
)
def test_each_rate_counts_its_own_questions(
    is_unanswerable: bool | None, answer: str, expected: list[float | None]
) -> None:
    """Accuracy is over all questions of known kind, two rates over those of one kind, the last over any."""
    assert values(RATES, record(answer, is_unanswerable=is_unanswerable)) == expected


@pytest.mark.parametrize(("name", "is_unanswerable", "kind"), [(RATES[1], True, "un"), (RATES[2], False, "")])
def test_a_question_of_the_other_kind_gives_the_reason(name: str, is_unanswerable: bool, kind: str) -> None:
    """A rate says why a question is not in it."""
    assert score(name, is_unanswerable=is_unanswerable).reason == f"the question is {kind}answerable"


def test_the_details_say_whether_the_answer_abstains() -> None:
    """A reader can see what the detector decided."""
    assert score(RATES[0], REFUSAL, is_unanswerable=True).details == {"abstained": True}
