"""The flags of every command, each a line: type, help, and the key of the configuration that it sets.

Nothing heavy is imported here, as `--help` needs it.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from inspect import Parameter, get_annotations
from pathlib import Path
from typing import Annotated, Any, ClassVar

from typer import Argument, Context, Exit, Option, echo

from evals.errors import ConfigError

# What the shell completes: runs, profiles, datasets, suites and metrics; nothing is imported before it is asked.


_RUNS_DIR = "data/eval_runs"


def runs(ctx: Context, incomplete: str) -> list[str]:
    """Ids of saved runs, the latest first, and `last`."""
    folder = Path(ctx.params.get("runs_dir") or _RUNS_DIR)
    files = sorted(folder.glob("*_*.json"), key=lambda path: path.name.rpartition("_")[2], reverse=True)
    return _beginning(incomplete, ["last", *(path.name.rpartition("_")[0] for path in files)])


def _beginning(incomplete: str, names: Iterable[str]) -> list[str]:
    return [name for name in names if name.startswith(incomplete)]


def _completer(place: str) -> Callable[[str], list[str]]:
    """A completer of the names that a function of the library lists; several with commas."""

    def complete(incomplete: str) -> list[str]:
        module, _, function = place.rpartition(".")
        before, comma, last = incomplete.rpartition(",")
        names = _beginning(last, getattr(import_module(module), function)())
        return [f"{before}{comma}{name}" for name in names]

    return complete


profiles = _completer("evals.client.profile.list_profiles")
datasets = _completer("evals.datasets.registry.list_available")
suites = _completer("evals.metrics.registry.suites")
metrics = _completer("evals.metrics.registry.default_names")


# How a flag is declared.


@dataclass(frozen=True)
class Flag:
    """A flag, or an argument, of a command.

    Attributes:
        help: What it does.
        key: Of the configuration, which it sets; empty where it sets none.
        default: Of the flag.
        names: As they are typed; "" for that of the attribute, with a negation where it is true or false.
        kind: Option or argument of typer.
        how: Other arguments of typer.
    """

    help: str
    key: str = ""
    default: Any = None
    names: str = ""
    kind: Callable[..., Any] = Option
    how: Mapping[str, Any] = field(default_factory=dict)


def flag(help: str, key: str = "", *, default: Any = None, names: str = "", **how: Any) -> Any:  # noqa: A002
    """A flag with a value, or with a negation; None where it is not given."""
    return Flag(help, key, default, names, how=how)


def switch(help: str, key: str = "", names: str = "--{}") -> Any:  # noqa: A002
    """A flag that is there or not; one that sets a key is None where it is not given."""
    return Flag(help, key, None if key else False, names)


def argument(help: str, *, default: Any = Parameter.empty, **how: Any) -> Any:  # noqa: A002
    """What is given without a name; it must be, unless it has a default."""
    return Flag(help, default=default, kind=Argument, how=how)


def _print_help(ctx: Context, wanted: bool) -> None:
    if wanted:
        ctx.params["help_all"] = True
        echo(ctx.get_help())
        raise Exit


class Flags:
    """The flags of a command: an attribute each, those of a class before those of its bases.

    Attributes:
        panel: Title of the group in which the help shows those of this class.
        common: Names of the flags that the short help of a command shows; all where it is empty.
        as_json: Whether standard output is for a program; this and the next are off where a command has no such flag.
        quiet: Whether only score, gates and place of the run are printed.
        verbose: Whether each answer has a line of its own.
        every: Whether every metric and table is printed.
        lenient: Whether a gate for which there is not enough evidence is no fault.
        junit: The JUnit report to write.
    """

    panel: ClassVar[str | None] = None
    common: ClassVar[str] = ""
    as_json: bool = False
    quiet: bool = False
    verbose: bool = False
    every: bool = False
    lenient: bool = False
    junit: Path | None = None
    help_all: bool = flag(
        "Show every flag and exit", default=False, names="--help-all", callback=_print_help, is_eager=True
    )

    def __init_subclass__(cls, panel: str | None = None) -> None:
        cls.panel = panel

    def __init__(self, **given: Any) -> None:
        for name, (_, declared) in flags_of(type(self)).items():
            setattr(self, name, given.pop(name, declared.default))
        if given:
            raise TypeError(f"{type(self).__name__} has no {', '.join(given)}")

    def keys(self) -> dict[str, str]:
        """By flag, the key of the configuration that it sets, where it sets one."""
        return {name: declared.key for name, (_, declared) in flags_of(type(self)).items() if declared.key}

    def given(self) -> dict[str, Any]:
        """The values of the flags given that set a key; one that is left out is None, or an empty list."""
        values = {name: getattr(self, name) for name in self.keys()}
        return {name: value for name, value in values.items() if value not in (None, [])}

    def names(self, name: str) -> list[str] | None:
        """The names in the value of a flag, as `names_of` reads them; None where it is not given.

        Raises:
            ConfigError: It names nothing.
        """
        return None if getattr(self, name) is None else names_of(getattr(self, name), flag_name(name))

    def refuse_pairs(self, *pairs: tuple[str, str]) -> None:
        """See that of no pair both flags are given: one would silently win over the other.

        Raises:
            ConfigError: Both are; the message names them.
        """
        for pair in pairs:
            if all(getattr(self, name, None) not in (None, False) for name in pair):
                raise ConfigError(f"{' and '.join(map(flag_name, pair))} exclude each other")


def flags_of(kind: type[Flags]) -> dict[str, tuple[type[Flags], Flag]]:
    """By name, each flag with the class that declares it."""
    declared: dict[str, tuple[type[Flags], Flag]] = {}
    for owner in kind.__mro__:
        for name, value in vars(owner).items():
            if isinstance(value, Flag):
                declared.setdefault(name, (owner, value))
    return declared


def parameters(kind: type[Flags]) -> Iterator[Parameter]:
    """The flags as the parameters of a function, which typer reads."""
    for name, (owner, declared) in flags_of(kind).items():
        names = declared.names.format(name.replace("_", "-")).split()
        panel = {"rich_help_panel": owner.panel} if declared.kind is Option else {}
        made = declared.kind(*names, help=declared.help, **panel, **declared.how)
        value: Any = get_annotations(owner)[name]
        yield Parameter(name, Parameter.KEYWORD_ONLY, default=declared.default, annotation=Annotated[value, made])


def flag_name(name: str, value: object = None) -> str:
    """The flag as it was typed: `dry_run` is --dry-run, and a judge that is switched off (False) is --no-judge."""
    typed = {"as_json": "json", "every": "all"}.get(name, name.replace("_", "-"))
    return f"--{'no-' if value is False else ''}{typed}"


def names_of(text: str, flag: str) -> list[str]:
    """The names in a list with commas, without blanks around them; one comma too many does no harm.

    Raises:
        ConfigError: It holds no name; the message names the flag that it was given with.
    """
    names = [name.strip() for name in text.split(",") if name.strip()]
    if not names:
        raise ConfigError(f"{flag} {text!r} names nothing", f"leave {flag} out, or name one or more, with commas")
    return names


# The groups of flags.


_RUN = "Run: id or its start, name, file, or last"
RUN: Any = argument(_RUN, autocompletion=runs)
EVERY: Any = switch("Print every metric and table", names="--all")
RUNS: Any = argument(_RUN, metavar="RUN...", autocompletion=runs)


class DrawFlags(Flags, panel="Questions"):
    """Which questions of which datasets."""

    datasets: str | None = flag("Datasets, with commas; NAME:CONFIG for a config", "datasets", autocompletion=datasets)
    samples: int | None = flag("Questions per dataset; 0: all (100; own file: all)", "samples_per_dataset")
    seed: int | None = flag("Random seed of the sample (42)", "seed")
    data_dir: Path | None = flag("Folder of local datasets, read instead of the hub", "data_dir")


class FileFlags(Flags, panel="Questions"):
    """Questions of your own."""

    dataset_file: Path | None = flag("Your own questions: .csv, .xlsx, .json and others", "dataset_file")
    columns: str | None = flag("Column names of your file: question=Frage", "columns")


class AddressFlags(Flags, panel="Server"):
    """Which server."""

    rag_url: str | None = flag("URL of the server (RAG_SERVER_URL or localhost:8001)", "server.url")
    profile: str | None = flag("Kind of server, or a YAML file (rag-server)", "server.profile", autocompletion=profiles)


class ServerFlags(Flags, panel="Server"):
    """How the server is asked."""

    embedded: bool | None = switch("Evaluate the small built-in server", "embedded")
    ingest: bool | None = switch("Upload the datasets' documents first", "ingest")
    preflight: bool | None = flag("Check first that the documents are there (yes)", "preflight")
    concurrency: int | None = flag("Questions asked at once (4)", "concurrency")
    rps: float | None = flag("Maximum requests per second", "rps")
    timeout: float | None = flag("Timeout of an answer, in seconds (120)", "server.timeout_s")
    warmup: int | None = flag("Unscored questions asked first (1)", "warmup")


class VariantFlags(Flags, panel="Variants"):
    """Several runs over the same questions."""

    vary: list[str] | None = flag("A run for each value: ask.json.top_k=3,5,10")
    repeats: int | None = flag("Times to ask each question (1)", "repeats")
    shard: str | None = flag("Ask only this part of the questions: 2/7; see merge", "shard")


class GatedFlags(Flags, panel="Gates"):
    """What a run must reach."""

    gate: list[str] | None = flag("Fail unless: 'mrr>=0.8', 'mrr@low>=0.8'; repeatable", "gate")
    lenient: bool = switch("Do not fail where evidence is too weak to decide")
    allow_uncalibrated: bool | None = switch("Allow gates on an uncalibrated judge", "allow_uncalibrated")


class MeasureFlags(GatedFlags, panel="Measures"):
    """What is computed."""

    suite: str | None = flag("Suites of `evals metrics`, with commas (core)", "suite", autocompletion=suites)
    metrics: str | None = flag("Metrics, with commas: mrr,./metrics.py:NAME", "metrics", autocompletion=metrics)
    match: str | None = flag("How to recognise relevant chunks (auto)", "match.rule")


class JudgeFlags(Flags, panel="Judge"):
    """Who judges, and for how much money."""

    judge: bool | None = flag("Use an LLM judge (yes)", "judge.enabled")
    judge_model: str | None = flag("Model of the judge; openai:NAME for another provider", "judge.model")
    judge_base_url: str | None = flag("URL of the judge's API, such as a local one", "judge.base_url")
    judge_effort: str | None = flag("Reasoning effort of the judge: low to max", "judge.effort")
    judge_repeats: int | None = flag("Times to make each decision (1)", "judge.repeats")
    judge_cache: bool | None = flag("Reuse saved replies of the judge (yes)", "judge.cache")
    judge_batch: bool | None = flag("Use batches: half the price, up to an hour (no)", "judge.batch")
    max_cost: float | None = flag("Budget of the judge, in dollars", "judge.max_cost_usd")


class EngineFlags(Flags, panel="Engine"):
    """Who asks."""

    dask: str | None = flag("Ask on a Dask cluster: local, or the address of a scheduler", "dask")


class OutputFlags(Flags, panel="Output"):
    """How much is printed."""

    quiet: bool = switch("Print only score, gates and place; no progress", names="--quiet -q")
    verbose: bool = switch("Print a line for each answer", names="--verbose -v")
    every: bool = EVERY


class JsonFlags(Flags, panel="Output"):
    """Output for a program."""

    as_json: bool = switch("Print JSON and nothing else", names="--json")


class ConfigFlags(JsonFlags, panel="Run"):
    """A configuration in a file."""

    config: Path | None = flag("Configuration file; flags override it")


class RunsDirFlags(Flags, panel="Run"):
    """Where runs are."""

    runs_dir: Path | None = flag("Folder of saved runs (data/eval_runs)", "runs_dir", names="--runs-dir")


class SavedFlags(JsonFlags, RunsDirFlags):
    """What a command takes that reads saved runs and prints what it finds."""


class MakeFlags(ConfigFlags, panel="Run"):
    """What every command that makes a run takes."""

    name: str | None = flag("Name of the run", "name")
    dry_run: bool = switch("Print the plan; send nothing")


class CommentFlags(Flags, panel="CI"):
    """What is left for people in a continuous integration."""

    comment: Path | None = flag("Write a Markdown comment for a pull request")


class CiFlags(CommentFlags, panel="CI"):
    """What is left for a continuous integration, and what it fails by."""

    junit: Path | None = flag("Write gates and failed questions as a JUnit report")


class MeasuringFlags(MeasureFlags, JudgeFlags, OutputFlags, MakeFlags, RunsDirFlags, CiFlags):
    """What `rescore` and `score` share."""


# The flags of each command; the docstring is what the help says of it.


class AskFlags(RunsDirFlags, panel="Run"):
    """Which run `eval` makes."""

    runs_dir: Path | None = flag("Folder of saved runs (data/eval_runs)", "runs_dir", names="--runs-dir --output")
    resume: str | None = flag("Continue a saved run, with its variants")
    on_error: str | None = flag("Score of failed requests: exclude, or worst (exclude)", "on_error")
    max_error_rate: float | None = flag("Share of failed requests that ends with 4 (0.1)", "max_error_rate")


class EvalFlags(DrawFlags, FileFlags, AddressFlags, ServerFlags, VariantFlags, MeasuringFlags, EngineFlags, AskFlags):
    """Evaluate a RAG server and save the run."""

    common = (
        "datasets samples dataset_file rag_url profile embedded ingest vary suite gate judge judge_model max_cost"
        " every quiet as_json config resume dry_run"
    )


class DoctorFlags(EvalFlags):
    """Check that a run would work: configuration, disk, datasets, server, mapping, documents, judge."""

    common = "datasets samples dataset_file rag_url profile embedded suite judge judge_model as_json config"


class InitFlags(Flags, panel="What is written"):
    """Write a first configuration and a first file of questions."""

    rag_url: str | None = flag("URL of the server, or of the path to ask (RAG_SERVER_URL)")
    profile: str | None = flag("Kind of server, or a YAML file (found by asking)", autocompletion=profiles)
    header: list[str] | None = flag('Header of every request: "Name: value"; repeatable')
    body: str | None = flag("Body of the request: JSON with {{question}} in it")
    questions: str | None = flag("File of questions, or golden (a template to fill in)")
    documents: Path | None = flag("Folder of documents that `evals generate` makes questions from")
    columns: str | None = flag("Columns of your file: question=Frage", "columns")
    judge: bool = flag("Use an LLM judge", default=False)
    output: Path = flag("The file to write", default=Path("eval_config.yml"), names="--output -o")
    force: bool = switch("Overwrite the file")


class IngestFlags(DrawFlags, FileFlags, AddressFlags, ConfigFlags, RunsDirFlags, panel="Documents"):
    """Upload documents to a server, each once, and check that they are found."""

    folder: Path | None = argument("Folder of documents (those of the datasets)", default=None)
    check: str | None = flag("Question that must find one of them (from a document)")
    no_check: bool = switch("Do not check that they are found")


class DatasetsFlags(Flags):
    """List the datasets."""


class StatsFlags(DrawFlags, FileFlags):
    """Show what datasets or a file contain: questions, kinds, answerable share, gold passages, documents."""

    file: Path | None = argument("File of questions", default=None)


class MetricsFlags(Flags):
    """List the metrics, or explain one."""

    name: str | None = argument("A metric to explain: formula and conventions", default=None)
    suite: str | None = flag("Suites to list, with commas; all for every metric")


class ProfilesFlags(Flags):
    """List the kinds of servers and what can be measured of each, or print a profile."""

    name: str | None = argument("A profile to print", default=None)


class ListFlags(SavedFlags, panel="Run"):
    """List the saved runs."""

    calibrations: bool = switch("Also list the runs of calibrate", names="--all")


class ShowFlags(SavedFlags, panel="What is shown"):
    """Show a saved run: scorecard, what went wrong, and an example."""

    run: str = RUN
    question: str | None = flag("Show this question; with --all, whole chunks")
    by: str | None = flag("Values by dataset, or by a key of the metadata")
    failed: str | None = flag("Only questions with this outcome, such as not_retrieved: the first 3, with --all each")
    every: bool = EVERY


class RescoreFlags(MeasuringFlags):
    """Measure a saved run again with other metrics, another judge or mapping; asks no server.

    What is not given is as in the run.
    """

    common = "run suite metrics gate judge judge_model max_cost every as_json config name remap dry_run"
    run: str = RUN
    remap: bool = switch("Read the saved responses with another mapping")
    traces: Path | None = flag("Export of the server's traces: its times of retrieval and generation")


class ScoreFlags(FileFlags, MeasuringFlags):
    """Score files without a server: PREDICTIONS GOLD, saved answers with --dataset-file, or a log alone.

    With PREDICTIONS and GOLD only --k, --output and --json apply; with answers or a log all but --k and --output.
    """

    common = "dataset_file columns suite gate judge judge_model max_cost every as_json config k output dry_run"
    predictions: Path = argument("Retrieved passages, saved answers, or a log or traces of a server")
    gold: Path | None = argument("Gold passages, for retrieved passages", default=None)
    k: int | None = flag("Passages: cut-off of recall and nDCG (10)")
    output: Path | None = flag("Passages: write the means to this JSON file")
    sample: int | None = flag("Log: rows or traces that are drawn; 0: all", "samples_per_dataset")
    stratify: str | None = flag("Log: draw by the values of this key, such as feedback", "stratify")


class MergeFlags(GatedFlags, SavedFlags, CiFlags, panel="Run"):
    """Merge the shards of eval --shard into one run, with the gates given or else theirs."""

    runs: list[str] = RUNS
    name: str | None = flag("Name of the merged run", "name")
    allow_partial: bool = switch("Accept partial shards")


class CompareFlags(SavedFlags, CommentFlags, panel="Comparison"):
    """Compare saved runs, question by question."""

    runs: list[str] = RUNS
    baseline: str | None = flag("Run to compare the others with (the first)")
    primary: str | None = flag("Main metric, tested at the full level of 0.05")
    every: bool = EVERY
    pareto: bool = switch("Show which runs no other beats on everything")
    fail_on_regression: bool = switch("Exit with 1 if a run is worse than the baseline")


class GateFlags(GatedFlags, SavedFlags, CiFlags, panel="Baseline"):
    """Check a saved run: the conditions given, or else its own, and not worse than a baseline."""

    run: str = RUN
    baseline: str | None = flag("Run that this one must not be worse than")
    margin: float | None = flag("Tolerated loss (0.03)")
    metrics: str | None = flag("Metrics that must not be worse (those of --gate, or score)")


class CalibrateFlags(JudgeFlags, MakeFlags, RunsDirFlags, panel="Labels"):
    """Compare the judge with labels by people; later reports show how well they agree."""

    common = "metric run scale label_cut score_cut judge_model max_cost as_json config dry_run"
    labels: list[Path] = argument("Labels: a review sheet, .csv, .jsonl and others")
    metric: str | None = flag("Metric of the labels (answer_correctness)")
    run: str | None = flag("Run of the answers, if the labels name none")
    scale: str | None = flag("Worst and best label: 1,5 (found from the labels)")
    label_cut: float | None = flag("Least label that counts as good, from 0 to 1")
    score_cut: float | None = flag("Least score that counts as good, from 0 to 1 (1)")


class GenerateFlags(AddressFlags, DrawFlags, MakeFlags, RunsDirFlags, panel="Questions"):
    """Generate questions from documents: drafted by a model, checked, and answered blind before they are accepted.

    The documents are those of a folder, of datasets, or of a server (--rag-url) that lists them with their texts.
    """

    common = "documents number output mix language notes model max_cost datasets check as_json config dry_run"
    documents: Path | None = argument("Folder of documents, or one file", default=None)
    number: int = flag("Number of questions", default=100, min=1, names="--number -n")
    output: Path | None = flag("File to write or to continue (questions.jsonl)", names="--output -o")
    mix: str = flag("Shares: one passage / two passages / near misses", default="60/20/20")
    language: str = flag("Language of the questions (that of the passage)", default="")
    notes: str = flag("Facts of the subject that a writer must know", default="")
    closed_book: bool = switch("Tag what the model answers without any passage")
    check: Path | None = flag("Find the gold of this file again, without a model; -o writes it updated")
    model: str | None = flag("Model that writes; openai:NAME for another provider", "judge.model")
    solver_model: str | None = flag("Model that answers the drafts (the same)")
    base_url: str | None = flag("URL of the model's API, such as a local one", "judge.base_url")
    effort: str | None = flag("Reasoning effort of the model: low to max", "judge.effort")
    concurrency: int | None = flag("Calls at once (8)", "judge.concurrency")
    cache: bool | None = flag("Reuse saved replies (yes)", "judge.cache")
    batch: bool | None = flag("Use batches: half the price, up to an hour each (no)", "judge.batch")
    max_cost: float | None = flag("Budget, in dollars", "judge.max_cost_usd")


class PromptsFlags(Flags):
    """List the prompts of the judge, show one, or copy them to a folder to change them."""

    name: str | None = argument("Prompt to show", default=None)
    copy: Path | None = flag("Folder to write the prompts to")


class ReviewFlags(RunsDirFlags, panel="Labels"):
    """Write a sheet in which people label the answers of a run, for calibrate, or look through a file of questions."""

    run: str = argument(f"{_RUN}; or a file of questions", autocompletion=runs)
    apply: Path | None = flag("Filled sheet of the questions; writes those that are kept")
    metric: str | None = flag("Metric to label (answer_correctness)")
    output: Path | None = flag("File to write (reviews/RUN-METRIC.csv, or FILE-review.csv)", names="--output -o")


class ExportFlags(RunsDirFlags, panel="Output"):
    """Write a saved run for a spreadsheet, a program, a pull request or a reader."""

    run: str | None = argument(_RUN, default=None, autocompletion=runs)
    run_id: str | None = flag("The same, as an option", autocompletion=runs)
    form: str | None = flag("csv, json, markdown, parquet, ... (from the file name)", names="--format")
    output: Path | None = flag("File; its ending says the format (standard output)", names="--output -o")


class PageFlags(RunsDirFlags, panel="Output"):
    """Write saved runs as one HTML page that needs no network."""

    runs: list[str] = RUNS
    output: Path = flag("HTML file to write", default=Parameter.empty, names="--output -o")


class ViewFlags(RunsDirFlags):
    """Look at saved runs in the browser: one, several side by side, or a running one."""

    port: int = flag("Port on 127.0.0.1 (any free one)", default=0, min=0, max=65535)
    no_browser: bool = switch("Print the URL; open no browser")


class TrackFlags(RunsDirFlags):
    """Log saved runs to an experiment tracker."""

    runs: list[str] = RUNS
    to: str = flag("Tracker: mlflow", default="mlflow")
    uri: str | None = flag("URI of the tracker (MLFLOW_TRACKING_URI)")
    experiment: str = flag("Experiment; created if it does not exist", default="rag-evals")


class ServeFlags(Flags):
    """Start the reference server."""

    host: str = flag("Address to listen on", default="127.0.0.1")
    port: int = flag("Port; 0 for any free one", default=8001)
    corpus: str = flag("golden, none, or a folder of .md and .txt files", default="golden")
    allow_host: list[str] | None = flag("Also answer to this host name; repeatable")
