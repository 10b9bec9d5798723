"""What judging will take, known before anything is asked: calls, tokens, money and minutes.

Every request is composed as in the run, over a stand-in for the answer that is not there yet: a saved one of the same
server where there is one, else one of usual size made of the corpus. Tokens are characters / 3, as vendors publish no
tokenizer; a model that thinks before it writes needs more output than this says.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from itertools import cycle, islice
from statistics import median

from evals.case.case import Case
from evals.case.refusal import ABSTENTION
from evals.config import EvalConfig
from evals.errors import StoreError
from evals.judges.llm_judge import PriceOf
from evals.judges.prompt import load_prompt
from evals.judges.reuse import repeats_of
from evals.judges.stand_in import stand_in_reply
from evals.metrics.base import BaseMetric, Need
from evals.metrics.judged import new_requests
from evals.schemas import (
    Citation,
    Document,
    EvalQuestion,
    EvalResponse,
    EvalRun,
    JudgeVerdict,
    RetrievedChunk,
)
from evals.schemas.verdicts import JudgeUsage, VerdictRequest
from evals.scoring.settings import Cases
from evals.semantics.base import Semantics, Vector
from evals.store.runs import RunStore
from evals.text.counts import agree

CHARACTERS_A_TOKEN = 3
SECONDS_A_CALL = 4.0
"""How long a judge's call usually takes; minutes are no more than a hint."""
_CHUNKS = 10
_CHUNK_CHARACTERS = 1200
_ANSWER_CHARACTERS = 270
_ABSTAINED = {False: 7, True: 2}
"""Servers abstain on some answerable questions and miss some unanswerable ones: every so many-eth is one abstention."""
_REFUSAL = "I don't know: the provided documents do not answer this question."
"""A usual one: longer than a few words, so that the judge may be asked whether it is one."""
_LOOKED_AT = 300
"""So many questions are composed; more are extrapolated."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """What judging a run will take.

    Attributes:
        calls: Calls to the judge, if nothing is in the cache and no reply is unusable.
        input_tokens: Of all calls.
        output_tokens: Of all calls, without what a model thinks before it writes.
        cost_usd: None where no price is known.
        minutes: Until the last verdict.
        basis: Where the sizes of answers and chunks come from.
        on_refusals: Further calls at most, where answers are made up: one for each refusal of more than a few words.
    """

    calls: int
    input_tokens: int
    output_tokens: int
    cost_usd: float | None
    minutes: float
    basis: str
    on_refusals: int = 0

    def warning(self, budget: float | None, spent: float = 0.0) -> str | None:
        """Why the budget will not do what it is meant to; None where it may."""
        if budget is None:
            return None
        if self.cost_usd is None:
            return (
                "no price of the judge's model is known, so the budget (judge.max_cost_usd) has nothing to count: "
                "name one in `prices:`"
            )
        if self.cost_usd + spent > budget:
            return f"the budget of ${budget:g} will probably not do: the run would end partial"
        return None

    def __str__(self) -> str:
        money = "price unknown" if self.cost_usd is None else f"${self.cost_usd:.2f}"
        more = f" (and {self.on_refusals:,} more at most, whether a refusal is one)" if self.on_refusals else ""
        return (
            f"about {self.calls:,} {agree(self.calls, 'call', 'calls')}{more}, "
            f"{self.input_tokens:,} tokens in and {self.output_tokens:,} out, "
            f"{money}, {max(1, round(self.minutes))} min ({self.basis})"
        )


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
    cases: Cases,
    *,
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
        known: Answers and verdicts that are there already.
    """
    known = known or Known()
    saved, basis = _answers(config, questions, known)
    total = _Sum(0.0 if price(config.judge.model, JudgeUsage()) is not None else None)
    for group in _by_judged(questions, known):
        some = _spread(group)
        part = _Sum(0.0)
        for question, response in zip(some, _stand_ins(some, documents, saved), strict=True):
            case = cases.about(question, response, _given(known, question))
            for request, reply, calls in _requests(metrics, case, config.judge.repeats):
                if request.name == ABSTENTION and response.answer == _REFUSAL:
                    part.on_refusals += calls
                else:
                    part.add(request, reply, calls, config.judge.model, price)
        total.extend(part, len(group) / len(some) if some else 0.0)
    calls = round(total.calls)
    asking = len(questions) * _latency(saved.values()) / config.concurrency
    return Estimate(
        calls=calls,
        input_tokens=round(total.input_tokens),
        output_tokens=round(total.output_tokens),
        cost_usd=total.cost_usd,
        minutes=max(asking, calls * SECONDS_A_CALL / config.judge.concurrency) / 60,
        basis=basis,
        on_refusals=round(total.on_refusals),
    )


def planned_cases(config: EvalConfig, metrics: Sequence[BaseMetric]) -> Cases:
    """Records as a judged run of this configuration sees them, as far as it is known before models are loaded."""
    wanted = any(Need.EMBEDDER in metric.needs for metric in metrics)
    semantics = Semantics(_NotLoaded()) if wanted and find_spec("sentence_transformers") else None
    return Cases(replace(config.score_settings(judged=True), semantics=semantics))


class _NotLoaded:
    """Stands for the embedder of a run: that there is one decides what a judge is asked."""

    name = "not loaded"

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        raise RuntimeError(f"an estimate only counts requests: no model is loaded to embed {len(texts)} texts")


@dataclass(slots=True)
class _Sum:
    """Calls and what they take; a cost of None is unknown and stays it."""

    cost_usd: float | None
    calls: float = 0.0
    input_tokens: float = 0.0
    output_tokens: float = 0.0
    on_refusals: float = 0.0

    def add(
        self, request: VerdictRequest, reply: Mapping[str, object], repeats: int, model: str, price: PriceOf
    ) -> None:
        """Add a request as often as it is made; each is a call with a price of its own."""
        prompt = load_prompt(request.prompt)
        sent = (len(prompt.system) + len(_dump(request.data))) / CHARACTERS_A_TOKEN
        received = len(_dump(reply)) / CHARACTERS_A_TOKEN
        cost = price(model, JudgeUsage(input_tokens=round(sent), output_tokens=round(received)))
        taken = _Sum(cost, 1, sent, received)
        self.extend(taken, repeats)

    def extend(self, other: "_Sum", times: float) -> None:
        """Add another sum so many times."""
        known = self.cost_usd is not None and other.cost_usd is not None
        self.cost_usd = (self.cost_usd or 0.0) + times * (other.cost_usd or 0.0) if known else None
        self.calls += times * other.calls
        self.input_tokens += times * other.input_tokens
        self.output_tokens += times * other.output_tokens
        self.on_refusals += times * other.on_refusals


def _by_judged(questions: Sequence[EvalQuestion], known: Known) -> Iterator[list[EvalQuestion]]:
    """The questions about which there are verdicts, and the others: one says nothing of what the other still takes."""
    judged = {question.id for question in questions if _given(known, question)}
    yield [question for question in questions if question.id in judged]
    yield [question for question in questions if question.id not in judged]


def _given(known: Known, question: EvalQuestion) -> list[JudgeVerdict]:
    return [verdict for verdict in known.verdicts.get(question.id, ()) if verdict.failure is None]


def _spread(questions: Sequence[EvalQuestion]) -> list[EvalQuestion]:
    """As many of them as are composed, from all over: those of one dataset stand together."""
    count = min(len(questions), _LOOKED_AT)
    return [questions[n * len(questions) // count] for n in range(count)]


def _dump(data: object) -> str:
    return json.dumps(data, ensure_ascii=False)


def _requests(
    metrics: Sequence[BaseMetric], case: Case, repeats: int
) -> Iterator[tuple[VerdictRequest, dict[str, object], int]]:
    """Every request that will be made about the answer, round after round.

    With each come a stand-in for its reply, and how many of its repeats there is no verdict of yet.
    """
    there = {(verdict.request, verdict.repeat) for verdict in case.verdicts}
    asked: set[tuple[str, int | None]] = set()
    while todo := new_requests(metrics, case, asked):
        for request in todo:
            asked.add(request.place)
            missing = [repeat for repeat in repeats_of(request, repeats) if (request.name, repeat) not in there]
            reply = stand_in_reply(load_prompt(request.prompt), request.data)
            made_up = (JudgeVerdict(request=request.name, repeat=repeat, reply=reply) for repeat in missing)
            case.verdicts = [*case.verdicts, *made_up]
            if missing:
                yield request, reply, len(missing)


def _answers(
    config: EvalConfig, questions: Sequence[EvalQuestion], known: Known
) -> tuple[Mapping[str, EvalResponse], str]:
    """Answers to estimate over, by question, and how to call them; saved runs are read only for those not known."""
    if known.responses and known.responses.keys() >= {question.id for question in questions}:
        return known.responses, "over the answers that are there"
    saved, basis = _saved_responses(config, questions)
    return {**saved, **known.responses}, basis


def _saved_responses(config: EvalConfig, questions: Sequence[EvalQuestion]) -> tuple[Mapping[str, EvalResponse], str]:
    """Answers of the newest saved run of this server over these datasets, by question, and how to call that source."""
    wanted = {question.dataset for question in questions}
    store = RunStore(config.runs_dir)
    for run in reversed(store.runs()):
        if not _same_server(run, config) or run.status == "failed":
            continue
        try:
            records = store.records(run)
        except StoreError:  # an older run tells sizes as well, and usual ones do where there is none
            continue
        if wanted.isdisjoint(record.question.dataset for record in records):
            continue
        answered = {r.question.id: r.response for r in records if r.response and r.response.error is None}
        return answered, f"sizes from run {run.id}"
    chunks = f"{_CHUNKS} chunks of up to {_CHUNK_CHARACTERS:,} characters"
    return {}, f"assuming {chunks} and answers of {_ANSWER_CHARACTERS}, as no run of this server is saved"


def _same_server(run: EvalRun, config: EvalConfig) -> bool:
    if config.embedded or run.eval_config.get("embedded"):
        return bool(config.embedded and run.eval_config.get("embedded"))
    return run.server.url.rstrip("/") == config.server_spec().url.rstrip("/")


def _stand_ins(
    questions: Sequence[EvalQuestion], documents: Sequence[Document], saved: Mapping[str, EvalResponse]
) -> Iterator[EvalResponse]:
    """For each question its saved answer, else another one of the same run, else one of usual size."""
    if saved:
        others = cycle(saved.values())
        for question in questions:
            yield saved[question.id] if question.id in saved else next(others)
        return
    pieces = cycle(_pieces(documents) or ["x" * _CHUNK_CHARACTERS])
    asked: Counter[bool] = Counter()
    for question in questions:
        texts = list(islice(pieces, _CHUNKS))
        chunks = [RetrievedChunk(chunk_id=str(n), text=text) for n, text in enumerate(texts)]
        kind = bool(question.is_unanswerable)
        asked[kind] += 1
        yield _abstention(chunks) if asked[kind] % _ABSTAINED[kind] == 0 else _usual_answer(texts[0], chunks)


def _abstention(chunks: list[RetrievedChunk]) -> EvalResponse:
    return EvalResponse(answer=_REFUSAL, chunks=chunks, citations=[])


def _usual_answer(text: str, chunks: list[RetrievedChunk]) -> EvalResponse:
    said = (text * (_ANSWER_CHARACTERS // len(text) + 1))[:_ANSWER_CHARACTERS]
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


def _latency(responses: Iterable[EvalResponse]) -> float:
    """Median, in seconds; 0 where nothing is known."""
    known = [response.latency_ms for response in responses if response.latency_ms is not None]
    return median(known) / 1000 if known else 0.0
