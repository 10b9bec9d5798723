"""What judging will take, known before anything is asked: calls, tokens, money and minutes.

Every request is composed as in the run, over the saved answer where there is one, else over another of the same
server, else over one of usual size. What a call takes follows from the length of its request and of a usual reply by
its prompt; what is thought before it is an allowance, until a run of the same model and effort is saved.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
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
from evals.metrics.sample import DECIDING, Sample
from evals.schemas.dataset import Document
from evals.schemas.response import Citation, EvalResponse, RetrievedChunk
from evals.schemas.results import EvalRecord
from evals.schemas.verdicts import JudgeUsage, JudgeVerdict, VerdictRequest
from evals.scoring.settings import ScoreSettings
from evals.store.runs import RunStore
from evals.text.numbers import agree, counted

SECONDS_A_CALL, SECONDS_A_ROUND = 4.0, 3600.0
"""How long a call usually takes, and a batch at most as a rule."""

_LOOKED_AT, _FEWEST_ANSWERS, _RUNS = 300, 20, 10
"""Questions that are composed (more are extrapolated), saved answers that may stand for others, runs looked into."""

_KNOWN_OFF, _LIKE_OFF, _ASSUMED_OFF = 0.15, 0.25, 0.45
"""By which share the cost may be off: of judging answers that are known, that are like others of the same server, and
that are assumed."""

_CHUNKS, _CHUNK_CHARACTERS, _ANSWER = 10, 1200, "The device is tested for 5 days in each of the 20 offices. " * 5
"""An answer of usual size."""


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
    judge, runs, verdicts, batches = config.judge, RunStore(config.runs_dir), list[JudgeVerdict](), 0
    part = records[:: -(-len(records) // _LOOKED_AT) or 1]
    stand_ins, basis, off = list[EvalResponse](), "over the answers that are there", _KNOWN_OFF
    if any(record.response is None for record in part):
        stand_ins, basis, off = _stand_ins(config, runs, documents)
    for place, record in enumerate(part):
        sample = settings.sample(record.question, record.response or stand_ins[place % len(stand_ins)])
        for number, requests in enumerate(rounds(metrics, sample), start=1):
            asked = [(request, repeat) for request in requests for repeat in repeats_of(request, judge.repeats)]
            foreseen = [_foreseen(sample, *repeated, record.verdicts, config) for repeated in asked]
            sample.verdicts = [*sample.verdicts, *foreseen]
            batches = max(batches, number if judge.batch and any(verdict.usage for verdict in foreseen) else 0)
        verdicts += sample.verdicts
    usages = [verdict.usage for verdict in verdicts if verdict.usage]
    scale = len(records) / (len(part) or 1)
    calls = scale * len(usages)
    # By a mean call, whose size the price may depend on; at best, the vendor's cache holds the instructions.
    mean = {name: round(tokens / (len(usages) or 1)) for name, tokens in sum(usages, JudgeUsage())}
    past = (run.judge for run in runs.newest(_RUNS) if run.judge and run.judge.usage.output_tokens)
    same = next((judged for judged in past if (judged.model, judged.effort) == (judge.model, judge.effort)), None)
    least = max(mean["output_tokens"], round(same.usage.output_tokens / same.calls) if same else 0)
    most = least if same else least + thinking_allowance(judge.model, judge.effort)
    price = judge_price(config.prices, judge.provider, judge.base_url, batch=judge.batch)
    low = price(judge.model, JudgeUsage(**{**mean, "output_tokens": least}))
    high = price(judge.model, JudgeUsage(input_tokens=mean["input_tokens"], output_tokens=most))
    return Estimate(
        calls=round(calls),
        cached=round(scale * sum(verdict.cached for verdict in verdicts)),
        input_tokens=round(calls * mean["input_tokens"]),
        output_tokens=round(calls * mean["output_tokens"]),
        cost_low_usd=low and calls * low * (1 - off),
        cost_high_usd=high and calls * high * (1 + off),
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
            reply["verdict"] = "declines" if sample.reads_as_refusal else "answers"
        if why_too_long(call, config.judge.max_input_tokens) is None:
            sent, kept = (len(text) // CHARACTERS_A_TOKEN for text in (call.content, call.system))
            written = usual_tokens(request)
            usage = JudgeUsage(input_tokens=sent + kept, output_tokens=written, cache_read_tokens=kept)
    facts = {"reply": reply, "usage": usage, "cached": any(known)}
    return JudgeVerdict(request=request.name, repeat=repeat, passages=request.passages, **facts)


def _stand_ins(
    config: EvalConfig, runs: RunStore, documents: Sequence[Document]
) -> tuple[list[EvalResponse], str, float]:
    """Answers that stand for those that are not there, where they are from, and how far the cost may be off."""
    url = "" if config.embedded else config.server_spec().url.rstrip("/")
    for run in runs.newest(_RUNS):
        if url == ("" if run.eval_config.get("embedded") else run.server.url.rstrip("/")):
            with suppress(StoreError):
                responses = (record.response for record in islice(runs.log(run), _LOOKED_AT))
                saved = [response for response in responses if response and response.error is None]
                if len(saved) >= _FEWEST_ANSWERS:
                    return saved, f"sizes from run {run.id}", _LIKE_OFF
    sizes = [min(part.end - part.start, _CHUNK_CHARACTERS) for document in documents for part in document.sections]
    size = round(fmean(sizes or [_CHUNK_CHARACTERS]))
    chunks = [RetrievedChunk(chunk_id=str(n), text=f"{n} {'word ' * (size // 5)}") for n in range(_CHUNKS)]
    answer = EvalResponse(answer=_ANSWER, chunks=chunks, citations=[Citation(index=1, start=0, end=len(_ANSWER))])
    assumed = f"{_CHUNKS} chunks of {size:,} characters and answers of {len(_ANSWER)}"
    basis = f"assuming {assumed}, as no run of this server with {_FEWEST_ANSWERS} answers is saved"
    return [answer], basis, _ASSUMED_OFF
