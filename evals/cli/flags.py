"""The flags of commands that leave reports for CI. Nothing heavy is imported here, as `--help` needs it."""

import math
from collections.abc import Callable, Iterable, Iterator
from copy import copy
from dataclasses import dataclass, fields, is_dataclass
from functools import wraps
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import Annotated, Any, ClassVar, get_args

from typer import Argument, Context, Option

from evals.errors import ConfigError

# What the shell completes: runs, profiles, datasets, suites and metrics; nothing is imported before it is asked.


_RUNS_DIR = "data/eval_runs"


def runs(ctx: Context, incomplete: str) -> list[str]:
    """Ids of saved runs, the latest first, and `last`."""
    folder = Path(ctx.params.get("runs_dir") or _RUNS_DIR)
    files = sorted(folder.glob("*_*.json"), key=lambda path: path.name.rpartition("_")[2], reverse=True)
    return _beginning(incomplete, ["last", *(path.name.rpartition("_")[0] for path in files)])


def profiles(incomplete: str) -> list[str]:
    """Names of profiles."""
    from evals.client.profile import list_profiles

    return _beginning(incomplete, list_profiles())


def datasets(incomplete: str) -> list[str]:
    """Names of datasets; several with commas."""
    from evals.datasets.registry import list_available

    return _last_of_many(incomplete, list_available())


def suites(incomplete: str) -> list[str]:
    """Names of suites; several with commas."""
    from evals.metrics.registry import suites as names_of_suites

    return _last_of_many(incomplete, names_of_suites())


def metrics(incomplete: str) -> list[str]:
    """Names of metrics; several with commas."""
    from evals.metrics.registry import default_names

    return _last_of_many(incomplete, default_names())


def _beginning(incomplete: str, names: Iterable[str]) -> list[str]:
    return [name for name in names if name.startswith(incomplete)]


def _last_of_many(incomplete: str, names: Iterable[str]) -> list[str]:
    before, comma, last = incomplete.rpartition(",")
    return [f"{before}{comma}{name}" for name in _beginning(last, names)]


Comment = Annotated[Path | None, Option(help="Markdown for a pull request, however it ends")]

NoCi = Annotated[bool, Option("--no-ci", help="No summary and no annotations in GitHub Actions")]


@dataclass(eq=False, repr=False)
class CiFlags:
    """What is left for a continuous integration, and what it fails by."""

    panel: ClassVar[str] = "CI"
    junit: Annotated[Path | None, Option(help="JUnit report of gates and failed questions, however it ends")] = None
    comment: Comment = None
    no_fail: Annotated[bool, Option("--no-fail", help="Exit 0 where a gate is not met; it is said all the same")] = (
        False
    )
    no_ci: NoCi = False


@dataclass(eq=False, repr=False)
class ReportFlags(CiFlags):
    """The same, of a command without a panel for each part."""


# The flags of `eval`, `rescore` and `score`, each told once.


Reader = Callable[[Any, str], Any]
"""Makes a key's value of a flag's value; it is given the flag as it is typed too, for its messages."""


def flag_name(name: str, value: object = None) -> str:
    """The flag as it was typed: `dry_run` is --dry-run, and a judge that is switched off (False) is --no-judge."""
    return f"--{'no-' if value is False else ''}{name.replace('_', '-')}"


def names_of(text: str, flag: str) -> list[str]:
    """The names in a list with commas, without blanks around them; one comma too many does no harm.

    Args:
        text: The list.
        flag: What it was given with, such as "--suite".

    Raises:
        ConfigError: It holds no name.
    """
    names = [name.strip() for name in text.split(",") if name.strip()]
    if not names:
        raise ConfigError(f"{flag} {text!r} names nothing", f"leave {flag} out, or name one or more, with commas")
    return names


def sample_count(samples: int, flag: str = "--samples") -> int | None:
    """How many questions of each dataset the flag asks for; None for all.

    Raises:
        ConfigError: The number is below 0.
    """
    if samples < 0:
        raise ConfigError(f"{flag} must be 0 (all) or more, not {samples}")
    return samples or None


def _seconds(value: float, flag: str) -> float:
    if not math.isfinite(value) or value <= 0:
        raise ConfigError(f"{flag} must be a number of seconds above 0, not {value:g}")
    return value


def _widths(value: object, flag: str) -> int | list[int]:
    """One number of questions in flight, or several with commas."""
    parts = [part.strip() for part in str(value).split(",")]
    if not all(part.lstrip("-").isdecimal() for part in parts):
        raise ConfigError(f"{flag} must be a number, or several with commas, not {value!r}")
    widths = [int(part) for part in parts]
    return widths if len(widths) > 1 else widths[0]


_RUN = "Run: id or its start, name, file, or last"

RunArgument = Annotated[str, Argument(help=_RUN, autocompletion=runs)]

RunArguments = Annotated[list[str], Argument(help=_RUN, metavar="RUN...", autocompletion=runs)]

OptionalRun = Annotated[str | None, Argument(help=_RUN, autocompletion=runs)]

RunOption = Annotated[str | None, Option("--run-id", help="The same, as an option", autocompletion=runs)]

RunsDir = Annotated[Path | None, Option("--runs-dir", help="Folder of saved runs (data/eval_runs)"), "runs_dir"]

DataDir = Annotated[Path | None, Option(help="Local rows or hub clones instead of the hub"), "data_dir"]

DatasetFile = Annotated[Path | None, Option(help="Your own questions: .csv, .xlsx, .json and others"), "dataset_file"]

Columns = Annotated[str | None, Option(help="Columns of your file: question=Frage"), "columns"]

Lenient = Annotated[bool, Option("--lenient", help="A gate without enough evidence is no failure")]

AllowUncalibrated = Annotated[bool, Option("--allow-uncalibrated", help="Gate on a judge that was never calibrated")]

RunAsJson = Annotated[bool, Option("--json", help="Print the run as JSON and nothing else")]


@dataclass(init=False, eq=False, repr=False)
class QuestionFlags:
    """Which questions of which datasets."""

    panel: ClassVar[str] = "Questions"
    datasets: Annotated[
        str | None,
        Option(help="Names, with commas; NAME:CONFIG for another config", autocompletion=datasets),
        "datasets",
        names_of,
    ] = None
    samples: Annotated[
        int | None,
        Option(help="Of each dataset (100; own file: all); 0: all"),
        "samples_per_dataset",
        sample_count,
    ] = None
    seed: Annotated[int | None, Option(help="Seed of the draw (42)"), "seed"] = None
    shard: Annotated[str | None, Option(help="Ask only this part: 2/7; see merge"), "shard"] = None
    data_dir: DataDir = None


@dataclass(init=False, eq=False, repr=False)
class FileFlags:
    """Questions of your own."""

    panel: ClassVar[str] = "Questions"
    dataset_file: DatasetFile = None
    columns: Columns = None


@dataclass(init=False, eq=False, repr=False)
class ServerFlags:
    """Which server, and how it is asked."""

    panel: ClassVar[str] = "Server"
    rag_url: Annotated[
        str | None, Option(help="URL of the server (RAG_SERVER_URL or localhost:8001)"), "server.url"
    ] = None
    profile: Annotated[
        str | None,
        Option(help="Kind of server, or a YAML file (rag-server)", autocompletion=profiles),
        "server.profile",
    ] = None
    embedded: Annotated[bool | None, Option("--embedded", help="Evaluate the built-in server"), "embedded"] = None
    ingest: Annotated[bool | None, Option("--ingest", help="Upload the datasets' documents first"), "ingest"] = None
    preflight: Annotated[bool | None, Option(help="First see that the corpus is there (yes)"), "preflight"] = None
    concurrency: Annotated[
        str | None, Option(help="Questions in flight (4); 1,4,16 for a sweep"), "concurrency", _widths
    ] = None
    rps: Annotated[float | None, Option(help="At most so many requests a second"), "rps"] = None
    timeout: Annotated[float | None, Option(help="Seconds for one answer (120)"), "server.timeout_s", _seconds] = None
    warmup: Annotated[int | None, Option(help="Unscored questions asked first (1)"), "warmup"] = None


@dataclass(init=False, eq=False, repr=False)
class VariantFlags:
    """Several runs over the same questions."""

    panel: ClassVar[str] = "Variants"
    vary: Annotated[list[str] | None, Option(help="A run for each value: ask.json.top_k=3,5,10")] = None
    repeats: Annotated[int | None, Option(help="How often each question is asked (1)"), "repeats"] = None
    alone: Annotated[bool, Option("--alone", help="Of variants, resume this one only")] = False


@dataclass(init=False, eq=False, repr=False)
class MeasureFlags:
    """What is computed, and what it must reach."""

    panel: ClassVar[str] = "Measures"
    suite: Annotated[
        str | None,
        Option(help="Suites of metrics, with commas (core)", autocompletion=suites),
        "suite",
        names_of,
    ] = None
    metrics: Annotated[
        str | None,
        Option(help="Metrics, with commas: recall_at_20,mrr", autocompletion=metrics),
        "metrics",
        names_of,
    ] = None
    match: Annotated[str | None, Option(help="How chunks are recognised as gold (auto)"), "match.rule"] = None
    gate: Annotated[list[str] | None, Option(help="Fail unless: 'mrr>=0.8', 'mrr@low>=0.8'; repeatable"), "gate"] = None
    lenient: Lenient = False
    allow_uncalibrated: Annotated[
        bool | None,
        Option("--allow-uncalibrated", help="Gate on a judge that was never calibrated"),
        "allow_uncalibrated",
    ] = None


@dataclass(init=False, eq=False, repr=False)
class JudgeFlags:
    """Who judges, and for how much money."""

    panel: ClassVar[str] = "Judge"
    judge: Annotated[bool | None, Option(help="Use the LLM judge (yes)"), "judge.enabled"] = None
    judge_model: Annotated[
        str | None, Option(help="Model of the judge; openai:NAME for another provider"), "judge.model"
    ] = None
    judge_base_url: Annotated[
        str | None, Option(help="Address of the judge's API, such as a local one"), "judge.base_url"
    ] = None
    judge_effort: Annotated[str | None, Option(help="How hard the judge thinks: low to max"), "judge.effort"] = None
    judge_repeats: Annotated[int | None, Option(help="How often each decision is made (1)"), "judge.repeats"] = None
    judge_cache: Annotated[bool | None, Option(help="Keep replies, and pay once (yes)"), "judge.cache"] = None
    retry_lost: Annotated[
        bool | None, Option("--retry-lost", help="Ask again what stayed unusable within a day"), "judge.retry_lost"
    ] = None
    judge_batch: Annotated[
        bool | None, Option(help="In batches: half price, rounds of up to an hour (no)"), "judge.batch"
    ] = None
    max_cost: Annotated[float | None, Option(help="Dollars after which no judge call starts"), "judge.max_cost_usd"] = (
        None
    )


@dataclass(init=False, eq=False, repr=False)
class EngineFlags:
    """Who asks and embeds."""

    panel: ClassVar[str] = "Engine"
    engine: Annotated[
        str | None, Option(help="Who asks and embeds: local | dask, workers of a cluster (local)"), "engine.name"
    ] = None
    scheduler: Annotated[
        str | None, Option(help="Of a Dask cluster: tcp://HOST:8786 (one on this machine)"), "engine.scheduler"
    ] = None
    workers: Annotated[int | None, Option(help="Of a Dask cluster on this machine (its cores)"), "engine.workers"] = (
        None
    )
    jobs: Annotated[int | None, Option(help="Processes that score the answers (1)"), "engine.jobs"] = None


@dataclass(init=False, eq=False, repr=False)
class RunFlags:
    """What every command that makes a run takes."""

    panel: ClassVar[str] = "Run"
    name: Annotated[str | None, Option(help="Name of the run"), "name"] = None
    config: Annotated[Path | None, Option(help="Configuration file; flags override it")] = None
    dry_run: Annotated[bool, Option("--dry-run", help="Say what would be done; ask nothing")] = False
    as_json: RunAsJson = False
    runs_dir: RunsDir = None


@dataclass(init=False, eq=False, repr=False)
class TellFlags:
    """How much is told."""

    panel: ClassVar[str] = "Output"
    quiet: Annotated[bool, Option("--quiet", "-q", help="Score, gates, where it is saved; no progress")] = False
    verbose: Annotated[bool, Option("--verbose", "-v", help="A line for each answer as it comes")] = False


# The fields of the last base come first.
@dataclass(eq=False, repr=False)
class EvalFlags(
    CiFlags,
    RunFlags,
    TellFlags,
    EngineFlags,
    JudgeFlags,
    MeasureFlags,
    VariantFlags,
    ServerFlags,
    FileFlags,
    QuestionFlags,
):
    """The flags of `eval`."""

    runs_dir: Annotated[
        Path | None, Option("--runs-dir", "--output", help="Folder of saved runs (data/eval_runs)"), "runs_dir"
    ] = None
    resume: Annotated[str | None, Option(help="Id of a saved run to go on with; of variants, with all of them")] = None
    on_error: Annotated[
        str | None, Option(help="Questions without an answer: exclude | worst (exclude)"), "on_error"
    ] = None
    max_error_rate: Annotated[
        float | None, Option(help="Share of failures above which it ends with 4 (0.1)"), "max_error_rate"
    ] = None
    tracing: Annotated[bool | None, Option("--tracing", help="Spans of OpenTelemetry"), "tracing"] = None


@dataclass(eq=False, repr=False)
class RescoreFlags(CiFlags, RunFlags, TellFlags, EngineFlags, JudgeFlags, MeasureFlags):
    """The flags of `rescore`."""

    remap: Annotated[bool, Option("--remap", help="Read the stored bodies again with the mapping given")] = False


@dataclass(eq=False, repr=False)
class ScoreFlags(CiFlags, RunFlags, TellFlags, EngineFlags, JudgeFlags, MeasureFlags, FileFlags):
    """The flags of `score` for saved answers."""


@dataclass(eq=False, repr=False)
class CalibrateFlags(RunFlags, JudgeFlags):
    """The flags of `calibrate`."""

    as_json: Annotated[bool, Option("--json", help="Print the calibration as JSON and nothing else")] = False


@dataclass(eq=False, repr=False)
class IngestFlags(FileFlags):
    """The flags of `ingest`."""

    panel: ClassVar[str] = "Server"
    datasets: Annotated[
        str | None,
        Option(help="Datasets whose documents to give, with commas", rich_help_panel="Questions"),
        "datasets",
        names_of,
    ] = None
    samples: Annotated[
        int | None,
        Option(help="Questions of each dataset whose documents are given (100; own file: all); 0: all"),
        "samples_per_dataset",
        sample_count,
    ] = None
    seed: Annotated[int | None, Option(help="Seed of the draw (42)"), "seed"] = None
    data_dir: DataDir = None
    rag_url: Annotated[
        str | None, Option(help="URL of the server (RAG_SERVER_URL or localhost:8001)"), "server.url"
    ] = None
    profile: Annotated[
        str | None,
        Option(help="Kind of server, or a YAML file (rag-server)", autocompletion=profiles),
        "server.profile",
    ] = None
    config: Annotated[Path | None, Option(help="Configuration file; flags override it")] = None
    as_json: Annotated[bool, Option("--json", help="Print what was done as JSON and nothing else")] = False
    runs_dir: RunsDir = None


@dataclass(eq=False, repr=False)
class InitFlags:
    """The flags of `init`; what is not given is asked for on a terminal."""

    panel: ClassVar[str] = "What is written"
    rag_url: Annotated[str | None, Option(help="URL of the server; a path in it is the one that is asked")] = None
    profile: Annotated[
        str | None,
        Option(help="Kind of server, or a YAML file (found by one question)", autocompletion=profiles),
    ] = None
    header: Annotated[list[str] | None, Option(help='Sent with each request: "Name: value"; repeatable')] = None
    body: Annotated[str | None, Option(help="Form of the request: JSON with {{question}} in it")] = None
    questions: Annotated[str | None, Option(help="A file, or golden (a template to fill in)")] = None
    columns: Annotated[str | None, Option(help="Columns of your file: question=Frage")] = None
    judge: Annotated[bool | None, Option(help="Use the LLM judge (no)")] = None
    output: Annotated[Path, Option("--output", "-o", help="The file to write")] = Path("eval_config.yml")
    yes: Annotated[bool, Option("--yes", "-y", help="Ask nothing on the terminal; call paths that no profile has")] = (
        False
    )
    force: Annotated[bool, Option("--force", help="Write over the file")] = False


def keys_of(flags: RunFlags | IngestFlags) -> dict[str, tuple[str, Reader | None]]:
    """By flag that sets a key of the configuration: the key, and what reads the flag's value."""
    told = {flag.name: get_args(flag.type)[2:] for flag in fields(flags)}
    return {name: (behind[0], behind[1] if len(behind) > 1 else None) for name, behind in told.items() if behind}


def given_flags(flags: RunFlags | IngestFlags) -> dict[str, Any]:
    """The values of the flags given that set a key; one that is left out is None, or an empty list."""
    values = {name: getattr(flags, name) for name in keys_of(flags)}
    return {name: value for name, value in values.items() if value not in (None, [])}


def refuse_idle(what: str, **flags: object) -> None:
    """Refuse flags of the other form of `score`, which would do nothing.

    Raises:
        ConfigError: One of them is given: it is neither None nor an empty list.
    """
    for name, value in flags.items():
        if value not in (None, []):
            raise ConfigError(
                f"{flag_name(name, value)} does nothing where {what} are scored",
                "score predictions.json gold.json, or score answers.jsonl --dataset-file questions.jsonl",
            )


def takes_flags(**words: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Make a command of a function whose last parameter, `flags`, is of a dataclass with a field for each flag.

    Args:
        words: What this command's help says of a flag, where the dataclass says something else.
    """

    def decorate(function: Callable[..., None]) -> Callable[..., None]:
        *own, last = signature(function).parameters.values()
        kind = last.annotation
        told = list(_parameters(kind, words))
        if words:
            raise TypeError(f"{kind.__name__} has no {', '.join(words)}")

        @wraps(function)
        def command(**given: Any) -> None:
            flags = kind(**{flag.name: given.pop(flag.name) for flag in fields(kind)})
            function(**given, flags=flags)

        command.__signature__ = Signature([*own, *told])  # type: ignore[attr-defined]  # what typer reads
        return command

    return decorate


def _parameters(kind: Any, words: dict[str, str]) -> Iterator[Parameter]:
    """The flags of a dataclass as parameters, in the panels of its bases; words that are used are taken."""
    bases: list[Any] = [base for base in kind.__bases__ if is_dataclass(base)]
    panels = {flag.name: group.panel for group in bases for flag in fields(group)}
    for flag in fields(kind):
        value, option, *_ = get_args(flag.type)
        option = copy(option)
        option.rich_help_panel = panels.get(flag.name, kind.panel)
        option.help = words.pop(flag.name, option.help)
        yield Parameter(flag.name, Parameter.KEYWORD_ONLY, default=flag.default, annotation=Annotated[value, option])
