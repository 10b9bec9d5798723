"""What judging will take, known before anything is asked: calls, tokens, money and minutes.

Every request is composed as in the run, over the saved answer where there is one, else over another of the same
server, else over one of usual size. What a call takes follows from the length of its request and of a usual reply by
its prompt; what is thought before it is an allowance, until a run of the same model and effort is saved.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice

from evals.config import EvalConfig
from evals.errors import StoreError
from evals.judges.cache import JudgeCache, key_of
from evals.judges.llm_judge import is_usable, repeats_of
from evals.judges.money import judge_price, thinking_allowance
from evals.judges.prompts import call_of, load_prompt, typical_reply, usual_usage, why_too_long
from evals.metrics.base import BaseMetric
from evals.metrics.judged import rounds
from evals.metrics.sample import DECIDING, Sample
from evals.schemas.response import Citation, EvalResponse, RetrievedChunk
from evals.schemas.results import EvalRecord, EvalRun
from evals.schemas.verdicts import JudgeUsage, JudgeVerdict, VerdictRequest
from evals.scoring.settings import ScoreSettings
from evals.store.runs import RunStore
from evals.text.numbers import agree

SECONDS_A_CALL = 4.0
"""How long a call usually takes."""

_LOOKED_AT, _FEWEST_ANSWERS, _RUNS = 300, 20, 10
"""Questions that are composed (more are extrapolated), saved answers that may stand for others, runs looked into."""

_StandIns = tuple[list[EvalResponse], str, float]
"""Answers that stand for those that are not there, where they are from, and by which share the cost may be off."""

_KNOWN: _StandIns = ([], "over the answers that are there", 0.15)

_CHUNKS, _CHUNK, _ANSWER = 10, "words " * 100, "The device is tested for 5 days in each of the 20 offices. " * 5
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
        minutes: Until the last verdict; None in batches, of which each may take an hour.
        basis: Where the sizes of answers and chunks come from.
    """

    calls: int
    cached: int
    input_tokens: int
    output_tokens: int
    cost_low_usd: float | None
    cost_high_usd: float | None
    minutes: float | None
    basis: str

    def warning(self, budget: float | None, spent: float = 0.0) -> str | None:
        """Why the budget may end the run; None where it will not, or where no price is known."""
        if budget is None or not self.calls or (self.cost_high_usd or 0.0) + spent <= budget:
            return None
        return f"the budget of ${budget:g} may not do: the run would end partial"

    def __str__(self) -> str:
        kept = f" ({self.cached:,} more are there already)" if self.cached else ""
        ends = [f"${end:.2f}" for end in (self.cost_low_usd, self.cost_high_usd) if end is not None]
        cost = " to ".join(dict.fromkeys(ends)) or "price unknown"
        time = f"{max(1, round(self.minutes))} min" if self.minutes is not None else "in batches, each up to an hour"
        return (
            f"about {self.calls:,} {agree(self.calls, 'call', 'calls')}{kept}, {self.input_tokens:,} tokens in and "
            f"{self.output_tokens:,} out besides thinking, {cost}, {time} ({self.basis})"
        )


def estimate_judging(
    metrics: Sequence[BaseMetric], records: Sequence[EvalRecord], config: EvalConfig, settings: ScoreSettings
) -> Estimate:
    """Estimate what the judge will take; asks nothing of anybody.

    Args:
        metrics: Of the run.
        records: Questions, with the responses and verdicts that are there already.
        config: Of the run; saved runs in its folder tell how long this server's answers are.
        settings: How records are seen by metrics: what is asked may depend on it.
    """
    judge, runs, verdicts = config.judge, RunStore(config.runs_dir), list[JudgeVerdict]()
    recent_runs, part = list(runs.newest(_RUNS)), records[:: -(-len(records) // _LOOKED_AT) or 1]
    is_answered = all(record.response is not None for record in part)
    stand_ins, basis, relative_error = _KNOWN if is_answered else _stand_ins(config, runs, recent_runs)
    for place, record in enumerate(part):
        sample = settings.sample(record.question, record.response or stand_ins[place % len(stand_ins)])
        for requests in rounds(metrics, sample):
            asked = [(request, repeat) for request in requests for repeat in repeats_of(request, judge.repeats)]
            sample.verdicts = [
                *sample.verdicts,
                *(_predicted(sample, *call, record.verdicts, config) for call in asked),
            ]
        verdicts += sample.verdicts
    usages = [verdict.usage for verdict in verdicts if verdict.usage]
    scale = len(records) / (len(part) or 1)
    calls = scale * len(usages)
    # By a mean call, whose size the price may depend on; at best, the vendor's cache holds the instructions.
    mean = {name: round(tokens / (len(usages) or 1)) for name, tokens in sum(usages, JudgeUsage())}
    judged = (run.judge for run in recent_runs if run.judge and run.judge.usage.output_tokens)
    alike = next((record for record in judged if (record.model, record.effort) == (judge.model, judge.effort)), None)
    least = max(mean["output_tokens"], round(alike.usage.output_tokens / alike.calls) if alike else 0)
    most = least if alike else least + thinking_allowance(judge.model, judge.effort)
    price = judge_price(config.prices, judge.provider, judge.base_url, batch=judge.batch)
    low = price(judge.model, JudgeUsage(**{**mean, "output_tokens": least}))
    high = price(judge.model, JudgeUsage(input_tokens=mean["input_tokens"], output_tokens=most))
    return Estimate(
        calls=round(calls),
        cached=round(scale * sum(verdict.cached for verdict in verdicts)),
        input_tokens=round(calls * mean["input_tokens"]),
        output_tokens=round(calls * mean["output_tokens"]),
        cost_low_usd=low and calls * low * (1 - relative_error),
        cost_high_usd=high and calls * high * (1 + relative_error),
        minutes=None if judge.batch and calls else calls * SECONDS_A_CALL / judge.concurrency / 60,
        basis=basis,
    )


def _predicted(
    sample: Sample, request: VerdictRequest, repeat: int, earlier: Sequence[JudgeVerdict], config: EvalConfig
) -> JudgeVerdict:
    """The verdict that may come of a request, with the tokens of its call; without any where no call will be made."""
    call, usage = call_of(request, repeat), None
    key = key_of(config.judge.identity, call)
    stored = JudgeCache.among(config.runs_dir).get(key) if config.judge.cache else None
    known = [stored.reply if stored else None, *(verdict.reply for verdict in earlier if verdict.key == key)]
    kept = next((reply for reply in known if is_usable(reply, request)), None)
    reply = kept or typical_reply(load_prompt(request.prompt), request.data)
    if kept is None:
        if request.name in DECIDING:
            reply["verdict"] = "declines" if sample.reads_as_refusal else "answers"
        usage = usual_usage(request, call) if why_too_long(call, config.judge.max_input_tokens) is None else None
    facts = {"reply": reply, "usage": usage, "cached": kept is not None}
    return JudgeVerdict(request=request.name, repeat=repeat, passages=request.passages, **facts)


def _stand_ins(config: EvalConfig, runs: RunStore, recent_runs: Sequence[EvalRun]) -> _StandIns:
    """Answers of the newest run of the same server; where none is saved, one of usual size."""
    url = "" if config.embedded else config.server_spec().url.rstrip("/")
    for run in recent_runs:
        if url == ("" if run.eval_config.get("embedded") else run.server.url.rstrip("/")):
            with suppress(StoreError):
                responses = (record.response for record in islice(runs.log(run), _LOOKED_AT))
                saved = [response for response in responses if response and response.error is None]
                if len(saved) >= _FEWEST_ANSWERS:
                    return saved, f"sizes from run {run.id}", 0.25
    chunks = [RetrievedChunk(chunk_id=str(n), text=f"{n} {_CHUNK}") for n in range(_CHUNKS)]
    answer = EvalResponse(answer=_ANSWER, chunks=chunks, citations=[Citation(index=1, start=0, end=len(_ANSWER))])
    basis = f"assuming {_CHUNKS} chunks of {len(_CHUNK)} characters, as no run of this server is saved"
    return [answer], basis, 0.45
