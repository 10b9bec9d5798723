"""The flags of every command, each a line: type, help, and the key of the configuration that it sets."""

from inspect import Parameter
from pathlib import Path
from typing import Any

from evals.cli.parameters import (
    Flags,
    argument,
    datasets,
    flag,
    metrics,
    names_of,
    profiles,
    runs,
    sample_count,
    seconds,
    suites,
    switch,
    widths,
)

# The groups of flags.


_RUN = "Run: id or its start, name, file, or last"
_HEADER = 'Sent with each request: "Name: value"; repeatable'
_BODY = "Form of the request: JSON with {{question}} in it"
_URL = "URL of the server; a path in it is the one that is asked"
_ANNOTATOR = "Who labels, where several people do"
_SAMPLES = "100; own file: all); 0: all"
RUN: Any = argument(_RUN, autocompletion=runs)
RUNS: Any = argument(_RUN, metavar="RUN...", autocompletion=runs)
RUNS_DIR: Any = flag("Folder of saved runs (data/eval_runs)", "runs_dir", names="--runs-dir")
DATASET_FILE: Any = flag("Your own questions: .csv, .xlsx, .json and others", "dataset_file")
COLUMNS: Any = flag("Columns of your file: question=Frage", "columns")
DATA_DIR: Any = flag("Local rows or hub clones instead of the hub", "data_dir")
SEED: Any = flag("Seed of the draw (42)", "seed")
URL: Any = flag("URL of the server (RAG_SERVER_URL or localhost:8001)", "server.url")
PROFILE: Any = flag("Kind of server, or a YAML file (rag-server)", "server.profile", autocompletion=profiles)
CONFIG: Any = flag("Configuration file; flags override it")
_GATE = "'mrr>=0.8', 'mrr@low>=0.8'; repeatable"
LENIENT: Any = switch("A gate without enough evidence is no failure")
_UNCALIBRATED = "Gate on a judge that was never calibrated"
UNCALIBRATED: Any = switch(_UNCALIBRATED)
AS_JSON: Any = switch("Print the run as JSON and nothing else", names="--json")
COMMENT: Any = flag("Markdown for a pull request, however it ends")
NO_CI: Any = switch("No summary and no annotations in GitHub Actions")


class CiFlags(Flags):
    """What is left for a continuous integration, and what it fails by."""

    panel = "CI"
    junit: Path | None = flag("JUnit report of gates and failed questions, however it ends")
    comment: Path | None = COMMENT
    no_fail: bool = switch("Exit 0 where a gate is not met; it is said all the same")
    no_ci: bool = NO_CI


class QuestionFlags(Flags):
    """Which questions of which datasets."""

    panel = "Questions"
    datasets: str | None = flag(
        "Names, with commas; NAME:CONFIG for another config", "datasets", names_of, autocompletion=datasets
    )
    samples: int | None = flag(f"Of each dataset ({_SAMPLES}", "samples_per_dataset", sample_count)
    seed: int | None = SEED
    shard: str | None = flag("Ask only this part: 2/7; see merge", "shard")
    data_dir: Path | None = DATA_DIR


class FileFlags(Flags):
    """Questions of your own."""

    panel = "Questions"
    dataset_file: Path | None = DATASET_FILE
    columns: str | None = COLUMNS


class ServerFlags(Flags):
    """Which server, and how it is asked."""

    panel = "Server"
    rag_url: str | None = URL
    profile: str | None = PROFILE
    embedded: bool | None = switch("Evaluate the built-in server", "embedded")
    ingest: bool | None = switch("Upload the datasets' documents first", "ingest")
    preflight: bool | None = flag("First see that the corpus is there (yes)", "preflight")
    concurrency: str | None = flag("Questions in flight (4); 1,4,16 for a sweep", "concurrency", widths)
    rps: float | None = flag("At most so many requests a second", "rps")
    timeout: float | None = flag("Seconds for one answer (120)", "server.timeout_s", seconds)
    warmup: int | None = flag("Unscored questions asked first (1)", "warmup")


class VariantFlags(Flags):
    """Several runs over the same questions."""

    panel = "Variants"
    vary: list[str] | None = flag("A run for each value: ask.json.top_k=3,5,10")
    repeats: int | None = flag("How often each question is asked (1)", "repeats")
    alone: bool = switch("Of variants, resume this one only")


class MeasureFlags(Flags):
    """What is computed, and what it must reach."""

    panel = "Measures"
    suite: str | None = flag("Suites of metrics, with commas (core)", "suite", names_of, autocompletion=suites)
    metrics: str | None = flag("Metrics, with commas: recall_at_20,mrr", "metrics", names_of, autocompletion=metrics)
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
    """How much is told."""

    panel = "Output"
    quiet: bool = switch("Score, gates, where it is saved; no progress", names="--quiet -q")
    verbose: bool = switch("A line for each answer as it comes", names="--verbose -v")


class MakeFlags(Flags):
    """What every command that makes a run takes."""

    panel = "Run"
    name: str | None = flag("Name of the run", "name")
    config: Path | None = CONFIG
    dry_run: bool = switch("Say what would be done; ask nothing")
    as_json: bool = AS_JSON


class RunsDirFlags(Flags):
    """Where runs are."""

    panel = "Run"
    runs_dir: Path | None = RUNS_DIR


class RunFlags(MakeFlags, RunsDirFlags):
    """What a command takes that makes a run of answers that are there."""


class MeasuringFlags(MeasureFlags, JudgeFlags, EngineFlags, OutputFlags, RunFlags, CiFlags):
    """What `rescore` and `score` share."""


# The flags of each command; the docstring is what the help says of it.


class EvalRunFlags(Flags):
    """Which run `eval` makes."""

    panel = "Run"
    runs_dir: Path | None = flag("Folder of saved runs (data/eval_runs)", "runs_dir", names="--runs-dir --output")


class FailureFlags(Flags):
    """What `eval` makes of what failed."""

    panel = "CI"
    resume: str | None = flag("Id of a saved run to go on with; of variants, with all of them")
    on_error: str | None = flag("Questions without an answer: exclude | worst (exclude)", "on_error")
    max_error_rate: float | None = flag("Share of failures above which it ends with 4 (0.1)", "max_error_rate")
    tracing: bool | None = switch("Spans of OpenTelemetry", "tracing")


class EvalFlags(
    QuestionFlags,
    FileFlags,
    ServerFlags,
    VariantFlags,
    MeasureFlags,
    JudgeFlags,
    EngineFlags,
    OutputFlags,
    MakeFlags,
    EvalRunFlags,
    CiFlags,
    FailureFlags,
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
    columns: str | None = COLUMNS
    judge: bool | None = flag("Use the LLM judge (no)")
    output: Path = flag("The file to write", default=Path("eval_config.yml"), names="--output -o")
    yes: bool = switch("Ask nothing on the terminal; call paths that no profile has", names="--yes -y")
    force: bool = switch("Write over the file")


class ProbeFlags(Flags):
    """Find out how a server is asked and read, by one question, and write the YAML that evaluates it."""

    url: str = argument(_URL)
    header: list[str] | None = flag(_HEADER)
    question: str | None = flag("The one that is asked (a general one)")
    body: str | None = flag(_BODY)
    profiles: bool = flag("Try the built-in profiles", default=True)
    yes: bool = switch("Call paths that no profile has without a question", names="--yes -y")
    dry_run: bool = switch("List the requests by looking with GET; ask none")
    as_json: bool = switch("Print what was found as JSON and nothing else", names="--json")
    output: Path | None = flag("File for the section", names="--output -o")


class IngestServerFlags(Flags):
    """Which server `ingest` gives which documents."""

    panel = "Server"
    datasets: str | None = flag("Datasets whose documents to give, with commas", "datasets", names_of)
    samples: int | None = flag(
        f"Questions of each dataset whose documents are given ({_SAMPLES}", "samples_per_dataset", sample_count
    )
    seed: int | None = SEED
    data_dir: Path | None = DATA_DIR
    rag_url: str | None = URL
    profile: str | None = PROFILE
    config: Path | None = CONFIG
    as_json: bool = switch("Print what was done as JSON and nothing else", names="--json")
    runs_dir: Path | None = RUNS_DIR


class IngestFlags(FileFlags, IngestServerFlags):
    """Give documents to a server, each once, and see that they are found."""

    folder: Path | None = argument("Folder of documents (those of the datasets)", default=None)
    check: str | None = flag("Question that must find one of them (made from them)")
    no_check: bool = switch("Ask nothing afterwards")


class DatasetsFlags(Flags):
    """List the datasets."""


class StatsFlags(Flags):
    """Show what the datasets hold: questions, answerable share, gold, corpus."""

    datasets: str | None = flag("Names, with commas (all)")
    samples: int | None = flag(f"Questions of each dataset ({_SAMPLES}")
    seed: int = flag("Seed of the draw", default=42)
    data_dir: Path | None = DATA_DIR
    dataset_file: Path | None = DATASET_FILE
    columns: str | None = COLUMNS


class MetricsFlags(Flags):
    """List the metrics, or explain one."""

    name: str | None = argument("A metric, for its formula and conventions", default=None)
    suite: str | None = flag("Only those of these suites, with commas")


class ProfilesFlags(Flags):
    """List the kinds of servers with what can be measured of each, or print the profile of one."""

    name: str | None = argument("A profile, to print its file", default=None)


class ListFlags(Flags):
    """List the saved runs."""

    calibrations: bool = switch("List the runs of calibrate too", names="--all")
    as_json: bool = switch("Print the list as JSON and nothing else", names="--json")
    runs_dir: Path | None = RUNS_DIR


class ShowFlags(Flags):
    """Show a saved run: the scorecard, then failures."""

    run: str = RUN
    failures: int | None = flag("How many failures to show (5)", min=0)
    question: str | None = flag("Id of a question to show whole")
    by: str | None = flag("Values by dataset, or by a key of the metadata")
    matching: bool = switch("How much depends on the overlap threshold")
    failed: str | None = flag("Only the questions with this broken link")
    as_json: bool = switch("Print the run, or its slices, as JSON alone", names="--json")
    runs_dir: Path | None = RUNS_DIR


class RemapFlags(Flags):
    """How stored bodies are read again."""

    panel = "CI"
    remap: bool = switch("Read the stored bodies again with the mapping given")


class RescoreFlags(MeasuringFlags, RemapFlags):
    """Measure a saved run again: other metrics, another judge or mapping; no server."""

    words = {
        "suite": "Suites of metrics, with commas",
        "metrics": "Metrics, with commas",
        "match": "How chunks are recognised as gold",
        "judge": "Use the LLM judge",
        "judge_repeats": "How often each decision is made",
        "name": "Name of the new run",
        "config": "Configuration file laid over the run's own",
    }
    run: str = RUN


class ScoreFlags(FileFlags, MeasuringFlags):
    """Score files, without a server: PREDICTIONS GOLD, or saved answers with --dataset-file."""

    words = {
        "dataset_file": "Answers: their questions, .csv, .json and others",
        "columns": "Answers: columns of the questions, question=Frage",
        "suite": "Answers: suites of metrics, with commas (core)",
        "metrics": "Answers: metrics, with commas",
        "match": "Answers: how chunks are recognised as gold (auto)",
        "judge": "Answers: use the LLM judge (yes)",
        "judge_model": "Answers: model of the judge",
        "judge_base_url": "Answers: address of the judge's API",
        "judge_effort": "Answers: how hard the judge thinks",
        "judge_repeats": "Answers: how often each decision is made (1)",
        "judge_cache": "Answers: keep replies (yes)",
        "max_cost": "Answers: dollars after which no judge call starts",
        "name": "Answers: name of the run",
        "config": "Answers: configuration file; flags override it",
        "dry_run": "Answers: say what would be done; ask nothing",
        "gate": f"Answers: fail unless: {_GATE}",
        "lenient": "Answers: a gate without enough evidence is no failure",
        "allow_uncalibrated": "Answers: gate on a judge that was never calibrated",
        "as_json": "Print the means, or the run, as JSON",
    }
    predictions: Path = argument("Retrieved passages (.json), or saved answers (.jsonl)")
    gold: Path | None = argument("Gold passages, for retrieved passages", default=None)
    k: int | None = flag("Passages: cut-off of recall and nDCG (10)")
    output: Path | None = flag("Passages: write the means to this JSON file")


class MergeFlags(CiFlags):
    """Make one run of all shards of eval --shard; asks nothing of anybody."""

    runs: list[str] = argument("Runs of all shards: ids or their starts, names, or files")
    name: str | None = flag("Name of the merged run")
    gate: list[str] | None = flag(f"Fail unless: {_GATE} (those of the shards)")
    lenient: bool = LENIENT
    allow_uncalibrated: bool = UNCALIBRATED
    allow_partial: bool = switch("Take shards that are partial; not those that failed")
    as_json: bool = AS_JSON
    runs_dir: Path | None = RUNS_DIR


class CompareFlags(Flags):
    """Compare saved runs, question by question."""

    runs: list[str] = argument("Runs: ids or their starts, names, files, or last; each against the baseline")
    baseline: str | None = flag("Run that the others are set against (the first)")
    primary: str | None = flag("The one metric that the comparison is about: tested at 0.05")
    pareto: bool = switch("Say which runs no other beats on everything")
    fail_on_regression: bool = switch("Exit 1 where a run is worse than the baseline")
    comment: Path | None = COMMENT
    no_ci: bool = NO_CI
    as_json: bool = switch("Print the comparison as JSON and nothing else", names="--json")
    runs_dir: Path | None = RUNS_DIR


class ConditionFlags(Flags):
    """What a run must meet."""

    panel = "Gates"
    gate: list[str] | None = flag("Condition: 'mrr>=0.8' or 'mrr@low>=0.8'; repeatable (those of the run)")
    baseline: str | None = flag("Run that this one must not be worse than")
    baseline_dir: Path | None = flag("The same, the newest complete run of a folder; it may be empty")
    margin: float | None = flag("By how much it may be worse (0.03)")
    metrics: str | None = flag("What must not be worse, with commas (metrics of --gate, else score)")
    lenient: bool = LENIENT
    allow_uncalibrated: bool = UNCALIBRATED
    as_json: bool = switch("Print the outcomes as JSON and nothing else", names="--json")
    runs_dir: Path | None = RUNS_DIR


class GateFlags(ConditionFlags, CiFlags):
    """Check a saved run: conditions on metrics, and that it is not worse than another."""

    run: str = RUN


class CalibrateFlags(JudgeFlags, RunFlags):
    """Hold the judge against people's labels; later reports show what came out."""

    words = {"as_json": "Print the calibration as JSON and nothing else"}
    labels: list[Path] = argument("Labels: a review sheet, .csv, .jsonl and others")
    metric: str | None = flag("What they are about (answer_correctness)")
    run: str | None = flag("Run of the answers, where the labels name none")
    scale: str | None = flag("Worst and best label: 1,5 (by what they are)")
    label_cut: float | None = flag("Labels that count as good, from 0 to 1")
    score_cut: float | None = flag("Scores that count as good, from 0 to 1 (1)")


class ReviewFlags(Flags):
    """Label the answers of a run, one at a time, for calibrate; goes on where you stopped."""

    run: str = RUN
    metric: str | None = flag("What to label (answer_correctness)")
    annotator: str | None = flag(_ANNOTATOR)
    output: Path | None = flag("Sheet of labels (reviews/RUN.csv beside the runs)")
    runs_dir: Path | None = RUNS_DIR


class ExportFlags(Flags):
    """Write a saved run for a spreadsheet, a program, a pull request or a reader."""

    run: str | None = argument(_RUN, default=None, autocompletion=runs)
    run_id: str | None = flag("The same, as an option", autocompletion=runs)
    form: str | None = flag("csv, parquet, beir, trec-run and others (by the file's name)", names="--format")
    output: Path | None = flag("File; its name says the format (standard output)", names="--output -o")
    runs_dir: Path | None = RUNS_DIR


class PageFlags(Flags):
    """Write saved runs as one HTML page that needs no network."""

    runs: list[str] = RUNS
    output: Path = flag("HTML file to write", default=Parameter.empty, names="--output -o")
    runs_dir: Path | None = RUNS_DIR


class ViewFlags(Flags):
    """Look at saved runs in the browser: all of them, one, several beside each other, and one that goes on."""

    port: int = flag("Port on 127.0.0.1 (any free one)", default=0, min=0, max=65535)
    label: bool = switch("Let answers be labelled, in the sheets of review")
    annotator: str | None = flag(_ANNOTATOR)
    no_browser: bool = switch("Print the address and open nothing")
    runs_dir: Path | None = RUNS_DIR


class TrackFlags(Flags):
    """Log saved runs to a tracker of experiments."""

    runs: list[str] = RUNS
    to: str = flag("Tracker: mlflow", default="mlflow")
    uri: str | None = flag("Of the tracker (MLFLOW_TRACKING_URI)")
    experiment: str = flag("Made where it does not exist", default="rag-evals")
    runs_dir: Path | None = RUNS_DIR


class ServeFlags(Flags):
    """Start the reference server."""

    host: str = flag("Address to listen on", default="127.0.0.1")
    port: int = flag("Port; 0 for any free one", default=8001)
    corpus: str = flag("golden, none, or a folder of .md and .txt files", default="golden")
    allow_host: list[str] | None = flag("Answer to this name too (localhost, loopback addresses and --host alone)")
