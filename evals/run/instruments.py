"""What a run measures with: its metrics, its judge, and the models that compare texts."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace

from evals.case.abstention.detector import is_abstention
from evals.config import EvalConfig
from evals.datasets.hub import settle_hub
from evals.engines.cluster import Cluster, open_cluster
from evals.engines.models import cluster_semantics
from evals.judges.backends.base import Identity
from evals.judges.backends.providers import PROVIDERS
from evals.judges.batches.judge import BatchJudge
from evals.judges.batches.pace import Pace
from evals.judges.batches.vendor import AnthropicBatches
from evals.judges.cache import JudgeCache
from evals.judges.forecast import Forecast
from evals.judges.llm_judge import LLMJudge
from evals.metrics.base import BaseMetric
from evals.metrics.judged import judged_abstention
from evals.metrics.registry import METRICS
from evals.run.checks import model_choice, wants_judge
from evals.run.estimate import Estimate, Known, estimate_judging, planned_cases
from evals.run.likely_answers import saved_sizes
from evals.run.observer import Observer
from evals.schemas import Document, EvalQuestion, EvalRecord, EvalResponse, JudgeVerdict
from evals.schemas.verdicts import JudgeUsage
from evals.scoring.prices import judge_price
from evals.scoring.settings import ScoreSettings
from evals.semantics.base import Semantics
from evals.semantics.loading import load_semantics
from evals.store.batches import FOLDER, BatchLog
from evals.store.runs import RunStore


@dataclass(frozen=True, slots=True)
class Instruments:
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
    def wait_for_all(self) -> bool:
        """Whether records are scored when all answers are there: a judge, a model or the metric of a plugin takes part.

        What a plugin does may depend on the thread, on the order, or on being done once.
        """
        compares = self.semantics is not None and self.semantics.compares
        return self.judge is not None or compares or not all(map(_is_built_in, self.metrics))

    def settings(self, config: EvalConfig, citation_base: int) -> ScoreSettings:
        """How records are scored with them."""
        plain = config.score_settings(judged=self.judge is not None, citation_base=citation_base)
        return replace(plain, semantics=self.semantics, declining=judged_abstention(self.metrics))


def _is_built_in(metric: BaseMetric) -> bool:
    return type(metric) in METRICS


async def join_cluster(stack: AsyncExitStack, config: EvalConfig, observer: Observer) -> Cluster | None:
    """The cluster that asks and embeds, until the stack is left; None where this process does.

    Raises:
        EngineError: It cannot be started or joined.
    """
    if config.engine.name == "local":
        return None
    where = f"joining the cluster at {config.engine.scheduler}" if config.engine.scheduler else "starting a cluster"
    observer.phase(where)
    cluster = await stack.enter_async_context(open_cluster(config.engine))
    observer.note(f"the dashboard of the cluster: {cluster.dashboard}")
    return cluster


async def load_instruments(
    config: EvalConfig, metrics: Sequence[BaseMetric], observer: Observer, cluster: Cluster | None = None
) -> Instruments:
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
        return Instruments(metrics, judge, None)
    observer.phase("loading the models that compare texts")
    if cluster is not None:
        return Instruments(metrics, judge, await cluster_semantics(cluster, choice))
    return Instruments(metrics, judge, await asyncio.to_thread(load_semantics, choice, settle_hub))


def _make_ready() -> None:
    """Make now what is else made with the first answer: those in flight beside it would seem to take longer."""
    is_abstention("I do not know.")
    for kind in (EvalResponse, EvalRecord, JudgeVerdict):
        kind.model_rebuild()


def make_judge(config: EvalConfig) -> LLMJudge:
    """The judge that the configuration names.

    Raises:
        JudgeError: Its package is not installed.
        StoreError: Its replies cannot be kept.
    """
    judge = config.judge
    cache = JudgeCache.of(judge, config.runs_dir)
    if cache is not None:
        cache.prepare()
    made = _batch_judge(config, cache) if judge.batch else _call_judge(config, cache)
    made.max_input_tokens = judge.max_input_tokens
    return made


def _call_judge(config: EvalConfig, cache: JudgeCache | None) -> LLMJudge:
    """One that is asked call by call."""
    judge = config.judge
    provider = PROVIDERS[judge.provider]
    return LLMJudge(
        provider.make(judge.model, base_url=provider.address(judge.base_url), effort=judge.effort),
        provider=judge.provider,
        cache=cache,
        repeats=judge.repeats,
        concurrency=judge.concurrency,
        max_cost_usd=config.budget_usd,
        price=price_of_judge(config),
    )


def _batch_judge(config: EvalConfig, cache: JudgeCache | None) -> LLMJudge:
    """One that is asked in batches.

    Raises:
        JudgeError: Its package is not installed.
        StoreError: What is sent cannot be written down.
    """
    judge = config.judge
    address = PROVIDERS[judge.provider].address(judge.base_url)
    vendor = AnthropicBatches(judge.model, base_url=address, effort=judge.effort)
    log = BatchLog(config.runs_dir / FOLDER, vendor.origin)
    log.prepare()
    return BatchJudge(
        vendor,
        log,
        Pace(first_s=judge.batch_poll_s, limit_s=judge.batch_timeout_s),
        cache=cache,
        repeats=judge.repeats,
        max_cost_usd=config.budget_usd,
        price=price_of_judge(config),
    )


def judge_identity(config: EvalConfig) -> Identity:
    """Who judges, known without asking."""
    return config.judge.identity


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
    price, cases = price_of_judge(config), planned_cases(config, metrics)
    forecast = saved_forecast(config)
    return estimate_judging(metrics, questions, documents, config, price, cases, known=known, forecast=forecast)


def saved_forecast(config: EvalConfig) -> Forecast:
    """What a call of the judge takes, by the saved runs."""
    judge = config.judge.identity
    return Forecast(judge, saved_sizes(RunStore(config.runs_dir), judge))


def price_of_judge(config: EvalConfig) -> Callable[[str, JudgeUsage], float | None]:
    """What the judge's tokens cost."""
    vendor = PROVIDERS[config.judge.provider].price_table(config.judge.base_url)
    return judge_price(config.prices, vendor, batch=config.judge.batch)
