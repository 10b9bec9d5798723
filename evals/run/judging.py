"""Judging while asking: question 18 is asked while question 17 waits for the judge.

It is done in a thread of its own: composing requests and reading replies takes time, which must not be measured as
the latency of the server. In memory are the questions in flight: answers that wait, and verdicts that are there, lie on
disk.
"""

import asyncio
from collections import Counter, deque
from collections.abc import Callable, Container, Iterable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import filterfalse
from typing import Any, NamedTuple

from evals.judges.backends.base import Identity
from evals.judges.llm_judge import LLMJudge
from evals.judges.money import is_judge, of_judge, spending_of, with_earlier
from evals.judges.record import NOTE, VerdictTally, same_family, tally_of
from evals.judges.replies import fits, is_usable, repeats_of
from evals.metrics.base import BaseMetric
from evals.metrics.judged import new_requests, prompts_asked_twice
from evals.metrics.sample import DECIDING
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

# What a judge is asked about an answer, and which saved verdicts are the reply to it.


Choose = Callable[[VerdictRequest], Iterable[JudgeVerdict]]


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
        self,
        question: EvalQuestion,
        response: EvalResponse,
        verdicts: Sequence[JudgeVerdict],
        asked: Container[tuple[str, int | None]],
    ) -> list[VerdictRequest]:
        """What can be asked for with these verdicts and was not yet; some requests build on the replies to others."""
        return new_requests(self.metrics, self.cases.about(question, response, list(verdicts)), asked)

    def fitting(
        self, question: EvalQuestion, response: EvalResponse, known: Iterable[JudgeVerdict]
    ) -> list[JudgeVerdict]:
        """The saved verdicts that are this judge's replies to what would be asked now, each request and repeat once."""
        by_name = _by_request(known)
        if not by_name:
            return []

        def choose(request: VerdictRequest) -> Iterable[JudgeVerdict]:
            chosen: dict[int, JudgeVerdict] = {}
            for verdict in by_name.get(request.name, ()):
                wanted = verdict.repeat in repeats_of(request, self.repeats) and verdict.repeat not in chosen
                if wanted and fits(verdict, request, self.judge):
                    chosen[verdict.repeat] = verdict
            return chosen.values()

        return self._in_rounds(question, response, choose)

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
                found[question.id] = self.fitting(question, responses[question.id], theirs)
        return found

    def with_leftovers(
        self,
        question: EvalQuestion,
        response: EvalResponse,
        found: Sequence[JudgeVerdict],
        known: Sequence[JudgeVerdict],
    ) -> list[JudgeVerdict]:
        """The verdicts of a run that ended, with those of before which nothing has replaced.

        A reply that cannot be read as one to what is asked now is left out; what it cost is not.
        """
        here = {_place(verdict) for verdict in found}
        rest = [verdict for verdict in known if _place(verdict) not in here]
        if not rest:
            return list(found)
        usable = self._usable(question, response, found, rest)

        def stays(verdict: JudgeVerdict) -> bool:
            return verdict.reply is None or _place(verdict) in usable

        return _with_cost_of(list(filterfalse(stays, rest)), [*found, *filter(stays, rest)])

    def _usable(
        self,
        question: EvalQuestion,
        response: EvalResponse,
        found: Sequence[JudgeVerdict],
        rest: Sequence[JudgeVerdict],
    ) -> set[tuple[str, int]]:
        """The places of the verdicts of use: those found, and of the rest those that can be read as replies."""
        here = {_place(verdict) for verdict in found}
        by_name = _by_request([*found, *rest])

        def choose(request: VerdictRequest) -> Iterable[JudgeVerdict]:
            theirs = (v for v in by_name.get(request.name, ()) if request.repeat in {None, v.repeat})
            return [v for v in theirs if _place(v) in here or is_usable(v, request)]

        return {_place(verdict) for verdict in self._in_rounds(question, response, choose)}

    def _in_rounds(self, question: EvalQuestion, response: EvalResponse, choose: Choose) -> list[JudgeVerdict]:
        found: list[JudgeVerdict] = []
        seen: set[tuple[str, int | None]] = set()
        while todo := self.new_requests(question, response, found, seen):
            for request in todo:
                seen.add(request.place)
                found += choose(request)
        return found


_UNFIT = "the saved reply does not fit what is asked now"


def _with_cost_of(dropped: Sequence[JudgeVerdict], kept: Sequence[JudgeVerdict]) -> list[JudgeVerdict]:
    """The verdicts kept, of which the last one bears what those dropped cost; failures where none is kept."""
    if not dropped:
        return list(kept)
    if not kept:
        return [v.model_copy(update={"reply": None, "failure": "unparsable", "message": _UNFIT}) for v in dropped]
    return [*kept[:-1], with_earlier(kept[-1], spending_of(dropped))]


def _place(verdict: JudgeVerdict) -> tuple[str, int]:
    return verdict.request, verdict.repeat


def _by_request(verdicts: Iterable[JudgeVerdict]) -> dict[str, list[JudgeVerdict]]:
    found: dict[str, list[JudgeVerdict]] = {}
    for verdict in verdicts:
        found.setdefault(verdict.request, []).append(verdict)
    return found


__all__ = ["NOTE", "PATIENCE_S", "Judging"]


PATIENCE_S = 5.0
"""How long an interrupted run waits for the calls in flight, which are paid for."""


_PATIENCE_AFTER_ERROR_S = 30.0
"""The same where the judge refused us: nobody waits at a keyboard then."""


_WORKERS_A_CALL = 4
"""Some workers wait for an overloaded vendor, or for the first call with a prefix, while others call."""


class ToJudge(NamedTuple):
    """An answer that is to be judged, with what was said of it before; it lies on disk until it is its turn."""

    question: EvalQuestion
    response: EvalResponse
    known: list[JudgeVerdict]


@dataclass(slots=True)
class _Judged:
    """A question in flight: what the judge said of its answer, and what it said before."""

    question: EvalQuestion
    response: EvalResponse
    known: list[JudgeVerdict] = field(default_factory=list)
    found: list[JudgeVerdict] = field(default_factory=list)
    asked: set[tuple[str, int | None]] = field(default_factory=set)
    pending: Counter[str] = field(default_factory=Counter)
    """How many repeats of each request are still to come."""


class _Job(NamedTuple):
    """One decision about a question in flight, or the beginning of the question with this id."""

    judged: _Judged | str
    request: VerdictRequest | None = None
    repeat: int = 0


class Judging:
    """The verdicts of a run, gathered in the background.

    Args:
        judge: Decides.
        metrics: Say what they want decided.
        cases: The records as metrics see them.
        journal: Every verdict is written there the moment it arrives.
        before: The judge of the run that goes on, or whose verdicts are used again.
        max_error_rate: The run is incomplete where more of the decisions are lost.
        tell: Hears at once, in the thread that started the judging, of what must be known.
        observer: Hears there of the progress.
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
        tell: Callable[[str], None] = lambda _note: None,
        observer: Observer | None = None,
    ) -> None:
        folder = journal.path.parent
        self._judge = judge
        self._observer = observer or Observer()
        judge.shared_prompts = prompts_asked_twice(metrics)
        self._inquest = JudgePlan(metrics, cases, judge.identity, judge.repeats)
        self._journal = journal
        self._before = before
        self._max_error_rate = max_error_rate
        self._tell = tell
        self._answers: SpilledMapping[ToJudge] = SpilledMapping(ToJudge, folder)
        self._settled: SpilledMapping[list[JudgeVerdict]] = SpilledMapping(list[JudgeVerdict], folder)
        self._begun: set[str] = set()
        self._in_flight: dict[str, _Judged] = {}
        self._tally: VerdictTally | None = None
        self._queue: deque[_Job] = deque()
        self._workers: set[asyncio.Task[None]] = set()
        self._one_ended = asyncio.Event()
        self._unfit = 0
        self._error: BaseException | None = None
        self._side: SideLoop | None = None
        self._tell_judged: Callable[[int, float], None] = lambda _done, _spent: None

    @property
    def verdicts(self) -> Mapping[str, list[JudgeVerdict]]:
        """The verdicts by question: those of before stay where nothing has replaced them."""
        return LazyMapping(self._answers, self._verdicts_on)

    def _verdicts_on(self, key: str) -> list[JudgeVerdict]:
        settled = self._settled.get(key)
        if settled is not None:
            return settled
        judged = self._in_flight.get(key) or _Judged(*self._answers[key])
        return self._with_leftovers(judged)

    def _with_leftovers(self, judged: _Judged) -> list[JudgeVerdict]:
        return self._inquest.with_leftovers(judged.question, judged.response, judged.found, judged.known)

    def add(self, question: EvalQuestion, response: EvalResponse, known: Sequence[JudgeVerdict] = ()) -> None:
        """Know an answer and what was said of it before; nothing is asked until `start`."""
        self._tally = None
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
            home = asyncio.get_running_loop()
            self._judge.on_remark = partial(_at_home, home, lambda remark: self._tell(f"{NOTE} {remark}"))
            self._judge.on_phase = partial(_at_home, home, self._observer.phase)
            self._judge.on_progress = partial(_at_home, home, self._observer.progress)
            self._tell_judged = partial(_at_home, home, self._observer.judged)
        self._begun.add(key)
        self._side.call(self._enqueue, [_Job(key)])

    def _enqueue(self, jobs: Sequence[_Job], *, first: bool = False) -> None:
        if first:  # what was begun is finished before more is begun
            self._queue.extendleft(reversed(jobs))
        else:
            self._queue.extend(jobs)
        most = _WORKERS_A_CALL * self._judge.concurrency * self._judge.repeats
        for _ in range(min(len(jobs), most - len(self._workers))):
            worker = asyncio.get_running_loop().create_task(self._work())
            self._workers.add(worker)
            worker.add_done_callback(self._let_go)

    def _let_go(self, worker: asyncio.Task[None]) -> None:
        self._workers.discard(worker)
        self._one_ended.set()

    async def _work(self) -> None:
        try:
            while self._queue and self._error is None and not self._judge.over:
                job = self._queue.popleft()
                if isinstance(job.judged, str):
                    self._open(job.judged)
                    await asyncio.sleep(0)
                elif job.request is not None:
                    await self._decide(job.judged, job.request, job.repeat)
        except Exception as error:  # noqa: BLE001 - raised again where the run waits for it
            self._error = self._error or error

    def _open(self, key: str) -> None:
        """Take what is known already, and ask for the rest."""
        judged = self._in_flight[key] = _Judged(*self._answers[key])
        if judged.known:
            theirs = of_judge(judged.known, self._before, self._judge.identity)
            judged.found = self._inquest.fitting(judged.question, judged.response, theirs)
        self._go_on(judged)

    def _ask(self, judged: _Judged) -> None:
        """Ask for whatever can be asked now and was not yet: some requests build on the replies to others.

        Whether an answer declines is decided by most repeats, so that nothing else is asked before all are there.
        """
        if any(judged.pending[name] for name in DECIDING):
            return
        jobs = []
        there = {(verdict.request, verdict.repeat) for verdict in judged.found}
        for request in self._inquest.new_requests(judged.question, judged.response, judged.found, judged.asked):
            judged.asked.add(request.place)
            repeats = repeats_of(request, self._judge.repeats)
            jobs += [_Job(judged, request, n) for n in repeats if (request.name, n) not in there]
        judged.pending.update(job.request.name for job in jobs if job.request is not None)
        self._enqueue(jobs, first=True)

    def _go_on(self, judged: _Judged) -> None:
        """Ask for what can be asked now, or put away a question of which nothing more is."""
        self._ask(judged)
        if not judged.pending.total():
            key = judged.question.id
            self._settled[key] = self._with_leftovers(judged)
            del self._in_flight[key]
            self._tell_judged(len(self._settled), self._judge.spent_usd)

    async def _decide(self, judged: _Judged, request: VerdictRequest, repeat: int) -> None:
        old = next((v for v in judged.known if (v.request, v.repeat) == (request.name, repeat)), None)
        self._unfit += old is not None and old.reply is not None

        def log_unusable(verdict: JudgeVerdict) -> None:
            """It was paid for, and the next attempt may be long in coming; what that one brings replaces it."""
            self._journal.verdict(judged.question.id, _standing(old, verdict))

        decision = await self._judge.decide_once(
            request, repeat, old.spent if old is not None else None, on_unusable=log_unusable
        )
        judged.pending[request.name] -= 1
        if decision is not None:
            # Where nobody was there to replace a reply, it stands until somebody is.
            verdict = _standing(old, decision.verdict) if self._judge.over else decision.verdict
            judged.found.append(verdict)
            self._journal.verdict(judged.question.id, verdict)
            self._judge.keep(decision)
        if self._judge.unusable is not None:
            self._error = self._error or self._judge.unusable
        elif not self._judge.over:
            self._go_on(judged)

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
            self._tell(f"waits {PATIENCE_S:g} s at most for {counted(calls, 'call')} to the judge, {why}")
        try:
            await side.run(self._end(PATIENCE_S if self._error is None else _PATIENCE_AFTER_ERROR_S))
        except asyncio.CancelledError:
            await side.run(self._end(0))
            raise
        finally:
            side.close()

    async def _end(self, patience_s: float) -> None:
        self._judge.drain()
        if self._workers and patience_s:
            await asyncio.wait(self._workers, timeout=patience_s)
        self._judge.abort()
        await asyncio.gather(*self._workers)
        await self._judge.aclose()

    @property
    def _tallied(self) -> VerdictTally:
        """What follows from all verdicts; they are walked once, after the last one has come."""
        tally = self._tally or tally_of(self.verdicts)
        self._tally = tally if self._side is None else None
        return tally

    def record(self) -> JudgeRecord:
        """The judge as it is saved with the run."""
        judge = self._judge
        made = self._tallied.record(judge.identity, judge.repeats, prevented=judge.prevented)
        return made.model_copy(update={"left": judge.left})

    @property
    def incomplete(self) -> bool:
        """Whether the budget ended the judging, replies were not waited for, or more of it failed than may."""
        return bool(self._judge.prevented or self._judge.left) or self._too_many_failed

    @property
    def _too_many_failed(self) -> bool:
        lost, total = self._tallied.failed
        return lost > self._max_error_rate * total

    def notes(self, config: Mapping[str, Any]) -> list[str]:
        """What a reader of judged numbers must know; each begins with `NOTE`.

        Args:
            config: The server's configuration, as it says itself.
        """
        judge, before = self._judge.identity, self._before
        notes = self._tallied.notes(judge, prevented=self._judge.prevented)
        if before is not None and not is_judge(before, judge):
            notes.append(f"{NOTE} model, address or effort was another before: {_named(before)}")
        if self._too_many_failed:
            notes.append(note_on_failures(self._max_error_rate))
        if self._unfit:
            notes.append(
                f"{NOTE} former verdicts: {self._unfit} do not fit what is asked now, and were asked for again"
            )
        remarks = [f"{NOTE} {remark}" for remark in self._judge.remarks]
        return [*notes, *remarks, *note_on_family(judge.model, config)]


def note_on_failures(max_error_rate: float) -> str:
    """That more decisions are lost than may be."""
    return f"{NOTE} failures are more than judge.max_error_rate ({max_error_rate:g}) allows"


def note_on_family(judge: str, config: Mapping[str, Any]) -> list[str]:
    """That the judge is of the family of the server's own model; nothing where no model of its family is named.

    Args:
        judge: Its model.
        config: The server's configuration, as it says itself.
    """
    found = same_family(judge, config)
    if found is None:
        return []
    family, model = found
    return [
        f"{NOTE} family is that of the server's own model ({family}: {model}), and models favour their own kind; "
        "calibrate it, or judge by another family"
    ]


def _standing(old: JudgeVerdict | None, new: JudgeVerdict) -> JudgeVerdict:
    """The new verdict, or the old one with what the new one took, where only that has a reply."""
    if old is None or old.reply is None or new.reply is not None:
        return new
    return with_earlier(old, new.model_copy(update={"earlier": None}).spent)


def _named(judge: JudgeRecord) -> str:
    return f"{judge.model} at {judge.origin}" + (f", effort {judge.effort}" if judge.effort else "")


def _at_home(home: asyncio.AbstractEventLoop, hear: Callable[..., None], *told: object) -> None:
    """Have the thread of this loop hear of something."""
    home.call_soon_threadsafe(hear, *told)
