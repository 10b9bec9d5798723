"""A judged metric that looks at the gold sees it as the run recognises it, while it asks and when it grades."""

from collections.abc import Mapping
from typing import Any

import pytest

from evals.metrics.judge_tasks import JudgeTask, ReplyData
from evals.metrics.judged import JudgedMetric, new_requests
from evals.schemas import (
    EvalQuestion,
    EvalRecord,
    EvalResponse,
    GoldPassage,
    JudgeVerdict,
    MetricGroup,
    MetricResult,
    RetrievedChunk,
)
from evals.schemas.verdicts import VerdictRequest
from evals.scoring.scorecard import score_record
from evals.scoring.settings import ScoreSettings
from evals.text.matching import MatchSettings

GOLD = GoldPassage(text="The battery lasts 96 hours in standby.", document_id="guide")
QUESTION = EvalQuestion(id="q", question="How long?", gold_passages=[GOLD])
RESPONSE = EvalResponse(answer="96 hours.", chunks=[RetrievedChunk(text="Chapter two.", document_id="guide")])
FOUND = JudgeTask("found", "p", lambda case: {"golds": len(case.matches.found)})
BY_TEXT, BY_DOCUMENT = MatchSettings(rule="text"), MatchSettings(rule="document")


class FoundGolds(JudgedMetric):
    """How many golds were found, as the judge repeats it, and as it is seen here."""

    name = "found_golds"
    group = MetricGroup.GENERATION
    high = None
    inquiries = (FOUND,)

    def grade(self, case: Any, replies: Mapping[str, ReplyData]) -> MetricResult:
        return self.result(replies["found"]["golds"], here=len(case.matches.found))


class Echo:
    """A judge that repeats what it is given."""

    async def decide(self, request: VerdictRequest) -> list[JudgeVerdict]:
        return [JudgeVerdict(request=request.name, reply=request.data)]


@pytest.mark.parametrize(("settings", "golds"), [(None, 0), (BY_TEXT, 0), (BY_DOCUMENT, 1)])
def test_a_metric_that_asks_a_judge_itself_recognises_gold_as_it_is_told(
    settings: MatchSettings | None, golds: int
) -> None:
    """Both what the judge is given and what is graded."""
    result = FoundGolds(Echo()).compute(QUESTION, RESPONSE, settings=settings)
    assert (result.value, result.details["here"]) == (golds, golds)


@pytest.mark.parametrize(("settings", "golds"), [(BY_TEXT, 0), (BY_DOCUMENT, 1)])
def test_given_verdicts_are_graded_by_the_settings_of_the_caller(settings: MatchSettings, golds: int) -> None:
    """As a metric without a judge is."""
    verdict = JudgeVerdict(request="found", reply={"golds": 7})
    result = FoundGolds().compute(QUESTION, RESPONSE, [verdict], settings=settings)
    assert (result.value, result.details["here"]) == (7, golds)


@pytest.mark.parametrize(("settings", "golds"), [(BY_TEXT, 0), (BY_DOCUMENT, 1)])
def test_a_run_asks_and_grades_by_its_own_settings(settings: MatchSettings, golds: int) -> None:
    """`match` of the configuration holds for what a judge is given."""
    cases = ScoreSettings(match=settings, judged=True)
    (request,) = new_requests([FoundGolds()], cases.about(QUESTION, RESPONSE), ())
    assert request.data == {"golds": golds}
    verdict = JudgeVerdict(request="found", reply=request.data)
    record = score_record([FoundGolds()], EvalRecord(question=QUESTION, response=RESPONSE, verdicts=[verdict]), cases)
    assert [score.details["here"] for score in record.scores] == [golds]
