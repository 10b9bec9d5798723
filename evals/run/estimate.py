"""What judging will take, known before anything is asked: calls, tokens, money and minutes.

Every request is composed as in the run, over the saved answer where there is one, else over another of the same
server, else over one of usual size. What a call takes follows from the length of its request and of a usual reply by
its prompt; what is thought before it is an allowance, until a run of the same model and effort is saved.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
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
from evals.metrics.judged import new_requests
from evals.metrics.sample import ABSTENTION, DECIDING, Sample
from evals.schemas.dataset import Document, EvalQuestion
from evals.schemas.response import Citation, EvalResponse, RetrievedChunk
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
        cost = " to ".join(dict.fromkeys(ends)) or "price unknown"
        time = f"{max(1, round(self.minutes))} min"
        if self.rounds:
            time = f"at half price in {counted(self.rounds, 'round')} of batches of up to an hour as a rule"
        return (
            f"about {self.calls:,} {agree(self.calls, 'call', 'calls')}{kept}, {self.input_tokens:,} tokens in and "
            f"{self.output_tokens:,} out besides thinking, {cost}, {time} ({self.basis})"
        )


@dataclass(frozen=True, slots=True)
class Known:
    """Answers and verdicts that are there already, by question."""

    responses: Mapping[str, EvalResponse] = field(default_factory=dict)
    verdicts: Mapping[str, Sequence[JudgeVerdict]] = field(default_factory=dict)


def estimate_judging(
    metrics: Sequence[BaseMetric],
    questions: Sequence[EvalQuestion],
    documents: Sequence[Document],
    config: EvalConfig,
    settings: ScoreSettings,
    known: Known | None = None,
) -> Estimate:
    """Estimate what the judge will take; asks nothing of anybody.

    Args:
        metrics: Of the run.
        questions: That will be asked.
        documents: Their corpus.
        config: Of the run; saved runs in its folder tell how long this server's answers are.
        settings: How records are seen by metrics: what is asked may depend on it.
        known: Answers and verdicts that are there already.
    """
    known, calls = known or Known(), list[tuple[int, int, int]]()
    some = questions[:: -(-len(questions) // _LOOKED_AT) or 1]
    others, basis, off = _others(config, some, documents, known)
    cached = rounds = 0
    for question in some:
        sample = settings.sample(question, known.responses.get(question.id) or next(others))
        asked: set[tuple[str, int | None]] = set()
        own = 0
        while todo := new_requests(metrics, sample, asked):  # in rounds: some requests build on the replies to others
            before = len(calls)
            for request in todo:
                asked.add(request.place)
                for number in repeats_of(request, config.judge.repeats):
                    size, verdict = _foreseen(sample, request, number, known.verdicts.get(question.id, ()), config)
                    cached += verdict.cached
                    calls += size
                    sample.verdicts = [*sample.verdicts, verdict]
            own += len(calls) > before
        rounds = max(rounds, own)
    scale = len(questions) / (len(some) or 1)
    low, high = _range(calls, config, off)
    rounds = rounds if config.judge.batch else 0
    seconds = rounds * SECONDS_A_ROUND or scale * len(calls) * SECONDS_A_CALL / config.judge.concurrency
    return Estimate(
        calls=round(scale * len(calls)),
        cached=round(scale * cached),
        input_tokens=round(scale * sum(instructions + data for instructions, data, _ in calls)),
        output_tokens=round(scale * sum(written for _, _, written in calls)),
        cost_low_usd=None if low is None else scale * low,
        cost_high_usd=None if high is None else scale * high,
        minutes=seconds / 60,
        rounds=rounds,
        basis=basis,
    )


def _foreseen(
    sample: Sample, request: VerdictRequest, number: int, known: Sequence[JudgeVerdict], config: EvalConfig
) -> tuple[list[tuple[int, int, int]], JudgeVerdict]:
    """The call for a repeat, as tokens of instructions, data and usual reply, and the verdict that may come of it.

    No call where the verdict is there already.
    """
    call = call_of(request, number)
    key = key_of(config.judge.identity, call)
    stored = JudgeCache.among(config.runs_dir).get(key) if config.judge.cache else None
    there = [each.reply for each in known if each.key == key] + [stored and stored.reply]
    reply = next(filter(None, there), None)
    draft = JudgeVerdict(
        request=request.name, repeat=number, passages=request.passages, reply=reply, cached=bool(reply)
    )
    if reply is not None:
        return [], draft
    usual = usual_reply(load_prompt(request.prompt), request.data)
    if request.name in DECIDING:
        answers = "answers" if request.name == ABSTENTION else "correct"
        usual["verdict"] = "declines" if sample.reads_as_refusal else answers
    size = (len(call.system) // CHARACTERS_A_TOKEN, len(call.content) // CHARACTERS_A_TOKEN, usual_tokens(request))
    too_long = why_too_long(call, config.judge.max_input_tokens)
    return [] if too_long else [size], draft.model_copy(update={"reply": usual})


def _range(calls: Sequence[tuple[int, int, int]], config: EvalConfig, off: float) -> tuple[float | None, float | None]:
    """What calls will cost, from and to, with sizes off by a share; None where no price is known."""
    judge = config.judge
    price = judge_price(config.prices, judge.provider, judge.base_url, batch=judge.batch)
    if price(judge.model, JudgeUsage()) is None:
        return None, None
    thought, most = 0.0, float(thinking_allowance(judge.model, judge.effort))
    for past in (run.judge for run in RunStore(config.runs_dir).newest(_RUNS)):
        if past and past.usage.output_tokens and (past.model, past.effort) == (judge.model, judge.effort) and calls:
            mean = past.usage.output_tokens / past.calls - fmean(written for _, _, written in calls)
            thought, most = max(0.0, mean * (1 - _THINKING_OFF)), max(0.0, mean * (1 + _THINKING_OFF))
            break
    low = high = 0.0
    for instructions, data, written in calls:
        # at best, the vendor's cache holds the instructions of all calls
        kept = instructions if judge.provider == "anthropic" and not judge.batch else 0
        sizes = {"input_tokens": instructions + data, "output_tokens": written + round(thought)}
        low += price(judge.model, JudgeUsage(**sizes, cache_read_tokens=kept)) or 0.0
        high += price(judge.model, JudgeUsage(**{**sizes, "output_tokens": written + round(most)})) or 0.0
    return low * (1 - off), high * (1 + off)


def _others(
    config: EvalConfig, questions: Sequence[EvalQuestion], documents: Sequence[Document], known: Known
) -> tuple[Iterator[EvalResponse], str, float]:
    """Answers in place of those to questions that have none, where they come from, and how far they may be off."""
    if all(question.id in known.responses for question in questions):
        return iter(()), "over the answers that are there", _KNOWN_OFF
    store = RunStore(config.runs_dir)
    for run in store.newest(_RUNS):
        url = "" if config.embedded else config.server_spec().url.rstrip("/")
        if url == ("" if run.eval_config.get("embedded") else run.server.url.rstrip("/")):
            with suppress(StoreError):
                records = islice(store.records(run), _LOOKED_AT)
                saved = [each.response for each in records if each.response and each.response.error is None]
                if len(saved) >= FEWEST_ANSWERS:
                    return cycle(saved), f"sizes from run {run.id}", _LIKE_OFF
    texts = [document.text[part.start : part.end] for document in documents for part in document.sections]
    size = round(fmean(min(len(text), _CHUNK_CHARACTERS) for text in texts)) if texts else _CHUNK_CHARACTERS
    said = "word " * (_ANSWER_CHARACTERS // 5)
    chunks = [RetrievedChunk(chunk_id=str(n), text=f"{n} {'word ' * (size // 5)}") for n in range(_CHUNKS)]
    answer = EvalResponse(answer=said, chunks=chunks, citations=[Citation(index=1, start=0, end=len(said))])
    assumed = f"{_CHUNKS} chunks of {size:,} characters and answers of {_ANSWER_CHARACTERS}"
    basis = f"assuming {assumed}, as no run of this server with {FEWEST_ANSWERS} answers is saved"
    refusal = EvalResponse(answer=_REFUSAL, chunks=chunks, citations=[])
    unknown = (question for question in questions if question.id not in known.responses)
    return (refusal if question.is_unanswerable else answer for question in unknown), basis, _ASSUMED_OFF
