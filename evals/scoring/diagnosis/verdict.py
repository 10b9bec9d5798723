"""What a judge says of an answer, out of whatever it was asked."""

import re
from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from evals.case.case import Case
from evals.metrics.generation import AnswerCorrectness
from evals.metrics.gptscore import GPTScore
from evals.metrics.graphrag import CorrectAnswersCount, WrongAnswersCount
from evals.metrics.inquiries import COMPARED
from evals.metrics.judged import JudgedMetric
from evals.schemas import EvalRecord, MetricResult
from evals.schemas.results import WITHOUT_VERDICT
from evals.scoring.guarded import score_of


class JudgedAs(StrEnum):
    """How right an answer is."""

    CORRECT = "correct"
    PARTLY = "partly_correct"
    INCORRECT = "incorrect"
    CANNOT_TELL = "cannot_tell"


_LABELLED = (
    (AnswerCorrectness, {1.0: JudgedAs.CORRECT, 0.0: JudgedAs.INCORRECT}),
    (GPTScore, {1.0: JudgedAs.CORRECT, 0.0: JudgedAs.INCORRECT}),
    (CorrectAnswersCount, {1.0: JudgedAs.CORRECT}),
    (WrongAnswersCount, {1.0: JudgedAs.INCORRECT}),
)
"""The metrics whose judge says whether an answer is right, the most telling first, and what their values mean."""
_NAMES = frozenset(metric.name for metric, _ in _LABELLED)
_COMPARED_LISTS = ("answer_claims", "reference_claims")
_SETTLED = ("abstained", "answered")
"""How the verdict of a value begins that no judge gave."""
_NOT_ASKED = "the judge was not asked"
_DENIES = re.compile(
    r"\b(?:contradict\w*|conflict\w*|instead of|rather than|in place of|whereas|disagree\w*|differs?|different|"
    r"not match|mismatch|other than|but the reference|while the reference)\b",
    re.IGNORECASE,
)
_LACKS = re.compile(
    r"\b(?:omit\w*|missing|lacks?|evasi\w+|evades?|vague|incomplete|nothing|no answer|fails? to|without|only|"
    r"(?:does|did) not (?:\w+ )?(?:mention|give|say|state|answer|name|include|provide|address|specify|contain))\b",
    re.IGNORECASE,
)


def verdict_of(record: EvalRecord, case: Case) -> JudgedAs | None:
    """What the judge of the run says of an answer; None where none was asked whether it is right."""
    if _is_unjudged(record):
        return None
    said = [verdict for metric, meaning in _LABELLED if (verdict := _labelled(metric, meaning, record, case))]
    said += [by_claims] if (by_claims := _by_claims(record)) else []
    return next((verdict for verdict in said if verdict is not JudgedAs.CANNOT_TELL), said[0] if said else None)


def contradicted(record: EvalRecord, case: Case) -> bool | None:
    """Whether the judge finds something in the answer that the reference denies; None where it was not asked."""
    reply = _reply(record, COMPARED.name)
    if reply is not None and reply["answer_claims"]:
        return any(claim["verdict"] == "contradicted" for claim in reply["answer_claims"])
    result = _result(GPTScore, record, case)
    criteria = result.details.get("criteria") if result else None
    said = criteria.get("no_contradiction") if isinstance(criteria, dict) else None
    return {"not_met": True, "met": False}.get(str(said))


def says_that_it_denies(record: EvalRecord, case: Case) -> bool:
    """Whether the judge's own words say that the answer denies the reference, and not that it lacks something."""
    words = justification(record, case)
    return bool(_DENIES.search(words)) and not _LACKS.search(words)


def justification(record: EvalRecord, case: Case) -> str:
    """The judge's sentence on an answer; empty where there is none."""
    if _is_unjudged(record):
        return ""
    for metric, _ in _LABELLED:
        result = _result(metric, record, case)
        if result is not None and isinstance(result.details.get("justification"), str):
            return str(result.details["justification"])
    return ""


def _is_unjudged(record: EvalRecord) -> bool:
    """Whether nothing was said of how right the answer is, as in a run without a judge."""
    return not record.verdicts and all(map(_says_nothing, record.scores))


def _says_nothing(score: MetricResult) -> bool:
    """Whether a result is no judgement, given or lost, of how right the answer is."""
    if score.name not in _NAMES:
        return True
    return score.value is None and (score.missing not in WITHOUT_VERDICT or score.reason == _NOT_ASKED)


def _labelled(
    metric: type[JudgedMetric], meaning: Mapping[float, JudgedAs], record: EvalRecord, case: Case
) -> JudgedAs | None:
    result = _result(metric, record, case)
    if result is None or str(result.details.get("verdict", "")).startswith(_SETTLED):
        return None
    if result.value is None:
        return JudgedAs.CANNOT_TELL if result.missing in WITHOUT_VERDICT and result.reason != _NOT_ASKED else None
    if metric is AnswerCorrectness and 0 < result.value < 1:
        return JudgedAs.PARTLY
    return meaning.get(result.value)


def _result(metric: type[JudgedMetric], record: EvalRecord, case: Case) -> MetricResult | None:
    """The value that a run has of a metric, else the one that its verdicts give; None where it has neither."""
    scored = next((score for score in record.scores if score.name == metric.name), None)
    if scored is not None:
        return scored
    asked = {inquiry.name for inquiry in metric.inquiries}
    return score_of(metric(), case) if any(verdict.request in asked for verdict in record.verdicts) else None


def _by_claims(record: EvalRecord) -> JudgedAs | None:
    """What the comparison of claims comes to, where no other judgement was asked for."""
    reply = _reply(record, COMPARED.name)
    if reply is None:
        return None
    if any(claim["verdict"] == "contradicted" for claim in reply["answer_claims"]):
        return JudgedAs.INCORRECT
    conveyed = {claim["verdict"] for claim in reply["reference_claims"]}
    if not conveyed or conveyed == {"cannot_tell"}:
        return None
    if conveyed <= {"conveyed", "cannot_tell"}:
        return JudgedAs.CORRECT
    return JudgedAs.PARTLY if conveyed & {"conveyed", "partly"} else JudgedAs.INCORRECT


def _reply(record: EvalRecord, request: str) -> dict[str, Any] | None:
    """The reply to a comparison of claims; None where there is none, or somebody changed it on disk."""
    replies = (one.reply for one in record.verdicts if one.request == request and one.reply is not None)
    return next((reply for reply in replies if all(map(_is_judged, map(reply.get, _COMPARED_LISTS)))), None)


def _is_judged(claims: Any) -> bool:
    return isinstance(claims, list) and all(
        isinstance(claim, dict) and isinstance(claim.get("verdict"), str) for claim in claims
    )
