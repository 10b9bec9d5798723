"""Checks of a configuration before anything is loaded or asked, and what a run measures with."""

import asyncio
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from multiprocessing import current_process
from typing import Any

from evals.config import EvalConfig
from evals.datasets.base import probe_hub
from evals.datasets.registry import check_name
from evals.errors import ConfigError, EvalsError, JudgeError, UnknownNameError
from evals.judges.batches import FOLDER, AnthropicBatches
from evals.judges.cache import JudgeCache
from evals.judges.config import JudgeConfig
from evals.judges.llm_judge import LLMJudge
from evals.judges.models import PROVIDERS, CallFailed, Model, origin_of
from evals.judges.money import judge_price
from evals.judges.rubrics import rubric_metric
from evals.metrics.base import BaseMetric, Need
from evals.metrics.custom import SavedMetric
from evals.metrics.embedders import ModelChoice, Semantics, check_choice, load_semantics
from evals.metrics.judged import asks_correctness
from evals.metrics.ragas import RagasScore
from evals.metrics.registry import of_streams, register, select
from evals.run.embedded import check_embedded
from evals.run.estimate import Estimate, estimate_judging
from evals.run.judging import Judging
from evals.run.observer import Observer
from evals.schemas.results import EvalRecord
from evals.schemas.verdicts import JudgeRecord, JudgeSpending, JudgeVerdict
from evals.scoring.calibration import find_calibration, hashes_of, refuse_uncalibrated
from evals.scoring.gates import parse_gate
from evals.scoring.settings import ScoreSettings
from evals.scoring.weighted import check_feeds
from evals.store.journal import Journal
from evals.store.runs import saved_calibrations

_QUESTION = re.compile(r"\{\{\s*(?:question|question_json|messages)\s*\}\}")


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
        for metric in metrics:
            if isinstance(metric, SavedMetric):  # known by a saved run alone
                what = f"the code of metric {metric.name!r} is not there"
                raise ConfigError(what, "name it by its file: FILE.py:NAME, or install the package that it is of")
    return metrics


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
    if config.shard is not None and config.ingest:
        what = "ingest: of several shards each would upload all documents"
        raise ConfigError(what, "upload them before, in a run of one question")
    if config.dask and find_spec("distributed") is None:
        raise ConfigError("--dask needs Dask, which is not installed", "pip install 'rag-evals[dask]'")
    if config.dask not in (None, "local") and config.embedded:
        what = "embedded: the built-in server listens on this machine alone, where workers of others do not reach it"
        raise ConfigError(what, "use --dask local, or evaluate a server with --rag-url")
    if config.embedded:
        check_embedded(config.server)
    if not _QUESTION.search(config.server_spec().ask.model_dump_json()):
        raise ConfigError("server.ask never sends the question", "put {{question}} where it belongs")


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
    name = missing_key(config.judge) if wants_judge(config, metrics) else None
    if name is None:
        return None
    return JudgeError(
        f"the generation metrics need an LLM judge, and {name} is not set",
        f"export {name}=…, or judge by a server of your own (--judge-model openai:NAME --judge-base-url URL), "
        "or measure everything else with --no-judge",
    )


def missing_key(judge: JudgeConfig) -> str | None:
    """The variable of the key that a model needs and that is not set; None where none is missing."""
    provider = PROVIDERS[judge.provider]
    return provider.key_variables[0] if provider.lacks_key(judge.base_url) else None


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
class Tools:
    """What a run measures with.

    Attributes:
        metrics: What is computed.
        judge: Decides what only a reader can; None where none takes part.
        semantics: The models that compare texts; None where no metric needs one.
    """

    metrics: Sequence[BaseMetric]
    judge: LLMJudge | None
    semantics: Semantics | None

    def begin_judging(
        self,
        config: EvalConfig,
        settings: ScoreSettings,
        journal: Journal,
        observer: Observer,
        *,
        asks: bool = False,
        before: JudgeRecord | None = None,
        free: Callable[[str], Sequence[JudgeVerdict]] = lambda _: (),
    ) -> Judging | None:
        """Say what judging will take, and begin it; None where no judge takes part.

        Args:
            config: Of the run.
            settings: How its records are scored.
            journal: Of the run: answers are read from it, and verdicts go to it.
            observer: Receives the estimate, the progress and what must be known.
            asks: Whether what has no answer will be asked, and what failed asked again.
            before: The judge of the run that is resumed.
            free: By question, verdicts of other runs that cost this one nothing.
        """
        if self.judge is None:
            return None
        known = []
        for record in journal:
            verdicts, response = [*record.verdicts, *free(record.question.id)], record.response
            if asks and response is not None and response.error is not None:
                response = None
            known.append(record.model_copy(update={"verdicts": verdicts, "response": response}))
        spent = sum((verdict.spent for record in known for verdict in record.verdicts), JudgeSpending())
        estimate = estimate_judging(self.metrics, known, config, settings)
        # What calls of unknown cost took counts at the estimate.
        each_usd = (estimate.cost_high_usd or 0.0) / (estimate.calls or 1)
        self.judge.budget.spent_usd += spent.cost_usd + spent.unpriced * each_usd
        observer.estimate(estimate)
        if warning := estimate.warning(config.budget_usd, spent.cost_usd):
            observer.note(warning)
        return Judging(
            self.judge,
            self.metrics,
            settings,
            journal,
            before=before,
            free=free,
            max_error_rate=config.judge.max_error_rate,
            observer=observer,
        )

    def settings(self, config: EvalConfig, citation_base: int, *, judged: bool = False) -> ScoreSettings:
        """How records are scored with them, or by what a judge said elsewhere (`judged`)."""
        plain = config.score_settings(judged=judged or self.judge is not None, citation_base=citation_base)
        return replace(plain, semantics=self.semantics, asks_correctness=asks_correctness(self.metrics))


async def load_tools(config: EvalConfig, metrics: Sequence[BaseMetric], observer: Observer) -> Tools:
    """Make the judge and load the models, off the event loop.

    Takes seconds where models are wanted, and downloads those that are not in the cache: call it before asking.

    Raises:
        ConfigError: A model cannot be loaded.
        JudgeError: The judge's package is not installed, or its API refuses the key.
        StoreError: Its replies cannot be kept.
    """
    judge = None
    if wants_judge(config, metrics):
        await find_judge(config.judge, only_refused=True)
        judge = make_judge(config)
    choice = model_choice(config, metrics)
    if not (choice.embedder or choice.scorer):
        return Tools(metrics, judge, None)
    observer.phase("loading the models that compare texts")
    return Tools(metrics, judge, await asyncio.to_thread(load_semantics, choice, probe_hub))


async def find_judge(judge: JudgeConfig, *, only_refused: bool = False) -> str:
    """Where the judge's model is, as its API takes the key and knows the model; costs nothing.

    Args:
        judge: Of the run.
        only_refused: Whether nothing is wrong but a refused key (401): the rest may pass, or show when it judges.

    Raises:
        JudgeError: The API is not there, refuses the key, or knows no such model.
    """
    provider = PROVIDERS[judge.provider]
    address = provider.address(judge.base_url)
    model = provider(judge.model, base_url=address, effort=judge.effort)
    try:
        await model.find()
    except CallFailed as error:
        if origin_of(address) != origin_of(provider.home) and "HTTP 404" in str(error):
            return f"reached {model.origin}, which has no list of models"
        if not only_refused or "HTTP 401" in str(error):
            message = f"{model.model} at {model.origin}: {error}"
            raise JudgeError(message, "check the key and the model's name, or measure without a judge") from error
    finally:
        await model.aclose()
    return f"{model.model} at {model.origin}"


def make_judge(config: EvalConfig) -> LLMJudge:
    """The judge that the configuration names, asked in batches or call by call.

    Raises:
        JudgeError: Its package is not installed.
        StoreError: Its replies, or what is sent in batches, cannot be kept.
    """
    judge = config.judge
    cache = JudgeCache.among(config.runs_dir) if judge.cache else None
    if cache is not None:
        cache.prepare()
    options: dict[str, Any] = {"base_url": judge.base_url, "effort": judge.effort}
    if judge.batch:
        waiting = {"poll_s": judge.batch_poll_s, "timeout_s": judge.batch_timeout_s}
        options |= {"folder": config.runs_dir / FOLDER, **waiting}
    make: Callable[..., Model] = AnthropicBatches if judge.batch else PROVIDERS[judge.provider]
    return LLMJudge(
        make(judge.model, **options),
        provider=judge.provider,
        cache=cache,
        repeats=judge.repeats,
        concurrency=judge.concurrency,
        max_cost_usd=config.budget_usd,
        price=judge_price(config.prices, judge.provider, judge.base_url, batch=judge.batch),
        max_input_tokens=judge.max_input_tokens,
    )


def estimate_of(config: EvalConfig, metrics: Sequence[BaseMetric], records: Sequence[EvalRecord]) -> Estimate | None:
    """What judging will take, before models are loaded; None where no judge takes part. Asks nothing of anybody.

    Args:
        config: Of the run.
        metrics: Of the run.
        records: Questions, with the responses and verdicts that are there already.
    """
    if not wants_judge(config, metrics):
        return None
    settings = replace(config.score_settings(judged=True), asks_correctness=asks_correctness(metrics))
    return estimate_judging(metrics, records, config, settings)
