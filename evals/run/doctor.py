"""Checks of everything that a run needs, before it is paid for: one finding a part, with the way out."""

import asyncio
import shutil
from collections.abc import Callable, Iterable
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from itertools import islice
from typing import Literal, NamedTuple

from evals.client.http import REFUSED
from evals.client.rag_client import RAGClient
from evals.config import EvalConfig
from evals.errors import EvalsError, ServerRefusedError
from evals.metrics.base import BaseMetric, Need
from evals.run.checks import check_calibrated, check_config, find_judge, refusal_for_key, wants_judge
from evals.run.corpus import survey_corpus
from evals.run.embedded import embedded_server, embedded_spec
from evals.run.observer import Observer
from evals.run.workload import check_conversations, load_workload
from evals.schemas.dataset import EvalQuestion
from evals.schemas.response import EvalResponse
from evals.scoring.notes import reading_notes
from evals.scoring.settings import ScoreSettings
from evals.store.runs import RunStore
from evals.text.numbers import counted, share

_PARTS = ("configuration", "disk", "datasets", "server", "answer", "mapping", "corpus", "judge")
_BYTES_A_QUESTION = 40_000
"""On the disk of the runs folder: record, journal and verdicts of an answer with long chunks."""
_LOOKED_AT = 1000
"""This many questions decide whether a metric applies to any."""
_OF_ALL = {"the question is answerable": "no question is marked unanswerable (is_unanswerable)"}

Health = Literal["well", "doubtful", "broken", "unseen"]


class CheckResult(NamedTuple):
    """What was found of one part.

    Attributes:
        part: Such as "server".
        health: "well"; "doubtful": a run works and measures less than it could; "broken": a run would end; "unseen":
            not checked, as it is not needed or a part that it needs is broken.
        said: What it is.
        hint: The way out.
        exit_code: That of a run that ends here; 0: it does not.
    """

    part: str
    health: Health
    said: str
    hint: str | None = None
    exit_code: int = 0


def broken(part: str, error: EvalsError) -> CheckResult:
    """The finding of an error."""
    return CheckResult(part, "broken", error.message, error.hint, error.exit_code)


@dataclass(frozen=True, slots=True)
class Computable:
    """The names of metrics that have a value, and of the others by the reason why they have none."""

    names: list[str] = field(default_factory=list)
    missing: dict[str, list[str]] = field(default_factory=dict)

    @property
    def reasons(self) -> list[str]:
        """The others, each reason with its metrics."""
        return [f"{', '.join(names)}: {reason}" for reason, names in self.missing.items()]


def computable(
    metrics: Iterable[BaseMetric],
    questions: Iterable[EvalQuestion],
    response: EvalResponse | None = None,
    settings: ScoreSettings | None = None,
) -> Computable:
    """Which metrics have a value for some of the questions, given such a response; judges are taken to decide.

    Args:
        metrics: The metrics.
        questions: The questions, of which the first thousand are looked at.
        response: A response of the server; None: any.
        settings: Of the run, where a response is given.
    """
    result, looked_at = Computable(), list(islice(questions, _LOOKED_AT))
    for metric in metrics:
        by_reason = {metric.not_applicable_to(question): question for question in reversed(looked_at)}
        reason = None if None in by_reason else next(reversed(by_reason), "there are no questions yet")
        if reason is None and response is not None and settings is not None:
            lack = metric.applies(settings.sample(by_reason[None], response))
            reason = lack and lack.reason
            if reason is None and Need.USAGE in metric.needs and response.usage is None:
                reason = "the server reported no token usage"
        if reason is None:
            result.names.append(metric.name)
        else:
            result.missing.setdefault(_OF_ALL.get(reason, reason), []).append(metric.name)
    return result


async def examine(
    config: EvalConfig, observer: Observer, tell: Callable[[CheckResult], None], origin: str = ""
) -> list[CheckResult]:
    """Check every part that a run needs; the server is asked one question, the judge none.

    Args:
        config: Of the run.
        observer: Receives the progress.
        tell: Is called with each finding.
        origin: The file of the configuration, which its finding names.
    """
    findings: list[CheckResult] = []
    async with AsyncExitStack() as stack:
        checks = _Checks(config, observer, stack, origin)
        for part in _PARTS:
            try:
                finding = CheckResult(part, *await getattr(checks, part)())
            except EvalsError as error:
                finding = broken(part, error)
            findings.append(finding)
            tell(finding)
    return findings


Found = tuple[Health, str] | tuple[Health, str, str | None]
"""The health of a part, what it is, and the way out."""


class _Checks:
    """The check of each part, in the order in which a run needs them; what one finds is kept for the next."""

    def __init__(self, config: EvalConfig, observer: Observer, stack: AsyncExitStack, origin: str) -> None:
        self._config, self._observer, self._stack, self._origin = config, observer, stack, origin
        self._metrics: list[BaseMetric] = []
        self._questions: list[EvalQuestion] = []
        self._client: RAGClient | None = None
        self._response: EvalResponse | None = None

    async def configuration(self) -> Found:
        """Keys, names and gates."""
        self._metrics = check_config(self._config, asking=False)
        check_calibrated(self._config, self._metrics)
        names = ", ".join(self._config.suite_names)
        listed = f"of {names}" if names else f"({', '.join(metric.name for metric in self._metrics)})"
        judged = sum(Need.JUDGE in metric.needs for metric in self._metrics)
        by_judge = f", {judged} of them by a judge" if judged else ""
        origin = f"{self._origin}: " if self._origin else ""
        return "well", f"{origin}{counted(len(self._metrics), 'metric')} {listed}{by_judge}"

    async def disk(self) -> Found:
        """The folder of runs, and its room."""
        folder = self._config.runs_dir
        RunStore(folder).prepare()
        free = shutil.disk_usage(folder).free
        room, finding = free // _BYTES_A_QUESTION, f"{free / 1e9:.1f} GB free for {folder}"
        hint = f"room for some {counted(room, 'question')}: name another folder by runs_dir"
        return ("well", finding) if room >= 10_000 else ("doubtful", finding, hint)

    async def datasets(self) -> Found:
        """The questions, and metrics that apply to none of them."""
        self._observer.phase("loading datasets")
        workload = await asyncio.to_thread(load_workload, self._config)
        # The first is asked.
        self._questions = sorted(workload.questions, key=lambda question: not question.gold_passages)
        finding = "; ".join(f"{each.name}: {counted(each.questions, 'question')}" for each in workload.fingerprints)
        idle = computable(self._metrics, self._questions)
        hints = [*idle.reasons, *reading_notes(workload.fingerprints)]
        return "doubtful" if idle.missing else "well", finding, "; ".join(hints) or None

    async def server(self) -> Found:
        """The health check, and what the server reports of itself."""
        spec = self._config.server_spec()
        if self._config.embedded:
            spec = embedded_spec(self._stack.enter_context(embedded_server()), self._config.server)
        client = await self._stack.enter_async_context(RAGClient(spec, concurrency=1, max_attempts=1))
        await client.health()
        facts, _ = await client.info()
        self._client = client
        model = f", model {facts['llm_model']}" if facts.get("llm_model") else ""
        if spec.health is None:
            return "unseen", f"{client.url} is not checked: the profile has no health check{model}"
        return "well", f"{client.url} is healthy{model}"

    async def answer(self) -> Found:
        """One question, the first with a gold passage."""
        self._observer.phase("asking one question")
        if self._client is None or not self._questions:
            return "unseen", "no server or no question to ask"
        question = self._questions[0]
        check_conversations(self._client.spec, [question])
        response = await self._client.ask(question)
        if response.error is None:
            self._response = response
            return "well", f"answered in {response.latency_ms or 0:.0f} ms: {_short(response.answer)}"
        hint = "look at server.ask and server.map; `evals profiles` lists kinds of servers"
        if response.error.status in REFUSED:
            hint = self._client.login_hint or "set server.headers to a login: {Authorization: 'Bearer ${TOKEN}'}"
        elif response.error.kind in {"connect", "timeout"}:
            hint = "start the server, or correct server.url"
        raise ServerRefusedError(f"the question {_short(question.question)} fails: {response.error.message}", hint)

    async def mapping(self) -> Found:
        """What was read from the answer, and metrics that cannot be computed of it."""
        if self._client is None or self._response is None:
            return "unseen", "nothing was answered"
        judged = wants_judge(self._config, self._metrics)
        settings = self._config.score_settings(judged=judged, citation_base=self._client.spec.citations.base)
        fitting = [metric for metric in self._metrics if not metric.not_applicable_to(self._questions[0])]
        wanted = [metric for metric in fitting if judged or Need.JUDGE not in metric.needs]
        values = computable(wanted, self._questions[:1], self._response, settings)
        counts = share(len(values.names), len(wanted), "metric")
        finding = f"{_contents(self._response)}; {counts} that apply to this question can be computed"
        if not values.missing:
            return "well", finding
        return "doubtful", finding, "; ".join([*values.reasons, *self._response.notes])

    async def corpus(self) -> Found:
        """Whether the server has the gold documents: by its list, else by the answer."""
        if self._config.ingest or self._config.embedded:
            return "unseen", "the run uploads the documents first"
        if self._client is None or not any(question.gold_passages for question in self._questions):
            return "unseen", "no server, or no question names gold passages"
        missing = (await survey_corpus(self._client, self._questions, self._config.runs_dir)).missing
        if missing:
            finding = f"the server's list lacks {counted(len(missing), 'gold document')}, first: {missing[0]}"
            return "doubtful", finding, "upload them with `evals ingest`"
        if missing is not None:
            return "well", "the server lists every gold document"
        if self._response is None or self._response.chunks is None:
            return "unseen", "the server lists no documents as the questions name them, and sent no chunks"
        settings = self._config.score_settings(judged=False, citation_base=1)
        if settings.sample(self._questions[0], self._response).matches.found:
            return "well", "the answer's chunks hold the gold passage"
        finding = f"no gold passage in what was retrieved for {_short(self._questions[0].question)}"
        return "doubtful", finding, "one question may miss it; if all do, upload the documents with `evals ingest`"

    async def judge(self) -> Found:
        """Whether the judge's API accepts the key and knows the model."""
        if not self._metrics or not wants_judge(self._config, self._metrics):
            return "unseen", "none takes part" if self._metrics else "the configuration is broken"
        if (refusal := refusal_for_key(self._config, self._metrics)) is not None:
            raise refusal
        return "well", await find_judge(self._config.judge)


def _contents(response: EvalResponse) -> str:
    """What was read from a response."""
    chunks = response.chunks
    parts = ["no chunks" if chunks is None else counted(len(chunks), "chunk")]
    for name, keys in (("text", ["text"]), ("id", ["chunk_id"]), ("document", ["document_id", "document_name"])):
        count = sum(any(getattr(chunk, key) for key in keys) for chunk in chunks or ())
        parts += [f"{count} with {name}"] if chunks else []
    parts.append("no citations" if response.citations is None else counted(len(response.citations), "citation"))
    return ", ".join([*parts, "usage" if response.usage else "no usage"])


def _short(text: str | None) -> str:
    line = " ".join((text or "").split())
    return repr(line if len(line) <= 60 else f"{line[:60]}…")
