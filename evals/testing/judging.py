"""A judge for tests: one answer by one metric."""

from contextlib import AsyncExitStack

from evals.case.case import Case
from evals.config import EvalConfig
from evals.judges.llm_judge import LLMJudge
from evals.metrics.judged import judged_abstention
from evals.metrics.registry import parse_metric
from evals.run.instruments import make_judge
from evals.schemas import EvalQuestion, EvalResponse, JudgeVerdict, MetricResult
from evals.testing.loops import InItsLoop


class RagJudge(InItsLoop):
    """Measures answers by the configured judge.

    Args:
        config: Of the judge.

    Raises:
        JudgeError: On entering: its package is not installed.
    """

    def __init__(self, config: EvalConfig) -> None:
        super().__init__()
        self._config = config
        self._judge: LLMJudge | None = None

    async def open(self, stack: AsyncExitStack) -> None:
        self._judge = make_judge(self._config)
        stack.push_async_callback(self._judge.aclose)

    def score(self, metric: str, question: EvalQuestion, response: EvalResponse) -> MetricResult:
        """Measure one answer: a value, or the reason why there is none.

        Raises:
            UnknownNameError: There is no such metric; the message names the nearest.
            JudgeError: The judge cannot be used at all.
        """
        return self.run(self._score(metric, question, response))

    async def _score(self, name: str, question: EvalQuestion, response: EvalResponse) -> MetricResult:
        if self._judge is None:
            raise RuntimeError("enter the judge first: with RagJudge(config) as judge")
        metric, verdicts = parse_metric(name), list[JudgeVerdict]()
        settings, declining = self._config.score_settings(judged=True), judged_abstention([metric])
        asked: set[object] = set()
        while True:
            case = Case(
                question,
                response,
                verdicts,
                settings.match,
                judged=True,
                declining=declining,
                keeps_flagged=settings.keeps_flagged,
            )
            wanted = [request for request in metric.requests(case) if request.place not in asked]
            if not wanted:
                return metric.score(case)
            for request in wanted:
                asked.add(request.place)
                verdicts = [*verdicts, *await self._judge.decide(request)]
