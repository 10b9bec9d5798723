"""What will be done: metrics and questions, known and checked before anything is asked."""

import asyncio
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from evals.config import EvalConfig, JudgeConfig
from evals.datasets.base import LoadOptions
from evals.datasets.file import load_file
from evals.datasets.hub import settle_hub
from evals.datasets.registry import check_name, get_loader, parse_name
from evals.errors import ConfigError, DatasetError, JudgeError, UnknownNameError
from evals.judges.backends.address import origin_of
from evals.judges.backends.base import Identity
from evals.judges.backends.providers import PROVIDERS
from evals.judges.cache import JudgeCache
from evals.judges.llm_judge import LLMJudge
from evals.metrics.base import BaseMetric, Need
from evals.metrics.ragas_answer import RagasScore
from evals.metrics.registry import select
from evals.run.estimate import Estimate, Known, estimate_judging, planned_settings
from evals.run.observer import Observer
from evals.schemas import DatasetFingerprint, Document, EvalDataset, EvalQuestion
from evals.schemas.results import JudgeUsage
from evals.scoring.gates import parse_gate
from evals.scoring.prices import judge_price
from evals.scoring.scorecard import ScoreSettings, check_feeds
from evals.semantics.loading import ModelChoice, check_choice, load_semantics

_QUESTION = re.compile(r"\{\{\s*question\s*\}\}")


@dataclass(frozen=True, slots=True)
class Workload:
    """The questions of all datasets, with their corpora."""

    questions: list[EvalQuestion] = field(default_factory=list)
    documents: list[Document] = field(default_factory=list)
    fingerprints: list[DatasetFingerprint] = field(default_factory=list)


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
    if not _QUESTION.search(config.server_spec().ask.model_dump_json()):
        raise ConfigError("server.ask never sends the question", "put {{question}} where it belongs")
    metrics = [_configured(metric, config) for metric in select(config.suite_names, config.metrics)]
    if not metrics:
        raise ConfigError("there is nothing to compute: no suite and no metric is named", "--suite core is the default")
    check_feeds(config.scoring)
    for gate in config.gate:
        parse_gate(gate, [metric.name for metric in metrics])
    if config.dataset_file is None:
        for name in config.dataset_names:
            check_name(name)
    check_choice(_model_choice(config, metrics))
    if wants_judge(config, metrics):
        _check_model(config.judge)
        if asking:
            _check_key(config.judge)
    return metrics


def _configured(metric: BaseMetric, config: EvalConfig) -> BaseMetric:
    return RagasScore(weights=config.scoring.ragas_weights) if isinstance(metric, RagasScore) else metric


def _check_model(judge: JudgeConfig) -> None:
    """Stop at `name:model` where the vendor has no such model; behind another address a name may be anything."""
    provider = PROVIDERS[judge.provider]
    prefix, colon, _ = judge.model.partition(":")
    if colon and not provider.imitated and origin_of(provider.address(judge.base_url)) == origin_of(provider.home):
        raise UnknownNameError("provider of a judge", prefix, PROVIDERS)


def _check_key(judge: JudgeConfig) -> None:
    provider = PROVIDERS[judge.provider]
    if provider.lacks_key(judge.base_url):
        name = provider.key_variables[0]
        raise JudgeError(
            f"the generation metrics need an LLM judge, and {name} is not set",
            f"export {name}=…, or judge by a server of your own (--judge-model openai:NAME --judge-base-url URL), "
            "or measure everything else with --no-judge",
        )


def wants_judge(config: EvalConfig, metrics: Sequence[BaseMetric]) -> bool:
    """Whether a judge takes part in the run."""
    return config.judge.enabled and any(Need.JUDGE in metric.needs for metric in metrics)


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
    choice = _model_choice(config, metrics)
    if choice.embedder is None and choice.scorer is None:
        return settings
    observer.phase("loading the models that compare texts")
    return replace(settings, semantics=await asyncio.to_thread(load_semantics, choice, settle_hub))


def _model_choice(config: EvalConfig, metrics: Sequence[BaseMetric]) -> ModelChoice:
    needs = {need for metric in metrics for need in metric.needs}
    return config.semantic.choice(embedder=Need.EMBEDDER in needs, scorer=Need.TEXT_SCORER in needs)


def load_workload(config: EvalConfig) -> Workload:
    """Load the questions and corpora that the configuration names.

    Raises:
        DatasetError: They cannot be had or read.
    """
    sets = _load(config)
    workload = Workload(
        questions=[question for dataset in sets for question in dataset.questions],
        documents=list({document.id: document for dataset in sets for document in dataset.documents}.values()),
        fingerprints=[dataset.fingerprint for dataset in sets],
    )
    if not workload.questions:
        raise DatasetError("the datasets hold no questions")
    _check_unique(workload.questions)
    return workload


def _load(config: EvalConfig) -> list[EvalDataset]:
    everything = LoadOptions(config.samples_per_dataset, config.seed, data_dir=config.data_dir, columns=config.columns)
    if config.dataset_file:
        return [load_file(config.dataset_file, everything)]
    sets = []
    for name in dict.fromkeys(config.dataset_names):
        check_name(name)
        base, chosen = parse_name(name)
        sets.append(get_loader(base).load(replace(everything, config=chosen)))
    return sets


def _check_unique(questions: Sequence[EvalQuestion]) -> None:
    seen: dict[str, str] = {}
    for question in questions:
        if question.id in seen:
            raise ConfigError(
                f"question id {question.id!r} is in {seen[question.id]!r} and in {question.dataset!r}",
                "run the two datasets apart, or change the ids of one",
            )
        seen[question.id] = question.dataset
