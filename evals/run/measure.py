"""The back half of every run: answers are judged, compared, scored and saved, wherever they come from.

A run that asks, one that goes on, one that measures saved answers again, one that scores a file of answers and one that
is merged of shards differ in their `RunPlan`, and in where answers and verdicts come from.
"""

import asyncio
import re
import time
from collections import ChainMap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import Any, Protocol

from evals.config import EvalConfig
from evals.errors import CorpusMissingError, EngineError, JudgeError, StoreError
from evals.judges.money import spending_of
from evals.judges.record import NOTE, Verdicts
from evals.metrics.base import BaseMetric
from evals.run.asking import STOPPED, Asking, OnAnswer
from evals.run.corpus import UNFOUND, chunks_unfound
from evals.run.estimate import Estimate, estimate_judging
from evals.run.judging import JudgePlan, Judging
from evals.run.notebook import Observer
from evals.run.overlapped import OverlappedScorer, ScoreConfig, scored_lines, scoring_of
from evals.run.setup import Toolkit, price_of_judge, saved_forecast
from evals.run.text_models import compare_texts, leave_out_models
from evals.run.work import RunPlan, RunRecords
from evals.schemas.dataset import EvalQuestion
from evals.schemas.response import EvalResponse
from evals.schemas.results import EvalRecord, EvalRun
from evals.schemas.run_parts import RecordSum
from evals.schemas.verdicts import JudgeRecord, JudgeVerdict
from evals.scoring.calibration import with_cards
from evals.scoring.conclusion import Ended, Measured
from evals.scoring.diagnosis.stages import AnswersSeen, RunFacts
from evals.scoring.missing import with_facts
from evals.scoring.notes import DISPUTED, NO_CHUNKS, AnswerTally, usage_limit
from evals.scoring.repeats import with_load, with_repeats
from evals.scoring.settings import ScoringContext, confidence, times_asked
from evals.store.journal import Journal
from evals.store.runs import RunStore, saved_calibrations
from evals.text.matching.corpus import MatchStats

_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")


class VerdictSource(Protocol):
    """The verdicts of a run, and what follows from all of them: of a `Judging` that has ended, or of merged shards."""

    @property
    def verdicts(self) -> Mapping[str, Sequence[JudgeVerdict]]:
        """By question."""

    @property
    def incomplete(self) -> bool:
        """Whether anything was left undone."""

    def record(self) -> JudgeRecord | None:
        """The judge as it is saved with the run."""

    def notes(self, config: Mapping[str, Any]) -> list[str]:
        """What a reader of judged numbers must know, where the server says this of its configuration."""


async def measure(
    work: RunPlan,
    instruments: Toolkit,
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
        instruments: What with.
        config: Of the run.
        observer: Hears of the progress.
        asking: Brings the answers that are not there yet.
        judged: What a judge said elsewhere, where none is asked here.

    Raises:
        CorpusMissingError: The server does not hold the documents that the questions are about.
        JudgeError: The judge cannot be used.
        StoreError: The result cannot be written.
    """
    store, started = RunStore(config.runs_dir), time.monotonic()
    base = work.run.server.citation_base
    cases = ScoringContext(instruments.settings(config, base, judged=judged is not None))
    free = await _plan_judging(work, instruments, cases, config, observer, asking=asking is not None)
    judging: Judging | None = None
    problem: BaseException | None = None
    seen, survey = _seen_so_far(work)
    how = ScoreConfig(work.run, instruments.metrics, cases.settings, RunFacts(), config)
    way_on = _way_on(work, asking, instruments)
    early = OverlappedScorer(work, how, seen, store.folder, is_wanted=not instruments.wait_for_all)
    try:
        with ExitStack() as writing:
            journal = _open(work, store, writing) if asking or instruments.judge else None
            judging = _prepare_judging(work, instruments, cases, config, observer, journal=journal, free=free)
            observer.measured_with(cases)
            writing.callback(early.end)
            on_answer = _hears(work, journal, (seen, survey), observer, judging, early)
            await _ask_and_judge(work, cases, asking, judging, on_answer, observer)
    except (asyncio.CancelledError, CorpusMissingError, EngineError, JudgeError) as error:
        problem = error
    except StoreError as error:
        store.restore(work.run)
        raise _with_way_on(error, way_on) from error
    finally:
        observer.end()
    judged = judging or judged
    records = RunRecords(work, judged.verdicts if judged else {})
    problem = await _compare(instruments.metrics, records, cases, problem, observer)
    observer.phase("scoring")
    cases.match_with(survey.evidence(work.questions, records, cases.settings.match))
    how = replace(how, settings=cases.settings, facts=seen.facts(records))
    scoring = scoring_of(early, how)
    lines = scored_lines(scoring, records, how, config.engine.jobs)
    record_sum = _save_lines(store, work, _watched(lines, len(records), observer), way_on)
    conclusion = scoring.conclusion
    scored = store.open_records(work.run)
    run = conclusion.concluded(
        scored,
        ended=_ended(work, problem, judged),
        record_sum=record_sum,
        duration_s=_duration_s(work, time.monotonic() - started),
        notes=_each_once(
            _notes_on_the_way(work, asking, judged, problem),
            _notes_on_answers(work, conclusion.answers, records, instruments),
        ),
        **_of_the_way(work, asking, judged),
    )
    run = _with_design(with_facts(run, scored), scored, asking)
    run = with_cards(run, scored, saved_calibrations(config.runs_dir))
    store.save(run)
    if problem is not None:
        raise _with_way_on(problem, way_on)
    return Measured(run, cases, scored, scoring.digest.build(confidence(run), times_asked(run)))


def _with_design(run: EvalRun, scored: Iterable[EvalRecord], asking: Asking | None) -> EvalRun:
    """The run with what repeats and levels of load say, where there are such."""
    return with_load(with_repeats(run, scored), scored, asking.windows if asking else {})


def _duration_s(work: RunPlan, measuring_s: float) -> float:
    """Seconds that the run took; one that was merged took what its shards took."""
    return round(work.run.duration_s + work.before_s + (0.0 if work.run.merged_from else measuring_s), 3)


def _save_lines(store: RunStore, work: RunPlan, lines: Iterator[tuple[str, bytes]], way_on: str) -> RecordSum:
    """Write the records; returns their checksum."""
    try:
        return store.compact_lines(work.run, lines)
    except EngineError as error:
        raise _with_way_on(error, way_on) from error


def _watched(lines: Iterator[tuple[str, bytes]], total: int, observer: Observer) -> Iterator[tuple[str, bytes]]:
    """The same lines; who watches hears how many are done, but of the last, which ends the work.

    Nothing is awaited meanwhile, so that whether the work was cancelled has to be asked for.
    """
    task = asyncio.current_task()
    before = task.cancelling() if task is not None else 0
    for number, line in enumerate(lines, start=1):
        if task is not None and task.cancelling() > before:
            raise asyncio.CancelledError
        if number < total:
            observer.progress(number, total)
        yield line


def _ended(work: RunPlan, problem: BaseException | None, judged: VerdictSource | None) -> Ended:
    if isinstance(problem, CorpusMissingError):
        return "refused"
    lacks = work.cut_short or work.lacks is not None or (judged is not None and judged.incomplete)
    return "early" if lacks or problem is not None else "whole"


def _of_the_way(work: RunPlan, asking: Asking | None, judged: VerdictSource | None) -> dict[str, Any]:
    """What the run says of how it was asked and judged."""
    judge = judged.record() if judged else None
    if asking is None:
        return {"warmup_ms": work.run.outcomes.warmup_ms, "stopped": work.lacks, "judge": judge}
    return {
        "warmup_ms": asking.warmup_ms,
        "stopped": asking.stop.reason,
        "server": asking.seen(work.run.server),
        "engine": asking.engine(work.run.engine),
        "judge": judge,
    }


async def _plan_judging(
    work: RunPlan, instruments: Toolkit, cases: ScoringContext, config: EvalConfig, observer: Observer, *, asking: bool
) -> Verdicts:
    """Say what the judge will take and whether the budget will do; returns the saved verdicts that cost nothing."""
    judge = instruments.judge
    if judge is None:
        return {}
    judge.spent_usd += work.spent_usd
    inquest = JudgePlan(instruments.metrics, cases, judge.identity, judge.repeats)

    def plan() -> tuple[Verdicts, Estimate]:
        free = inquest.fitting_all(work.questions, work.responses, work.free)
        own = inquest.fitting_all(work.questions, work.responses, work.verdicts)
        questions = work.questions if asking else work.answered
        price, judge.forecast = price_of_judge(config), saved_forecast(config)
        known = work.known(ChainMap(own, free))
        return free, estimate_judging(
            instruments.metrics, questions, work.documents, config, price, cases, forecast=judge.forecast, known=known
        )

    free, estimate = await asyncio.to_thread(plan)
    judge.spent_usd += _uncounted_usd(work, estimate)
    observer.estimate(estimate)
    warning = estimate.warning(config.budget_usd, work.spent_usd)
    if warning:
        observer.note(warning)
    judge.rounds_expected = estimate.rounds
    return free


def _uncounted_usd(work: RunPlan, estimate: Estimate) -> float:
    """What the calls of the run that goes on may have cost whose cost nobody knows: a budget counts the estimate."""
    unknown = sum(spending_of(verdicts).unpriced for verdicts in work.verdicts.values())
    return unknown * (estimate.cost_usd or 0.0) / estimate.calls if estimate.calls else 0.0


def _open(work: RunPlan, store: RunStore, writing: ExitStack) -> Journal:
    """Save the run as far as it is known, and open its log: all commands know it from here on, should it be killed."""
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


def _prepare_judging(
    work: RunPlan,
    instruments: Toolkit,
    cases: ScoringContext,
    config: EvalConfig,
    observer: Observer,
    *,
    journal: Journal | None,
    free: Verdicts,
) -> Judging | None:
    """The judging, which knows the answers that are there with their verdicts: none may be lost; None without judge."""
    if journal is None or instruments.judge is None:
        return None
    judging = Judging(
        instruments.judge,
        instruments.metrics,
        cases,
        journal,
        before=work.before,
        max_error_rate=config.judge.max_error_rate,
        tell=observer.note,
        observer=observer,
    )
    for question in work.there:
        given = free.get(question.id, ())
        for verdict in given:  # what this run is built on is in its own log, should the other be deleted
            journal.verdict(question.id, verdict)
        judging.add(question, work.responses[question.id], [*work.verdicts.get(question.id, ()), *given])
    return judging


def _seen_so_far(work: RunPlan) -> tuple[AnswersSeen, MatchStats]:
    """What is gathered of answers as they arrive, with those that are there already."""
    seen, survey = AnswersSeen(work.run), MatchStats()
    for question in work.there:
        response = work.responses[question.id]
        seen.add(response)
        survey.add(question, response)
    return seen, survey


def _hears(
    work: RunPlan,
    journal: Journal | None,
    gathered: tuple[AnswersSeen, MatchStats],
    observer: Observer,
    judging: Judging | None,
    early: OverlappedScorer,
) -> OnAnswer:
    """What is done with each answer the moment it is there: it is kept and logged, and then counts."""
    seen, survey = gathered

    def on_answer(question: EvalQuestion, response: EvalResponse) -> None:
        early.arrived(response, is_other=question.id in work.responses)
        work.responses[question.id] = response
        if journal is not None:
            journal.answer(question.id, response)
        seen.add(response)
        survey.add(question, response)
        observer.answered(question, response)
        if judging is not None:
            judging.judge(question, response)

    return on_answer


async def _ask_and_judge(
    work: RunPlan,
    cases: ScoringContext,
    asking: Asking | None,
    judging: Judging | None,
    on_answer: OnAnswer,
    observer: Observer,
) -> None:
    """Ask what is to be asked, and judge every answer as soon as it is there."""
    try:
        if judging is not None:
            judging.start()
        if asking is not None:
            await asking.ask(work.questions, work.responses, cases, on_answer)
        if judging is not None:
            observer.phase("waiting for the judge" if asking else "judging")
            await judging.finish()
    finally:
        if judging is not None:
            await judging.stop()


async def _compare(
    metrics: Sequence[BaseMetric],
    records: Sequence[EvalRecord],
    cases: ScoringContext,
    problem: BaseException | None,
    observer: Observer,
) -> BaseException | None:
    """Compare texts, unless somebody waits for the end of the run; returns what ended it early."""
    if not isinstance(problem, asyncio.CancelledError):
        try:
            await compare_texts(metrics, records, cases, observer)
        except asyncio.CancelledError as error:
            problem = error
        else:
            return problem
    leave_out_models(cases, "interrupted before texts were compared")
    return problem


def _notes_on_the_way(
    work: RunPlan, asking: Asking | None, judged: VerdictSource | None, problem: BaseException | None
) -> list[str]:
    """What a reader must know of how the numbers came about; what a run that goes on said of its end is said anew."""
    earlier = [note for note in work.run.notes if not note.startswith((NOTE, STOPPED, DISPUTED, UNFOUND))]
    ended = [f"{NOTE} work ended early: {problem.message}"] if isinstance(problem, JudgeError) else []
    of_asking = asking.notes(work.run.server) if asking else []
    return [*earlier, *work.notes, *ended, *of_asking, *(judged.notes(work.run.config) if judged else [])]


def _each_once(earlier: Sequence[str], of_answers: Sequence[str]) -> list[str]:
    """The notes, each once; what was said of the answers before is said anew of all of them, by other numbers."""
    anew = {_NUMBER.sub("0", note) for note in of_answers}
    left = [note for note in earlier if _NUMBER.sub("0", note) not in anew]
    return list(dict.fromkeys([*left, *of_answers]))


def _notes_on_answers(
    work: RunPlan, answers: AnswerTally, records: Iterable[EvalRecord], instruments: Toolkit
) -> list[str]:
    limit = usage_limit(instruments.metrics, work.usage_needs_concurrency)
    notes = answers.notes(concurrency=work.run.concurrency, usage_limit=limit)
    unfound = chunks_unfound(work.chunks_path, (record.response for record in records if record.response is not None))
    return [unfound, *(note for note in notes if not note.startswith(NO_CHUNKS))] if unfound else notes


def _way_on(work: RunPlan, asking: Asking | None, instruments: Toolkit) -> str:
    """What to do where the work ends early; nothing where all that was paid for was there before."""
    return work.way_on if asking is not None or instruments.judge is not None else ""


def _with_way_on(problem: BaseException, way_on: str) -> BaseException:
    """The same error; one that leaves answers behind also says how to go on with them."""
    if not isinstance(problem, (EngineError, JudgeError, StoreError)) or not way_on:
        return problem
    if "resume" in (problem.hint or ""):  # as that of the log does already
        return problem
    return type(problem)(problem.message, f"{problem.hint}; {way_on}" if problem.hint else way_on)
