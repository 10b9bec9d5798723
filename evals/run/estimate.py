"""What judging will take, known before anything is asked: calls, tokens, money and minutes.

Every request is composed as in the run, over a placeholder for the answer that is not there yet: a saved one of the
same server where there is one, else one of usual size made of the corpus. How many tokens a call takes is learnt from
saved calls of the same model and effort, what it thinks before it writes included; where there are none, tokens are
characters / 3, and thinking is an allowance, so that the cost is a range.
"""

from collections import ChainMap, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import chain, count, cycle, islice
from math import hypot
from statistics import median

from evals.config import EvalConfig
from evals.errors import StoreError
from evals.judges.backends.base import Call, kept_prefixes
from evals.judges.backends.providers import PROVIDERS
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
from evals.schemas.verdicts import CallSizes, JudgeUsage, JudgeVerdict, VerdictRequest
from evals.scoring.prices import judge_price
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
"""This many questions are composed; more are extrapolated."""

_UNKNOWN_CALLS = 0.2
"""By which share there may be more calls or fewer about answers that are not known: servers decline more, or less."""

FEWEST_ANSWERS = 20
"""Fewer saved answers say too little of those to other questions."""

_RUNS_LOOKED_AT, _JUDGES_LOOKED_AT = 10, 30
"""Runs for the sizes of answers and of calls; a folder of many runs takes long to read."""

_CHUNKS, _CHUNK_CHARACTERS, _ANSWER_CHARACTERS = 10, 1200, 270

_REFUSAL = "I don't know: the provided documents do not answer this question."
"""A usual one: longer than a few words, so that the judge may be asked whether it is one."""


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
        cost_low_usd: The lower end of the range.
        cost_high_usd: The upper end.
        thinking_tokens_low: Tokens thought in all calls, at least.
        thinking_tokens_high: At most.
        cached: Decisions whose replies are in the cache: they cost nothing and are not in `calls`.
        measured: Whether sizes and thinking are those of saved calls by the same model with the same effort.
        rounds: Of batches, if no reply is unusable; 0 where calls are made one by one.
        calls_off: By which share there may be more calls or fewer, as answers are not known; 0 where all are.
    """

    calls: int
    input_tokens: int
    output_tokens: int
    cost_usd: float | None
    minutes: float
    basis: str
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
        if self.cost_high_usd + spent <= budget:
            return None
        how = "will probably" if self.cost_low_usd + spent > budget else "may"
        return f"the budget of ${budget:g} {how} not do: the run would end partial"

    def __str__(self) -> str:
        kept = f" ({self.cached:,} more are in the cache)" if self.cached else ""
        low, high = self.thinking_tokens_low, self.thinking_tokens_high
        thought = f" and {low:,} to {high:,} thought, as nothing is saved of it" if high else ""
        if self.measured:
            thought = f" and {high:,} thought, by saved calls" if high else ", by saved calls"
        cost = "price unknown"
        if self.cost_low_usd is not None and self.cost_high_usd is not None:
            cost = " to ".join(dict.fromkeys([f"${self.cost_low_usd:.2f}", f"${self.cost_high_usd:.2f}"]))
        time = f"{max(1, round(self.minutes))} min"
        if self.rounds:
            take = agree(self.rounds, "takes", "take")
            time = (
                f"at half price in {counted(self.rounds, 'round')} of batches, which usually {take} up to an hour each"
            )
        return (
            f"about {self.calls:,} {agree(self.calls, 'call', 'calls')}{kept}, {self.input_tokens:,} tokens in and "
            f"{self.output_tokens:,} out{thought}, {cost}, {time} ({self.basis})"
        )


@dataclass(frozen=True, slots=True)
class Known:
    """What is there already, by question: of a resumed run, or whose answers are measured again."""

    responses: Mapping[str, EvalResponse] = field(default_factory=dict)
    verdicts: Mapping[str, Sequence[JudgeVerdict]] = field(default_factory=dict)

    def about(self, question: EvalQuestion) -> list[JudgeVerdict]:
        """The replies that are there."""
        return [verdict for verdict in self.verdicts.get(question.id, ()) if verdict.failure is None]


def estimate_judging(
    metrics: Sequence[BaseMetric],
    questions: Sequence[EvalQuestion],
    documents: Sequence[Document],
    config: EvalConfig,
    cases: ScoringContext,
    known: Known | None = None,
) -> Estimate:
    """Estimate what the judge will take; asks nothing of anybody.

    Args:
        metrics: Of the run.
        questions: That will be asked.
        documents: Their corpus.
        config: Of the run; saved runs in its folder tell how long this server's answers are.
        cases: The records as the run sees them: what is asked may depend on it.
        known: Answers and verdicts that are there already.
    """
    known, bill = known or Known(), _Bill(metrics, config)
    answers, basis = _answers_to_estimate_over(config, questions, known.responses)
    # from all over the questions, as those of one dataset stand together
    some = questions[:: -(-len(questions) // _LOOKED_AT) or 1]
    for question, response in zip(some, _placeholders(some, documents, answers), strict=True):
        bill.add(cases.about(question, response, known.about(question)), is_certain=question.id in answers)
    latency_ms = median([one.latency_ms for one in answers.values() if one.latency_ms is not None] or [0.0])
    asking_s = len(questions) * latency_ms / 1000 / config.concurrency
    return bill.estimate(len(questions) / (len(some) or 1), basis, asking_s)


def saved_forecast(config: EvalConfig) -> Forecast:
    """What a call of the judge takes, by the newest runs by the same model with the same effort.

    Sizes of each request are of the newest run that made it; where the judge is reached does not matter.
    """
    judge, found = config.judge.identity, dict[str, CallSizes]()
    for run in RunStore(config.runs_dir).newest(_JUDGES_LOOKED_AT):
        if run.judge is not None and (run.judge.model, run.judge.effort) == (judge.model, judge.effort):
            found = {**run.judge.sizes, **found}
    return Forecast(judge, found)


def price_of_judge(config: EvalConfig) -> PriceOf:
    """What the judge's tokens cost."""
    vendor = PROVIDERS[config.judge.provider].price_table(config.judge.base_url)
    return judge_price(config.prices, vendor, batch=config.judge.batch)


class _Bill:
    """Composes the calls about one answer after the other, and prices each with what the vendor keeps by then."""

    def __init__(self, metrics: Sequence[BaseMetric], config: EvalConfig) -> None:
        self._metrics = metrics
        self._judge = config.judge
        self._shared = prompts_asked_twice(metrics)
        self._cache = JudgeCache.of(config.judge, config.runs_dir)
        self._price = price_of_judge(config)
        self._forecast = saved_forecast(config)
        self._prefixes: set[str] = set()
        """Those that the vendor keeps by now."""
        self._total: defaultdict[str, float] = defaultdict(float)
        self._rounds = 0
        """Of calls about one answer, at most; those of a later round build on replies to earlier ones."""

    def add(self, case: Sample, *, is_certain: bool) -> None:
        """Add all calls about an answer; verdicts that are there take none, and those to come are added to the case.

        Args:
            case: The answer.
            is_certain: Whether it is the one that will be judged, or one to the same question.
        """
        there = {(verdict.request, verdict.repeat) for verdict in case.verdicts}
        asked: set[tuple[str, int | None]] = set()
        total, rounds, first = self._total, 0, self._total["calls"]
        while todo := new_requests(self._metrics, case, asked):
            before = total["calls"]
            for request in todo:
                asked.add(request.place)
                missing = [n for n in repeats_of(request, self._judge.repeats) if (request.name, n) not in there]
                self._add_request(case, request, missing)
            rounds += total["calls"] > before
        self._rounds = max(self._rounds, rounds)
        total["uncertain"] += 0 if is_certain else total["calls"] - first

    def _add_request(self, case: Sample, request: VerdictRequest, missing: Sequence[int]) -> None:
        """Add the calls for a request, some of which are made in parts; the replies that will come go into the case."""
        kept, made_up = {n: self._kept(request, n) for n in missing}, StoredReply(reply=_likely_reply(case, request))
        case.verdicts = [*case.verdicts, *(_verdict(request, n, kept[n] or made_up) for n in missing)]
        if why_too_long(request, self._judge.max_input_tokens) is None:
            for part in parts_of(request):
                there = kept if part is request else {n: kept[n] or self._kept(part, n) for n in missing}
                calls = list(there.values()).count(None)
                self._total["cached"] += len(missing) - calls
                self._add_calls(part, calls)

    def _add_calls(self, request: VerdictRequest, times: int) -> None:
        call, total = self._call_of(request), self._total
        expected = self._forecast.of(request, call)
        least, most = expected.thinking
        for _ in range(times):
            usage = self._with_cache(call, expected.usage(least))
            longer = usage.model_copy(update={"output_tokens": usage.output_tokens + most - least})
            cost, highest = (self._price(self._judge.model, one) or 0.0 for one in (usage, longer))
            total["least_usd"] += cost
            total["most_usd"] += highest
            total["slack_usd"] += expected.slack * (cost + highest) / 2
        total["calls"] += times
        total["guessed"] += 0 if expected.measured else times
        total["input_tokens"] += times * expected.input
        total["output_tokens"] += times * expected.output
        total["thinking_low"] += times * least
        total["thinking_high"] += times * most

    def estimate(self, scale: float, basis: str, asking_s: float) -> Estimate:
        """The sum for more answers, by a factor; without a price the range of the cost is unknown."""
        total, judge = defaultdict[str, float](float, {key: n * scale for key, n in self._total.items()}), self._judge
        calls, calls_off = round(total["calls"]), _UNKNOWN_CALLS * total["uncertain"] / (total["calls"] or 1.0)
        middle = (total["least_usd"] + total["most_usd"]) / 2
        thinking = middle - total["least_usd"]
        # independent errors: their squares add up
        error = hypot(thinking, total["slack_usd"], calls_off * middle)
        low, high = max(middle - error, 0.0), middle + error
        is_priced = self._price(judge.model, JudgeUsage()) is not None
        called_s = max(asking_s, calls * SECONDS_A_CALL / judge.concurrency)
        return Estimate(
            calls=calls,
            input_tokens=round(total["input_tokens"]),
            output_tokens=round(total["output_tokens"]),
            cost_usd=(low + high) / 2 if is_priced else None,
            minutes=(asking_s + self._rounds * SECONDS_A_ROUND if judge.batch else called_s) / 60,
            basis=basis,
            cost_low_usd=low if is_priced else None,
            cost_high_usd=high if is_priced else None,
            thinking_tokens_low=round(total["thinking_low"]),
            thinking_tokens_high=round(total["thinking_high"]),
            cached=round(total["cached"]),
            measured=calls > 0 and not total["guessed"],
            rounds=self._rounds if judge.batch else 0,
            calls_off=calls_off,
        )

    def _call_of(self, request: VerdictRequest) -> Call:
        return call_of(request, repeats=self._judge.repeats, shared=self._shared)

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

        In a batch the order of calls is unknown, so that nothing is taken to be cached.
        """
        prefixes = [] if self._judge.batch else kept_prefixes(self._judge.provider, self._judge.model, call)
        if not prefixes:
            return usage
        a_character = usage.input_tokens / (len(call.system) + len(call.content))
        read = max((prefix.characters for prefix in prefixes if prefix.key in self._prefixes), default=0)
        self._prefixes.update(prefix.key for prefix in prefixes)
        written = prefixes[-1].characters - read
        divided = {"cache_read_tokens": round(read * a_character), "cache_write_tokens": round(written * a_character)}
        return usage.model_copy(update=divided)


def _verdict(request: VerdictRequest, repeat: int, stored: StoredReply) -> JudgeVerdict:
    return JudgeVerdict(
        request=request.name, repeat=repeat, reply=stored.reply, failure=stored.failure, passages=request.passages
    )


def _likely_reply(case: Sample, request: VerdictRequest) -> dict[str, object]:
    """What a judge will say; of whether the answer declines, what the text rules say."""
    reply = stand_in_reply(load_prompt(request.prompt), request.data)
    if request.name in DECIDING:
        answers = "answers" if request.name == ABSTENTION else "correct"
        reply["verdict"] = "declines" if case.reads_as_refusal else answers
    return reply


# Answers to estimate over: those that are there, those of a saved run, or placeholders.


def _answers_to_estimate_over(
    config: EvalConfig, questions: Sequence[EvalQuestion], known: Mapping[str, EvalResponse]
) -> tuple[Mapping[str, EvalResponse], str]:
    """Answers by question, and how to call them; saved runs of this server are read only for those not known."""
    if known and known.keys() >= {question.id for question in questions}:
        return known, "over the answers that are there"
    datasets, few = {question.dataset for question in questions}, SpilledMapping[EvalResponse](EvalResponse)
    for run in islice(_runs_of_server(config), _RUNS_LOOKED_AT):
        saved = _answers_of(run, config, datasets)
        if len(saved) >= FEWEST_ANSWERS or all(question.id in saved for question in questions):
            return ChainMap(known, saved), f"sizes from run {run.id}"  # type: ignore[arg-type]  # is only read
        few = few or saved
    assumed = f"{_CHUNKS} chunks of up to {_CHUNK_CHARACTERS:,} characters and answers of {_ANSWER_CHARACTERS}"
    basis = f"assuming {assumed}, as no run of this server with {FEWEST_ANSWERS} answers is saved"
    return ChainMap(known, few), basis  # type: ignore[arg-type]  # as above


def _answers_of(run: EvalRun, config: EvalConfig, datasets: set[str]) -> SpilledMapping[EvalResponse]:
    """The answers of a saved run to questions of the datasets; none where they cannot be read."""
    store, found = RunStore(config.runs_dir), SpilledMapping[EvalResponse](EvalResponse)
    with suppress(StoreError):  # an older run tells sizes as well
        for record in whole(run, store.open_records(run)):
            if record.question.dataset in datasets and record.response and record.response.error is None:
                found[record.question.id] = record.response
    return found


def _runs_of_server(config: EvalConfig) -> Iterator[EvalRun]:
    """The saved runs of the server, the newest first."""
    return (run for run in reversed(RunStore(config.runs_dir).runs()) if _same_server(run, config))


def _same_server(run: EvalRun, config: EvalConfig) -> bool:
    if config.embedded or run.eval_config.get("embedded"):
        return bool(config.embedded and run.eval_config.get("embedded"))
    return run.server.url.rstrip("/") == config.server_spec().url.rstrip("/")


def _placeholders(
    questions: Iterable[EvalQuestion], documents: Sequence[Document], saved: Mapping[str, EvalResponse]
) -> Iterator[EvalResponse]:
    """For each question its saved answer, else another one of enough that are saved, else one of usual size."""
    others = chain.from_iterable(saved.values() for _ in count())
    pieces = cycle(list(_pieces(documents)) or ["x" * _CHUNK_CHARACTERS])
    for question in questions:
        if question.id in saved:
            yield saved[question.id]
        elif len(saved) >= FEWEST_ANSWERS:
            yield next(others)
        else:
            texts = list(islice(pieces, _CHUNKS))
            chunks = [RetrievedChunk(chunk_id=str(n), text=text) for n, text in enumerate(texts)]
            said = (texts[0] * (_ANSWER_CHARACTERS // len(texts[0]) + 1))[:_ANSWER_CHARACTERS]
            cited = [Citation(index=1, start=0, end=len(said))]
            said, cited = (_REFUSAL, []) if question.is_unanswerable else (said, cited)
            yield EvalResponse(answer=said, chunks=chunks, citations=cited)


def _pieces(documents: Sequence[Document]) -> Iterator[str]:
    """The documents cut as most servers cut them: at their sections, and into pieces below a limit."""
    for document in documents:
        for start, end in [(section.start, section.end) for section in document.sections] or [(0, len(document.text))]:
            pieces = (
                document.text[at : min(at + _CHUNK_CHARACTERS, end)] for at in range(start, end, _CHUNK_CHARACTERS)
            )
            yield from filter(str.strip, pieces)
