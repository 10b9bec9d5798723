"""Is everything there that a run needs? Looked at part by part, before a run is paid for."""

import asyncio
import shutil
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import islice

from evals.client.exchange import ask_question
from evals.client.oauth2 import REFUSED
from evals.client.rag_client import RAGClient
from evals.config import EvalConfig
from evals.errors import EvalsError, IngestError, JudgeError, ServerRefusedError
from evals.judges.backends.base import Backend, BackendError, origin_of
from evals.judges.backends.providers import PROVIDERS
from evals.judges.backends.sdk import SdkBackend
from evals.metrics.base import BaseMetric, Need
from evals.run.corpus import survey_corpus
from evals.run.notebook import Observer
from evals.run.setup import check_config, embedded_server, embedded_spec, refusal_for_key, wants_judge
from evals.run.work import RunDataset, check_conversations, load_workload
from evals.schemas.dataset import EvalQuestion
from evals.schemas.response import EvalResponse
from evals.scoring.settings import ScoreSettings, ScoringContext
from evals.store.runs import RunStore
from evals.text.numbers import counted, share

# Which metrics one answer lets be computed, and why not the others.


_LOOKED_AT = 1000


@dataclass(frozen=True, slots=True)
class Computable:
    """What can be computed.

    Attributes:
        names: Of metrics that would have a value.
        missing: Names of the others, by the reason why there would be none.
    """

    names: list[str] = field(default_factory=list)
    missing: dict[str, list[str]] = field(default_factory=dict)


def computable(
    metrics: Iterable[BaseMetric], question: EvalQuestion, response: EvalResponse, settings: ScoreSettings
) -> Computable:
    """Hold metrics against one answer; what a judge would decide counts as decided.

    Args:
        metrics: That are wanted.
        question: That was asked.
        response: What came.
        settings: How a run would score it.
    """
    case, found = ScoringContext(settings).about(question, response), Computable()
    for metric in metrics:
        reason = metric.missing_for(case) or _without_usage(metric, response)
        if reason is None:
            found.names.append(metric.name)
        else:
            found.missing.setdefault(reason, []).append(metric.name)
    return found


def _without_usage(metric: BaseMetric, response: EvalResponse) -> str | None:
    return "the server reported no token usage" if Need.USAGE in metric.needs and response.usage is None else None


def without_questions(metrics: Iterable[BaseMetric], questions: Sequence[EvalQuestion]) -> dict[str, list[str]]:
    """Names of the metrics to which no question applies, by the reason; only the first questions are looked at."""
    missing: dict[str, list[str]] = {}
    for metric in metrics:
        reasons = [metric.not_applicable_to(question) for question in islice(questions, _LOOKED_AT)]
        if reasons and all(reasons):
            missing.setdefault(reasons[0] or "", []).append(metric.name)
    return missing


# What an examination finds of one part.


class Health(StrEnum):
    """How a part is."""

    WELL = "well"
    DOUBTFUL = "doubtful"
    """A run works, and measures less than it could."""
    BROKEN = "broken"
    """A run would end."""
    UNSEEN = "unseen"
    """It was not looked at, as a part that it needs is broken, or it is not wanted."""


@dataclass(frozen=True, slots=True)
class Examined:
    """One part, and how it is.

    Attributes:
        part: Such as "server".
        health: How it is.
        said: What was seen.
        hint: What to do, where there is something.
        exit_code: Of the command that would end for it; 0 where none would.
    """

    part: str
    health: Health
    said: str
    hint: str | None = None
    exit_code: int = 0


def broken(part: str, error: EvalsError) -> Examined:
    """The finding that an error stands for."""
    return Examined(part, Health.BROKEN, error.message, error.hint, error.exit_code)


# The parts of a run in the order in which it needs them, each looked at by itself.


_BYTES_A_QUESTION = 40_000
"""Of the folder of runs: record, log and index of an answer with chunks of some length, and what the judge said."""

_SHOWN = 60


@dataclass(slots=True)
class _Seen:
    """What the parts so far have shown, for those that need it."""

    metrics: Sequence[BaseMetric] = ()
    workload: RunDataset | None = None
    client: RAGClient | None = None
    question: EvalQuestion | None = None
    response: EvalResponse | None = None


async def examine(config: EvalConfig, observer: Observer, tell: Callable[[Examined], None]) -> list[Examined]:
    """Look at every part that a run of this configuration needs; asks the server one question, and the judge none.

    Args:
        config: Of the run.
        observer: Hears what is done.
        tell: Is given each finding as it is made.
    """
    found: list[Examined] = []
    async with AsyncExitStack() as stack:
        async for finding in _parts(config, observer, stack):
            found.append(finding)
            tell(finding)
    return found


async def _parts(config: EvalConfig, observer: Observer, stack: AsyncExitStack) -> AsyncIterator[Examined]:
    seen = _Seen()
    yield _configuration(config, seen)
    yield _disk(config)
    observer.phase("loading datasets")
    yield await asyncio.to_thread(_datasets, config, seen)
    yield await _server(config, seen, stack)
    observer.phase("asking one question")
    yield await _answer(seen)
    yield _mapping(config, seen)
    yield await _corpus(config, seen)
    yield await _judge(config, seen)


def _configuration(config: EvalConfig, seen: _Seen) -> Examined:
    try:
        seen.metrics = check_config(config, asking=False)
    except EvalsError as error:
        return broken("configuration", error)
    return Examined(
        "configuration", Health.WELL, f"{counted(len(seen.metrics), 'metric')} of {', '.join(config.suite_names)}"
    )


def _disk(config: EvalConfig) -> Examined:
    try:
        RunStore(config.runs_dir).prepare()
        free = shutil.disk_usage(config.runs_dir).free
    except EvalsError as error:
        return broken("disk", error)
    said = f"{free / 1e9:.1f} GB free for {config.runs_dir}"
    room = free // _BYTES_A_QUESTION
    if room < 10_000:
        return Examined(
            "disk",
            Health.DOUBTFUL,
            said,
            f"room for {counted(room, 'question')} or so: name another folder by runs_dir",
        )
    return Examined("disk", Health.WELL, said)


def _datasets(config: EvalConfig, seen: _Seen) -> Examined:
    try:
        workload = load_workload(config)
    except EvalsError as error:
        return broken("datasets", error)
    seen.workload = workload
    seen.question = next((each for each in workload.questions if each.gold_passages), workload.questions[0])
    told = "; ".join(f"{one.name}: {counted(one.questions, 'question')}" for one in workload.fingerprints)
    idle = without_questions(seen.metrics, workload.questions)
    hint = "; ".join(f"{reason}: {', '.join(names)}" for reason, names in idle.items())
    return Examined("datasets", Health.DOUBTFUL if idle else Health.WELL, told, hint or None)


async def _server(config: EvalConfig, seen: _Seen, stack: AsyncExitStack) -> Examined:
    try:
        spec = config.server_spec()
        if config.embedded:
            spec = embedded_spec(stack.enter_context(embedded_server()), config.server)
        client = RAGClient(spec, concurrency=1, max_attempts=1)
        await stack.enter_async_context(client)
        await client.health()
        facts, _ = await client.info()
    except EvalsError as error:
        return broken("server", error)
    seen.client = client
    model = f", model {facts['llm_model']}" if facts.get("llm_model") else ""
    how = "healthy" if spec.health else "not asked, as the profile has no health check"
    return Examined("server", Health.WELL, f"{client.url} is {how}{model}")


async def _answer(seen: _Seen) -> Examined:
    if seen.client is None or seen.question is None:
        return _unseen("answer", "no server or no question to ask")
    try:
        check_conversations(seen.client.spec, [seen.question])
    except EvalsError as error:
        return broken("answer", error)
    response = await ask_question(seen.client, seen.question)
    if response.error is None:
        seen.response = response
        took = "" if response.latency_ms is None else f" in {response.latency_ms:.0f} ms"
        return Examined("answer", Health.WELL, f"answered{took}: {_short(response.answer)}")
    hint = "look at server.ask and server.map; `evals profiles` lists kinds of servers"
    if response.error.status in REFUSED:
        hint = seen.client.login_hint or "set server.headers to a login: {Authorization: 'Bearer ${TOKEN}'}"
    refused = ServerRefusedError(f"the question {_short(seen.question.question)} fails: {response.error.message}", hint)
    return broken("answer", refused)


def _mapping(config: EvalConfig, seen: _Seen) -> Examined:
    """What the answer holds, and what cannot be computed of it."""
    if seen.response is None or seen.question is None or seen.client is None:
        return _unseen("mapping", "nothing was answered")
    judged, base = wants_judge(config, seen.metrics), seen.client.spec.citations.base
    settings = config.score_settings(judged=judged, citation_base=base)
    wanted = _wanted(seen.metrics, seen.question, judged=judged)
    found = computable(wanted, seen.question, seen.response, settings)
    said = f"{_holds(seen.response)}; {share(len(found.names), len(wanted), 'metric')} can be computed of it"
    if not found.missing:
        return Examined("mapping", Health.WELL, said)
    reasons = [f"{reason}: {', '.join(names)}" for reason, names in found.missing.items()]
    return Examined("mapping", Health.DOUBTFUL, said, "; ".join([*reasons, *seen.response.notes]))


def _wanted(metrics: Sequence[BaseMetric], question: EvalQuestion, *, judged: bool) -> list[BaseMetric]:
    """The metrics that apply to the question, without those of a judge where none takes part."""
    asked = [metric for metric in metrics if not metric.not_applicable_to(question)]
    return [metric for metric in asked if judged or Need.JUDGE not in metric.needs]


def _holds(response: EvalResponse) -> str:
    """What of an answer is there."""
    chunks = response.chunks
    parts = [
        "no chunks" if chunks is None else counted(len(chunks), "chunk"),
        *(f"{name} of {sum(map(has, chunks))}" for name, has in _OF_CHUNKS.items() if chunks),
        "no citations" if response.citations is None else counted(len(response.citations), "citation"),
        "usage" if response.usage else "no usage",
    ]
    return ", ".join(parts)


_OF_CHUNKS = {
    "text": lambda chunk: bool(chunk.text),
    "id": lambda chunk: chunk.chunk_id is not None,
    "document": lambda chunk: bool(chunk.document_id or chunk.document_name),
    "score": lambda chunk: chunk.score is not None,
}


async def _corpus(config: EvalConfig, seen: _Seen) -> Examined:
    """Whether the server has what the questions are about: by its list, else by the one answer."""
    if config.ingest or config.embedded:
        return _unseen("corpus", "the run gives the server its documents first")
    if seen.client is None or seen.workload is None:
        return _unseen("corpus", "no server or no questions")
    if not any(each.gold_passages for each in seen.workload.questions):
        return _unseen("corpus", "no question names gold passages")
    corpus = await survey_corpus(seen.client, seen.workload.questions, config.runs_dir)
    if corpus.missing == []:
        return Examined("corpus", Health.WELL, "the server lists every gold document")
    if corpus.missing is not None:
        said = f"the server's list lacks {counted(len(corpus.missing), 'gold document')}, first: {corpus.missing[0]}"
        return Examined("corpus", Health.DOUBTFUL, said, "give them to it with `evals ingest`")
    return _by_the_answer(config, seen)


def _by_the_answer(config: EvalConfig, seen: _Seen) -> Examined:
    response, question = seen.response, seen.question
    if response is None or question is None or response.chunks is None:
        return _unseen("corpus", "the server lists no documents as the questions name them, and sent no chunks")
    if ScoringContext(config.score_settings(judged=False, citation_base=1)).about(question, response).matches.found:
        return Examined("corpus", Health.WELL, "the answer's chunks hold the gold passage")
    error = IngestError(
        f"no gold passage in what was retrieved for {_short(question.question)}",
        "one question may miss it; where all do, the corpus is not there: give it to the server with `evals ingest`",
    )
    return Examined("corpus", Health.DOUBTFUL, error.message, error.hint)


async def _judge(config: EvalConfig, seen: _Seen) -> Examined:
    if not seen.metrics:
        return _unseen("judge", "the configuration is broken")
    if not wants_judge(config, seen.metrics):
        return _unseen("judge", "none takes part")
    refusal = refusal_for_key(config, seen.metrics)
    if refusal is not None:
        return broken("judge", refusal)
    judge, provider = config.judge, PROVIDERS[config.judge.provider]
    address = provider.address(judge.base_url)
    try:
        backend = provider.make(judge.model, base_url=address, effort=judge.effort)
    except EvalsError as error:
        return broken("judge", error)
    try:
        return await _model(backend, is_at_home=origin_of(address) == origin_of(provider.home))
    finally:
        await backend.aclose()


async def _model(backend: Backend, *, is_at_home: bool) -> Examined:
    """Whether the API takes the key and knows the model; other servers of its kind may not say."""
    if not isinstance(backend, SdkBackend):
        return _unseen("judge", f"{backend.model} cannot be looked for without a call")
    try:
        await backend.find_model()
    except BackendError as error:
        if not is_at_home and "HTTP 404" in str(error):
            return Examined("judge", Health.WELL, f"reached {backend.origin}, which has no list of models")
        said = f"{backend.model} at {backend.origin}: {error}"
        return broken("judge", JudgeError(said, "check the key and the model's name, or measure without a judge"))
    return Examined("judge", Health.WELL, f"{backend.model} at {backend.origin}")


def _unseen(part: str, why: str) -> Examined:
    return Examined(part, Health.UNSEEN, why)


def _short(text: str | None) -> str:
    line = " ".join((text or "").split())
    return repr(line if len(line) <= _SHOWN else f"{line[:_SHOWN]}…")


__all__ = ["Examined", "Health", "examine"]
