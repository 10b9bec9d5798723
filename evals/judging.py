"""Judging while asking: question 18 is asked while question 17 waits for the judge."""

import asyncio
from collections.abc import Sequence

from evals.judges.llm_judge import LLMJudge
from evals.judges.prompt import load_prompt
from evals.metrics.base import BaseMetric
from evals.metrics.case import Case
from evals.schemas import EvalQuestion, EvalResponse, JudgeVerdict
from evals.schemas.results import JudgeRecord, JudgeUsage, VerdictRequest
from evals.scoring import ScoreSettings
from evals.store import Journal


class Judging:
    """The verdicts of a run, gathered in the background.

    Args:
        judge: Decides.
        metrics: Say what they want decided.
        settings: How the run's records are scored.
        journal: Every verdict is written there the moment it arrives.
    """

    def __init__(
        self, judge: LLMJudge, metrics: Sequence[BaseMetric], settings: ScoreSettings, journal: Journal
    ) -> None:
        self.verdicts: dict[str, list[JudgeVerdict]] = {}
        self._judge = judge
        self._metrics = metrics
        self._settings = settings
        self._journal = journal
        self._tasks: set[asyncio.Task[None]] = set()
        self._error: BaseException | None = None

    def start(self, question: EvalQuestion, response: EvalResponse, known: Sequence[JudgeVerdict] = ()) -> None:
        """Begin to judge an answer, unless its verdicts are known already.

        Raises:
            JudgeError: The judge turned out to be unusable.
        """
        if self._error is not None:
            raise self._error
        self.verdicts[question.id] = [verdict for verdict in known if verdict.failure is None]
        have = {verdict.request for verdict in self.verdicts[question.id]}
        todo = [request for request in self._requests(question, response) if request.prompt not in have]
        for request in todo:
            task = asyncio.create_task(self._decide(question.id, request))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def finish(self) -> None:
        """Wait for the verdicts that are still to come.

        Raises:
            JudgeError: The judge turned out to be unusable.
        """
        while self._tasks and self._error is None:
            await asyncio.wait(self._tasks, return_when=asyncio.FIRST_COMPLETED)
        await self.stop()
        if self._error is not None:
            raise self._error

    async def stop(self) -> None:
        """Give up what is still to come."""
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def record(self) -> JudgeRecord:
        """The judge as it is saved with the run."""
        every = [verdict for verdicts in self.verdicts.values() for verdict in verdicts]
        costs = [verdict.cost_usd for verdict in every]
        known = [cost for cost in costs if cost is not None]
        usage = JudgeUsage()
        for verdict in every:
            usage = usage + verdict.usage if verdict.usage is not None else usage
        names = sorted({verdict.request for verdict in every})
        return JudgeRecord(
            model=self._judge.backend.model,
            origin=self._judge.backend.origin,
            prompt_hashes={name: load_prompt(name).hash for name in names},
            repeats=self._judge.repeats,
            calls=sum(verdict.attempts for verdict in every if not verdict.cached),
            cached=sum(verdict.cached for verdict in every),
            usage=usage,
            cost_usd=sum(known) if len(known) == len(costs) else None,
            flip_rate=self._flip_rate(),
            injections_suspected=sum(any(v.injection_suspected for v in vs) for vs in self.verdicts.values()),
        )

    def _flip_rate(self) -> float | None:
        if self._judge.repeats < 2:
            return None
        labels: dict[tuple[str, str], set[str]] = {}
        for question, verdicts in self.verdicts.items():
            for verdict in verdicts:
                if verdict.reply is not None:
                    labels.setdefault((question, verdict.request), set()).add(_label(verdict))
        return sum(len(found) > 1 for found in labels.values()) / len(labels) if labels else None

    def _requests(self, question: EvalQuestion, response: EvalResponse) -> list[VerdictRequest]:
        case = Case(question, response, settings=self._settings.match, judged=True)
        found: dict[str, VerdictRequest] = {}
        for metric in self._metrics:
            for request in metric.requests(case):
                found.setdefault(request.prompt, request)
        return list(found.values())

    async def _decide(self, question_id: str, request: VerdictRequest) -> None:
        try:
            for verdict in await self._judge.decide(request):
                self.verdicts[question_id].append(verdict)
                self._journal.verdict(question_id, verdict)
        except asyncio.CancelledError:
            raise
        except Exception as error:  # noqa: BLE001 - raised again where the run waits for it
            self._error = self._error or error


def _label(verdict: JudgeVerdict) -> str:
    """What a verdict decided, for telling whether repeats agree."""
    reply = verdict.reply or {}
    if "verdict" in reply:
        return str(reply["verdict"])
    return ",".join(sorted(claim["verdict"] for claim in reply.get("claims", [])))
