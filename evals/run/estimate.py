"""What judging will take, known before anything is asked: calls, tokens, money and minutes.

Every request is composed as in the run, over the saved answer where there is one, else over another of the same
server, else over one of usual size. What a call takes follows from the length of its request and of a usual reply by
its prompt; what is thought before it is an allowance, until a run of the same model and effort is saved.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import cycle, islice
from statistics import fmean

from evals.config import EvalConfig
from evals.errors import StoreError
from evals.judges.budget import thinking_allowance
from evals.judges.cache import JudgeCache, key_of
from evals.judges.llm_judge import repeats_of
from evals.judges.money import judge_price
from evals.judges.prompts import CHARACTERS_A_TOKEN, call_of, load_prompt, usual_reply, usual_tokens, why_too_long
from evals.metrics.base import BaseMetric
from evals.metrics.judged import rounds
from evals.metrics.sample import ABSTENTION, DECIDING, Sample
from evals.schemas.dataset import Document, EvalQuestion
from evals.schemas.response import Citation, EvalResponse, RetrievedChunk
from evals.schemas.results import EvalRecord
from evals.schemas.verdicts import JudgeUsage, JudgeVerdict, VerdictRequest
from evals.scoring.settings import ScoreSettings
from evals.store.runs import RunStore
from evals.text.numbers import agree, counted

SECONDS_A_CALL, SECONDS_A_ROUND = 4.0, 3600.0
"""How long a call usually takes, and a batch at most as a rule."""

_LOOKED_AT, FEWEST_ANSWERS, _RUNS = 300, 20, 10
"""Questions that are composed (more are extrapolated), saved answers that may stand for others, runs looked into."""

_KNOWN_OFF, _LIKE_OFF, _ASSUMED_OFF, _THINKING_OFF = 0.15, 0.25, 0.45, 0.2
"""By which share the cost may be off: of judging answers that are known, that are like others of the same server, and
that are assumed; and measured thinking."""

_REFUSAL = "I don't know: the provided documents do not answer this question."

_CHUNKS, _CHUNK_CHARACTERS, _ANSWER_CHARACTERS = 10, 1200, 270
"""Of an answer of usual size."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """What judging a run will take.

    Attributes:
        calls: Calls to the judge, if no reply is unusable.
        cached: Decisions whose replies are there already; they cost nothing and are not in `calls`.
        input_tokens: Of all calls.
        output_tokens: Of all calls, thinking left out.
        cost_low_usd: The lower end of the range of the cost; None where no price is known.
        cost_high_usd: The upper end.
        minutes: Until the last verdict.
        rounds: Of batches; 0 where calls are made one by one.
        basis: Where the sizes of answers and chunks come from.
    """

    calls: int
    cached: int
    input_tokens: int
    output_tokens: int
    cost_low_usd: float | None
    cost_high_usd: float | None
    minutes: float
    rounds: int
    basis: str

    def warning(self, budget: float | None, spent: float = 0.0) -> str | None:
        """Why the budget will not do what it is meant to; None where it will."""
        if budget is None or (self.cost_high_usd is not None and self.cost_high_usd + spent <= budget):
            return None
        if self.cost_low_usd is None:
            return "the budget (judge.max_cost_usd) has no effect, as the model's price is unknown: see `prices:`"
        how = "will probably" if self.cost_low_usd + spent > budget else "may"
        return f"the budget of ${budget:g} {how} not do: the run would end partial"

    def __str__(self) -> str:
        kept = f" ({self.cached:,} more are there already)" if self.cached else ""
        ends = [f"${end:.2f}" for end in (self.cost_low_usd, self.cost_high_usd) if end is not None]
        cost, time = " to ".join(dict.fromkeys(ends)) or "price unknown", f"{max(1, round(self.minutes))} min"
        if self.rounds:
            time = f"at half price in {counted(self.rounds, 'round')} of batches of up to an hour as a rule"
        return (
            f"about {self.calls:,} {agree(self.calls, 'call', 'calls')}{kept}, {self.input_tokens:,} tokens in and "
            f"{self.output_tokens:,} out besides thinking, {cost}, {time} ({self.basis})"
        )


def estimate_judging(
    metrics: Sequence[BaseMetric],
    records: Sequence[EvalRecord],
    documents: Sequence[Document],
    config: EvalConfig,
    settings: ScoreSettings,
) -> Estimate:
    """Estimate what the judge will take; asks nothing of anybody.

    Args:
        metrics: Of the run.
        records: Questions, with the responses and verdicts that are there already.
        documents: The corpus.
        config: Of the run; saved runs in its folder tell how long this server's answers are.
        settings: How records are seen by metrics: what is asked may depend on it.
    """
    judge, verdicts, most_rounds = config.judge, list[JudgeVerdict](), 0
    part = records[:: -(-len(records) // _LOOKED_AT) or 1]
    stand_ins, basis, off = iter(list[EvalResponse]()), "over the answers that are there", _KNOWN_OFF
    if unknown := [record.question for record in part if record.response is None]:
        stand_ins, basis, off = _stand_ins(config, unknown, documents)
    for record in part:
        sample, with_calls = settings.sample(record.question, record.response or next(stand_ins)), 0
        for requests in rounds(metrics, sample):
            asked = [(request, repeat) for request in requests for repeat in repeats_of(request, judge.repeats)]
            foreseen = [_foreseen(sample, *repeated, record.verdicts, config) for repeated in asked]
            sample.verdicts = [*sample.verdicts, *foreseen]
            with_calls += any(verdict.usage for verdict in foreseen)
        verdicts += sample.verdicts
        most_rounds = max(most_rounds, with_calls)
    usages = [verdict.usage for verdict in verdicts if verdict.usage]
    total, scale = sum(usages, JudgeUsage()), len(records) / (len(part) or 1)
    calls, batches = scale * len(usages), most_rounds if judge.batch else 0
    # By a mean call, as the price of a token may depend on the size of a call.
    mean = JudgeUsage(**{name: round(tokens / (len(usages) or 1)) for name, tokens in total})
    price = judge_price(config.prices, judge.provider, judge.base_url, batch=judge.batch)

    def cost(thought: float, cached_tokens: int, error: float) -> float | None:
        written = mean.output_tokens + round(thought)
        usd = price(judge.model, mean.model_copy(update={"output_tokens": written, "cache_read_tokens": cached_tokens}))
        return None if usd is None else calls * usd * error

    least, most = _thinking(config, mean.output_tokens)
    # At best, the vendor's cache holds the instructions of all calls.
    cached_tokens = mean.cache_read_tokens if judge.provider == "anthropic" and not judge.batch else 0
    return Estimate(
        calls=round(calls),
        cached=round(scale * sum(verdict.cached for verdict in verdicts)),
        input_tokens=round(scale * total.input_tokens),
        output_tokens=round(scale * total.output_tokens),
        cost_low_usd=cost(least, cached_tokens, 1 - off),
        cost_high_usd=cost(most, 0, 1 + off),
        minutes=(batches * SECONDS_A_ROUND or calls * SECONDS_A_CALL / judge.concurrency) / 60,
        rounds=batches,
        basis=basis,
    )


def _foreseen(
    sample: Sample, request: VerdictRequest, repeat: int, earlier: Sequence[JudgeVerdict], config: EvalConfig
) -> JudgeVerdict:
    """The verdict that may come of a request, with the tokens of its call; without any where no call will be made."""
    call = call_of(request, repeat)
    key = key_of(config.judge.identity, call)
    stored = JudgeCache.among(config.runs_dir).get(key) if config.judge.cache else None
    known = [stored and stored.reply, *(verdict.reply for verdict in earlier if verdict.key == key)]
    reply, usage = next(filter(None, known), None), None
    if reply is None:
        reply = usual_reply(load_prompt(request.prompt), request.data)
        if request.name in DECIDING:
            answers = "answers" if request.name == ABSTENTION else "correct"
            reply["verdict"] = "declines" if sample.reads_as_refusal else answers
        if why_too_long(call, config.judge.max_input_tokens) is None:
            sent, kept = (len(text) // CHARACTERS_A_TOKEN for text in (call.content, call.system))
            written = usual_tokens(request)
            usage = JudgeUsage(input_tokens=sent + kept, output_tokens=written, cache_read_tokens=kept)
    facts = {"reply": reply, "usage": usage, "cached": any(known)}
    return JudgeVerdict(request=request.name, repeat=repeat, passages=request.passages, **facts)


def _thinking(config: EvalConfig, written: float) -> tuple[float, float]:
    """Tokens of thinking a call, from and to: as in a saved run of this model and effort, else an allowance."""
    judge = config.judge
    for past in (run.judge for run in RunStore(config.runs_dir).newest(_RUNS)):
        if past and past.usage.output_tokens and (past.model, past.effort) == (judge.model, judge.effort):
            thought = max(0.0, past.usage.output_tokens / past.calls - written)
            return thought * (1 - _THINKING_OFF), thought * (1 + _THINKING_OFF)
    return 0.0, float(thinking_allowance(judge.model, judge.effort))


def _stand_ins(
    config: EvalConfig, unknown: Sequence[EvalQuestion], documents: Sequence[Document]
) -> tuple[Iterator[EvalResponse], str, float]:
    """Responses to questions that have none, where they are from, and how far they may be off."""
    store, url = RunStore(config.runs_dir), "" if config.embedded else config.server_spec().url.rstrip("/")
    for run in store.newest(_RUNS):
        if url == ("" if run.eval_config.get("embedded") else run.server.url.rstrip("/")):
            with suppress(StoreError):
                responses = (record.response for record in islice(store.records(run), _LOOKED_AT))
                saved = [response for response in responses if response and response.error is None]
                if len(saved) >= FEWEST_ANSWERS:
                    return cycle(saved), f"sizes from run {run.id}", _LIKE_OFF
    texts = [document.text[part.start : part.end] for document in documents for part in document.sections]
    size = round(fmean(min(len(text), _CHUNK_CHARACTERS) for text in texts)) if texts else _CHUNK_CHARACTERS
    chunks = [RetrievedChunk(chunk_id=str(n), text=f"{n} {'word ' * (size // 5)}") for n in range(_CHUNKS)]
    text = "word " * (_ANSWER_CHARACTERS // 5)
    answer = EvalResponse(answer=text, chunks=chunks, citations=[Citation(index=1, start=0, end=len(text))])
    refusal = EvalResponse(answer=_REFUSAL, chunks=chunks, citations=[])
    assumed = f"{_CHUNKS} chunks of {size:,} characters and answers of {_ANSWER_CHARACTERS}"
    basis = f"assuming {assumed}, as no run of this server with {FEWEST_ANSWERS} answers is saved"
    return (refusal if question.is_unanswerable else answer for question in unknown), basis, _ASSUMED_OFF
