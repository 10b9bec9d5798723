"""What judging will take, known before anything is asked: calls, tokens, money and minutes.

Every request is composed as in the run, over a placeholder for the answer that is not there yet: a saved one of the
same server where there is one, else one of usual size made of the corpus. How many tokens a call takes is learnt from
saved calls of the same model and effort, what it thinks before it writes included; where there are none, tokens are
characters / 3, and thinking is an allowance, so that the cost is a range.
"""

from collections import ChainMap, Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, fields
from itertools import chain, count, cycle, islice
from math import hypot, sqrt
from statistics import median, stdev

from evals.config import EvalConfig
from evals.errors import StoreError
from evals.judges.backends.base import Call, kept_prefixes
from evals.judges.cache import JudgeCache, StoredReply
from evals.judges.money import Forecast, PriceOf
from evals.judges.prompt import load_prompt, parts_of, stand_in_reply, why_too_long
from evals.judges.replies import call_of, is_usable, repeats_of
from evals.metrics.base import BaseMetric
from evals.metrics.judged import new_requests, prompts_asked_twice
from evals.metrics.sample import ABSTENTION, DECIDING, Sample
from evals.schemas.dataset import Document, EvalQuestion
from evals.schemas.response import Citation, EvalResponse, RetrievedChunk
from evals.schemas.results import EvalRun
from evals.schemas.verdicts import JudgeUsage, JudgeVerdict, VerdictRequest
from evals.scoring.settings import ScoringContext
from evals.store.disk_buffer import SpilledMapping
from evals.store.records import whole
from evals.store.runs import RunStore
from evals.text.numbers import agree, counted

SECONDS_A_CALL = 4.0
"""How long a judge's call usually takes; minutes are no more than a hint."""


SECONDS_A_ROUND = 3600.0
"""How long a batch takes at most as a rule; the vendor promises a day."""


_LOOKED_AT = 300
"""So many questions are composed; more are extrapolated."""


_UNKNOWN_CALLS = 0.2
"""By which share there may be more calls or fewer where answers are made up: some servers decline less, or say more."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """What judging a run will take.

    Attributes:
        calls: Calls to the judge, if no reply is unusable.
        input_tokens: Of all calls.
        output_tokens: Of all calls, without what a model thinks before it writes.
        cost_usd: The middle of the range; None where no price is known.
        minutes: Until the last verdict.
        basis: Where the sizes of answers and chunks come from.
        on_refusals: Further calls at most, where answers are made up: one for each refusal of more than a few words.
        cost_low_usd: The lower end of the range.
        cost_high_usd: The upper end.
        thinking_tokens_low: Tokens thought in all calls, at least.
        thinking_tokens_high: At most.
        cached: Decisions whose replies are in the cache: they cost nothing and are not in `calls`.
        measured: Whether sizes and thinking are those of saved calls by the same model with the same effort.
        rounds: Of batches, if no reply is unusable; 0 where calls are made one by one.
        calls_off: By which share there may be more calls or fewer: the error of extrapolating from saved answers, or of
            making answers up; 0 where all answers are known.
    """

    calls: int
    input_tokens: int
    output_tokens: int
    cost_usd: float | None
    minutes: float
    basis: str
    on_refusals: int = 0
    cost_low_usd: float | None = None
    cost_high_usd: float | None = None
    thinking_tokens_low: int = 0
    thinking_tokens_high: int = 0
    cached: int = 0
    measured: bool = False
    rounds: int = 0
    calls_off: float = 0.0

    def warning(self, budget: float | None, spent: float = 0.0) -> str | None:
        """Why the budget will not do what it is meant to; None where it will."""
        if budget is None:
            return None
        if self.cost_low_usd is None or self.cost_high_usd is None:
            return (
                "no price of the judge's model is known, so the budget (judge.max_cost_usd) has nothing to count: "
                "name one in `prices:`"
            )
        if self.cost_low_usd + spent > budget:
            return f"the budget of ${budget:g} will probably not do: the run would end partial"
        if self.cost_high_usd + spent > budget:
            return f"the budget of ${budget:g} may not do: the run would end partial"
        return None

    def __str__(self) -> str:
        more = f" (and {self.on_refusals:,} more at most, whether a refusal is one)" if self.on_refusals else ""
        kept = f" ({self.cached:,} more are in the cache)" if self.cached else ""
        return (
            f"about {self.calls:,} {agree(self.calls, 'call', 'calls')}{more}{kept}, "
            f"{self.input_tokens:,} tokens in and {self.output_tokens:,} out{self._thinking}, "
            f"{self._money}, {self._time} ({self.basis})"
        )

    @property
    def _time(self) -> str:
        if not self.rounds:
            return f"{max(1, round(self.minutes))} min"
        rounds, take = counted(self.rounds, "round"), agree(self.rounds, "takes", "take")
        return f"at half price in {rounds} of batches, which usually {take} up to an hour each"

    @property
    def _thinking(self) -> str:
        low, high = self.thinking_tokens_low, self.thinking_tokens_high
        if self.measured:
            return f" and {high:,} thought, by saved calls" if high else ", by saved calls"
        return f" and {low:,} to {high:,} thought, as nothing is saved of it" if high else ""

    @property
    def _money(self) -> str:
        low, high = self.cost_low_usd, self.cost_high_usd
        if low is None or high is None:
            return "price unknown"
        return f"${low:.2f}" if f"{low:.2f}" == f"{high:.2f}" else f"${low:.2f} to ${high:.2f}"


@dataclass(frozen=True, slots=True)
class Known:
    """What is there already, by question: of a run that goes on, or whose answers are measured again."""

    responses: Mapping[str, EvalResponse] = field(default_factory=dict)
    verdicts: Mapping[str, Sequence[JudgeVerdict]] = field(default_factory=dict)


def estimate_judging(
    metrics: Sequence[BaseMetric],
    questions: Sequence[EvalQuestion],
    documents: Sequence[Document],
    config: EvalConfig,
    price: PriceOf,
    cases: ScoringContext,
    *,
    forecast: Forecast,
    known: Known | None = None,
) -> Estimate:
    """Estimate what the judge will take; asks nothing of anybody.

    Args:
        metrics: Of the run.
        questions: That will be asked.
        documents: Their corpus.
        config: Of the run; saved runs in its folder tell how long this server's answers are.
        price: Of the judge's tokens; it may depend on how many a single call has.
        cases: The records as the run sees them: what is asked may depend on it.
        forecast: Knows what a call takes.
        known: Answers and verdicts that are there already.
    """
    known = known or Known()
    saved, basis = _answers_to_estimate_over(config, questions, known.responses)
    bill = _Bill(metrics, config, price, forecast)
    total, made_up_calls, errors = _Sum(), 0.0, list[float]()
    for some, times in _composed(questions, known):
        parts = [
            bill.about(cases.about(question, response, _given(known, question)))
            for question, response in zip(some, _placeholders(some, documents, saved), strict=True)
        ]
        for part in parts:
            total.extend(part, times)
        unknown = [part for question, part in zip(some, parts, strict=True) if question.id not in saved]
        if len(saved) < FEWEST_ANSWERS:
            made_up_calls += sum(part.calls for part in unknown) * times
        errors.append(_extrapolation_error(parts, round(times * len(parts)) - len(parts) + len(unknown), len(saved)))
    asking_s = len(questions) * _latency_s(saved.values()) / config.concurrency
    error = hypot(_UNKNOWN_CALLS * made_up_calls, total.on_refusals, *errors)
    return _as_estimate(total, bill, basis, config, asking_s=asking_s, calls_off=error / (total.calls or 1.0))


def _latency_s(responses: Iterable[EvalResponse]) -> float:
    known = [response.latency_ms for response in responses if response.latency_ms is not None]
    return median(known) / 1000 if known else 0.0


def _composed(questions: Sequence[EvalQuestion], known: Known) -> Iterator[tuple[list[EvalQuestion], float]]:
    """The questions to compose, and how many each stands for: from all over, as those of one dataset stand together.

    First of those about which there are verdicts, then of the others: one says nothing of what the other still takes.
    """
    judged = bytes(bool(_given(known, question)) for question in questions)
    for is_judged in (True, False):
        places = [place for place, one in enumerate(judged) if one == is_judged]
        count = min(len(places), _LOOKED_AT)
        yield [questions[places[n * len(places) // count]] for n in range(count)], len(places) / (count or 1)


def _given(known: Known, question: EvalQuestion) -> list[JudgeVerdict]:
    return [verdict for verdict in known.verdicts.get(question.id, ()) if verdict.failure is None]


def _extrapolation_error(parts: "Sequence[_Sum]", others: int, answers: int) -> float:
    """How many calls there may be more or fewer for the questions that only other questions' answers speak for."""
    speaking = min(len(parts), answers)
    if not others or speaking < FEWEST_ANSWERS:
        return 0.0  # no others, or their answers are made up
    return 2 * stdev(part.calls for part in parts) / sqrt(speaking) * others


@dataclass(slots=True)
class _Sum:
    """Calls and what they take."""

    calls: float = 0.0
    cached: float = 0.0
    input_tokens: float = 0.0
    output_tokens: float = 0.0
    thinking_low: float = 0.0
    thinking_high: float = 0.0
    least_usd: float = 0.0
    """With the least thinking."""
    most_usd: float = 0.0
    """With the most."""
    slack_usd: float = 0.0
    """How far the middle of the two may be off by the sizes of calls."""
    guessed: float = 0.0
    """Calls of which nothing is saved."""
    on_refusals: float = 0.0

    def extend(self, other: "_Sum", times: float) -> None:
        """Add another sum so many times."""
        for each in fields(self):
            setattr(self, each.name, getattr(self, each.name) + times * getattr(other, each.name))


def _as_estimate(
    total: _Sum, bill: "_Bill", basis: str, config: EvalConfig, *, asking_s: float, calls_off: float
) -> Estimate:
    """The sum as an estimate; the range is of the cost, which nobody knows without a price."""
    middle, thinking = (total.least_usd + total.most_usd) / 2, (total.most_usd - total.least_usd) / 2
    error = hypot(thinking, total.slack_usd, calls_off * middle)  # independent errors: their squares add up
    low, high = max(middle - error, 0.0), middle + error
    calls, rounds = round(total.calls), bill.rounds if config.judge.batch else 0
    called_s = max(asking_s, calls * SECONDS_A_CALL / config.judge.concurrency)
    return Estimate(
        calls=calls,
        input_tokens=round(total.input_tokens),
        output_tokens=round(total.output_tokens),
        cost_usd=(low + high) / 2 if bill.priced else None,
        minutes=(asking_s + rounds * SECONDS_A_ROUND if config.judge.batch else called_s) / 60,
        basis=basis,
        on_refusals=round(total.on_refusals),
        cost_low_usd=low if bill.priced else None,
        cost_high_usd=high if bill.priced else None,
        thinking_tokens_low=round(total.thinking_low),
        thinking_tokens_high=round(total.thinking_high),
        cached=round(total.cached),
        measured=calls > 0 and not total.guessed,
        rounds=rounds,
        calls_off=calls_off,
    )


class _Bill:
    """Composes the calls about one answer after the other, and prices each with what the vendor keeps by then."""

    def __init__(self, metrics: Sequence[BaseMetric], config: EvalConfig, price: PriceOf, forecast: Forecast) -> None:
        self._metrics = metrics
        self._judge = config.judge
        self._shared = prompts_asked_twice(metrics)
        self._cache = JudgeCache.of(config.judge, config.runs_dir)
        self._price = price
        self._forecast = forecast
        self._prefixes: set[str] = set()
        """Those that the vendor keeps by now."""
        self.priced = self._price(config.judge.model, JudgeUsage()) is not None
        self.rounds = 0
        """Of calls about one answer, at most; those of a later round build on replies to earlier ones."""

    def about(self, case: Sample) -> _Sum:
        """What all calls about an answer take; verdicts that are there take none, and those to come are added."""
        there = {(verdict.request, verdict.repeat) for verdict in case.verdicts}
        is_unsure = case.response.answer == REFUSAL and case.declining.answers != "every"
        asked: set[tuple[str, int | None]] = set()
        total, rounds = _Sum(), 0
        while todo := new_requests(self._metrics, case, asked):
            before = total.calls
            for request in todo:
                asked.add(request.place)
                missing = [n for n in repeats_of(request, self._judge.repeats) if (request.name, n) not in there]
                kept = self._replies(case, request, missing)
                if why_too_long(request, self._judge.max_input_tokens) is not None:
                    continue
                if is_unsure and request.name == ABSTENTION:  # whether a made-up refusal is one may not be asked
                    total.on_refusals += len(missing) - len(kept)
                else:
                    self._add_parts(request, missing, kept, total)
            rounds += total.calls > before
        self.rounds = max(self.rounds, rounds)
        return total

    def _replies(self, case: Sample, request: VerdictRequest, missing: Sequence[int]) -> set[int]:
        """Put the replies that will come into the case; returns the repeats of which the cache has them."""
        kept = {n: stored for n in missing if (stored := self._kept(request, n)) is not None}
        made_up = StoredReply(reply=_likely_reply(case, request))
        come = [(n, kept.get(n, made_up)) for n in missing]
        case.verdicts = [
            *case.verdicts,
            *(
                JudgeVerdict(
                    request=request.name, repeat=n, reply=one.reply, failure=one.failure, passages=request.passages
                )
                for n, one in come
            ),
        ]
        return set(kept)

    def _add_parts(self, request: VerdictRequest, missing: Sequence[int], kept: Set[int], total: _Sum) -> None:
        """Add the calls for the repeats of which no whole reply is kept; some requests are made in parts."""
        parts = parts_of(request)
        for part in parts:
            left = [n for n in missing if n not in kept]
            if len(parts) > 1:
                left = [n for n in left if self._kept(part, n) is None]
                total.cached += len(missing) - len(kept) - len(left)
            self._add_calls(part, len(left), total)
        total.cached += len(kept) if len(parts) == 1 else 0

    def _add_calls(self, request: VerdictRequest, times: int, total: _Sum) -> None:
        call = self._call_of(request)
        expected = self._forecast.of(request, call)
        least, most = expected.thinking
        for _ in range(times):
            usage = self._with_cache(call, expected.usage(least))
            cost = self._cost(usage)
            longer = usage.model_copy(update={"output_tokens": usage.output_tokens + most - least})
            highest = cost if most == least else self._cost(longer)
            total.calls += 1
            total.guessed += not expected.measured
            total.input_tokens += expected.input
            total.output_tokens += expected.output
            total.thinking_low += least
            total.thinking_high += most
            total.least_usd += cost
            total.most_usd += highest
            total.slack_usd += expected.slack * (cost + highest) / 2

    def _call_of(self, request: VerdictRequest) -> Call:
        return call_of(request, repeats=self._judge.repeats, shared=self._shared)

    def _cost(self, usage: JudgeUsage) -> float:
        return self._price(self._judge.model, usage) or 0.0

    def _kept(self, request: VerdictRequest, repeat: int) -> StoredReply | None:
        """What the cache of replies holds, a recent failure included; None where that is not of use."""
        if self._cache is None:
            return None
        call, judge = self._call_of(request), self._judge.identity
        keys = (JudgeCache.key(judge, call, repeat), JudgeCache.legacy_key(judge, call, repeat))
        stored = next((found for key in keys if (found := self._cache.get(key)) is not None), None)
        if stored is None or (stored.reply is not None and not is_usable(stored, request)):
            return None
        return stored

    def _with_cache(self, call: Call, usage: JudgeUsage) -> JudgeUsage:
        """The tokens, divided as the vendor will: its cache holds the prefixes of the calls before.

        In a batch nobody knows which calls go before others, so that nothing is taken to be cached.
        """
        prefixes = [] if self._judge.batch else kept_prefixes(self._judge.provider, self._judge.model, call)
        if not prefixes:
            return usage
        a_character = usage.input_tokens / (len(call.system) + len(call.content))
        read = max((prefix.characters for prefix in prefixes if prefix.key in self._prefixes), default=0)
        self._prefixes.update(prefix.key for prefix in prefixes)
        written = prefixes[-1].characters - read
        return usage.model_copy(
            update={
                "cache_read_tokens": round(read * a_character),
                "cache_write_tokens": round(written * a_character),
            }
        )


def _likely_reply(case: Sample, request: VerdictRequest) -> dict[str, object]:
    """What a judge will say; of whether the answer declines, what the text rules say."""
    reply = stand_in_reply(load_prompt(request.prompt), request.data)
    if request.name in DECIDING:
        answers = "answers" if request.name == ABSTENTION else "correct"
        reply["verdict"] = "declines" if case.reads_as_refusal else answers
    return reply


# Answers to estimate over: those that are there, those of saved runs, or placeholders.


FEWEST_ANSWERS = 20
"""Fewer saved answers say too little of those to other questions."""

_RUNS_LOOKED_AT = 10


_CHUNKS, _CHUNK_CHARACTERS, _ANSWER_CHARACTERS = 10, 1200, 270

_ABSTAINED = {False: 7, True: 2}
"""Servers abstain on some answerable questions and miss some unanswerable ones: every so many-eth is one abstention."""


REFUSAL = "I don't know: the provided documents do not answer this question."
"""A usual one: longer than a few words, so that the judge may be asked whether it is one."""


def _answers_to_estimate_over(
    config: EvalConfig, questions: Sequence[EvalQuestion], known: Mapping[str, EvalResponse]
) -> tuple[Mapping[str, EvalResponse], str]:
    """Answers by question, and how to call them; saved runs of this server are read only for those not known."""
    if known and known.keys() >= {question.id for question in questions}:
        return known, "over the answers that are there"
    assumed = f"assuming {_CHUNKS} chunks of up to {_CHUNK_CHARACTERS:,} characters and answers of {_ANSWER_CHARACTERS}"
    saved: Mapping[str, EvalResponse] = {}
    basis = f"{assumed}, as no run of this server is saved"
    for run, found in islice(_saved_answers(config, {question.dataset for question in questions}), _RUNS_LOOKED_AT):
        if len(found) >= FEWEST_ANSWERS or all(question.id in found for question in questions):
            saved, basis = found, f"sizes from run {run.id}"
            break
        if not saved:
            few = f"run {run.id} answers fewer than {FEWEST_ANSWERS} questions; for others {assumed}"
            saved, basis = found, few
    return ChainMap(known, saved), basis  # type: ignore[arg-type]  # which is only read


def _saved_answers(config: EvalConfig, datasets: Set[str]) -> Iterator[tuple[EvalRun, Mapping[str, EvalResponse]]]:
    """The newest runs of this server first, with their answers to questions of the datasets, by question.

    Those that cannot be read are passed over: an older run tells sizes as well, and usual ones do where there is none.
    """
    store = RunStore(config.runs_dir)
    for run in reversed(store.runs()):
        if not _same_server(run, config) or run.status == "failed":
            continue
        found: SpilledMapping[EvalResponse] = SpilledMapping(EvalResponse)
        try:
            for record in whole(run, store.open_records(run)):
                if record.question.dataset in datasets and record.response and record.response.error is None:
                    found[record.question.id] = record.response
        except StoreError:
            continue
        if found:
            yield run, found


def _same_server(run: EvalRun, config: EvalConfig) -> bool:
    if config.embedded or run.eval_config.get("embedded"):
        return bool(config.embedded and run.eval_config.get("embedded"))
    return run.server.url.rstrip("/") == config.server_spec().url.rstrip("/")


def _placeholders(
    questions: Sequence[EvalQuestion], documents: Sequence[Document], saved: Mapping[str, EvalResponse]
) -> Iterator[EvalResponse]:
    """For each question its saved answer, else another one of enough that are saved, else one of usual size."""
    others = chain.from_iterable(saved.values() for _ in count())
    pieces = cycle(_pieces(documents) or ["x" * _CHUNK_CHARACTERS])
    asked: Counter[bool] = Counter()
    for question in questions:
        if question.id in saved:
            yield saved[question.id]
        elif len(saved) >= FEWEST_ANSWERS:
            yield next(others)
        else:
            texts, kind = list(islice(pieces, _CHUNKS)), bool(question.is_unanswerable)
            asked[kind] += 1
            yield _placeholder(texts, declines=asked[kind] % _ABSTAINED[kind] == 0)


def _placeholder(texts: Sequence[str], *, declines: bool) -> EvalResponse:
    chunks = [RetrievedChunk(chunk_id=str(n), text=text) for n, text in enumerate(texts)]
    if declines:
        return EvalResponse(answer=REFUSAL, chunks=chunks, citations=[])
    said = (texts[0] * (_ANSWER_CHARACTERS // len(texts[0]) + 1))[:_ANSWER_CHARACTERS]
    return EvalResponse(answer=said, chunks=chunks, citations=[Citation(index=1, start=0, end=len(said))])


def _pieces(documents: Sequence[Document]) -> list[str]:
    """The documents cut as most servers cut them: at their sections, and into pieces of equal size below a limit."""
    pieces = []
    for document in documents:
        cuts = [(section.start, section.end) for section in document.sections] or [(0, len(document.text))]
        for start, end in cuts:
            count = -(-(end - start) // _CHUNK_CHARACTERS)
            size = -(-(end - start) // count) if count else 0
            pieces += [document.text[at : min(at + size, end)] for at in range(start, end, size or 1)]
    return [piece for piece in pieces if piece.strip()]
