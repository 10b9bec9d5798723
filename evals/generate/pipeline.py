"""Generating: candidates are drafted, checked and solved, several at a time, until there are enough questions."""

import asyncio
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import islice, pairwise
from math import ceil
from shlex import quote
from typing import Any

from evals.config import EvalConfig
from evals.datasets.base import short_hash
from evals.errors import RunIncompleteError
from evals.generate.checks import NEAR_MISS, PAIR, CheckedDraft, QuestionDraft, Rejection, check, is_duplicate
from evals.generate.drafts import PROMPTS, SINGLE, STREAMS, Candidate, Prompts, candidates, draft_of
from evals.generate.journal import QuestionJournal
from evals.generate.passages import PassageSet
from evals.generate.solving import FEW, MANY, solve
from evals.judges.llm_judge import LLMJudge
from evals.judges.money import judge_price, thinking_allowance
from evals.judges.prompts import call_of, usual_usage
from evals.run.checks import make_judge
from evals.run.estimate import SECONDS_A_CALL, Estimate
from evals.run.judging import GENERATOR
from evals.run.observer import Observer
from evals.schemas.dataset import EvalQuestion
from evals.schemas.verdicts import VerdictRequest
from evals.text.numbers import counted

TRIES, SPARE, YIELD = 3, 10, 0.6
"""Candidates for a question at most, and a few more; and the share of drafts that is usually accepted."""

PATIENCE_S = 5.0
"""How long calls in flight are waited for at the end: they are paid for."""

BUDGET_SPENT = "the budget is spent"
"""Why asking ended."""

_LASTING = frozenset({"refused", "truncated", "unparsable", "rejected", "too_long"})
"""Failures that asking again would pay for again."""


@dataclass(frozen=True, slots=True)
class QuestionPlan:
    """What is wanted, and of whom.

    Attributes:
        number: How many questions.
        writer: The configuration whose judge drafts; its seed is that of the draw.
        solver: The one whose judge answers the drafts; it may be the same.
        mix: Shares of questions from one passage, from two, and of near misses.
        prompts: What is asked.
    """

    number: int
    writer: EvalConfig
    solver: EvalConfig
    mix: tuple[int, int, int]
    prompts: Prompts


@dataclass
class Quota:
    """One stream of candidates, and how far it is.

    Attributes:
        wanted: Questions.
        source: Its candidates.
        accepted: Questions so far.
        tried: Candidates so far.
        in_work: Candidates that are not decided yet.
    """

    wanted: int
    source: Iterator[Candidate]
    accepted: int = 0
    tried: int = 0
    in_work: int = 0

    @property
    def most(self) -> int:
        """Candidates that are tried at most."""
        return TRIES * self.wanted + SPARE if self.wanted else 0

    def next(self, share: float) -> Candidate | None:
        """The next candidate, unless as many are in work as may be needed, of which this share is accepted."""
        needed = ceil((self.wanted - self.accepted) / share)
        return next(self.source, None) if self.in_work < needed and self.tried < self.most else None


def quotas_of(plan: QuestionPlan, passages: PassageSet) -> dict[str, Quota]:
    """The streams of a plan, with their shares of its number."""
    ends = [round(plan.number * sum(plan.mix[:count]) / sum(plan.mix)) for count in range(len(STREAMS) + 1)]
    return {
        stream: Quota(end - start, candidates(passages, stream, plan.writer.seed))
        for stream, (start, end) in zip(STREAMS, pairwise(ends), strict=True)
    }


def question_id(draft: QuestionDraft) -> str:
    """The id of a question, the same whenever it is written."""
    return f"q-{short_hash(draft.question)}"


def stream_of(question: EvalQuestion) -> str:
    """By which stream a question was made."""
    kind = question.metadata.get("kind")
    return kind if kind in (PAIR, NEAR_MISS) else SINGLE


class Generator:
    """Makes questions until there are enough.

    Args:
        passages: All passages.
        plan: What is wanted.
        journal: Where questions and verdicts go; what is in it is not paid for again.
        observer: Receives the progress, and what must be known.

    Attributes:
        quotas: How far each stream is.
        rejected: How many candidates were rejected, by reason.
        stopped: Why it ended early; None where every stream is full or has no further candidate.

    Raises:
        JudgeError: The package of a model is not installed.
        StoreError: Replies cannot be kept.
    """

    def __init__(self, passages: PassageSet, plan: QuestionPlan, journal: QuestionJournal, observer: Observer) -> None:
        self._passages, self._plan, self._journal, self._observer = passages, plan, journal, observer
        self._writer = make_judge(plan.writer)
        self._solver = self._writer if plan.solver is plan.writer else make_judge(plan.solver)
        self._models = {self._writer, self._solver}
        self._solver.budget = self._writer.budget
        self._writer.budget.spent_usd = journal.spent.cost_usd
        self._writer.on_remark = self._solver.on_remark = observer.note
        self.quotas = quotas_of(plan, passages)
        self.rejected = Counter[Rejection]()
        self.stopped: str | None = None
        for question in journal.questions.values():
            self.quotas[stream_of(question)].accepted += 1

    async def run(self) -> None:
        """Make questions.

        Raises:
            JudgeError: A model cannot be used at all.
            StoreError: A file cannot be written.
        """
        work = set[asyncio.Task[None]]()
        batched = self._writer.batched
        width = 100_000 if batched else 2 * self._writer.concurrency
        try:
            while True:
                for quota in self.quotas.values():
                    while len(work) < width and not self.stopped and (new := quota.next(YIELD if batched else 1.0)):
                        key = new.key(self._passages)
                        if key not in self._journal.accepted:
                            quota.tried += 1
                            quota.in_work += 1
                            work.add(asyncio.create_task(self._decide(new, key, quota)))
                if not work:
                    break
                done, work = await asyncio.wait(work, return_when=asyncio.FIRST_COMPLETED)
                for error in filter(None, [task.exception() for task in done]):
                    raise error
                questions, drafts = len(self._journal.questions), sum(quota.tried for quota in self.quotas.values())
                told = f"{questions} of {self._plan.number} questions, {drafts} drafts"
                self._observer.waiting(f"{told}, ${self._writer.budget.spent_usd:.2f}")
            for model in () if self.stopped else self._models:
                model.forget()
        finally:
            await self._end(work)

    async def _end(self, work: set[asyncio.Task[None]]) -> None:
        """Begin nothing more, wait a while for calls in flight, and let go of the models."""
        for model in self._models:
            model.closing = True
        if work:
            await asyncio.wait(work, timeout=PATIENCE_S)
        for task in work:
            task.cancel()
        await asyncio.gather(*work, return_exceptions=True)
        for model in self._models:
            await model.aclose()

    async def _decide(self, candidate: Candidate, key: str, quota: Quota) -> None:
        """Accept the question of a candidate, or count why not."""
        try:
            checked = await self._make(candidate, key)
            reason = checked if isinstance(checked, Rejection) else self._accept(candidate, checked, key, quota)
            self.rejected.update([reason] if reason else [])
        except _NotAskedError:
            left = any(model.left for model in self._models)
            self.stopped = "the replies of a batch are not there yet" if left else BUDGET_SPENT
        finally:
            quota.in_work -= 1

    async def _make(self, candidate: Candidate, key: str) -> CheckedDraft | Rejection:
        """A draft that passed everything, or why it did not."""
        prompts, answer = self._plan.prompts, partial(self._ask, self._solver, key)
        reply = await self._ask(self._writer, key, prompts.draft(candidate, self._passages))
        if reply is None:
            return Rejection.UNUSABLE
        if reply["injection_suspected"]:
            return Rejection.INJECTION
        if reply["verdict"] == "skip":
            return Rejection.SKIPPED
        draft = draft_of(candidate, reply)
        checked = check(draft, self._passages, self._rivals(question_id(draft)))
        if isinstance(checked, Rejection):
            return checked
        return await solve(checked, self._passages, prompts, answer) or checked

    async def _ask(self, model: LLMJudge, key: str, request: VerdictRequest) -> Mapping[str, Any] | None:
        known = self._journal.verdicts.get(key, [])  # reading makes no entry: sums go by the order of the journal
        own = (old for old in known if old.request == request.name and old.model == model.identity.model)
        if any(verdict.failure in _LASTING for verdict in own):
            return None
        verdicts = await model.decide(request, known=known, log=partial(self._journal.log, key))
        if not verdicts:
            raise _NotAskedError
        return verdicts[0].reply

    def _rivals(self, question_id: str) -> list[EvalQuestion]:
        """The accepted questions, but this one if it is in the file without being in the journal."""
        own = {question_id} & self._journal.unnoted
        return [question for question in self._journal.questions.values() if question.id not in own]

    def _accept(self, candidate: Candidate, checked: CheckedDraft, key: str, quota: Quota) -> Rejection | None:
        """Keep a question, unless one like it came first, or there are enough: then its replies are cached."""
        question = self._question(candidate, checked)
        if any(is_duplicate(checked.draft, known) for known in self._rivals(question.id)):
            return Rejection.DUPLICATE
        is_new = question.id not in self._journal.questions
        if quota.accepted < quota.wanted or not is_new:
            quota.accepted += is_new
            texts = (self._passages.passages[place].text for place in dict(checked.draft.quotations))
            self._journal.accept(key, question, "\n\n…\n\n".join(texts))
        return None

    def _question(self, candidate: Candidate, checked: CheckedDraft) -> EvalQuestion:
        draft = checked.draft
        asked = [self._plan.prompts.load(name) for name in (PROMPTS[candidate.stream], "solve")]
        parts = [self._passages.passages[place] for place in dict(draft.quotations)]
        metadata = {
            "kind": draft.kind,
            GENERATOR: self._writer.identity.model,
            "solver": self._solver.identity.model,
            "prompts": [f"{prompt.name} {prompt.version} {prompt.hash}" for prompt in asked],
            "passages": [part.hash for part in parts],
            "checks": ["rules", "solved", *checked.tags],
        }
        return EvalQuestion(
            id=question_id(draft),
            question=draft.question,
            expected_answer=draft.answer or None,
            gold_passages=checked.golds,
            is_unanswerable=draft.kind == NEAR_MISS,
            metadata=metadata | ({"near": parts[0].document} if draft.kind == NEAR_MISS else {}),
        )


class _NotAskedError(Exception):
    """No call was allowed, or its reply will come after the run."""


# What generating came to.


AGAIN = "give the same command again: it continues, and nothing is paid twice"
"""How to continue after an end that came early."""


@dataclass(frozen=True, slots=True)
class Generated:
    """The questions of a file, and how they came about.

    Attributes:
        generator: Made questions, and has ended.
        journal: Holds all questions of the file, those of earlier runs too.
    """

    generator: Generator
    journal: QuestionJournal

    @property
    def drafts(self) -> int:
        """How many candidates were tried."""
        return sum(quota.tried for quota in self.generator.quotas.values())

    def facts(self) -> dict[str, Any]:
        """All of it as data for a program."""
        quotas = self.generator.quotas
        return {
            "questions": len(self.journal.questions),
            "wanted": {stream: quota.wanted for stream, quota in quotas.items()},
            "accepted": {stream: quota.accepted for stream, quota in quotas.items()},
            "drafts": self.drafts,
            "rejected": dict(self.generator.rejected.most_common()),
            "stopped": self.generator.stopped,
            "spent": self.journal.spent.model_dump(mode="json"),
            "output": str(self.journal.path),
        }

    def lines(self) -> Iterator[str]:
        """The same in words, the next command last."""
        questions, spent, rejected = list(self.journal.questions.values()), self.journal.spent, self.generator.rejected
        kinds = Counter(str(question.metadata.get("kind")) for question in questions)
        documents = {gold.document_id for question in questions for gold in question.gold_passages}
        held = f"{counted(len(questions), 'question')} in {self.journal.path}"
        yield f"{held}, with gold in {counted(len(documents), 'document')}"
        yield f"  {', '.join(f'{count} {kind}' for kind, count in kinds.most_common())}"
        yield f"{counted(self.drafts, 'draft')}, {rejected.total()} rejected"
        yield from (f"  {count:>4}  {reason}" for reason, count in rejected.most_common())
        cost = "price unknown" if spent.known_cost_usd is None else f"${spent.cost_usd:.2f}"
        unknown = f", of which {counted(spent.unpriced, 'call')} of unknown cost" if spent.unpriced else ""
        yield f"paid: {cost} for {counted(spent.calls, 'call')}{unknown}"
        if questions:
            yield f"next: evals review {quote(str(self.journal.path))}"

    def too_few(self, number: int) -> RunIncompleteError:
        """The error for fewer questions than this number: why, and the way out."""
        made = f"{len(self.journal.questions)} of {counted(number, 'question')}"
        if self.generator.stopped:
            return RunIncompleteError(
                f"{made}: {self.generator.stopped}", f"raise --max-cost, which counts what was paid before, or {AGAIN}"
            )
        quotas = self.generator.quotas.items()
        short = ", ".join(stream.replace("_", " ") for stream, quota in quotas if quota.accepted < quota.wanted)
        return RunIncompleteError(
            f"{made}: too few drafts were accepted ({short})",
            "ask for fewer or for another mix, add documents, or name another model with --model",
        )


# What generating will take, known before anything is asked.


_OFF = 0.25
"""By which share sizes of replies may be off."""


def estimate_generation(plan: QuestionPlan, passages: PassageSet, journal: QuestionJournal | None) -> Estimate:
    """Estimate calls, tokens, money and minutes; asks nothing of anybody.

    The lower end holds if every draft is accepted, the upper end if as many are tried as may be.

    Args:
        plan: What is wanted.
        passages: All passages.
        journal: What is there already.
    """
    questions = list(journal.questions.values()) if journal else []
    decided = {*journal.accepted, *journal.verdicts} if journal else set[str]()
    needed, spare = list[_Call](), list[_Call]()
    for stream, quota in quotas_of(plan, passages).items():
        missing = max(0, quota.wanted - sum(stream_of(question) == stream for question in questions))
        undecided = (candidate for candidate in quota.source if candidate.key(passages) not in decided)
        for number, candidate in enumerate(islice(undecided, max(0, quota.most - quota.wanted + missing))):
            calls = needed if number < missing else spare
            calls += [_Call(config, request) for config, request in _requests(candidate, plan, passages)]
    low, middle = sum(call.cost(0) for call in needed), sum(call.cost(0.5) for call in needed) / YIELD
    high = sum(call.cost(1) for call in [*needed, *spare])
    judge, expected = plan.writer.judge, len(needed) / YIELD
    priced = high > 0 or not needed
    usual = f"about ${middle:.2f} and these counts" if priced else "these counts"
    return Estimate(
        calls=round(expected),
        cached=0,
        input_tokens=round(sum(call.usage.input_tokens for call in needed) / YIELD),
        output_tokens=round(sum(call.usage.output_tokens for call in needed) / YIELD),
        cost_low_usd=low * (1 - _OFF) if priced else None,
        cost_high_usd=high * (1 + _OFF) if priced else None,
        minutes=None if judge.batch and needed else expected * SECONDS_A_CALL / judge.concurrency / 60,
        basis=f"{usual} if {YIELD:.0%} of the drafts are accepted; the range is from all of them to one in {TRIES}",
    )


def _requests(
    candidate: Candidate, plan: QuestionPlan, passages: PassageSet
) -> Iterator[tuple[EvalConfig, VerdictRequest]]:
    """What a candidate takes: its passage stands for those that are not chosen yet."""
    yield plan.writer, plan.prompts.draft(candidate, passages)
    text = passages.passages[candidate.places[0]].text
    question, count = text[:100], min(len(passages.passages), MANY if candidate.stream == NEAR_MISS else FEW)
    for number in (count, 1, 1) if candidate.stream == PAIR else (count,):
        yield plan.solver, plan.prompts.solution("solve", question, [text] * number)
    if plan.prompts.closed_book and candidate.stream != NEAR_MISS:
        yield plan.solver, plan.prompts.request("closed_book", "closed_book", question=question)


class _Call:
    """The size of a call in tokens, and what it costs."""

    def __init__(self, config: EvalConfig, request: VerdictRequest) -> None:
        self.usage, self._config = usual_usage(request, call_of(request)), config

    def cost(self, thought: float) -> float:
        """What it costs with a share of the allowance of thinking; without any, the vendor's cache has the prompt."""
        judge, usage = self._config.judge, self.usage
        price = judge_price(self._config.prices, judge.provider, judge.base_url, batch=judge.batch)
        written = usage.output_tokens + round(thought * thinking_allowance(judge.model, judge.effort))
        changed = {"cache_write_tokens": usage.cache_read_tokens, "cache_read_tokens": 0} if thought else {}
        return price(judge.model, usage.model_copy(update={"output_tokens": written, **changed})) or 0.0
