"""Judging while asking: question 18 is asked while question 17 waits for the judge.

It is done in a thread of its own: composing requests and reading replies takes time, which must not be measured as
the latency of the server. In memory are the questions in flight: answers that wait, and verdicts that are there, lie on
disk.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Container, Iterable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any, NamedTuple

from evals.judges.backends.base import Identity
from evals.judges.llm_judge import LLMJudge
from evals.judges.money import is_judge, of_judge, spending_of, with_earlier
from evals.judges.record import NOTE, VerdictTally, same_family, tally_of
from evals.judges.replies import fits, is_usable, repeats_of
from evals.metrics.base import BaseMetric
from evals.metrics.judged import new_requests, prompts_asked_twice
from evals.run.notebook import Observer
from evals.run.work import LazyMapping
from evals.runtime import SideLoop
from evals.schemas.dataset import EvalQuestion
from evals.schemas.response import EvalResponse
from evals.schemas.verdicts import JudgeRecord, JudgeVerdict, VerdictRequest
from evals.scoring.settings import ScoringContext
from evals.store.disk_buffer import SpilledMapping
from evals.store.journal import Journal
from evals.text.numbers import agree, counted

__all__ = ["NOTE", "PATIENCE_S", "JudgePlan", "Judging", "VerdictSource"]

PATIENCE_S = 5.0
"""How long an interrupted run waits for the calls in flight, which are paid for."""

_PATIENCE_AFTER_ERROR_S = 30.0
"""The same where the judge refused us: no user waits at a keyboard then."""

_WORKERS_A_CALL = 4
"""Some questions wait for an overloaded vendor, or for the first call with a prefix, while others call."""

TOO_MANY_FAILED = f"{NOTE} failures are more than judge.max_error_rate"
"""How the note begins that more decisions are lost than may be."""

_UNFIT = "the saved reply does not fit what is asked now"

# What a judge is asked about an answer, and which saved verdicts are the reply to it.


class ToJudge(NamedTuple):
    """An answer that is to be judged, with what was said of it before."""

    question: EvalQuestion
    response: EvalResponse
    known: Sequence[JudgeVerdict] = ()


@dataclass(frozen=True, slots=True)
class JudgePlan:
    """What is to be decided about every answer of a run.

    Attributes:
        metrics: Say what they want decided.
        cases: The records as metrics see them.
        judge: Who decides.
        repeats: How often each decision is made.
    """

    metrics: Sequence[BaseMetric]
    cases: ScoringContext
    judge: Identity
    repeats: int = 1

    def new_requests(
        self, about: ToJudge, verdicts: Sequence[JudgeVerdict], asked: Container[tuple[str, int | None]]
    ) -> list[VerdictRequest]:
        """What can be asked for with these verdicts and was not yet; some requests build on the replies to others."""
        return new_requests(self.metrics, self.cases.about(about.question, about.response, list(verdicts)), asked)

    def fitting(self, about: ToJudge) -> list[JudgeVerdict]:
        """The verdicts known that are this judge's replies to what would be asked now, each request and repeat once."""

        def choose(request: VerdictRequest) -> Iterable[JudgeVerdict]:
            chosen: dict[int, JudgeVerdict] = {}
            for verdict in about.known:
                is_of = verdict.request == request.name and verdict.repeat in repeats_of(request, self.repeats)
                if is_of and verdict.repeat not in chosen and fits(verdict, request, self.judge):
                    chosen[verdict.repeat] = verdict
            return chosen.values()

        return self._in_rounds(about, choose) if about.known else []

    def fitting_all(
        self,
        questions: Iterable[EvalQuestion],
        responses: Mapping[str, EvalResponse],
        known: Mapping[str, Sequence[JudgeVerdict]],
    ) -> MutableMapping[str, Sequence[JudgeVerdict]]:
        """The same for many questions, by their ids; those of which nothing is known are left out."""
        found: SpilledMapping[Sequence[JudgeVerdict]] = SpilledMapping(list[JudgeVerdict])
        for question in questions if known else ():
            theirs = known.get(question.id) if question.id in responses else None
            if theirs:
                found[question.id] = self.fitting(ToJudge(question, responses[question.id], theirs))
        return found

    def with_leftovers(self, about: ToJudge, found: Sequence[JudgeVerdict]) -> list[JudgeVerdict]:
        """The verdicts of a run that ended, with earlier ones which nothing has replaced.

        A reply that cannot be read as one to what is asked now is left out; the last verdict bears what it cost.
        """
        here = set(map(_place, found))
        rest = [verdict for verdict in about.known if _place(verdict) not in here]
        if not rest:
            return list(found)

        def choose(request: VerdictRequest) -> Iterable[JudgeVerdict]:
            theirs = [one for one in (*found, *rest) if one.request == request.name]
            wanted = [one for one in theirs if request.repeat in {None, one.repeat}]
            return [one for one in wanted if _place(one) in here or is_usable(one, request)]

        usable = set(map(_place, self._in_rounds(about, choose)))
        dropped = [verdict for verdict in rest if verdict.reply is not None and _place(verdict) not in usable]
        return _with_cost_of(dropped, [*found, *(verdict for verdict in rest if verdict not in dropped)])

    def _in_rounds(
        self, about: ToJudge, choose: Callable[[VerdictRequest], Iterable[JudgeVerdict]]
    ) -> list[JudgeVerdict]:
        found: list[JudgeVerdict] = []
        seen: set[tuple[str, int | None]] = set()
        while todo := self.new_requests(about, found, seen):
            for request in todo:
                seen.add(request.place)
                found += choose(request)
        return found


def _with_cost_of(dropped: Sequence[JudgeVerdict], kept: list[JudgeVerdict]) -> list[JudgeVerdict]:
    """The verdicts kept, of which the last one bears what those dropped cost; failures where none is kept."""
    if dropped and not kept:
        failure = {"reply": None, "failure": "unparsable", "message": _UNFIT}
        return [verdict.model_copy(update=failure) for verdict in dropped]
    return [*kept[:-1], with_earlier(kept[-1], spending_of(dropped))] if dropped else kept


def _place(verdict: JudgeVerdict) -> tuple[str, int]:
    return verdict.request, verdict.repeat


# The verdicts of a run, from wherever they are, and what follows from all of them.


@dataclass
class VerdictSource:
    """The verdicts of a run: of a `Judging` that has ended, or of merged shards.

    Attributes:
        verdicts: By question.
        identity: Who decided.
        repeats: How often each decision was to be made.
        max_error_rate: The run is incomplete where more of the decisions are lost.
        prevented: Decisions that the budget did not allow.
        left: Requests in batches that were not waited for.
        remarks: What follows from no verdict, each beginning with `NOTE`.
    """

    verdicts: Mapping[str, Sequence[JudgeVerdict]]
    identity: Identity
    repeats: int
    max_error_rate: float
    prevented: int = 0
    left: int = 0
    remarks: list[str] = field(default_factory=list)

    @cached_property
    def _tally(self) -> VerdictTally:
        return tally_of(self.verdicts)

    def record(self) -> JudgeRecord:
        """The judge as it is saved with the run."""
        made = self._tally.record(self.identity, self.repeats, prevented=self.prevented)
        return made.model_copy(update={"left": self.left})

    @property
    def incomplete(self) -> bool:
        """Whether the budget ended the judging, replies were not waited for, or more of it failed than may."""
        return bool(self.prevented or self.left) or self._too_many_failed

    @property
    def _too_many_failed(self) -> bool:
        lost, total = self._tally.failed
        return lost > self.max_error_rate * total

    def notes(self, config: Mapping[str, Any]) -> list[str]:
        """What a reader of judged numbers must know; each begins with `NOTE`.

        Args:
            config: The server's configuration, as it says itself.
        """
        notes = self._tally.notes(self.identity, prevented=self.prevented)
        if self._too_many_failed:
            notes.append(f"{TOO_MANY_FAILED} ({self.max_error_rate:g}) allows")
        notes += self.remarks
        if found := same_family(self.identity.model, config):
            notes.append(
                f"{NOTE} family is that of the server's own model ({found[0]}: {found[1]}), and models favour their "
                "own kind; calibrate it, or judge by another family"
            )
        return notes


@dataclass(slots=True)
class _InFlight:
    """A question in flight, with what the judge said of its answer."""

    about: ToJudge
    found: list[JudgeVerdict] = field(default_factory=list)


class Judging(VerdictSource):
    """The verdicts of a run, gathered in the background.

    Args:
        judge: Decides.
        metrics: Say what they want decided.
        cases: The records as metrics see them.
        journal: Every verdict is written there the moment it arrives.
        before: The judge of the resumed run, or whose verdicts are used again.
        max_error_rate: The run is incomplete where more of the decisions are lost.
        observer: Hears, in the thread that started the judging, of the progress and of what must be known.
    """

    def __init__(
        self,
        judge: LLMJudge,
        metrics: Sequence[BaseMetric],
        cases: ScoringContext,
        journal: Journal,
        *,
        before: JudgeRecord | None = None,
        max_error_rate: float = 0.1,
        observer: Observer | None = None,
    ) -> None:
        folder = journal.path.parent
        self._answers: SpilledMapping[ToJudge] = SpilledMapping(ToJudge, folder)
        self._settled: SpilledMapping[list[JudgeVerdict]] = SpilledMapping(list[JudgeVerdict], folder)
        self._in_flight: dict[str, _InFlight] = {}
        super().__init__(LazyMapping(self._answers, self._verdicts_on), judge.identity, judge.repeats, max_error_rate)
        judge.shared_prompts = prompts_asked_twice(metrics)
        self._judge = judge
        self._plan = JudgePlan(metrics, cases, judge.identity, judge.repeats)
        self._journal = journal
        self._before = before
        self._observer = observer or Observer()
        self._begun: set[str] = set()
        self._queue: deque[str] = deque()
        self._workers: set[asyncio.Task[None]] = set()
        self._one_ended = asyncio.Event()
        self._unfit = 0
        self._error: BaseException | None = None
        self._side: SideLoop | None = None
        self._tell_judged: Callable[[int, float], None] = self._observer.judged

    def _verdicts_on(self, key: str) -> list[JudgeVerdict]:
        """The verdicts on a question: earlier ones stay where nothing has replaced them."""
        settled = self._settled.get(key)
        if settled is not None:
            return settled
        one = self._in_flight.get(key) or _InFlight(self._answers[key])
        return self._plan.with_leftovers(one.about, one.found)

    def add(self, question: EvalQuestion, response: EvalResponse, known: Sequence[JudgeVerdict] = ()) -> None:
        """Know an answer and what was said of it before; nothing is asked until `start`."""
        self._answers[question.id] = ToJudge(question, response, list(known))

    def start(self) -> None:
        """Begin to judge all that was added.

        Raises:
            JudgeError: The judge turned out to be unusable.
        """
        for key in self._answers:
            if key not in self._begun:
                self._begin(key)

    def judge(self, question: EvalQuestion, response: EvalResponse, known: Sequence[JudgeVerdict] = ()) -> None:
        """Add an answer and begin to judge it, unless its verdicts are known already.

        Raises:
            JudgeError: The judge turned out to be unusable.
        """
        self.add(question, response, known)
        self._begin(question.id)

    def _begin(self, key: str) -> None:
        if self._error is not None:
            raise self._error
        if self._side is None:
            self._side = SideLoop("evals judge")
            judge, observer, here = self._judge, self._observer, partial(_at_home, asyncio.get_running_loop())
            judge.on_remark = lambda remark: here(observer.note, f"{NOTE} {remark}")
            judge.on_phase = partial(here, observer.phase)
            judge.on_progress = partial(here, observer.progress)
            self._tell_judged = partial(here, observer.judged)
        self._begun.add(key)
        self._side.call(self._enqueue, key)

    def _enqueue(self, key: str) -> None:
        self._queue.append(key)
        if len(self._workers) < _WORKERS_A_CALL * self._judge.concurrency:
            worker = asyncio.get_running_loop().create_task(self._work())
            self._workers.add(worker)
            worker.add_done_callback(self._let_go)

    def _let_go(self, worker: asyncio.Task[None]) -> None:
        self._workers.discard(worker)
        self._one_ended.set()

    async def _work(self) -> None:
        try:
            while self._queue and self._goes_on:
                await self._judge_one(self._queue.popleft())
        except Exception as error:  # noqa: BLE001 - raised again where the run waits for it
            self._error = self._error or error

    @property
    def _goes_on(self) -> bool:
        return self._error is None and not self._judge.over

    async def _judge_one(self, key: str) -> None:
        """Take what is known already, and ask for the rest, in rounds: some requests build on the replies to others."""
        about = self._answers[key]
        one, asked = _InFlight(about), set[tuple[str, int | None]]()
        self._in_flight[key] = one
        if about.known:
            theirs = of_judge(about.known, self._before, self.identity)
            one.found = self._plan.fitting(about._replace(known=theirs))
        await asyncio.sleep(0)
        while requests := self._plan.new_requests(about, one.found, asked):
            asked.update(request.place for request in requests)
            there = set(map(_place, one.found))
            wanted = ((request, n) for request in requests for n in repeats_of(request, self.repeats))
            decisions = [self._decide(one, *each) for each in wanted if (each[0].name, each[1]) not in there]
            problems = await asyncio.gather(*decisions, return_exceptions=True)
            for problem in filter(None, problems):
                raise problem
            if not self._goes_on:
                return
        self._settled[key] = self._verdicts_on(key)
        del self._in_flight[key]
        self._tell_judged(len(self._settled), self._judge.spent_usd)

    async def _decide(self, one: _InFlight, request: VerdictRequest, repeat: int) -> None:
        if not self._goes_on:
            return
        key = one.about.question.id
        old = next((known for known in one.about.known if _place(known) == (request.name, repeat)), None)
        self._unfit += old is not None and old.reply is not None

        def log_unusable(verdict: JudgeVerdict) -> None:
            """It was paid for, and the next attempt may be long in coming; what that one brings replaces it."""
            self._journal.verdict(key, _standing(old, verdict))

        spent = old.spent if old is not None else None
        decision = await self._judge.decide_once(request, repeat, spent, on_unusable=log_unusable)
        if decision is not None:
            # Where nobody was there to replace a reply, it stands until somebody is.
            verdict = _standing(old, decision.verdict) if self._judge.over else decision.verdict
            one.found.append(verdict)
            self._journal.verdict(key, verdict)
            self._judge.keep(decision)
        self._error = self._error or self._judge.unusable

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
        self._judge.begin(self._journal.path.name)
        while self._workers and self._error is None:
            self._one_ended.clear()
            await self._one_ended.wait()
        if self._error is None:
            self._judge.all_decided()

    async def stop(self) -> None:
        """Begin nothing more, take what is in flight for a while, give up the rest, and let go of the judge."""
        side, self._side = self._side, None
        if side is None:
            return
        if self._error is None and self._judge.in_flight:
            calls = self._judge.in_flight
            why = agree(calls, "as it is paid for", "as they are paid for")
            self._observer.note(f"waits {PATIENCE_S:g} s at most for {counted(calls, 'call')} to the judge, {why}")
        try:
            await side.run(self._end(PATIENCE_S if self._error is None else _PATIENCE_AFTER_ERROR_S))
        except asyncio.CancelledError:
            await side.run(self._end(0))
            raise
        finally:
            side.close()
            self._conclude()

    async def _end(self, patience_s: float) -> None:
        self._judge.drain()
        if self._workers and patience_s:
            await asyncio.wait(self._workers, timeout=patience_s)
        self._judge.abort()
        await asyncio.gather(*self._workers)
        await self._judge.aclose()

    def _conclude(self) -> None:
        judge, before = self._judge, self._before
        self.prevented, self.left = judge.prevented, judge.left
        if before is not None and not is_judge(before, judge.identity):
            former = f"{before.model} at {before.origin}" + (f", effort {before.effort}" if before.effort else "")
            self.remarks.append(f"{NOTE} model, address or effort was another before: {former}")
        if self._unfit:
            unfit = f"{self._unfit} do not fit what is asked now, and were asked for again"
            self.remarks.append(f"{NOTE} former verdicts: {unfit}")
        self.remarks += [f"{NOTE} {remark}" for remark in judge.remarks]


def _standing(old: JudgeVerdict | None, new: JudgeVerdict) -> JudgeVerdict:
    """The new verdict, or the old one with what the new one took, where only that has a reply."""
    if old is None or old.reply is None or new.reply is not None:
        return new
    return with_earlier(old, new.model_copy(update={"earlier": None}).spent)


def _at_home(home: asyncio.AbstractEventLoop, hear: Callable[..., None], *told: object) -> None:
    """Have the thread of this loop hear of something."""
    home.call_soon_threadsafe(hear, *told)
