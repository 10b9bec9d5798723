"""The back half of every run: answers are judged, compared, scored and saved, wherever they come from.

A run that asks, a resumed one, one that measures saved answers again, one that scores a file of answers and one that
is merged of shards differ in their `RunPlan`, and in where answers and verdicts come from.
"""

import asyncio
import os
import re
import time
from collections import ChainMap
from collections.abc import Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any

from evals.config import EvalConfig
from evals.errors import CorpusMissingError, EngineError, JudgeError, StoreError
from evals.judges.record import NOTE
from evals.run.asking import STOPPED, Asking
from evals.run.corpus import UNFOUND, chunks_unfound
from evals.run.estimate import Known, estimate_judging
from evals.run.judging import Judging, VerdictSource
from evals.run.notebook import Observer
from evals.run.overlapped import (
    BATCH,
    FEWEST,
    FEWEST_UNASKED,
    BatchScorer,
    OverlappedScorer,
    RecordLine,
    ScoreConfig,
    ScoringPool,
    score_rest,
)
from evals.run.setup import Toolkit
from evals.run.text_models import compare_texts, leave_out_models
from evals.run.work import RunPlan, RunRecords
from evals.schemas.dataset import EvalQuestion
from evals.schemas.response import EvalResponse
from evals.schemas.verdicts import JudgeSpending
from evals.scoring.calibration import with_cards, with_facts
from evals.scoring.conclusion import Ended, Measured
from evals.scoring.config import confidence
from evals.scoring.diagnosis.stages import AnswersSeen, RunFacts
from evals.scoring.notes import DISPUTED, NO_CHUNKS, AnswerTally, usage_limit
from evals.scoring.repeats import with_load, with_repeats
from evals.scoring.settings import ScoringContext, times_asked
from evals.store.journal import Journal
from evals.store.runs import RunStore, saved_calibrations
from evals.text.matching.corpus import MatchStats

_ACCIDENTS = re.compile(r"^shard \d+/\d+: |\d+(?:[.,]\d+)*")
"""What may be otherwise in a note that says the same of other records."""


async def measure(
    work: RunPlan,
    toolkit: Toolkit,
    config: EvalConfig,
    observer: Observer,
    *,
    asking: Asking | None = None,
    judged: VerdictSource | None = None,
) -> Measured:
    """Ask where there is something to ask, judge and score all answers, and save them as a run.

    What ends the work early is raised only after what there is was scored and saved.

    Args:
        work: What to measure.
        toolkit: What with.
        config: Of the run.
        observer: Receives the progress.
        asking: Brings the answers that are not there yet.
        judged: What a judge said elsewhere, where none is asked here.

    Raises:
        CorpusMissingError: The server does not hold the documents that the questions are about.
        JudgeError: The judge cannot be used.
        StoreError: The result cannot be written.
    """
    return await _Measurement(work, toolkit, config, observer, asking, judged).run()


@dataclass
class _Measurement:
    """One run on its way from answers, or from questions, to what is saved."""

    work: RunPlan
    toolkit: Toolkit
    config: EvalConfig
    observer: Observer
    asking: Asking | None
    judged: VerdictSource | None
    problem: BaseException | None = None
    """What ended the work early."""
    early: OverlappedScorer | None = None
    journal: Journal | None = None
    judging: Judging | None = None
    ending: ExitStack = field(default_factory=ExitStack)
    """Ends the processes that score."""

    def __post_init__(self) -> None:
        work, toolkit, config = self.work, self.toolkit, self.config
        self.store = RunStore(config.runs_dir)
        base = work.run.server.citation_base
        self.cases = ScoringContext(toolkit.settings(config, base, judged=self.judged is not None))
        self.how = ScoreConfig(work.run, toolkit.metrics, self.cases.settings, RunFacts(), config)
        self.processes = config.engine.jobs if config.engine.jobs > 1 and toolkit.is_portable else 0
        self.seen, self.stats = AnswersSeen(work.run), MatchStats()
        for question in work.there:
            self._see(question, work.responses[question.id])

    async def run(self) -> Measured:
        """Do it all."""
        with self.ending:
            return await self._run()

    async def _run(self) -> Measured:
        work, store, observer, started = self.work, self.store, self.observer, time.monotonic()
        await self._gather()
        records = RunRecords(work, self.judged.verdicts if self.judged else {})
        await self._compare(records)
        observer.phase("scoring")
        self.cases.match_with(self.stats.evidence(work.questions, records, self.cases.settings.match))
        how = replace(self.how, settings=self.cases.settings, facts=self.seen.facts(records))
        scorer, done = self.early.resume(how) if self.early else (BatchScorer(how), ())
        try:
            lines = chain(done, score_rest(scorer, records, self._pool(len(records) - scorer.done)))
            record_sum = store.compact_lines(work.run, self._watched(lines))
        except EngineError as error:
            if self.processes:
                raise self._with_way_on(error) from error
            scorer = BatchScorer(how)  # the process that ended by itself was not requested
            record_sum = store.compact_lines(work.run, self._watched(score_rest(scorer, records, None)))
        scored, took_s = store.open_records(work.run), 0.0 if work.run.merged_from else time.monotonic() - started
        run = scorer.scorer.concluded(
            scored,
            ended=self._ended(),
            record_sum=record_sum,
            duration_s=round(work.run.duration_s + work.before_s + took_s, 3),
            notes=self._notes(scorer.scorer.answers, records),
            **self._of_the_way(),
        )
        windows = self.asking.windows if self.asking else {}
        run = with_load(with_repeats(with_facts(run, scored), scored), scored, windows)
        run = with_cards(run, saved_calibrations(self.config.runs_dir))
        store.save(run)
        if self.problem is not None:
            raise self._with_way_on(self.problem)
        return Measured(run, self.cases, scored, scorer.summary.build(confidence(run), times_asked(run)))

    # Answers and verdicts.

    async def _gather(self) -> None:
        """Ask what is to be asked, and judge every answer as soon as it is there."""
        observer, work = self.observer, self.work
        await self._plan_judging()
        try:
            with ExitStack() as writing:
                if self.asking or self.toolkit.judge:
                    self.journal = self._open(writing)
                    self.judging = self._prepare_judging(self.journal)
                    self.judged = self.judging or self.judged
                observer.measured_with(self.cases)
                if self.asking and not self.toolkit.waits_for_all:
                    self.early = self._overlapped()
                    self.ending.callback(self.early.close)
                    writing.callback(self.early.end)
                await self._ask_and_judge()
        except (asyncio.CancelledError, CorpusMissingError, EngineError, JudgeError) as error:
            self.problem = error
        except StoreError as error:
            self.store.restore(work.run)
            raise self._with_way_on(error) from error
        finally:
            observer.end()

    def _overlapped(self) -> OverlappedScorer:
        """The scoring during asking, by another process if there is a core for it and enough to do."""
        count = len(self.work.questions)
        unasked = count >= FEWEST_UNASKED and (os.cpu_count() or 1) > 1
        processes = (self.processes if count >= FEWEST else 0) or int(unasked)
        return OverlappedScorer(self.work, self.how, self.seen, self.store.folder, processes=processes)

    def _pool(self, left: int) -> ScoringPool | None:
        """The processes that help to score the records that are left, where it is worth their while."""
        if left <= BATCH:
            return None
        if self.early is not None and self.early.pool is not None:
            return self.early.pool
        return (
            self.ending.enter_context(closing(ScoringPool(self.processes)))
            if self.processes and left >= FEWEST
            else None
        )

    async def _ask_and_judge(self) -> None:
        judging = self.judging
        try:
            if judging is not None:
                for question in self.work.there:
                    known, free = (each.get(question.id, ()) for each in (self.work.verdicts, self.work.free))
                    judging.submit(question, self.work.responses[question.id], known, free)
            if self.asking is not None:
                await self.asking.ask(self.work.questions, self.work.responses, self.cases, self.on_answer)
            if judging is not None:
                self.observer.phase("waiting for the judge" if self.asking else "judging")
                await judging.drain()
        finally:
            if judging is not None:
                await judging.stop()

    def on_answer(self, question: EvalQuestion, response: EvalResponse) -> None:
        """Take an answer the moment it is there: it is kept and logged, and then counts."""
        if self.early is not None:
            self.early.on_answer(response, is_other=question.id in self.work.responses)
        self.work.responses[question.id] = response
        if self.journal is not None:
            self.journal.answer(question.id, response)
        self._see(question, response)
        self.observer.answered(question, response)
        if self.judging is not None:
            self.judging.submit(question, response)

    def _see(self, question: EvalQuestion, response: EvalResponse) -> None:
        self.seen.add(response)
        self.stats.add(question, response)

    async def _plan_judging(self) -> None:
        """Say what the judge will take and whether the budget will do."""
        work, judge, config = self.work, self.toolkit.judge, self.config
        if judge is None:
            return
        spent = sum((each.spent for verdicts in work.verdicts.values() for each in verdicts), JudgeSpending())
        known = Known(work.responses, ChainMap(work.verdicts, work.free))  # type: ignore[arg-type]  # is only read
        questions = work.questions if self.asking else work.answered
        told = (self.toolkit.metrics, questions, work.documents, config, self.cases, known)
        estimate = await asyncio.to_thread(estimate_judging, *told)
        # what the calls of the run that goes on cost whose cost is unknown: a budget counts the estimate
        judge.budget.spent_usd += spent.cost_usd + spent.unpriced * (estimate.cost_high_usd or 0.0) / (
            estimate.calls or 1
        )
        self.observer.estimate(estimate)
        if warning := estimate.warning(config.budget_usd, spent.cost_usd):
            self.observer.note(warning)

    def _open(self, writing: ExitStack) -> Journal:
        """Save the run as far as it is known, and open its log: all commands know it should it be killed."""
        work, store = self.work, self.store
        store.save(work.run.model_copy(update={"record_sum": None}))  # from here on the log grows
        if work.journal is not None:
            writing.push(work.journal)
            work.journal.restart_clock()
            return work.journal
        journal = writing.enter_context(store.journal(work.run))
        journal.questions(work.questions)
        for question in work.there:
            journal.answer(question.id, work.responses[question.id])
        return journal

    def _prepare_judging(self, journal: Journal) -> Judging | None:
        """The judging, where a judge takes part."""
        if self.toolkit.judge is None:
            return None
        return Judging(
            self.toolkit.judge,
            self.toolkit.metrics,
            self.cases,
            journal,
            before=self.work.before,
            max_error_rate=self.config.judge.max_error_rate,
            observer=self.observer,
        )

    async def _compare(self, records: RunRecords) -> None:
        """Compare texts, unless somebody waits for the end of the run."""
        if not isinstance(self.problem, asyncio.CancelledError):
            try:
                await compare_texts(self.toolkit.metrics, records, self.cases, self.observer)
            except asyncio.CancelledError as error:
                self.problem = error
            else:
                return
        leave_out_models(self.cases, "interrupted before texts were compared")

    # What is saved of them.

    def _watched(self, lines: Iterator[RecordLine]) -> Iterator[RecordLine]:
        """The same lines; who watches hears how many are done, but of the last, which ends the work.

        Nothing is awaited meanwhile, so that whether the work was cancelled has to be asked for.
        """
        task, total = asyncio.current_task(), len(self.work.questions)
        before = task.cancelling() if task is not None else 0
        for number, line in enumerate(lines, start=1):
            if task is not None and task.cancelling() > before:
                raise asyncio.CancelledError
            if number < total:
                self.observer.progress(number, total)
            yield line

    def _ended(self) -> Ended:
        if isinstance(self.problem, CorpusMissingError):
            return "refused"
        lacks = self.work.cut_short or self.work.lacks is not None or (self.judged and self.judged.incomplete)
        return "early" if lacks or self.problem is not None else "whole"

    def _of_the_way(self) -> dict[str, Any]:
        """What the run says of how it was asked and judged."""
        work, asking, judge = self.work, self.asking, self.judged.record() if self.judged else None
        if asking is None:
            return {"warmup_ms": work.run.outcomes.warmup_ms, "stopped": work.lacks, "judge": judge}
        return {
            "warmup_ms": asking.warmup_ms,
            "stopped": asking.stop.reason,
            "server": asking.seen(work.run.server),
            "engine": asking.engine(work.run.engine),
            "judge": judge,
        }

    def _notes(self, answers: AnswerTally, records: RunRecords) -> list[str]:
        """What a reader must know, each once; what was said of the answers before is said anew, by other numbers."""
        work = self.work
        kept = [note for note in work.run.notes if not note.startswith((NOTE, STOPPED, DISPUTED, UNFOUND))]
        notes = [*kept, *work.notes]
        if isinstance(self.problem, JudgeError):
            notes.append(f"{NOTE} work ended early: {self.problem.message}")
        notes += self.asking.notes(work.run.server) if self.asking else []
        limit = usage_limit(self.toolkit.metrics, work.usage_needs_concurrency)
        anew = self.judged.notes(work.run.config) if self.judged else []
        anew += self._notes_on(answers.notes(concurrency=work.run.concurrency, usage_limit=limit), records)
        said = {_ACCIDENTS.sub("", note) for note in anew}
        return list(dict.fromkeys([*(note for note in notes if _ACCIDENTS.sub("", note) not in said), *anew]))

    def _notes_on(self, notes: list[str], records: RunRecords) -> list[str]:
        """The notes on the answers; where the path is known that found no chunks, it says more than that none came."""
        responses = (record.response for record in records if record.response is not None)
        unfound = chunks_unfound(self.work.chunks_path, responses)
        return [unfound, *(note for note in notes if not note.startswith(NO_CHUNKS))] if unfound else notes

    def _with_way_on(self, problem: BaseException) -> BaseException:
        """The same error; one that leaves answers behind that were paid for also says how to continue with them."""
        way_on = self.work.way_on if self.asking or self.toolkit.judge else ""
        if not isinstance(problem, (EngineError, JudgeError, StoreError)) or not way_on:
            return problem
        if "resume" in (problem.hint or ""):  # as that of the log does already
            return problem
        return type(problem)(problem.message, f"{problem.hint}; {way_on}" if problem.hint else way_on)
