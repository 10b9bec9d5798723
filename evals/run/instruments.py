"""What a run measures with: its metrics, its judge, and the models that compare texts."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace

from evals.config import EvalConfig
from evals.datasets.hub import settle_hub
from evals.judges.backends.address import origin_of
from evals.judges.backends.base import Identity
from evals.judges.backends.providers import PROVIDERS
from evals.judges.cache import JudgeCache
from evals.judges.llm_judge import LLMJudge
from evals.metrics.base import BaseMetric
from evals.run.checks import model_choice, wants_judge
from evals.run.estimate import Estimate, Known, estimate_judging, planned_settings
from evals.run.observer import Observer
from evals.run.workload import Workload
from evals.schemas.results import JudgeUsage
from evals.scoring.prices import judge_price
from evals.scoring.settings import ScoreSettings
from evals.semantics.loading import load_semantics


def make_judge(config: EvalConfig) -> LLMJudge:
    """The judge that the configuration names.

    Raises:
        JudgeError: Its package is not installed.
        StoreError: Its replies cannot be kept.
    """
    judge = config.judge
    cache = JudgeCache(config.runs_dir / ".judge-cache") if judge.cache else None
    if cache is not None:
        cache.prepare()
    provider = PROVIDERS[judge.provider]
    return LLMJudge(
        provider.make(judge.model, base_url=provider.address(judge.base_url)),
        provider=judge.provider,
        cache=cache,
        repeats=judge.repeats,
        concurrency=judge.concurrency,
        max_cost_usd=judge.max_cost_usd,
        price=_price(config),
    )


def judge_identity(config: EvalConfig) -> Identity:
    """Who judges, known without asking."""
    judge = config.judge
    address = PROVIDERS[judge.provider].address(judge.base_url)
    return Identity(judge.model, origin_of(address), judge.provider)


def estimate_of(
    config: EvalConfig,
    metrics: Sequence[BaseMetric],
    workload: Workload,
    known: Known | None = None,
    settings: ScoreSettings | None = None,
) -> Estimate | None:
    """What judging will take; None where no judge takes part. Asks nothing of anybody."""
    if not wants_judge(config, metrics):
        return None
    price = _price(config)
    settings = settings or planned_settings(config, metrics)
    return estimate_judging(metrics, workload.questions, workload.documents, config, price, settings, known=known)


def _price(config: EvalConfig) -> Callable[[str, JudgeUsage], float | None]:
    return judge_price(config.prices, PROVIDERS[config.judge.provider].price_table(config.judge.base_url))


async def tell_estimate(
    config: EvalConfig,
    metrics: Sequence[BaseMetric],
    workload: Workload,
    known: Known,
    settings: ScoreSettings,
    observer: Observer,
    *,
    spent_usd: float = 0.0,
) -> None:
    """Say what the judge will take, and whether the budget will do.

    Args:
        config: Of the run.
        metrics: Of the run.
        workload: What will be judged.
        known: What is there already.
        settings: How the run's records are scored.
        observer: Hears of it.
        spent_usd: What a run that goes on has spent before.
    """
    estimate = await asyncio.to_thread(estimate_of, config, metrics, workload, known, settings)
    if estimate is not None:
        observer.estimate(estimate)
        warning = estimate.warning(config.judge.max_cost_usd, spent_usd)
        if warning:
            observer.note(warning)


async def with_semantics(
    settings: ScoreSettings, config: EvalConfig, metrics: Sequence[BaseMetric], observer: Observer
) -> ScoreSettings:
    """The settings with what the metrics compare texts with, loaded off the event loop.

    Takes seconds, and downloads models that are not in the cache: call it before asking.

    Raises:
        ConfigError: A model cannot be loaded.
    """
    choice = model_choice(config, metrics)
    if choice.embedder is None and choice.scorer is None:
        return settings
    observer.phase("loading the models that compare texts")
    return replace(settings, semantics=await asyncio.to_thread(load_semantics, choice, settle_hub))
