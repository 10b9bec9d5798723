"""What judging will take, known before anything is asked: calls, tokens, money and minutes.

Every request is composed as in the run, over a stand-in for the answer that is not there yet: a saved one of the same
server where there is one, else one of usual size made of the corpus. How many tokens a call takes is learnt from saved
calls of the same model and effort, what it thinks before it writes included; where there are none, tokens are
characters / 3, and thinking is an allowance, so that the cost is a range.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from importlib.util import find_spec
from math import hypot, sqrt
from statistics import median, stdev

from evals.config import EvalConfig
from evals.judges.backends.base import kept_prefixes
from evals.judges.cache import JudgeCache
from evals.judges.money import Expected, Forecast, PriceOf
from evals.metrics.base import BaseMetric, Need
from evals.metrics.embedders import Semantics, Vector
from evals.metrics.judged import judged_abstention
from evals.metrics.sample import ABSTENTION, Sample
from evals.run.expected_calls import FEWEST_ANSWERS, REFUSAL, LikelyCall, LikelyCalls, placeholder_answers, stand_ins
from evals.schemas.dataset import Document, EvalQuestion
from evals.schemas.response import EvalResponse
from evals.schemas.verdicts import JudgeUsage, JudgeVerdict
from evals.scoring.settings import ScoringContext
from evals.store.disk_buffer import Chosen
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
    known: Known | None = None,
    forecast: Forecast | None = None,
) -> Estimate:
    """Estimate what the judge will take; asks nothing of anybody.

    Args:
        metrics: Of the run.
        questions: That will be asked.
        documents: Their corpus.
        config: Of the run; saved runs in its folder tell how long this server's answers are.
        price: Of the judge's tokens; it may depend on how many a single call has.
        cases: The records as the run sees them: what is asked may depend on it.
        known: Answers and verdicts that are there already.
        forecast: Knows what a call takes; usual sizes are assumed where None.
    """
    known = known or Known()
    saved, basis = placeholder_answers(config, questions, known.responses)
    bill = _Bill(config, price, forecast or Forecast(config.judge.identity))
    cache = JudgeCache.of(config.judge, config.runs_dir)
    likely = LikelyCalls(metrics, config.judge, cache)
    total, off = _Sum(), list[float]()
    for group in _by_judged(questions, known):
        some = _spread(group)
        parts = []
        for question, response in zip(some, stand_ins(some, documents, saved), strict=True):
            parts.append(part := _Sum())
            _add_answer(part, cases.about(question, response, _given(known, question)), likely, bill)
            if question.id not in saved:
                part.unknown = 1.0
                part.made_up_calls = part.calls if len(saved) < FEWEST_ANSWERS else 0.0
        for part in parts:
            total.extend(part, len(group) / len(some))
        off.append(_extrapolation_error(parts, len(group), len(saved)))
    asking = len(questions) * _latency(saved.values()) / config.concurrency
    found = total.estimate(bill, basis, config, asking_s=asking, off=off)
    return _in_batches(found, bill.rounds, asking) if config.judge.batch else found


def _extrapolation_error(parts: "Sequence[_Sum]", whole: int, answers: int) -> float:
    """How many calls there may be more or fewer for the questions that only other questions' answers speak for.

    Args:
        parts: What the composed questions take.
        whole: Of how many questions they are.
        answers: Saved answers there are.
    """
    others = whole - sum(not part.unknown for part in parts)
    speaking = min(len(parts), answers)
    if not others or speaking < FEWEST_ANSWERS:
        return 0.0  # no others, or their answers are made up
    return 2 * stdev(part.calls for part in parts) / sqrt(speaking) * others


def _in_batches(found: Estimate, rounds: int, asking_s: float) -> Estimate:
    """The estimate where the judge is asked in batches, once all is answered."""
    return replace(found, rounds=rounds, minutes=(asking_s + rounds * SECONDS_A_ROUND) / 60)


def _add_answer(total: "_Sum", case: Sample, likely: LikelyCalls, bill: "_Bill") -> None:
    """Add the calls about one answer; whether a made-up refusal is one may not be asked, and is counted apart."""
    surely = case.response.answer != REFUSAL or case.declining.answers == "every"
    for one in likely.about(case):
        if one.request.name == ABSTENTION and not surely:
            total.on_refusals += one.times
        else:
            bill.add(one, total)


def planned_cases(config: EvalConfig, metrics: Sequence[BaseMetric]) -> ScoringContext:
    """Records as a judged run of this configuration sees them, as far as it is known before models are loaded."""
    wanted = any(Need.EMBEDDER in metric.needs for metric in metrics)
    semantics = Semantics(_NotLoaded()) if wanted and find_spec("sentence_transformers") else None
    settings = config.score_settings(judged=True)
    return ScoringContext(replace(settings, semantics=semantics, declining=judged_abstention(metrics)))


class _NotLoaded:
    """Stands for the embedder of a run: that there is one decides what a judge is asked."""

    name = "not loaded"

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        raise RuntimeError(f"an estimate only counts requests: no model is loaded to embed {len(texts)} texts")


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
    made_up_calls: float = 0.0
    """About answers that are made up."""
    unknown: float = 0.0
    """Questions that no answer is saved for."""

    def extend(self, other: "_Sum", times: float) -> None:
        """Add another sum so many times."""
        for each in fields(self):
            setattr(self, each.name, getattr(self, each.name) + times * getattr(other, each.name))

    def estimate(
        self, bill: "_Bill", basis: str, config: EvalConfig, *, asking_s: float, off: Sequence[float]
    ) -> Estimate:
        """The sum as an estimate; the range is of the cost, which nobody knows without a price."""
        calls_off = hypot(_UNKNOWN_CALLS * self.made_up_calls, self.on_refusals, *off) / (self.calls or 1.0)
        middle, thinking = (self.least_usd + self.most_usd) / 2, (self.most_usd - self.least_usd) / 2
        error = hypot(thinking, self.slack_usd, calls_off * middle)  # independent errors: their squares add up
        low, high = max(middle - error, 0.0), middle + error
        calls = round(self.calls)
        return Estimate(
            calls=calls,
            input_tokens=round(self.input_tokens),
            output_tokens=round(self.output_tokens),
            cost_usd=(low + high) / 2 if bill.priced else None,
            minutes=max(asking_s, calls * SECONDS_A_CALL / config.judge.concurrency) / 60,
            basis=basis,
            on_refusals=round(self.on_refusals),
            cost_low_usd=low if bill.priced else None,
            cost_high_usd=high if bill.priced else None,
            thinking_tokens_low=round(self.thinking_low),
            thinking_tokens_high=round(self.thinking_high),
            cached=round(self.cached),
            measured=calls > 0 and not self.guessed,
            calls_off=calls_off,
        )


class _Bill:
    """Prices the calls of a run one by one, with what the vendor will have in its cache by then."""

    def __init__(self, config: EvalConfig, price: PriceOf, forecast: Forecast) -> None:
        self.priced = price(config.judge.model, JudgeUsage()) is not None
        self._judge = config.judge
        self._price = price
        self._forecast = forecast
        self._kept: set[str] = set()
        self.rounds = 0
        """Of calls about one answer, at most."""

    def add(self, one: LikelyCall, total: _Sum) -> None:
        """Add a request as often as it is made."""
        self.rounds = max(self.rounds, one.round if one.times else 0)
        total.cached += one.cached
        expected = self._forecast.of(one.request, one.call)
        for _ in range(one.times):
            self._add_call(one, expected, total)

    def _add_call(self, one: LikelyCall, expected: Expected, total: _Sum) -> None:
        least, most = expected.thinking
        usage = self._with_cache(one, expected.usage(least))
        cost = self._cost(usage)
        further = 0.0 if most == least else self._cost(_longer(usage, most - least)) - cost
        total.calls += 1
        total.guessed += 0 if expected.measured else 1
        total.input_tokens += expected.input
        total.output_tokens += expected.output
        total.thinking_low += least
        total.thinking_high += most
        total.least_usd += cost
        total.most_usd += cost + further
        total.slack_usd += expected.slack * (cost + further / 2)

    def _cost(self, usage: JudgeUsage) -> float:
        return self._price(self._judge.model, usage) or 0.0

    def _with_cache(self, one: LikelyCall, usage: JudgeUsage) -> JudgeUsage:
        """The tokens, divided as the vendor will: its cache holds the prefixes of the calls before.

        In a batch nobody knows which calls go before others, so that nothing is taken to be cached.
        """
        if self._judge.batch:
            return usage
        prefixes = kept_prefixes(self._judge.provider, self._judge.model, one.call)
        if not prefixes:
            return usage
        a_character = usage.input_tokens / (len(one.call.system) + len(one.call.content))
        read = max((prefix.characters for prefix in prefixes if prefix.key in self._kept), default=0)
        self._kept.update(prefix.key for prefix in prefixes)
        written = prefixes[-1].characters - read
        return usage.model_copy(
            update={
                "cache_read_tokens": round(read * a_character),
                "cache_write_tokens": round(written * a_character),
            }
        )


def _longer(usage: JudgeUsage, tokens: int) -> JudgeUsage:
    """The same call, with more thought."""
    return usage.model_copy(update={"output_tokens": usage.output_tokens + tokens})


def _by_judged(questions: Sequence[EvalQuestion], known: Known) -> Iterator[Sequence[EvalQuestion]]:
    """The questions about which there are verdicts, and the others: one says nothing of what the other still takes."""
    judged = bytes(bool(_given(known, question)) for question in questions)
    yield Chosen(questions, (place for place, is_judged in enumerate(judged) if is_judged))
    yield Chosen(questions, (place for place, is_judged in enumerate(judged) if not is_judged))


def _given(known: Known, question: EvalQuestion) -> list[JudgeVerdict]:
    return [verdict for verdict in known.verdicts.get(question.id, ()) if verdict.failure is None]


def _spread(questions: Sequence[EvalQuestion]) -> list[EvalQuestion]:
    """As many of them as are composed, from all over: those of one dataset stand together."""
    count = min(len(questions), _LOOKED_AT)
    return [questions[n * len(questions) // count] for n in range(count)]


def _latency(responses: Iterable[EvalResponse]) -> float:
    """Median, in seconds; 0 where nothing is known."""
    known = [response.latency_ms for response in responses if response.latency_ms is not None]
    return median(known) / 1000 if known else 0.0
