"""What judged metrics share: inquiries to a judge, and scores computed here from its discrete verdicts.

An inquiry is one call to the judge about one case. Several metrics may want the same one; it is made once. Some need
the reply of another first: claims are found before they are checked. A judge that refuses, is cut off, cannot be parsed
or reached gives no score: such questions are counted apart (`judge`), never as bad answers. Repeats give the median.
"""

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from statistics import median, median_low
from typing import Any, ClassVar, Protocol

from evals.metrics.base import Aggregation, BaseMetric, Need
from evals.metrics.judge_tasks import JudgeTask, ReplyData, chain, common_repeats
from evals.metrics.sample import CORRECTNESS, Sample
from evals.schemas.results import MetricResult
from evals.schemas.verdicts import JudgeVerdict, VerdictRequest

REPEATS = "repeats"
"""The detail that holds the values of all repeats, where there are several."""

Replies = Mapping[str, ReplyData]
"""Replies that belong together, by the names of the inquiries."""
Marks = Sequence[bool | None]
"""Whether each item of a reply counts; None where the judge could not tell."""


class Decider(Protocol):
    """What a judge is to a metric."""

    async def decide(self, request: VerdictRequest) -> list[JudgeVerdict]:
        """Get the verdicts on one request."""


def judge_calls(metrics: Iterable[type[BaseMetric]]) -> int:
    """How often a judge is asked about one question, at most: the distinct inquiries of the metrics, chains included.

    Not in it are asking again after an unusable reply, repeats, and whether an answer declines where that is doubtful.
    """
    every = list(metrics)
    asked = chain(inquiry for cls in every if issubclass(cls, JudgedMetric) for inquiry in cls.inquiries)
    unjudged = sum(cls.judge_calls for cls in every if not issubclass(cls, JudgedMetric))
    return len(asked) + unjudged


def asks_correctness(metrics: Iterable[BaseMetric | type[BaseMetric]]) -> bool:
    """Whether a run of these metrics asks a judge if answers are correct."""
    return any(task.name == CORRECTNESS for metric in metrics for task in getattr(metric, "inquiries", ()))


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
    def grade(self, sample: Sample, replies: Replies) -> MetricResult:
        """Score one set of replies.

        Returns `self.result(...)`, or `self.undefined(..., missing="judge")` where the judge could not tell.
        """

    def settled(self, sample: Sample) -> MetricResult | None:
        """The result where no judge is needed to know it; None where one is."""
        if Need.CHUNKS in self.needs and sample.response.chunks and not sample.passages:
            return self.undefined("the chunks carry no text")
        return None

    def settled_by(self, sample: Sample, replies: Replies) -> MetricResult | None:
        """The result where these replies settle it, whatever those say that are asked for after them.

        A verdict that is lost then changes nothing. Else a question without a value, of which that is known only once
        all its verdicts are there, would stand for lost ones in some runs and not in others: a ratio that leans.

        Args:
            sample: The record.
            replies: One set, of the first inquiries of the chain.

        Returns:
            None where the others decide.
        """
        return None

    def wanted(self, sample: Sample) -> tuple[JudgeTask, ...]:
        """The inquiries for this sample."""
        return self.inquiries

    def undecided(self, **details: Any) -> MetricResult:
        """The result where the judge could not tell."""
        return self.undefined("the judge could not tell", missing="judge", **details)

    def share(self, marks: Marks, items: str, **details: Any) -> MetricResult:
        """The share of the items that count, on the metric's scale, of those on which the judge could tell.

        Args:
            marks: Of each item whether it counts.
            items: The detail that says how many it could tell on.
            details: Further ones.
        """
        known = [mark for mark in marks if mark is not None]
        if not known:
            return self.undecided()
        return self.result((self.high or 1.0) * sum(known) / len(known), **{items: len(known), **details})

    def judged_alone(self, sample: Sample, *, asks: bool) -> Sample:
        sample.judged, sample.asks_correctness = bool(sample.verdicts or self.judge), asks_correctness([self])
        if asks and self.judge is not None:
            from evals.runtime import run_anywhere  # noqa: PLC0415 - with asyncio, which a saved run is shown without

            run_anywhere(decide_all(self, sample, self.judge))
        return sample

    def requests(self, sample: Sample) -> list[VerdictRequest]:
        first = super().requests(sample)
        if self.applies(sample) is not None or (first and sample.decision.lost) or self.settled(sample) is not None:
            return first
        asked = [*first, *(request for task in chain(self.wanted(sample)) for request in task.requests(sample))]
        return list({request.place: request for request in asked}.values())

    def hangs_on_abstention(self, sample: Sample) -> bool:
        if self.heeds_abstention:
            return True
        return any(task.heeds_abstention for task in chain(self.wanted(sample))) and self.settled(sample) is None

    def measure(self, sample: Sample) -> MetricResult:
        hangs = sample.decision.by_judge and self.hangs_on_abstention(sample)
        judged_by = [sample.decision.inquiry] if hangs else []
        result, suspected = self.settled(sample), {}
        if result is None:
            result, suspected = self._by_replies(sample, judged_by), self.injection_flag(sample)
        return self.with_verdicts(result, judged_by if sample.judged else (), **suspected)

    def injection_flag(self, sample: Sample) -> dict[str, Any]:
        """The detail that says that the data holds text which speaks to the judge; nothing where it does not."""
        names = {task.name for task in chain(self.wanted(sample))}
        names |= {sample.decision.inquiry} if self.hangs_on_abstention(sample) else set()
        suspected = any(verdict.injection_suspected for verdict in sample.verdicts if verdict.request in names)
        return {"injection_suspected": True} if suspected else {}

    def _by_replies(self, sample: Sample, judged_by: list[str]) -> MetricResult:
        """The result by the replies, up to the one that settles it or is lost; adds the names of those needed."""
        replies: dict[str, dict[int, ReplyData]] = {}
        for task in chain(self.wanted(sample)):
            if task.name not in judged_by and task.given(sample) is None:  # correctness tells whether it declines too
                judged_by.append(task.name)
            replies[task.name] = task.replies(sample)
            if not replies[task.name]:
                heard = (verdict for verdict in sample.verdicts if verdict.request == task.name)
                failed = next((verdict for verdict in heard if verdict.failure is not None), None)
                lost = f"judge {failed.failure}: {failed.message}" if failed else "the judge was not asked"
                return self.undefined(lost, missing="judge")
            settled = [self.settled_by(sample, repeat) for repeat in _by_repeat(replies)]
            if settled and settled[0] is not None and None not in settled:
                return settled[0]
        return self._median([self.grade(sample, repeat) for repeat in _by_repeat(replies)])

    def _median(self, graded: Sequence[MetricResult]) -> MetricResult:
        """The median of the repeats that have a value, with the details of the one that is nearest."""
        if not graded:
            return self.undefined("no repeat of the judge's verdicts is whole", missing="judge")
        values = [result.value for result in graded if result.value is not None]
        if not values:
            return graded[0]
        whole = self.aggregation in {Aggregation.RATE, Aggregation.SUM}  # half a yes is no, half an answer none
        value = (median_low if whole else median)(values)
        decided = (result for result in graded if result.value is not None)
        nearest = min(decided, key=lambda result: abs((result.value or 0.0) - value))
        return self.result(value, **{**nearest.details, **({REPEATS: values} if len(values) > 1 else {})})


def _by_repeat(by_name: Mapping[str, Mapping[int, ReplyData]]) -> list[dict[str, ReplyData]]:
    """The replies that belong together: one set for each repeat that every inquiry has, in order."""
    return [
        {name: replies[repeat] if repeat in replies else replies[-1] for name, replies in by_name.items()}
        for repeat in common_repeats(by_name.values())
    ]


def rounds(metrics: Iterable[BaseMetric], sample: Sample) -> Iterator[list[VerdictRequest]]:
    """What is to be asked about a sample, round by round, each request once.

    Some requests build on the replies to others: put the verdicts of a round into the sample before you take the next.
    """
    asked: set[tuple[str, int | None]] = set()
    while True:
        requests = {request.place: request for metric in metrics for request in metric.requests(sample)}
        new = [request for place, request in requests.items() if place not in asked]
        if not new:
            return
        yield new
        asked.update(requests)


async def decide_all(metric: BaseMetric, sample: Sample, judge: Decider) -> None:
    """Have a judge decide what a metric needs to know of a sample, which gets the verdicts."""
    for requests in rounds([metric], sample):
        for request in requests:
            sample.verdicts = [*sample.verdicts, *await judge.decide(request)]


class LabelledMetric(JudgedMetric):
    """A metric of a single inquiry whose verdict is one label."""

    scale: ClassVar[Mapping[str, float]]
    """The value of each label; one that is not here means that the judge could not tell."""

    def grade(self, sample: Sample, replies: Replies) -> MetricResult:
        (reply,) = replies.values()
        return self.labelled(reply)

    def labelled(self, reply: ReplyData, **details: Any) -> MetricResult:
        """The value of a reply's label, with these details before those of the reply."""
        details |= {name: reply[name] for name in ("verdict", "quote", "justification") if reply.get(name)}
        value = self.scale.get(reply["verdict"])
        return self.undecided(**details) if value is None else self.result(value, **details)


def marks(items: Iterable[ReplyData], verdict: str) -> list[bool | None]:
    """Of each item of a reply whether it has a verdict; None where the judge could not tell."""
    return [None if item["verdict"] == "cannot_tell" else item["verdict"] == verdict for item in items]
