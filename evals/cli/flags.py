"""The flags of every command, each a line: type, help, and the key of the configuration that it sets."""

from inspect import Parameter
from pathlib import Path
from typing import Any

from evals.cli.parameters import Flags, argument, datasets, flag, metrics, profiles, runs, suites, switch

# The groups of flags.


_RUN = "Run: id or its start, name, file, or last"
_HEADER = 'Sent with each request: "Name: value"; repeatable'
_BODY = "Form of the request: JSON with {{question}} in it"
_URL = "URL of the server; a path in it is the one that is asked"
_ANNOTATOR = "Who labels, where several people do"
_GATE = "'mrr>=0.8', 'mrr@low>=0.8'; repeatable"
_UNCALIBRATED = "Gate on a judge that was never calibrated"
RUN: Any = argument(_RUN, autocompletion=runs)
RUNS: Any = argument(_RUN, metavar="RUN...", autocompletion=runs)
LENIENT: Any = switch("A gate without enough evidence is no failure")


class DrawFlags(Flags):
    """Which questions of which datasets."""

    panel = "Questions"
    datasets: str | None = flag(
        "Names, with commas; NAME:CONFIG for another config", "datasets", autocompletion=datasets
    )
    samples: int | None = flag("Of each dataset (100; own file: all); 0: all", "samples_per_dataset")
    seed: int | None = flag("Seed of the draw (42)", "seed")
    data_dir: Path | None = flag("Local rows or hub clones instead of the hub", "data_dir")


class FileFlags(Flags):
    """Questions of your own."""

    panel = "Questions"
    dataset_file: Path | None = flag("Your own questions: .csv, .xlsx, .json and others", "dataset_file")
    columns: str | None = flag("Columns of your file: question=Frage", "columns")


class AddressFlags(Flags):
    """Which server."""

    panel = "Server"
    rag_url: str | None = flag("URL of the server (RAG_SERVER_URL or localhost:8001)", "server.url")
    profile: str | None = flag("Kind of server, or a YAML file (rag-server)", "server.profile", autocompletion=profiles)


class ServerFlags(Flags):
    """How the server is asked."""

    panel = "Server"
    embedded: bool | None = switch("Evaluate the built-in server", "embedded")
    ingest: bool | None = switch("Upload the datasets' documents first", "ingest")
    preflight: bool | None = flag("First see that the corpus is there (yes)", "preflight")
    concurrency: str | None = flag("Questions in flight (4); 1,4,16 for a sweep", "concurrency")
    rps: float | None = flag("Maximum requests per second", "rps")
    timeout: float | None = flag("Seconds for one answer (120)", "server.timeout_s")
    warmup: int | None = flag("Unscored questions asked first (1)", "warmup")


class VariantFlags(Flags):
    """Several runs over the same questions."""

    panel = "Variants"
    vary: list[str] | None = flag("A run for each value: ask.json.top_k=3,5,10")
    repeats: int | None = flag("How often each question is asked (1)", "repeats")
    alone: bool = switch("Of variants, resume this one only")
    shard: str | None = flag("Ask only this part of the questions: 2/7; see merge", "shard")


class MeasureFlags(Flags):
    """What is computed, and what it must reach."""

    panel = "Measures"
    suite: str | None = flag("Suites of metrics, with commas (core)", "suite", autocompletion=suites)
    metrics: str | None = flag("Metrics, with commas: recall_at_20,mrr", "metrics", autocompletion=metrics)
    match: str | None = flag("How chunks are recognised as gold (auto)", "match.rule")
    gate: list[str] | None = flag(f"Fail unless: {_GATE}", "gate")
    lenient: bool = LENIENT
    allow_uncalibrated: bool | None = switch(_UNCALIBRATED, "allow_uncalibrated")


class JudgeFlags(Flags):
    """Who judges, and for how much money."""

    panel = "Judge"
    judge: bool | None = flag("Use the LLM judge (yes)", "judge.enabled")
    judge_model: str | None = flag("Model of the judge; openai:NAME for another provider", "judge.model")
    judge_base_url: str | None = flag("Address of the judge's API, such as a local one", "judge.base_url")
    judge_effort: str | None = flag("How hard the judge thinks: low to max", "judge.effort")
    judge_repeats: int | None = flag("How often each decision is made (1)", "judge.repeats")
    judge_cache: bool | None = flag("Keep replies, and pay once (yes)", "judge.cache")
    retry_lost: bool | None = switch("Ask again what stayed unusable within a day", "judge.retry_lost")
    judge_batch: bool | None = flag("In batches: half price, rounds of up to an hour (no)", "judge.batch")
    max_cost: float | None = flag("Dollars after which no judge call starts", "judge.max_cost_usd")


class EngineFlags(Flags):
    """Who asks and embeds."""

    panel = "Engine"
    engine: str | None = flag("Who asks and embeds: local | dask, workers of a cluster (local)", "engine.name")
    scheduler: str | None = flag("Of a Dask cluster: tcp://HOST:8786 (one on this machine)", "engine.scheduler")
    workers: int | None = flag("Of a Dask cluster on this machine (its cores)", "engine.workers")
    jobs: int | None = flag("Processes that score the answers (1)", "engine.jobs")


class OutputFlags(Flags):
    """How much is printed."""

    panel = "Output"
    quiet: bool = switch("Score, gates, where it is saved; no progress", names="--quiet -q")
    verbose: bool = switch("A line for each answer as it comes", names="--verbose -v")


class JsonFlags(Flags):
    """Output for a program."""

    panel = "Run"
    as_json: bool = switch("Print JSON and nothing else", names="--json")


class ConfigFlags(JsonFlags):
    """A configuration in a file."""

    panel = "Run"
    config: Path | None = flag("Configuration file; flags override it")


class RunsDirFlags(Flags):
    """Where runs are."""

    panel = "Run"
    runs_dir: Path | None = flag("Folder of saved runs (data/eval_runs)", "runs_dir", names="--runs-dir")


class SavedFlags(JsonFlags, RunsDirFlags):
    """What a command takes that reads saved runs and prints what it finds."""


class MakeFlags(ConfigFlags):
    """What every command that makes a run takes."""

    panel = "Run"
    name: str | None = flag("Name of the run", "name")
    dry_run: bool = switch("Say what would be done; ask nothing")


class CommentFlags(Flags):
    """What is left for people in a continuous integration."""

    panel = "CI"
    junit: Path | None = None
    no_fail: bool = False
    comment: Path | None = flag("Markdown for a pull request, however it ends")
    no_ci: bool = switch("No summary and no annotations in GitHub Actions")


class CiFlags(CommentFlags):
    """What is left for a continuous integration, and what it fails by."""

    panel = "CI"
    junit: Path | None = flag("JUnit report of gates and failed questions, however it ends")
    no_fail: bool = switch("Exit 0 where a gate is not met; it is said all the same")


class MeasuringFlags(MeasureFlags, JudgeFlags, EngineFlags, OutputFlags, MakeFlags, RunsDirFlags, CiFlags):
    """What `rescore` and `score` share."""


# The flags of each command; the docstring is what the help says of it.


class EvalRunFlags(Flags):
    """Which run `eval` makes."""

    panel = "Run"
    runs_dir: Path | None = flag("Folder of saved runs (data/eval_runs)", "runs_dir", names="--runs-dir --output")
    resume: str | None = flag("Id of a saved run to resume; of variants, with all of them")
    on_error: str | None = flag("Questions without an answer: exclude | worst (exclude)", "on_error")
    max_error_rate: float | None = flag("Share of failures above which it ends with 4 (0.1)", "max_error_rate")
    tracing: bool | None = switch("Spans of OpenTelemetry", "tracing")


class EvalFlags(
    DrawFlags,
    FileFlags,
    AddressFlags,
    ServerFlags,
    VariantFlags,
    MeasureFlags,
    JudgeFlags,
    EngineFlags,
    OutputFlags,
    MakeFlags,
    EvalRunFlags,
    CiFlags,
):
    """Evaluate a RAG server and save the run."""


class DoctorFlags(EvalFlags):
    """See whether a run would work: configuration, disk, datasets, server, mapping, corpus, judge."""


class InitFlags(Flags):
    """Write a first configuration and a first file of questions, by a few questions or by flags."""

    panel = "What is written"
    rag_url: str | None = flag(_URL)
    profile: str | None = flag("Kind of server, or a YAML file (found by one question)", autocompletion=profiles)
    header: list[str] | None = flag(_HEADER)
    body: str | None = flag(_BODY)
    questions: str | None = flag("A file, or golden (a template to fill in)")
    columns: str | None = flag("Columns of your file: question=Frage", "columns")
    judge: bool | None = flag("Use the LLM judge (no)")
    output: Path = flag("The file to write", default=Path("eval_config.yml"), names="--output -o")
    yes: bool = switch("Ask nothing on the terminal; call paths that no profile has", names="--yes -y")
    force: bool = switch("Write over the file")


class ProbeFlags(JsonFlags):
    """Find out how a server is asked and read, by one question, and write the YAML that evaluates it."""

    url: str = argument(_URL)
    header: list[str] | None = flag(_HEADER)
    question: str | None = flag("The one that is asked (a general one)")
    body: str | None = flag(_BODY)
    profiles: bool = flag("Try the built-in profiles", default=True)
    yes: bool = switch("Call paths that no profile has without a question", names="--yes -y")
    dry_run: bool = switch("List the requests by looking with GET; ask none")
    output: Path | None = flag("File for the section", names="--output -o")


class IngestFlags(DrawFlags, FileFlags, AddressFlags, ConfigFlags, RunsDirFlags):
    """Give documents to a server, each once, and see that they are found."""

    folder: Path | None = argument("Folder of documents (those of the datasets)", default=None)
    check: str | None = flag("Question that must find one of them (made from them)")
    no_check: bool = switch("Ask nothing afterwards")


class DatasetsFlags(Flags):
    """List the datasets."""


class StatsFlags(DrawFlags, FileFlags):
    """Show what the datasets hold: questions, answerable share, gold, corpus."""

    words = {"datasets": "Names, with commas (all)"}


class MetricsFlags(Flags):
    """List the metrics, or explain one."""

    name: str | None = argument("A metric, for its formula and conventions", default=None)
    suite: str | None = flag("Only those of these suites, with commas")


class ProfilesFlags(Flags):
    """List the kinds of servers with what can be measured of each, or print the profile of one."""

    name: str | None = argument("A profile, to print its file", default=None)


class ListFlags(SavedFlags):
    """List the saved runs."""

    calibrations: bool = switch("List the runs of calibrate too", names="--all")


class ShowFlags(SavedFlags):
    """Show a saved run: the scorecard, then failures."""

    run: str = RUN
    failures: int | None = flag("How many failures to show (5)", min=0)
    question: str | None = flag("Id of a question to show whole")
    by: str | None = flag("Values by dataset, or by a key of the metadata")
    matching: bool = switch("How much depends on the overlap threshold")
    failed: str | None = flag("Only the questions with this broken link")


class RescoreFlags(MeasuringFlags):
    """Measure a saved run again: other metrics, another judge or mapping; no server."""

    words = {
        "suite": "Suites of metrics, with commas",
        "match": "How chunks are recognised as gold",
        "judge": "Use the LLM judge",
        "judge_repeats": "How often each decision is made",
        "config": "Configuration file laid over the run's own",
    }
    run: str = RUN
    remap: bool = switch("Read the stored bodies again with the mapping given")


class ScoreFlags(FileFlags, MeasuringFlags):
    """Score files, without a server: PREDICTIONS GOLD, or saved answers with --dataset-file.

    Of PREDICTIONS and GOLD are --k, --output and --json, of saved answers all but --k and --output.
    """

    words = {"dataset_file": "Answers: their questions, .csv, .json and others"}
    predictions: Path = argument("Retrieved passages (.json), or saved answers (.jsonl)")
    gold: Path | None = argument("Gold passages, for retrieved passages", default=None)
    k: int | None = flag("Passages: cut-off of recall and nDCG (10)")
    output: Path | None = flag("Passages: write the means to this JSON file")


class MergeFlags(SavedFlags, CiFlags):
    """Make one run of all shards of eval --shard; asks nothing of anybody."""

    runs: list[str] = argument("Runs of all shards: ids or their starts, names, or files")
    name: str | None = flag("Name of the merged run", "name")
    gate: list[str] | None = flag(f"Fail unless: {_GATE} (those of the shards)", "gate")
    lenient: bool = LENIENT
    allow_uncalibrated: bool | None = switch(_UNCALIBRATED, "allow_uncalibrated")
    allow_partial: bool = switch("Take shards that are partial; not those that failed")


class CompareFlags(SavedFlags, CommentFlags):
    """Compare saved runs, question by question."""

    runs: list[str] = argument("Runs: ids or their starts, names, files, or last; each against the baseline")
    baseline: str | None = flag("Run that the others are set against (the first)")
    primary: str | None = flag("The one metric that the comparison is about: tested at 0.05")
    pareto: bool = switch("Say which runs no other beats on everything")
    fail_on_regression: bool = switch("Exit 1 where a run is worse than the baseline")


class GateFlags(SavedFlags, CiFlags):
    """Check a saved run: conditions on metrics, and that it is not worse than another."""

    panel = "Gates"
    run: str = RUN
    gate: list[str] | None = flag("Condition: 'mrr>=0.8' or 'mrr@low>=0.8'; repeatable (those of the run)")
    baseline: str | None = flag("Run that this one must not be worse than")
    baseline_dir: Path | None = flag("The same, the newest complete run of a folder; it may be empty")
    margin: float | None = flag("By how much it may be worse (0.03)")
    metrics: str | None = flag("What must not be worse, with commas (metrics of --gate, else score)")
    lenient: bool = LENIENT
    allow_uncalibrated: bool = switch(_UNCALIBRATED)


class CalibrateFlags(JudgeFlags, MakeFlags, RunsDirFlags):
    """Hold the judge against people's labels; later reports show what came out."""

    labels: list[Path] = argument("Labels: a review sheet, .csv, .jsonl and others")
    metric: str | None = flag("What they are about (answer_correctness)")
    run: str | None = flag("Run of the answers, where the labels name none")
    scale: str | None = flag("Worst and best label: 1,5 (by what they are)")
    label_cut: float | None = flag("Labels that count as good, from 0 to 1")
    score_cut: float | None = flag("Scores that count as good, from 0 to 1 (1)")


class ReviewFlags(RunsDirFlags):
    """Label the answers of a run, one at a time, for calibrate; continues where you stopped."""

    run: str = RUN
    metric: str | None = flag("What to label (answer_correctness)")
    annotator: str | None = flag(_ANNOTATOR)
    output: Path | None = flag("Sheet of labels (reviews/RUN.csv next to the runs)")


class ExportFlags(RunsDirFlags):
    """Write a saved run for a spreadsheet, a program, a pull request or a reader."""

    run: str | None = argument(_RUN, default=None, autocompletion=runs)
    run_id: str | None = flag("The same, as an option", autocompletion=runs)
    form: str | None = flag("csv, parquet, beir, trec-run and others (by the file's name)", names="--format")
    output: Path | None = flag("File; its name says the format (standard output)", names="--output -o")


class PageFlags(RunsDirFlags):
    """Write saved runs as one HTML page that needs no network."""

    runs: list[str] = RUNS
    output: Path = flag("HTML file to write", default=Parameter.empty, names="--output -o")


class ViewFlags(RunsDirFlags):
    """Look at saved runs in the browser: all, one, several side by side, or a running one."""

    port: int = flag("Port on 127.0.0.1 (any free one)", default=0, min=0, max=65535)
    label: bool = switch("Let answers be labelled, in the sheets of review")
    annotator: str | None = flag(_ANNOTATOR)
    no_browser: bool = switch("Print the address and open nothing")


class TrackFlags(RunsDirFlags):
    """Log saved runs to a tracker of experiments."""

    runs: list[str] = RUNS
    to: str = flag("Tracker: mlflow", default="mlflow")
    uri: str | None = flag("Of the tracker (MLFLOW_TRACKING_URI)")
    experiment: str = flag("Made where it does not exist", default="rag-evals")


class ServeFlags(Flags):
    """Start the reference server."""

    host: str = flag("Address to listen on", default="127.0.0.1")
    port: int = flag("Port; 0 for any free one", default=8001)
    corpus: str = flag("golden, none, or a folder of .md and .txt files", default="golden")
    allow_host: list[str] | None = flag("Answer to this name too (localhost, loopback addresses and --host alone)")
