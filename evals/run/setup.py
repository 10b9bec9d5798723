"""What can be known to be wrong before anything is loaded or asked: names, gates, models, keys."""

import asyncio
import json
import os
import pickle
import re
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass, replace
from importlib.util import find_spec
from multiprocessing import current_process
from pathlib import Path
from queue import Empty, Queue
from typing import Any

from evals.client.profile import DEFAULT_PROFILE, resolve_spec
from evals.client.spec import ServerSpec
from evals.config import EvalConfig
from evals.datasets.hub import settle_hub
from evals.datasets.registry import check_name
from evals.errors import ConfigError, JudgeError, ServerUnreachableError, UnknownNameError
from evals.judges.backends.base import Identity, origin_of
from evals.judges.backends.providers import PROVIDERS
from evals.judges.batch_api import FOLDER, AnthropicBatches, BatchLog, Pace
from evals.judges.batches import BatchJudge
from evals.judges.cache import JudgeCache
from evals.judges.config import JudgeConfig
from evals.judges.llm_judge import LLMJudge
from evals.judges.money import Forecast
from evals.metrics.base import BaseMetric, Need
from evals.metrics.embedders import ModelChoice, Semantics, check_choice, load_semantics
from evals.metrics.judged import judged_abstention
from evals.metrics.ragas import RagasScore
from evals.metrics.registry import METRICS, of_streams, select
from evals.run.estimate import Estimate, Known, estimate_judging, planned_cases
from evals.run.expected_calls import saved_sizes
from evals.run.notebook import Observer
from evals.run.workers import Cluster, cluster_semantics, open_cluster
from evals.schemas.calibration import Calibration
from evals.schemas.dataset import Document, EvalQuestion
from evals.schemas.response import EvalResponse
from evals.schemas.results import EvalRecord
from evals.schemas.run_parts import EngineConfig
from evals.schemas.verdicts import JudgeUsage, JudgeVerdict
from evals.scoring.calibration import find_calibration, hashes_of, refuse_uncalibrated
from evals.scoring.gates import parse_gate
from evals.scoring.prices import judge_price
from evals.scoring.settings import ScoreSettings
from evals.scoring.weighted import check_feeds
from evals.store.runs import RunStore, saved_calibrations
from evals.text.refusals.detector import is_abstention

# The embedded reference server as a child process, evaluated by HTTP like any other server.


START_TIMEOUT_S = 30.0

_STOP_TIMEOUT_S = 5.0


_OF_ANOTHER = frozenset({"url", "profile"})
"""Keys of `server` that say which server it is; all others hold for the embedded one too."""


_OF_ITS_PROFILE = ("ask", "map")
"""Keys that say how a server of a profile is asked and read."""


def embedded_spec(url: str, server: Mapping[str, Any]) -> ServerSpec:
    """The specification of the embedded server at this URL, with the keys of the configuration laid over it.

    Raises:
        ConfigError: A key is unknown or has a wrong value, or is for a server of another profile.
    """
    check_embedded(server)
    return resolve_spec({**{key: value for key, value in server.items() if key not in _OF_ANOTHER}, "url": url})


def check_embedded(server: Mapping[str, Any]) -> None:
    """Check that what the configuration says of asking and reading is for a server like the embedded one.

    Raises:
        ConfigError: It is for a server of another profile.
    """
    other = other_profile(server)
    for key in _OF_ITS_PROFILE:
        if other is not None and server.get(key):
            raise ConfigError(
                f"server.{key} is for a server of profile {other!r}, and the embedded one is of profile "
                f"{DEFAULT_PROFILE!r}",
                f"leave server.{key} out, leave server.profile out where it is meant for the embedded server, or "
                "evaluate the other one without --embedded",
            )


def other_profile(server: Mapping[str, Any]) -> str | None:
    """The configured profile where it is not that of the embedded server; None where it is, or there is none."""
    named = server.get("profile") or DEFAULT_PROFILE
    return None if named == DEFAULT_PROFILE else str(named)


@contextmanager
def embedded_server() -> Iterator[str]:
    """Start the reference server on a free loopback port; yields its URL.

    The child ends when its standard input closes, so it never outlives this process.

    Raises:
        ServerUnreachableError: It did not start; the message holds what it said.
    """
    command = [
        sys.executable,
        "-m",
        "evals.reference_server",
        "--port",
        "0",
        "--corpus",
        "none",
        "--exit-with-stdin",
    ]
    home = str(Path(__file__).resolve().parent.parent.parent)
    path = os.pathsep.join(part for part in (home, os.environ.get("PYTHONPATH", "")) if part)
    with tempfile.TemporaryFile() as log:
        try:
            child = subprocess.Popen(  # noqa: S603 - our own module, no input of others
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                env={**os.environ, "PYTHONPATH": path},
                start_new_session=True,  # Ctrl-C is for the evaluation; the server ends with it
            )
        except OSError as error:
            raise ServerUnreachableError(f"the embedded server did not start: {error}") from error
        try:
            url = _listening_at(_first_line(child))
            if url is None:
                _stop(child)  # what it has to say is complete when it has ended
                log.seek(0)
                said = log.read().decode("utf-8", "replace").strip().splitlines()
                raise ServerUnreachableError(f"the embedded server did not start: {said[-1] if said else 'no output'}")
            yield url
        finally:
            _stop(child)


def _first_line(child: subprocess.Popen[bytes]) -> bytes:
    """The line in which the child says where it listens; empty where it ends or says nothing in time."""
    lines: Queue[bytes] = Queue()

    def read() -> None:
        if child.stdout is not None:
            lines.put(child.stdout.readline())

    threading.Thread(target=read, daemon=True).start()
    try:
        return lines.get(timeout=START_TIMEOUT_S)
    except Empty:
        return b""


def _listening_at(line: bytes) -> str | None:
    """The URL in the child's first line; None where it says something else."""
    try:
        listening = json.loads(line)
        return f"http://{listening['host']}:{listening['port']}"
    except (ValueError, TypeError, KeyError):
        return None


def _stop(child: subprocess.Popen[bytes]) -> None:
    if child.stdin is not None:
        child.stdin.close()
    try:
        child.wait(_STOP_TIMEOUT_S)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()
    if child.stdout is not None:
        child.stdout.close()


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
    def wait_for_all(self) -> bool:
        """Whether records are scored when all answers are there: a judge, a model or the metric of a plugin takes part.

        What a plugin does may depend on the thread, on the order, or on being done once.
        """
        compares = self.semantics is not None and self.semantics.compares
        return self.judge is not None or compares or not all(map(_is_built_in, self.metrics))

    def settings(self, config: EvalConfig, citation_base: int, *, judged: bool) -> ScoreSettings:
        """How records are scored with them."""
        plain = config.score_settings(judged=judged, citation_base=citation_base)
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
        return Toolkit(metrics, judge, await cluster_semantics(cluster, choice))
    return Toolkit(metrics, judge, await asyncio.to_thread(load_semantics, choice, settle_hub))


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
