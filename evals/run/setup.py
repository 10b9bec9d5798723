"""Checks of a configuration before anything is loaded or asked, and what a run then measures with."""

import asyncio
import re
from collections.abc import Iterator, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from importlib.util import find_spec
from itertools import chain
from multiprocessing import current_process
from typing import TYPE_CHECKING, Any

from evals.config import EvalConfig
from evals.datasets.hub import settle_hub
from evals.datasets.registry import check_name
from evals.errors import ConfigError, EvalsError, JudgeError, UnknownNameError
from evals.judges.backends.base import origin_of
from evals.judges.backends.providers import PROVIDERS
from evals.judges.batch_api import FOLDER, AnthropicBatches, BatchLog, Pace
from evals.judges.batches import BatchJudge
from evals.judges.cache import JudgeCache
from evals.judges.config import JudgeConfig
from evals.judges.llm_judge import LLMJudge
from evals.judges.rubrics import rubric_metric
from evals.metrics.base import BaseMetric, Need
from evals.metrics.custom import SavedMetric
from evals.metrics.embedders import ModelChoice, Semantics, Vector, check_choice, load_semantics
from evals.metrics.judged import judged_abstention
from evals.metrics.ragas import RagasScore
from evals.metrics.registry import METRICS, of_streams, register, select
from evals.run.embedded import check_embedded
from evals.run.estimate import Estimate, Known, estimate_judging, price_of_judge
from evals.run.notebook import Observer
from evals.schemas.dataset import Document, EvalQuestion
from evals.schemas.response import EvalResponse
from evals.schemas.results import EvalRecord
from evals.schemas.verdicts import JudgeVerdict
from evals.scoring.calibration import find_calibration, hashes_of, refuse_uncalibrated
from evals.scoring.gates import parse_gate
from evals.scoring.settings import ScoreSettings, ScoringContext
from evals.scoring.weighted import check_feeds
from evals.store.runs import saved_calibrations
from evals.text.refusals.detector import is_abstention

if TYPE_CHECKING:
    from evals.run.cluster import Cluster  # which needs Dask

_QUESTION = re.compile(r"\{\{\s*(?:question|messages)\s*\}\}")


def check_config(config: EvalConfig, *, asking: bool = True) -> list[BaseMetric]:
    """Check all names and the judge's key, without loading or asking anything; returns the metrics.

    Args:
        config: Of the run.
        asking: Whether the judge will be asked; a plan needs no key.

    Raises:
        UnknownNameError: A dataset, metric, suite or profile does not exist.
        ConfigError: The configuration cannot work.
        JudgeError: The judge is wanted and there is no key.
    """
    _check_process()
    _check_together(config)
    metrics = _metrics_of(config)
    check_feeds(config.scoring)
    for gate in config.gate:
        parse_gate(gate, [metric.name for metric in metrics])
    if config.dataset_file is None:
        for name in config.dataset_names:
            check_name(name)
    check_choice(model_choice(config, metrics))
    if wants_judge(config, metrics):
        _check_model(config.judge)
    if asking:
        if refusal := refusal_of(config, metrics):
            raise refusal
        _check_code(metrics)
    return metrics


def _check_code(metrics: Sequence[BaseMetric]) -> None:
    """Stop where a metric is known by a saved run alone."""
    for metric in metrics:
        if isinstance(metric, SavedMetric):
            raise ConfigError(
                f"the code of metric {metric.name!r} is not there",
                "name it by its file: FILE.py:NAME, or install the package that it is of",
            )


def _metrics_of(config: EvalConfig) -> list[BaseMetric]:
    """The metrics of the suites, those named, and how an answer arrives where it comes in pieces."""
    is_streamed = "core" in config.suite_names and config.server_spec().stream is not None
    for name, spec in config.judged.items():
        register(rubric_metric(name, spec))  # as another configuration may have one of this name
    named = [*config.judged, *config.metrics, *(of_streams() if is_streamed else ())]
    metrics = select(config.suite_names, named)
    if not metrics:
        raise ConfigError("there is nothing to compute: no suite and no metric is named", "--suite core is the default")
    weights = config.scoring.ragas_weights
    return [RagasScore(weights=weights) if isinstance(metric, RagasScore) else metric for metric in metrics]


def check_calibrated(config: EvalConfig, metrics: Sequence[BaseMetric]) -> None:
    """Stop where a gate rests on a judge whose errors are unknown, before it is paid for.

    Raises:
        ConfigError: It does, and that was not allowed.
    """
    if config.allow_uncalibrated or not wants_judge(config, metrics):
        return
    gated = {parse_gate(gate, [metric.name for metric in metrics]).metric for gate in config.gate}
    if gated:
        judge, known = config.judge, saved_calibrations(config.runs_dir)
        prompts = judge.prompt_book()
        never = (
            metric.name
            for metric in metrics
            if Need.JUDGE in metric.needs
            and find_calibration(metric.name, judge.model, judge.effort, hashes_of(metric, prompts.load), known) is None
        )
        refuse_uncalibrated(gated, never, config.scoring.feeding, config.judge.model)


def _check_together(config: EvalConfig) -> None:
    """Stop at keys of which one says that another has no meaning."""
    for is_wrong, said, hint in chain(_refusals(config), _refusals_of_engine(config)):
        if is_wrong:
            raise ConfigError(said, hint)
    if config.embedded:
        check_embedded(config.server)
    if not _QUESTION.search(config.server_spec().ask.model_dump_json()):
        raise ConfigError("server.ask never sends the question", "put {{question}} where it belongs")


def _refusals(config: EvalConfig) -> Iterator[tuple[object, str, str]]:
    """Each: whether it holds, what is said, and what to do."""
    is_part, is_dask = config.shard is not None, config.engine.name == "dask"
    yield (
        is_part and config.ingest,
        "ingest: of several shards each would upload all documents",
        "upload them before, in a run of one question",
    )
    yield (
        config.load and (is_part or is_dask),
        "load: a sweep is asked by one process, without shards and without workers",
        "leave shard and engine out",
    )
    yield (
        config.tracing,
        "tracing is gone",
        "leave it out: no run sends spans until production answers bring `traceparent`",
    )
    yield (
        is_dask and config.rps,
        "rps is of questions that this process asks",
        "leave engine.name out, or rps",
    )


def _refusals_of_engine(config: EvalConfig) -> Iterator[tuple[object, str, str]]:
    """The same of who does the work."""
    engine, is_dask = config.engine, config.engine.name == "dask"
    for key in ("scheduler", "workers"):
        is_idle = not is_dask and getattr(engine, key) is not None
        yield is_idle, f"engine.{key} is of a Dask cluster, and this process does the work", "add --engine dask"
    yield (
        is_dask and engine.scheduler is not None and engine.workers is not None,
        "engine.workers: the cluster of a scheduler has workers of its own",
        "leave --workers or --scheduler out",
    )
    yield (
        is_dask and engine.scheduler is not None and config.embedded,
        "embedded: the built-in server listens on this machine alone, where workers of others do not reach it",
        "leave --scheduler out, or evaluate a server with --rag-url",
    )
    yield (
        is_dask and _lacks("distributed"),
        "engine.name is dask, and Dask is not installed",
        "pip install 'rag-evals[dask]'",
    )


def _lacks(*modules: str) -> bool:
    """Whether one of these is not installed; a package comes before its parts."""
    return any(find_spec(module) is None for module in modules)


def _check_process() -> None:
    """Stop in a process that is just being spawned: it reads the script anew, which would ask everything again."""
    if getattr(current_process(), "_inheriting", False):  # what multiprocessing itself goes by, and has no public name
        raise ConfigError(
            "a process that was started to help with a run is about to begin it again",
            'put what begins it under `if __name__ == "__main__":`',
        )


def _check_model(judge: JudgeConfig) -> None:
    """Stop at `name:model` where the vendor has no such model, or where `name` is a word and no provider was chosen.

    Behind another address than the vendor's, the model of a chosen provider may be called anything.
    """
    provider = PROVIDERS[judge.provider]
    prefix, colon, _ = judge.model.partition(":")
    if not colon or provider.imitated:
        return
    if origin_of(provider.address(judge.base_url)) == origin_of(provider.home):
        raise UnknownNameError("provider of a judge", prefix, PROVIDERS)
    if prefix.isalpha() and "provider" not in judge.model_fields_set:
        raise ConfigError(
            f"unknown provider of a judge {prefix!r}",
            f"known: {', '.join(PROVIDERS)}; for a model of this name behind the address, "
            f"write {judge.provider}:{judge.model}",
        )


def refusal_of(config: EvalConfig, metrics: Sequence[BaseMetric]) -> EvalsError | None:
    """Why a run of these metrics does not begin though all its names are known; None where it does."""
    if refusal := refusal_for_key(config, metrics):
        return refusal
    try:
        check_calibrated(config, metrics)
    except ConfigError as error:
        return error
    return None


def refusal_for_key(config: EvalConfig, metrics: Sequence[BaseMetric]) -> JudgeError | None:
    """Why a run of these metrics does not begin, where its judge needs a key and there is none; None where it does."""
    provider = PROVIDERS[config.judge.provider]
    if not wants_judge(config, metrics) or not provider.lacks_key(config.judge.base_url):
        return None
    name = provider.key_variables[0]
    return JudgeError(
        f"the generation metrics need an LLM judge, and {name} is not set",
        f"export {name}=…, or judge by a server of your own (--judge-model openai:NAME --judge-base-url URL), "
        "or measure everything else with --no-judge",
    )


def wants_judge(config: EvalConfig, metrics: Sequence[BaseMetric]) -> bool:
    """Whether a judge takes part in the run."""
    if not config.judge.enabled:
        return False
    only_retrieves = not config.server_spec().gives_answers
    return any(Need.JUDGE in metric.needs and not (only_retrieves and metric.of_answer) for metric in metrics)


def model_choice(config: EvalConfig, metrics: Sequence[BaseMetric]) -> ModelChoice:
    """The models that these metrics compare texts by."""
    needs = {need for metric in metrics for need in metric.needs}
    return config.semantic.choice(embedder=Need.EMBEDDER in needs, scorer=Need.TEXT_SCORER in needs)


# What a run measures with: its metrics, its judge, and the models that compare texts.


@dataclass(frozen=True, slots=True)
class Toolkit:
    """What a run measures with.

    Attributes:
        metrics: What is computed.
        judge: Decides what only a reader can; None where none takes part.
        semantics: Compares texts; None where no metric wants that.
    """

    metrics: Sequence[BaseMetric]
    judge: LLMJudge | None
    semantics: Semantics | None

    @property
    def is_portable(self) -> bool:
        """Whether another thread or process can score as well: no model compares texts, and no metric is of a plugin.

        What a plugin does may depend on the thread, on the order, or on being done once.
        """
        compares = self.semantics is not None and self.semantics.compares
        return not compares and all(type(metric) in METRICS for metric in self.metrics)

    @property
    def waits_for_all(self) -> bool:
        """Whether nothing is scored before all answers are there, for a judge, a model or a plugin."""
        return self.judge is not None or not self.is_portable

    def settings(self, config: EvalConfig, citation_base: int, *, judged: bool = False) -> ScoreSettings:
        """How records are scored with them, or by what a judge said elsewhere (`judged`)."""
        plain = config.score_settings(judged=judged or self.judge is not None, citation_base=citation_base)
        return replace(plain, semantics=self.semantics, declining=judged_abstention(self.metrics))


async def join_cluster(stack: AsyncExitStack, config: EvalConfig, observer: Observer) -> "Cluster | None":
    """The cluster that asks and embeds, until the stack is left; None where this process does.

    Raises:
        EngineError: It cannot be started or joined.
    """
    if config.engine.name == "local":
        return None
    from evals.run.cluster import open_cluster  # noqa: PLC0415 - half a second, and an extra

    where = f"joining the cluster at {config.engine.scheduler}" if config.engine.scheduler else "starting a cluster"
    observer.phase(where)
    cluster = await stack.enter_async_context(open_cluster(config.engine))
    observer.note(f"the dashboard of the cluster: {cluster.dashboard}")
    return cluster


async def load_toolkit(
    config: EvalConfig, metrics: Sequence[BaseMetric], observer: Observer, cluster: "Cluster | None" = None
) -> Toolkit:
    """Make the judge and load the models: off the event loop, or on the workers of a cluster where there is one.

    Takes seconds where models are wanted, and downloads those that are not in the cache: call it before asking.

    Raises:
        ConfigError: A model cannot be loaded.
        EngineError: The workers of the cluster have not the same models.
        JudgeError: The judge's package is not installed.
        StoreError: Its replies cannot be kept.
    """
    _make_ready()
    judge = make_judge(config) if wants_judge(config, metrics) else None
    choice = model_choice(config, metrics)
    if choice.empty:
        return Toolkit(metrics, judge, None)
    observer.phase("loading the models that compare texts")
    if cluster is not None:
        from evals.run.cluster import cluster_semantics  # noqa: PLC0415 - as above

        return Toolkit(metrics, judge, await cluster_semantics(cluster, choice))
    return Toolkit(metrics, judge, await asyncio.to_thread(load_semantics, choice, settle_hub))


def _make_ready() -> None:
    """Make now what is else made with the first answer: those in flight with it would seem to take longer."""
    is_abstention("I do not know.")
    for kind in (EvalResponse, EvalRecord, JudgeVerdict):
        kind.model_rebuild()


def make_judge(config: EvalConfig) -> LLMJudge:
    """The judge that the configuration names, asked in batches or call by call.

    Raises:
        JudgeError: Its package is not installed.
        StoreError: Its replies, or what is sent in batches, cannot be kept.
    """
    judge, provider = config.judge, PROVIDERS[config.judge.provider]
    address, cache = provider.address(judge.base_url), JudgeCache.of(judge, config.runs_dir)
    if cache is not None:
        cache.prepare()
    common: dict[str, Any] = {
        "cache": cache,
        "repeats": judge.repeats,
        "max_cost_usd": config.budget_usd,
        "price": price_of_judge(config),
    }
    made: LLMJudge
    if judge.batch:
        vendor = AnthropicBatches(judge.model, base_url=address, effort=judge.effort)
        log = BatchLog(config.runs_dir / FOLDER, vendor.origin)
        log.prepare()
        made = BatchJudge(vendor, log, Pace(first_s=judge.batch_poll_s, limit_s=judge.batch_timeout_s), **common)
    else:
        backend = provider.make(judge.model, base_url=address, effort=judge.effort)
        made = LLMJudge(backend, provider=judge.provider, concurrency=judge.concurrency, **common)
    made.max_input_tokens = judge.max_input_tokens
    return made


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
        raise RuntimeError("an estimate only counts requests: no model is loaded to embed texts")


def estimate_of(
    config: EvalConfig,
    metrics: Sequence[BaseMetric],
    questions: Sequence[EvalQuestion],
    documents: Sequence[Document] = (),
    known: Known | None = None,
) -> Estimate | None:
    """What judging will take, before models are loaded; None where no judge takes part. Asks nothing of anybody."""
    if not wants_judge(config, metrics):
        return None
    return estimate_judging(metrics, questions, documents, config, planned_cases(config, metrics), known)
