"""Checks of everything that a run needs, before it is paid for: one finding a part, with the way out."""

import asyncio
import time
from collections import defaultdict
from collections.abc import Iterable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from itertools import islice
from typing import Literal, NamedTuple

from evals.client.http import REFUSED
from evals.client.rag_client import RAGClient
from evals.config import EvalConfig
from evals.errors import EvalsError, ServerRefusedError
from evals.metrics.base import BaseMetric, Need
from evals.run.checks import check_calibrated, check_config, find_judge, refusal_for_key, wants_judge
from evals.run.corpus import chunks_path, chunks_unfound, survey_corpus
from evals.run.embedded import embedded_server, embedded_spec
from evals.run.observer import Observer
from evals.run.workload import check_conversations, load_workload
from evals.schemas.dataset import EvalQuestion
from evals.schemas.response import EvalResponse
from evals.scoring.notes import reading_notes
from evals.scoring.settings import ScoreSettings
from evals.store.runs import RunStore
from evals.text.foreign import one_line
from evals.text.numbers import counted, share

_LOOK_EVERY_S = 1.0
_LOOKED_AT = 1000
"""This many questions decide whether a metric applies to any."""
_FOR_ALL = {"the question is answerable": "no question is marked unanswerable (is_unanswerable)"}
"""What a reason means that holds for every question."""

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


class Computable(NamedTuple):
    """The names of metrics that have a value, and the reasons why others have none, each with their names."""

    names: list[str]
    reasons: list[str]


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
    looked_at, by_reason = list(islice(questions, _LOOKED_AT)), defaultdict[str | None, list[str]](list)
    for metric in metrics:
        reasons = {metric.not_applicable_to(question): question for question in reversed(looked_at)}
        reason = None if None in reasons else next(reversed(reasons), "there are no questions yet")
        if reason is None and response is not None and settings is not None:
            lack = metric.applies(settings.sample(reasons[None], response))
            no_usage = Need.USAGE in metric.needs and response.usage is None
            reason = lack.reason if lack else "the server reported no token usage" if no_usage else None
        by_reason[_FOR_ALL.get(reason or "", reason)].append(metric.name)
    names = by_reason.pop(None, [])
    return Computable(names, [f"{', '.join(lacking)}: {reason}" for reason, lacking in by_reason.items()])


async def examine(config: EvalConfig, observer: Observer, origin: str) -> list[CheckResult]:
    """Check every part that a run needs; the server is asked one question, the judge none.

    Args:
        config: Of the run.
        observer: Receives the progress.
        origin: The file of the configuration, which its finding names.
    """
    findings: list[CheckResult] = []
    async with AsyncExitStack() as stack:
        checks = _Checks(config, observer, stack, origin)
        for part in ("configuration", "datasets", "server", "answer", "corpus", "judge"):
            try:
                findings.append(CheckResult(part, *await getattr(checks, part)()))
            except EvalsError as error:
                findings.append(broken(part, error))
    return findings


Finding = tuple[Health, str] | tuple[Health, str, str | None]
"""The health of a part, what it is, and the way out."""


@dataclass
class _Checks:
    """The check of each part, in the order in which a run needs them; what one learns is kept for the next."""

    config: EvalConfig
    observer: Observer
    stack: AsyncExitStack
    origin: str
    metrics: Sequence[BaseMetric] = ()
    questions: Sequence[EvalQuestion] = ()
    client: RAGClient | None = None
    response: EvalResponse | None = None

    async def configuration(self) -> Finding:
        """Keys, names and gates, and the folder of runs."""
        self.metrics = check_config(self.config, asking=False)
        check_calibrated(self.config, self.metrics)
        RunStore(self.config.runs_dir).prepare()
        names = ", ".join(self.config.suite_names or [metric.name for metric in self.metrics])
        return "well", f"{self.origin}: {counted(len(self.metrics), 'metric')} of {names}"

    async def datasets(self) -> Finding:
        """The questions, and metrics that apply to none of them."""
        self.observer.phase("loading datasets")
        workload = await asyncio.to_thread(load_workload, self.config)
        # The first is asked.
        self.questions = sorted(workload.questions, key=lambda question: not question.gold_passages)
        counts = "; ".join(f"{data.name}: {counted(data.questions, 'question')}" for data in workload.fingerprints)
        idle = computable(self.metrics, self.questions)
        hints = [*idle.reasons, *reading_notes(workload.fingerprints)]
        return "doubtful" if idle.reasons else "well", counts, "; ".join(hints) or None

    async def server(self) -> Finding:
        """The health check, and what the server reports of itself."""
        spec = self.config.server_spec()
        if self.config.embedded:
            spec = embedded_spec(self.stack.enter_context(embedded_server()), self.config.server)
        client = await self.stack.enter_async_context(RAGClient(spec, concurrency=1, max_attempts=1))
        self.observer.phase(f"checking {client.url}")
        await client.health()
        self.client = client
        if spec.health is None:
            return "unseen", f"{client.url} is not checked: the profile has no health check"
        return "well", f"{client.url} is healthy"

    async def answer(self) -> Finding:
        """One question, the first with a gold passage: what is read from its answer, and what cannot be computed."""
        if self.client is None or not self.questions:
            return "unseen", "no server or no question to ask"
        first = self.questions[0]
        check_conversations(self.client.spec, [first])
        response = self.response = await self._asked(self.client, first)
        if (error := response.error) is not None:
            hint = "look at server.url, server.ask and server.map; `evals profiles` lists kinds of servers"
            if error.status in REFUSED:
                hint = self.client.login_hint or "set server.headers to a login: {Authorization: 'Bearer ${TOKEN}'}"
            raise ServerRefusedError(f"the question {one_line(first.question, 60)!r} fails: {error.message}", hint)
        judged = wants_judge(self.config, self.metrics)
        settings = self.config.score_settings(judged=judged, citation_base=self.client.spec.citations.base)
        usable = [metric for metric in self.metrics if judged or Need.JUDGE not in metric.needs]
        fitting = [metric for metric in usable if not metric.not_applicable_to(first)]
        values = computable(fitting, [first], response, settings)
        unfound = chunks_unfound(chunks_path(self.client.spec), [response])
        hints = [*filter(None, [unfound]), *values.reasons, *response.notes] if values.reasons or unfound else []
        lists = {"chunk": response.chunks, "citation": response.citations}
        parts = [f"no {name}s" if items is None else counted(len(items), name) for name, items in lists.items()]
        read = ", ".join([*parts, "usage" if response.usage else "no usage"])
        text = f"{one_line(response.answer or '', 60)!r} in {response.latency_ms or 0:.0f} ms, with {read}"
        counts = f"{share(len(values.names), len(fitting), 'metric')} that apply to this question can be computed"
        return "doubtful" if hints else "well", f"{text}; {counts}", "; ".join(hints) or None

    async def _asked(self, client: RAGClient, question: EvalQuestion) -> EvalResponse:
        """The response to a question, with a report while it does not come."""
        limit = f"{client.spec.timeout_s:g} s (server.timeout_s)"
        self.observer.phase(f"asking {one_line(question.question, 60)!r}, for at most {limit}")
        asking, started = asyncio.create_task(client.ask(question)), time.monotonic()
        while not (await asyncio.wait([asking], timeout=_LOOK_EVERY_S))[0]:
            self.observer.waiting(f"no answer yet, after {time.monotonic() - started:.0f} s of {limit}")
        return await asking

    async def corpus(self) -> Finding:
        """Whether the server has the gold documents: by its list, else by the answer."""
        if self.config.ingest or self.config.embedded:
            return "unseen", "the run uploads the documents first"
        if self.client is None or not any(question.gold_passages for question in self.questions):
            return "unseen", "no server, or no question names gold passages"
        self.observer.phase("reading the list of documents")
        missing = (await survey_corpus(self.client, self.questions, self.config.runs_dir)).missing
        if missing == []:
            return "well", "the server lists every gold document"
        hint = "upload the documents with `evals ingest`; one question may miss its gold, if all do, it is not there"
        if missing:
            return "doubtful", f"the server's list lacks {len(missing)} gold documents, first: {missing[0]}", hint
        if self.response is None or self.response.chunks is None:
            return "unseen", "the server lists no documents as the questions name them, and no answer came with chunks"
        settings, first = self.config.score_settings(judged=False, citation_base=1), self.questions[0]
        if settings.sample(first, self.response).matches.found:
            return "well", "the answer's chunks hold the gold passage"
        return "doubtful", f"no gold passage in what was retrieved for {one_line(first.question, 60)!r}", hint

    async def judge(self) -> Finding:
        """Whether the judge's API accepts the key and knows the model."""
        if not self.metrics or not wants_judge(self.config, self.metrics):
            return "unseen", "none takes part" if self.metrics else "the configuration is broken"
        if (refusal := refusal_for_key(self.config, self.metrics)) is not None:
            raise refusal
        self.observer.phase("looking for the model of the judge")
        return "well", await find_judge(self.config.judge)
