"""Is everything there that a run needs? Looked at part by part, before a run is paid for."""

import asyncio
import shutil
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import islice

from evals.client.http import REFUSED
from evals.client.rag_client import RAGClient
from evals.config import EvalConfig
from evals.errors import EvalsError, JudgeError, ServerRefusedError
from evals.judges.backends.base import BackendError, origin_of
from evals.judges.backends.providers import PROVIDERS
from evals.judges.backends.sdk import SdkBackend
from evals.metrics.base import BaseMetric, Need
from evals.report.parts import reading_notes
from evals.run.corpus import survey_corpus
from evals.run.embedded import embedded_server, embedded_spec
from evals.run.notebook import Observer
from evals.run.setup import check_calibrated, check_config, refusal_for_key, wants_judge
from evals.run.work import RunDataset, check_conversations, load_workload
from evals.schemas.dataset import EvalQuestion
from evals.schemas.response import EvalResponse, RetrievedChunk
from evals.scoring.settings import ScoreSettings, ScoringContext
from evals.store.runs import RunStore
from evals.text.numbers import counted, share

__all__ = ["Examined", "Health", "examine"]

# Which metrics one answer lets be computed, and why not the others.


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
    """Hold metrics against one answer; what a judge would decide counts as decided."""
    case, found = ScoringContext(settings).about(question, response), Computable()
    for metric in metrics:
        reason = metric.missing_for(case)
        if reason is None and Need.USAGE in metric.needs and response.usage is None:
            reason = "the server reported no token usage"
        if reason is None:
            found.names.append(metric.name)
        else:
            found.missing.setdefault(reason, []).append(metric.name)
    return found


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

_LOOKED_AT = 1000
"""This many questions are looked at for metrics that apply to none."""

_SHOWN = 60

_Finding = tuple[Health, str] | tuple[Health, str, str | None]
"""How a part is, what was seen of it, and what to do."""


async def examine(
    config: EvalConfig, observer: Observer, tell: Callable[[Examined], None], origin: str = ""
) -> list[Examined]:
    """Look at every part that a run of this configuration needs; asks the server one question, and the judge none.

    Args:
        config: Of the run.
        observer: Hears what is done.
        tell: Is given each finding as it is made.
        origin: The file of the configuration, which the finding on it names.
    """
    found: list[Examined] = []
    async with AsyncExitStack() as stack:
        for part, look in _Examination(config, observer, stack, origin).parts.items():
            try:
                found.append(Examined(part, *await look()))
            except EvalsError as error:
                found.append(broken(part, error))
            tell(found[-1])
    return found


@dataclass
class _Examination:
    """Looks at the parts; those that were seen are there for those that need them."""

    _config: EvalConfig
    _observer: Observer
    _stack: AsyncExitStack
    _origin: str = ""
    _metrics: Sequence[BaseMetric] = ()
    _workload: RunDataset | None = None
    _client: RAGClient | None = None
    _question: EvalQuestion | None = None
    _response: EvalResponse | None = None

    @property
    def parts(self) -> dict[str, Callable[[], Awaitable[_Finding]]]:
        """What is looked at, in this order; what ends the look is raised."""
        return {
            "configuration": self._configuration,
            "disk": self._disk,
            "datasets": self._datasets,
            "server": self._server,
            "answer": self._answer,
            "mapping": self._mapping,
            "corpus": self._corpus,
            "judge": self._judge,
        }

    async def _configuration(self) -> _Finding:
        self._metrics = check_config(self._config, asking=False)
        check_calibrated(self._config, self._metrics)
        suites = ", ".join(self._config.suite_names)
        of = f" of {suites}" if suites else f": {', '.join(metric.name for metric in self._metrics)}"
        judged = sum(Need.JUDGE in metric.needs for metric in self._metrics)
        said = f"{counted(len(self._metrics), 'metric')}{of}" + (f", {judged} of them by a judge" if judged else "")
        return Health.WELL, f"{self._origin}: {said}" if self._origin else said

    async def _disk(self) -> _Finding:
        folder = self._config.runs_dir
        RunStore(folder).prepare()
        free = shutil.disk_usage(folder).free
        said, room = f"{free / 1e9:.1f} GB free for {folder}", free // _BYTES_A_QUESTION
        if room < 10_000:
            hint = f"room for {counted(room, 'question')} or so: name another folder by runs_dir"
            return Health.DOUBTFUL, said, hint
        return Health.WELL, said

    async def _datasets(self) -> _Finding:
        self._observer.phase("loading datasets")
        workload = self._workload = await asyncio.to_thread(load_workload, self._config)
        questions = workload.questions
        self._question = next((each for each in questions if each.gold_passages), questions[0])
        told = "; ".join(f"{one.name}: {counted(one.questions, 'question')}" for one in workload.fingerprints)
        idle: dict[str, list[str]] = {}
        for metric in self._metrics:
            reasons = [metric.not_applicable_to(question) for question in islice(questions, _LOOKED_AT)]
            if all(reasons):
                idle.setdefault(reasons[0] or "", []).append(metric.name)
        hints = [*filter(None, [_by_reason(idle)]), *reading_notes(workload.fingerprints)]
        return Health.DOUBTFUL if idle else Health.WELL, told, "; ".join(hints) or None

    async def _server(self) -> _Finding:
        spec = self._config.server_spec()
        if self._config.embedded:
            spec = embedded_spec(self._stack.enter_context(embedded_server()), self._config.server)
        client = await self._stack.enter_async_context(RAGClient(spec, concurrency=1, max_attempts=1))
        await client.health()
        facts, _ = await client.info()
        self._client = client
        model = f", model {facts['llm_model']}" if facts.get("llm_model") else ""
        if spec.health is None:
            return Health.UNSEEN, f"{client.url} is not checked: the profile has no health check{model}"
        return Health.WELL, f"{client.url} is healthy{model}"

    async def _answer(self) -> _Finding:
        self._observer.phase("asking one question")
        client, question = self._client, self._question
        if client is None or question is None:
            return Health.UNSEEN, "no server or no question to ask"
        check_conversations(client.spec, [question])
        response = await client.ask(question)
        if response.error is None:
            self._response = response
            took = "" if response.latency_ms is None else f" in {response.latency_ms:.0f} ms"
            return Health.WELL, f"answered{took}: {_short(response.answer)}"
        hint = "look at server.ask and server.map; `evals profiles` lists kinds of servers"
        if response.error.status in REFUSED:
            hint = client.login_hint or "set server.headers to a login: {Authorization: 'Bearer ${TOKEN}'}"
        elif response.error.kind in {"connect", "timeout"}:
            hint = "start the server, or correct server.url"
        raise ServerRefusedError(f"the question {_short(question.question)} fails: {response.error.message}", hint)

    async def _mapping(self) -> _Finding:
        """What the answer holds, and what cannot be computed of it; what a judge would decide counts as decided."""
        client, question, response = self._client, self._question, self._response
        if client is None or question is None or response is None:
            return Health.UNSEEN, "nothing was answered"
        judged = wants_judge(self._config, self._metrics)
        settings = self._config.score_settings(judged=judged, citation_base=client.spec.citations.base)
        asked = [metric for metric in self._metrics if not metric.not_applicable_to(question)]
        wanted = [metric for metric in asked if judged or Need.JUDGE not in metric.needs]
        found = computable(wanted, question, response, settings)
        of = share(len(found.names), len(wanted), "metric")
        said = f"{_holds(response)}; {of} that apply to this question can be computed"
        if not found.missing:
            return Health.WELL, said
        return Health.DOUBTFUL, said, "; ".join([_by_reason(found.missing), *response.notes])

    async def _corpus(self) -> _Finding:
        """Whether the server has what the questions are about: by its list, else by the one answer."""
        if self._config.ingest or self._config.embedded:
            return Health.UNSEEN, "the run gives the server its documents first"
        if self._client is None or self._workload is None:
            return Health.UNSEEN, "no server or no questions"
        questions = self._workload.questions
        if not any(each.gold_passages for each in questions):
            return Health.UNSEEN, "no question names gold passages"
        missing = (await survey_corpus(self._client, questions, self._config.runs_dir)).missing
        if missing == []:
            return Health.WELL, "the server lists every gold document"
        if missing is not None:
            said = f"the server's list lacks {counted(len(missing), 'gold document')}, first: {missing[0]}"
            return Health.DOUBTFUL, said, "give them to it with `evals ingest`"
        return self._by_the_answer()

    def _by_the_answer(self) -> _Finding:
        response, question = self._response, self._question
        if response is None or question is None or response.chunks is None:
            sent = "answered nothing" if response is None else "sent no chunks"
            return Health.UNSEEN, f"the server lists no documents as the questions name them, and {sent}"
        settings = self._config.score_settings(judged=False, citation_base=1)
        if ScoringContext(settings).about(question, response).matches.found:
            return Health.WELL, "the answer's chunks hold the gold passage"
        said = f"no gold passage in what was retrieved for {_short(question.question)}"
        hint = "one question may miss it; where all do, the corpus is not there: "
        return Health.DOUBTFUL, said, f"{hint}give it to the server with `evals ingest`"

    async def _judge(self) -> _Finding:
        """Whether the API takes the key and knows the model; other servers of its kind may not say."""
        if not self._metrics:
            return Health.UNSEEN, "the configuration is broken"
        if not wants_judge(self._config, self._metrics):
            return Health.UNSEEN, "none takes part"
        refusal = refusal_for_key(self._config, self._metrics)
        if refusal is not None:
            raise refusal
        judge, provider = self._config.judge, PROVIDERS[self._config.judge.provider]
        address = provider.address(judge.base_url)
        backend = provider.make(judge.model, base_url=address, effort=judge.effort)
        self._stack.push_async_callback(backend.aclose)
        if not isinstance(backend, SdkBackend):
            return Health.UNSEEN, f"{backend.model} cannot be looked for without a call"
        try:
            await backend.find_model()
        except BackendError as error:
            if origin_of(address) != origin_of(provider.home) and "HTTP 404" in str(error):
                return Health.WELL, f"reached {backend.origin}, which has no list of models"
            said = f"{backend.model} at {backend.origin}: {error}"
            raise JudgeError(said, "check the key and the model's name, or measure without a judge") from error
        return Health.WELL, f"{backend.model} at {backend.origin}"


_OF_ALL = {"the question is answerable": "no question is marked unanswerable (is_unanswerable)"}
"""What a metric lacks where no question has it, by the reason of one question."""


def _by_reason(names: dict[str, list[str]]) -> str:
    return "; ".join(f"{', '.join(metrics)}: {_OF_ALL.get(reason, reason)}" for reason, metrics in names.items())


def _holds(response: EvalResponse) -> str:
    """What of an answer is there."""
    chunks = "no chunks" if response.chunks is None else ", ".join(_held(response.chunks))
    citations = "no citations" if response.citations is None else counted(len(response.citations), "citation")
    return f"{chunks}, {citations}, {'usage' if response.usage else 'no usage'}"


def _held(chunks: Sequence[RetrievedChunk]) -> Iterator[str]:
    """How many chunks there are, and how many of them have each part."""
    yield counted(len(chunks), "chunk")
    has = {
        "text": sum(bool(each.text) for each in chunks),
        "id": sum(bool(each.chunk_id) for each in chunks),
        "document": sum(bool(each.document_id or each.document_name) for each in chunks),
        "score": sum(each.score is not None for each in chunks),
    }
    for count in dict.fromkeys(has.values()) if chunks else ():
        some, link = {len(chunks): ("all", " and "), 0: ("none", " or ")}.get(count, (str(count), " and "))
        yield f"{some} with {link.join(name for name in has if has[name] == count)}"


def _short(text: str | None) -> str:
    line = " ".join((text or "").split())
    return repr(line if len(line) <= _SHOWN else f"{line[:_SHOWN]}…")
