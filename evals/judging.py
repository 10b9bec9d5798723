"""Judging while asking: question 18 is asked while question 17 waits for the judge.

It is done in a thread of its own: composing requests and reading replies takes time, which must not be measured as
the latency of the server.
"""

import asyncio
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from evals.judges.llm_judge import LLMJudge
from evals.metrics.base import BaseMetric
from evals.schemas import EvalQuestion, EvalRecord, EvalResponse, JudgeVerdict
from evals.schemas.results import JudgeRecord, JudgeUsage, VerdictRequest
from evals.scoring import ScoreSettings
from evals.store import Journal
from evals.sync import SideLoop

NOTE = "the judge's"
"""How every note of a run about its judge begins; a run that goes on makes them anew."""


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
        self._given_up: list[JudgeVerdict] = []
        """Verdicts of an earlier run that are asked for again: what they cost was spent all the same."""
        self._asked: dict[str, set[str]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._error: BaseException | None = None
        self._side: SideLoop | None = None

    def start(self, question: EvalQuestion, response: EvalResponse, known: Sequence[JudgeVerdict] = ()) -> None:
        """Begin to judge an answer, unless its verdicts are known already.

        Raises:
            JudgeError: The judge turned out to be unusable.
        """
        if self._error is not None:
            raise self._error
        if self._side is None:
            self._side = SideLoop("evals judge")
        self._side.call(self._begin, question, response, known)

    def _begin(self, question: EvalQuestion, response: EvalResponse, known: Sequence[JudgeVerdict]) -> None:
        whole = {name for name, found in _by_request(known).items() if all(v.failure is None for v in found)}
        self.verdicts[question.id] = [verdict for verdict in known if verdict.request in whole]
        self._given_up += [verdict for verdict in known if verdict.request not in whole]
        self._asked[question.id] = whole
        self._ask(question, response)

    def _ask(self, question: EvalQuestion, response: EvalResponse) -> None:
        """Begin whatever can be asked now and was not yet: some requests build on the replies to others."""
        asked = self._asked[question.id]
        for request in self._requests(question, response):
            if request.name in asked:
                continue
            asked.add(request.name)
            task = asyncio.create_task(self._decide(question, response, request))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def finish(self) -> None:
        """Wait for the verdicts that are still to come.

        Raises:
            JudgeError: The judge turned out to be unusable.
        """
        if self._side is not None:
            await self._side.run(self._wait())
        await self.stop()
        if self._error is not None:
            raise self._error

    async def _wait(self) -> None:
        while self._tasks and self._error is None:
            await asyncio.wait(self._tasks, return_when=asyncio.FIRST_COMPLETED)

    async def stop(self) -> None:
        """Give up what is still to come, and let go of the judge."""
        side, self._side = self._side, None
        if side is None:
            return
        try:
            await side.run(self._give_up())
        finally:
            side.close()

    async def _give_up(self) -> None:
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._judge.aclose()

    def record(self) -> JudgeRecord:
        """The judge as it is saved with the run."""
        every = [*self._given_up, *(verdict for verdicts in self.verdicts.values() for verdict in verdicts)]
        costs = [verdict.cost_usd for verdict in every]
        known = [cost for cost in costs if cost is not None]
        total = sum(known) if len(known) == len(costs) else None
        usage = JudgeUsage()
        for verdict in every:
            usage = usage + verdict.usage if verdict.usage is not None else usage
        return JudgeRecord(
            model=self._judge.backend.model,
            origin=self._judge.backend.origin,
            prompt_hashes={v.request: v.prompt_hash for v in sorted(every, key=_request) if v.prompt_hash},
            repeats=self._judge.repeats,
            calls=sum(verdict.attempts for verdict in every if not verdict.cached),
            cached=sum(verdict.cached for verdict in every),
            usage=usage,
            cost_usd=total,
            cost_per_query_usd=total / len(self.verdicts) if total is not None and self.verdicts else None,
            flip_rate=self._flip_rate(),
            injections_suspected=sum(any(v.injection_suspected for v in vs) for vs in self.verdicts.values()),
        )

    def failed(self) -> tuple[int, int]:
        """How many decisions failed, and of how many."""
        every = [verdict for verdicts in self.verdicts.values() for verdict in verdicts]
        return sum(verdict.failure is not None for verdict in every), len(every)

    @property
    def incomplete(self) -> bool:
        """Whether the budget ended the judging, or most of it failed."""
        failed, total = self.failed()
        return bool(self._judge.prevented) or 2 * failed > total

    def notes(self) -> list[str]:
        """What a reader of judged numbers must know; each begins with `NOTE`."""
        notes = []
        if self._judge.prevented:
            notes.append(f"{NOTE} budget is spent: {self._judge.prevented} decisions were not made")
        failed, total = self.failed()
        if failed:
            kinds = Counter(v.failure for verdicts in self.verdicts.values() for v in verdicts if v.failure)
            named = ", ".join(f"{count} {kind}" for kind, count in kinds.most_common())
            notes.append(f"{NOTE} verdict is missing on {failed} of {total} decisions ({named}): see counts and bounds")
        suspected = sum(any(v.injection_suspected for v in found) for found in self.verdicts.values())
        if suspected:
            notes.append(
                f"{NOTE} data may speak to it: {suspected} questions hold text that speaks to the judge; look at them "
                "before trusting them"
            )
        return notes

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
        known = self.verdicts[question.id]
        case = self._settings.case(EvalRecord(question=question, response=response, verdicts=known))
        found: dict[str, VerdictRequest] = {}
        for metric in self._metrics:
            for request in metric.requests(case):
                found.setdefault(request.name, request)
        return list(found.values())

    async def _decide(self, question: EvalQuestion, response: EvalResponse, request: VerdictRequest) -> None:
        try:
            for verdict in await self._judge.decide(request):
                self.verdicts[question.id].append(verdict)
                self._journal.verdict(question.id, verdict)
            self._ask(question, response)
        except asyncio.CancelledError:
            raise
        except Exception as error:  # noqa: BLE001 - raised again where the run waits for it
            self._error = self._error or error


def _by_request(verdicts: Sequence[JudgeVerdict]) -> dict[str, list[JudgeVerdict]]:
    found: dict[str, list[JudgeVerdict]] = {}
    for verdict in verdicts:
        found.setdefault(verdict.request, []).append(verdict)
    return found


def _request(verdict: JudgeVerdict) -> str:
    return verdict.request


def _label(verdict: JudgeVerdict) -> str:
    """What a verdict decided, for telling whether repeats agree."""
    return ",".join(sorted(_decisions(verdict.reply or {})))


def _decisions(part: Any, item: str = "") -> Iterator[str]:
    if isinstance(part, dict):
        item = f"{item}.{part['id']}" if "id" in part else item
        if "verdict" in part:
            yield f"{item}={part['verdict']}"
        for name, inner in part.items():
            yield from _decisions(inner, f"{item}.{name}")
    elif isinstance(part, list):
        for inner in part:
            yield from _decisions(inner, item)
