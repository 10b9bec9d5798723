"""What can be known to be wrong before anything is loaded or asked: names, gates, models, keys."""

import pickle
import re
import sys
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from multiprocessing import current_process
from pathlib import Path

from evals.config import EngineConfig, EvalConfig
from evals.datasets.registry import check_name
from evals.errors import ConfigError, JudgeError, UnknownNameError
from evals.judges.backends.address import origin_of
from evals.judges.backends.providers import PROVIDERS
from evals.judges.config import JudgeConfig
from evals.metrics.base import BaseMetric, Need
from evals.metrics.ragas_answer import RagasScore
from evals.metrics.registry import of_streams, select
from evals.run.child_server import check_embedded
from evals.schemas.calibration import Calibration
from evals.scoring.calibration.binding import find_calibration, hashes_of, refuse_uncalibrated
from evals.scoring.gates import parse_gate
from evals.scoring.weighted import check_feeds
from evals.semantics.config import ModelChoice
from evals.semantics.loading import check_choice
from evals.store.calibrations import saved_calibrations

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
    _check_asking(config)
    _check_engine(config)
    _check_tracing(config)
    metrics = [_configured(metric, config) for metric in select(config.suite_names, _named(config))]
    if not metrics:
        raise ConfigError("there is nothing to compute: no suite and no metric is named", "--suite core is the default")
    check_feeds(config.scoring)
    for gate in config.gate:
        parse_gate(gate, [metric.name for metric in metrics])
    if config.dataset_file is None:
        for name in config.dataset_names:
            check_name(name)
    check_choice(model_choice(config, metrics))
    if config.engine.jobs > 1:
        _check_spawning()
        _check_sendable(metrics)
    if wants_judge(config, metrics):
        _check_model(config.judge)
    if asking:
        _check_key(config, metrics)
        check_calibrated(config, metrics)
    return metrics


def _named(config: EvalConfig) -> list[str]:
    """The metrics beside those of the suites: those named, and how an answer arrives where it comes in pieces."""
    is_streamed = "core" in config.suite_names and config.server_spec().stream is not None
    return [*config.metrics, *(of_streams() if is_streamed else ())]


def check_calibrated(config: EvalConfig, metrics: Sequence[BaseMetric]) -> None:
    """Stop where a gate rests on a judge whose errors nobody knows, before it is paid for.

    Raises:
        ConfigError: It does, and that was not allowed.
    """
    if config.allow_uncalibrated or not wants_judge(config, metrics):
        return
    gated = {parse_gate(gate, [metric.name for metric in metrics]).metric for gate in config.gate}
    if gated:
        never = _never_calibrated(metrics, config.judge, saved_calibrations(config.runs_dir))
        refuse_uncalibrated(gated, never, config.scoring.feeding, config.judge.model)


def _never_calibrated(metrics: Sequence[BaseMetric], judge: JudgeConfig, known: Sequence[Calibration]) -> Iterator[str]:
    for metric in metrics:
        if Need.JUDGE in metric.needs and not _is_calibrated(metric, judge, known):
            yield metric.name


def _is_calibrated(metric: BaseMetric, judge: JudgeConfig, known: Sequence[Calibration]) -> bool:
    return find_calibration(metric.name, judge.model, judge.effort, hashes_of(metric), known) is not None


def _check_asking(config: EvalConfig) -> None:
    if config.shard and config.ingest:
        raise ConfigError(
            "ingest: of several shards each would upload all documents", "upload them before, in a run of one question"
        )
    if config.shard and config.repeats > 1:
        raise ConfigError(
            "repeats: what they say is of all answers to a question, and of shards nobody puts that together",
            "repeat in a run of a sample, without shards",
        )
    if config.load and (config.shard or config.engine.name == "dask"):
        raise ConfigError(
            "load: a sweep is asked by one process, without shards and without workers",
            "leave shard and engine out",
        )
    if config.embedded:
        check_embedded(config.server)
    if not _QUESTION.search(config.server_spec().ask.model_dump_json()):
        raise ConfigError("server.ask never sends the question", "put {{question}} where it belongs")


def _check_engine(config: EvalConfig) -> None:
    if config.engine.name == "dask":
        _check_dask(config.engine, embedded=config.embedded)
        return
    for key in ("scheduler", "workers"):
        if getattr(config.engine, key) is not None:
            raise ConfigError(f"engine.{key} is of a Dask cluster, and this process does the work", "add --engine dask")


def _check_process() -> None:
    """Stop in a process that is just being spawned: it reads the script anew, which would ask everything again."""
    if getattr(current_process(), "_inheriting", False):  # what multiprocessing itself goes by, and has no public name
        raise ConfigError(
            "a process that was started to help with a run is about to begin it again",
            'put what begins it under `if __name__ == "__main__":`',
        )


def _check_spawning() -> None:
    """Stop where no process could be started to score, or it could not read the script that this one runs."""
    if current_process().daemon:
        raise ConfigError("engine.jobs: a daemonic process can start no others", "leave engine.jobs out")
    main = sys.modules["__main__"]
    script = getattr(main, "__file__", None)
    if script is not None and main.__spec__ is None and not Path(script).exists():
        raise ConfigError(
            f"engine.jobs: processes are spawned, and read the script again, which {script} does not hold",
            "run it from a file, or leave engine.jobs out",
        )


def _check_sendable(metrics: Sequence[BaseMetric]) -> None:
    """Stop where a metric, such as that of a plugin, cannot be given to other processes."""
    for metric in metrics:
        try:
            pickle.dumps(metric)
        except (pickle.PicklingError, AttributeError, TypeError) as error:
            raise ConfigError(
                f"engine.jobs: metric {metric.name} cannot be sent to other processes: {error}",
                "leave engine.jobs out, or give it no functions without a name",
            ) from error


def _check_tracing(config: EvalConfig) -> None:
    if not config.tracing:
        return
    if find_spec("opentelemetry") is None or find_spec("opentelemetry.sdk") is None:
        raise ConfigError("tracing wants OpenTelemetry, which is not installed", "pip install 'rag-evals[otel]'")
    if config.engine.name == "dask":
        raise ConfigError("tracing is of questions that this process asks", "leave tracing or engine.name out")


def _check_dask(engine: EngineConfig, *, embedded: bool) -> None:
    if engine.scheduler is not None and engine.workers is not None:
        raise ConfigError(
            "engine.workers: the cluster of a scheduler has workers of its own", "leave --workers or --scheduler out"
        )
    if engine.scheduler is not None and embedded:
        raise ConfigError(
            "embedded: the built-in server listens on this machine alone, where workers of others do not reach it",
            "leave --scheduler out, or evaluate a server with --rag-url",
        )
    if find_spec("distributed") is None:
        raise ConfigError("engine.name is dask, and Dask is not installed", "pip install 'rag-evals[dask]'")


def _configured(metric: BaseMetric, config: EvalConfig) -> BaseMetric:
    return RagasScore(weights=config.scoring.ragas_weights) if isinstance(metric, RagasScore) else metric


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


def _check_key(config: EvalConfig, metrics: Sequence[BaseMetric]) -> None:
    if refusal := refusal_for_key(config, metrics):
        raise refusal


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
