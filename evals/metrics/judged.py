"""What judged metrics share: inquiries to a judge, and scores computed here from its discrete verdicts.

An inquiry is one call to the judge about one case. Several metrics may want the same one; it is made once. Some need
the reply of another first: claims are found before they are checked. A judge that refuses, is cut off, cannot be parsed
or reached gives no score: such questions are counted apart (`judge`), never as bad answers. Repeats give the median.
"""

from abc import abstractmethod
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from statistics import median, median_low
from typing import Any, ClassVar, Protocol

from evals.metrics.base import Aggregation, BaseMetric, Need
from evals.metrics.judge_tasks import JudgeTask, ReplyData, chain, common_repeats
from evals.metrics.sample import CORRECTNESS, JudgedAbstention, Sample
from evals.schemas.dataset import EvalQuestion
from evals.schemas.response import EvalResponse
from evals.schemas.results import MetricResult
from evals.schemas.verdicts import JudgeVerdict, VerdictRequest
from evals.text.matching import MatchSettings

REPEATS = "repeats"
"""The detail that holds the values of all repeats, where there are several."""


class Decider(Protocol):
    """What a judge is to a metric."""

    async def decide(self, request: VerdictRequest) -> list[JudgeVerdict]:
        """Get the verdicts on one request."""


def judge_calls(metrics: Iterable[type[BaseMetric]]) -> int:
    """How often a judge is asked about one question, at most: the distinct inquiries of the metrics, chains included.

    Not in it are asking again after an unusable reply, repeats, and whether a doubtful answer declines.
    """
    every = list(metrics)
    asked = chain(inquiry for cls in every if issubclass(cls, JudgedMetric) for inquiry in cls.inquiries)
    others = sum(cls.judge_calls for cls in every if not issubclass(cls, JudgedMetric))
    return len(asked) + others


def judged_abstention(metrics: Iterable[BaseMetric | type[BaseMetric]]) -> JudgedAbstention:
    """By which request a judge decides whether a doubtful answer declines, in a run of these metrics."""
    inquiries = (inquiry for metric in metrics for inquiry in getattr(metric, "inquiries", ()))
    return JudgedAbstention(by_correctness=any(inquiry.name == CORRECTNESS for inquiry in inquiries))


class JudgedMetric(BaseMetric):
    """A metric of a judge's verdicts: it names its inquiries and grades their replies."""

    needs = frozenset({Need.JUDGE})
    inquiries: ClassVar[tuple[JudgeTask, ...]] = ()
    of_answer: ClassVar[bool] = True

    def __init__(self, judge: Decider | None = None) -> None:
        self.judge = judge
        """Asked by `compute` where no verdicts are given; a run gathers its verdicts itself."""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls.judge_calls = len(chain(cls.inquiries))

    @abstractmethod
    def grade(self, case: Sample, replies: Mapping[str, ReplyData]) -> MetricResult:
        """Score one set of replies, by the names of the inquiries.

        Returns `self.result(...)`, or `self.undefined(..., missing="judge")` where the judge could not tell.
        """

    def settled(self, case: Sample) -> MetricResult | None:
        """The result where no judge is needed to know it; None where one is."""
        if Need.CHUNKS in self.needs and case.response.chunks and not case.passages:
            return self.undefined("the chunks carry no text")
        return None

    def undecided(self, **details: Any) -> MetricResult:
        """The result where the judge could not tell."""
        return self.undefined("the judge could not tell", missing="judge", **details)

    def settled_by(self, case: Sample, replies: Mapping[str, ReplyData]) -> MetricResult | None:
        """The result where these replies settle it, whatever those say that are asked for after them.

        A verdict that is lost then changes nothing. Else a question without a value, of which that is known only once
        all its verdicts are there, would stand for lost ones in some runs and not in others: a ratio that leans.

        Args:
            case: The record.
            replies: One set, of the first inquiries of the chain.

        Returns:
            None where the others decide.
        """
        return None

    def wanted(self, case: Sample) -> tuple[JudgeTask, ...]:
        """The inquiries for this case."""
        return self.inquiries

    def compute(
        self,
        question: EvalQuestion,
        response: EvalResponse,
        verdicts: Sequence[JudgeVerdict] | None = None,
        *,
        settings: MatchSettings | None = None,
    ) -> MetricResult:
        judged, declining = bool(verdicts or self.judge), judged_abstention([self])
        case = Sample(
            question, response, verdicts or (), settings or MatchSettings(), judged=judged, declining=declining
        )
        if verdicts is None and self.judge is not None:
            from evals.runtime import run_anywhere  # noqa: PLC0415 - with asyncio, which a saved run is shown without

            run_anywhere(decide_all(self, case, self.judge))
        return self.score(case)

    def requests(self, case: Sample) -> list[VerdictRequest]:
        if not self._applies(case):
            return []
        first = self._whether_it_abstains(case)
        if (first and case.abstention_open) or self.settled(case) is not None:
            return first
        asked = [*first, *(request for one in chain(self.wanted(case)) for request in one.requests(case))]
        return list({request.place: request for request in asked}.values())

    def hangs_on_abstention(self, case: Sample) -> bool:
        if self.heeds_abstention:
            return True
        return any(one.heeds_abstention for one in chain(self.wanted(case))) and self.settled(case) is None

    def unavailable(self, case: Sample) -> str | None:
        return None if case.judged or case.verdicts else "no judge was used"

    def measure(self, case: Sample) -> MetricResult:
        result, needed = self.settled(case), self.settling_verdicts(case)
        if result is None:
            result = self.detailed(self._from_verdicts(case, needed), **self.injection_flag(case))
        return self.judged(result, needed) if case.judged else result

    def injection_flag(self, case: Sample) -> dict[str, Any]:
        """The detail that says that the data holds text which speaks to the judge; nothing where it does not."""
        names = {inquiry.name for inquiry in chain(self.wanted(case))}
        names |= {case.decided_by} if self.hangs_on_abstention(case) else set()
        suspected = any(verdict.injection_suspected for verdict in case.verdicts if verdict.request in names)
        return {"injection_suspected": True} if suspected else {}

    def _from_verdicts(self, case: Sample, needed: list[str]) -> MetricResult:
        """The result by the replies, up to the one that settles it or is lost; adds the names of those needed."""
        by_name: dict[str, dict[int, ReplyData]] = {}
        for inquiry in chain(self.wanted(case)):
            if inquiry.given(case) is None and inquiry.name not in needed:  # correctness tells whether it declines too
                needed.append(inquiry.name)
            by_name[inquiry.name] = inquiry.replies(case)
            if not by_name[inquiry.name]:
                return self.undefined(_failure(case, [inquiry.name]), missing="judge")
            settled = [self.settled_by(case, replies) for replies in _by_repeat(by_name)]
            if settled and settled[0] is not None and None not in settled:
                return settled[0]
        return self._graded([self.grade(case, replies) for replies in _by_repeat(by_name)])

    def _graded(self, graded: Sequence[MetricResult]) -> MetricResult:
        """The median of the repeats that have a value, with the details of the one that is nearest."""
        if not graded:
            return self.undefined("no repeat of the judge's verdicts is whole", missing="judge")
        decided = {place: result.value for place, result in enumerate(graded) if result.value is not None}
        if not decided:
            return graded[0]
        whole = self.aggregation in {Aggregation.RATE, Aggregation.SUM}  # half a yes is no, half an answer none
        value = (median_low if whole else median)(decided.values())
        nearest = min(decided, key=lambda place: abs(decided[place] - value))
        repeats = {REPEATS: list(decided.values())} if len(decided) > 1 else {}
        return self.result(value, **{**graded[nearest].details, **repeats})


def _failure(case: Sample, names: Container[str]) -> str:
    failed = next((v for v in case.verdicts if v.request in names and v.failure is not None), None)
    return f"judge {failed.failure}: {failed.message}" if failed else "the judge was not asked"


def _by_repeat(by_name: Mapping[str, Mapping[int, ReplyData]]) -> list[dict[str, ReplyData]]:
    """The replies that belong together: one set for each repeat that every inquiry has, in order."""
    return [
        {name: replies[repeat] if repeat in replies else replies[-1] for name, replies in by_name.items()}
        for repeat in common_repeats(by_name.values())
    ]


def rounds(metrics: Iterable[BaseMetric], case: Sample) -> Iterator[list[VerdictRequest]]:
    """What is to be asked about a case, round by round, each request once.

    Some requests build on the replies to others: put the verdicts of a round into the case before you take the next.
    """
    asked: set[tuple[str, int | None]] = set()
    while True:
        requests = {request.place: request for metric in metrics for request in metric.requests(case)}
        new = [request for place, request in requests.items() if place not in asked]
        if not new:
            return
        yield new
        asked.update(requests)


async def decide_all(metric: BaseMetric, case: Sample, judge: Decider) -> list[VerdictRequest]:
    """Have a judge decide what a metric wants to know of a case, which gets the verdicts; returns what was asked."""
    asked: list[VerdictRequest] = []
    for requests in rounds([metric], case):
        for request in requests:
            case.verdicts = [*case.verdicts, *await judge.decide(request)]
        asked += requests
    return asked


class LabelledMetric(JudgedMetric):
    """A metric of a single inquiry whose verdict is one label."""

    scale: ClassVar[Mapping[str, float]]
    """The value of each label; one that is not here means that the judge could not tell."""

    def grade(self, case: Sample, replies: Mapping[str, ReplyData]) -> MetricResult:
        (reply,) = replies.values()
        return self.labelled(reply)

    def labelled(self, reply: ReplyData, **details: Any) -> MetricResult:
        """The value of a reply's label, with these details before those of the reply."""
        details |= {name: reply[name] for name in ("verdict", "quote", "justification") if reply.get(name)}
        value = self.scale.get(reply["verdict"])
        return self.undecided(**details) if value is None else self.result(value, **details)


def share_supported(metric: JudgedMetric, claims: Sequence[ReplyData], *, retrieved: bool) -> MetricResult:
    """The share of claims that are supported, on the metric's scale; all of it where there are none.

    Args:
        metric: Of which the result is.
        claims: Each with its verdict.
        retrieved: Whether there are passages that could support one.
    """
    whole = metric.high or 1.0
    if not claims:
        return metric.result(whole, edge="no claims")
    verdicts = [claim["verdict"] for claim in claims]
    known = len(verdicts) - verdicts.count("cannot_tell")
    if not known:
        return metric.undecided()
    edge = {} if retrieved else {"edge": "no contexts"}
    return metric.result(whole * verdicts.count("supported") / known, claims=known, **edge)
