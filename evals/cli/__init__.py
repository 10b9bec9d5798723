"""The command line: it parses, calls the library and prints. Commands are imported when they run."""

from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(
    name="evals",
    help="Measure a live RAG server over HTTP, with error bars.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        from evals.version import __version__

        typer.echo(f"rag-evals {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version")
    ] = False,
) -> None:
    """Measure a live RAG server over HTTP, with error bars."""


RunsDir = Annotated[Path | None, typer.Option("--runs-dir", help="Folder of saved runs (data/eval_runs)")]
JudgeModel = Annotated[str | None, typer.Option(help="Model of the judge; openai:NAME for another provider")]
JudgeCache = Annotated[bool | None, typer.Option("--judge-cache/--no-judge-cache", help="Keep replies (yes)")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Say what would be done; ask nothing")]
Gate = Annotated[list[str] | None, typer.Option(help="Fail unless, as in 'mrr>=0.8'; repeatable")]
JudgeUrl = Annotated[str | None, typer.Option(help="Address of the judge's API, such as a local one")]
DataDir = Annotated[Path | None, typer.Option(help="Local rows or hub clones instead of the hub")]
DatasetFile = Annotated[Path | None, typer.Option(help="Your own questions: .csv, .xlsx, .json and others")]
Columns = Annotated[str | None, typer.Option(help="Columns of your file: question=Frage")]


@app.command("eval")
def eval_command(
    datasets: Annotated[str | None, typer.Option(help="Names, with commas; NAME:CONFIG for another config")] = None,
    samples: Annotated[int | None, typer.Option(help="Questions of each dataset (100; own file: all); 0: all")] = None,
    seed: Annotated[int | None, typer.Option(help="Seed of the draw (42)")] = None,
    name: Annotated[str | None, typer.Option(help="Name of the run")] = None,
    rag_url: Annotated[str | None, typer.Option(help="URL of the server (RAG_SERVER_URL or localhost:8001)")] = None,
    profile: Annotated[str | None, typer.Option(help="Kind of server, or a YAML file (rag-server)")] = None,
    config: Annotated[Path | None, typer.Option(help="Configuration file; flags go before it")] = None,
    suite: Annotated[str | None, typer.Option(help="Suites of metrics, with commas (core)")] = None,
    metrics: Annotated[str | None, typer.Option(help="Metrics, with commas: recall_at_20,mrr")] = None,
    match: Annotated[str | None, typer.Option(help="How chunks are recognised as gold (auto)")] = None,
    judge: Annotated[bool | None, typer.Option("--judge/--no-judge", help="Use the LLM judge (yes)")] = None,
    judge_model: JudgeModel = None,
    judge_base_url: JudgeUrl = None,
    judge_repeats: Annotated[int | None, typer.Option(help="How often each decision is made (1)")] = None,
    judge_cache: JudgeCache = None,
    max_cost: Annotated[float | None, typer.Option(help="Dollars after which no judge call starts")] = None,
    concurrency: Annotated[int | None, typer.Option(help="Questions in flight (4)")] = None,
    rps: Annotated[float | None, typer.Option(help="At most so many requests a second")] = None,
    timeout: Annotated[float | None, typer.Option(help="Seconds for one answer (120)")] = None,
    warmup: Annotated[int | None, typer.Option(help="Unscored questions asked first (1)")] = None,
    on_error: Annotated[str | None, typer.Option(help="exclude | worst: a question without an answer")] = None,
    max_error_rate: Annotated[float | None, typer.Option(help="More failures: exit 4 (0.1)")] = None,
    data_dir: DataDir = None,
    dataset_file: DatasetFile = None,
    columns: Columns = None,
    ingest: Annotated[bool | None, typer.Option("--ingest", help="Upload the datasets' documents first")] = None,
    preflight: Annotated[bool | None, typer.Option("--preflight/--no-preflight", help="Check the corpus (yes)")] = None,
    embedded: Annotated[bool | None, typer.Option("--embedded", help="Evaluate the built-in server")] = None,
    resume: Annotated[str | None, typer.Option(help="Go on with a saved run")] = None,
    dry_run: DryRun = False,
    gate: Gate = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the run as JSON and nothing else")] = False,
    runs_dir: Annotated[Path | None, typer.Option("--runs-dir", "--output", help="Folder of saved runs")] = None,
) -> None:
    """Evaluate a RAG server and save the run."""
    from evals.cli.commands.eval import EvalFlags, evaluate

    flags = EvalFlags(
        datasets=datasets, samples=samples, seed=seed, name=name, rag_url=rag_url, profile=profile, suite=suite,
        metrics=metrics, match=match, judge=judge, judge_model=judge_model, judge_base_url=judge_base_url,
        judge_repeats=judge_repeats, judge_cache=judge_cache, max_cost=max_cost, concurrency=concurrency, rps=rps,
        timeout=timeout, warmup=warmup, on_error=on_error, max_error_rate=max_error_rate, data_dir=data_dir,
        dataset_file=dataset_file, columns=columns, ingest=ingest, preflight=preflight, embedded=embedded, gate=gate,
        runs_dir=runs_dir,
    )  # fmt: skip
    evaluate(flags, config=config, resume=resume, dry_run=dry_run, as_json=as_json)


@app.command("datasets")
def datasets_command() -> None:
    """List the datasets."""
    from evals.cli.commands.catalogue import list_datasets

    list_datasets()


@app.command("stats")
def stats_command(
    datasets: Annotated[str | None, typer.Option(help="Names, with commas (all)")] = None,
    samples: Annotated[int | None, typer.Option(help="Questions of each dataset (100; own file: all); 0: all")] = None,
    seed: Annotated[int, typer.Option(help="Seed of the draw")] = 42,
    data_dir: DataDir = None,
    dataset_file: DatasetFile = None,
    columns: Columns = None,
) -> None:
    """Show what the datasets hold: questions, answerable share, gold, corpus."""
    from evals.cli.commands.stats import show_stats

    show_stats(datasets, samples, seed, data_dir, dataset_file, columns)


@app.command("metrics")
def metrics_command(
    name: Annotated[str | None, typer.Argument(help="A metric, for its formula and conventions")] = None,
    suite: Annotated[str | None, typer.Option(help="Only those of these suites, with commas")] = None,
) -> None:
    """List the metrics, or explain one."""
    from evals.cli.commands.catalogue import show_metrics

    show_metrics(name, suite)


@app.command("profiles")
def profiles_command() -> None:
    """List the kinds of servers."""
    from evals.cli.commands.catalogue import list_server_profiles

    list_server_profiles()


@app.command("runs")
def runs_command(runs_dir: RunsDir = None) -> None:
    """List the saved runs."""
    from evals.cli.commands.show import list_runs

    list_runs(runs_dir)


@app.command("show")
def show_command(
    run: Annotated[str, typer.Argument(help="Run id, or the start of one")],
    failures: Annotated[int | None, typer.Option(min=0, help="How many failures to show (5)")] = None,
    question: Annotated[str | None, typer.Option(help="Show one question whole")] = None,
    by: Annotated[str | None, typer.Option(help="Slice by dataset or a metadata key")] = None,
    matching: Annotated[bool, typer.Option("--matching", help="How much depends on the overlap threshold")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the run as JSON and nothing else")] = False,
    runs_dir: RunsDir = None,
) -> None:
    """Show a saved run: failures, then the scorecard."""
    from evals.cli.commands.show import show

    show(run, failures=failures, question=question, by=by, matching=matching, as_json=as_json, runs_dir=runs_dir)


@app.command("rescore")
def rescore_command(
    run: Annotated[str, typer.Argument(help="Run id, or the start of one")],
    suite: Annotated[str | None, typer.Option(help="Suites of metrics, with commas")] = None,
    metrics: Annotated[str | None, typer.Option(help="Metrics, with commas")] = None,
    match: Annotated[str | None, typer.Option(help="How chunks are recognised as gold")] = None,
    judge: Annotated[bool | None, typer.Option("--judge/--no-judge", help="Use the LLM judge")] = None,
    judge_model: JudgeModel = None,
    judge_base_url: JudgeUrl = None,
    judge_repeats: Annotated[int | None, typer.Option(help="How often each decision is made")] = None,
    judge_cache: JudgeCache = None,
    max_cost: Annotated[float | None, typer.Option(help="Dollars after which no judge call starts")] = None,
    config: Annotated[Path | None, typer.Option(help="Configuration file laid over the run's own")] = None,
    remap: Annotated[bool, typer.Option("--remap", help="Read the stored bodies again with the mapping given")] = False,
    dry_run: DryRun = False,
    name: Annotated[str | None, typer.Option(help="Name of the new run")] = None,
    gate: Gate = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the run as JSON and nothing else")] = False,
    runs_dir: RunsDir = None,
) -> None:
    """Measure a saved run again: other metrics, another judge or mapping; no server."""
    from evals.cli.commands.eval import EvalFlags
    from evals.cli.commands.rescore import rescore_run

    flags = EvalFlags(
        suite=suite, metrics=metrics, match=match, judge=judge, judge_model=judge_model,
        judge_base_url=judge_base_url, judge_repeats=judge_repeats, judge_cache=judge_cache, max_cost=max_cost,
        name=name, gate=gate, runs_dir=runs_dir,
    )  # fmt: skip
    rescore_run(run, flags, config=config, remap=remap, dry_run=dry_run, as_json=as_json)


@app.command("score")
def score_command(
    predictions: Annotated[Path, typer.Argument(help="Retrieved passages (.json), or saved answers (.jsonl)")],
    gold: Annotated[Path | None, typer.Argument(help="Gold passages, for retrieved passages")] = None,
    k: Annotated[int | None, typer.Option("--k", help="Passages: cut-off of recall and nDCG (10)")] = None,
    output: Annotated[Path | None, typer.Option(help="Passages: write the means to this JSON file")] = None,
    dataset_file: Annotated[Path | None, typer.Option(help="Answers: their questions, .csv, .json and others")] = None,
    columns: Annotated[str | None, typer.Option(help="Answers: columns of the questions, question=Frage")] = None,
    suite: Annotated[str | None, typer.Option(help="Answers: suites of metrics, with commas (core)")] = None,
    metrics: Annotated[str | None, typer.Option(help="Answers: metrics, with commas")] = None,
    match: Annotated[str | None, typer.Option(help="Answers: how chunks are recognised as gold (auto)")] = None,
    judge: Annotated[bool | None, typer.Option("--judge/--no-judge", help="Answers: use the LLM judge (yes)")] = None,
    judge_model: Annotated[str | None, typer.Option(help="Answers: model of the judge")] = None,
    judge_base_url: Annotated[str | None, typer.Option(help="Answers: address of the judge's API")] = None,
    judge_repeats: Annotated[int | None, typer.Option(help="Answers: how often each decision is made (1)")] = None,
    judge_cache: Annotated[
        bool | None, typer.Option("--judge-cache/--no-judge-cache", help="Answers: keep replies (yes)")
    ] = None,
    max_cost: Annotated[float | None, typer.Option(help="Answers: dollars after which no judge call starts")] = None,
    config: Annotated[Path | None, typer.Option(help="Answers: configuration file; flags go before it")] = None,
    name: Annotated[str | None, typer.Option(help="Answers: name of the run")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Answers: say what would be done; ask nothing")] = False,
    gate: Annotated[list[str] | None, typer.Option(help="Answers: fail unless, as in 'mrr>=0.8'; repeatable")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the means, or the run, as JSON")] = False,
    runs_dir: RunsDir = None,
) -> None:
    """Score files, without a server: PREDICTIONS GOLD, or saved answers with --dataset-file."""
    from evals.cli.commands.score import score

    score(
        predictions, gold, k=k, output=output, config=config, dry_run=dry_run, as_json=as_json,
        dataset_file=dataset_file, columns=columns, suite=suite, metrics=metrics, match=match, judge=judge,
        judge_model=judge_model, judge_base_url=judge_base_url, judge_repeats=judge_repeats, judge_cache=judge_cache,
        max_cost=max_cost, name=name, gate=gate, runs_dir=runs_dir,
    )  # fmt: skip


@app.command("compare")
def compare_command(
    runs: Annotated[list[str], typer.Argument(help="Run ids, or starts of them; the last against the first")],
    pareto: Annotated[bool, typer.Option("--pareto", help="Say which runs no other beats on everything")] = False,
    fail_on_regression: Annotated[
        bool, typer.Option("--fail-on-regression", help="Exit 1 where the last run is worse than the first")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the comparison as JSON and nothing else")] = False,
    runs_dir: RunsDir = None,
) -> None:
    """Compare saved runs, question by question."""
    from evals.cli.commands.compare import compare

    compare(runs, pareto=pareto, fail_on_regression=fail_on_regression, as_json=as_json, runs_dir=runs_dir)


@app.command("export")
def export_command(
    run_id: Annotated[str, typer.Option("--run-id", help="Run id, or the start of one")],
    form: Annotated[str, typer.Option("--format", help="csv | json | markdown | review")] = "csv",
    output: Annotated[Path | None, typer.Option(help="File to write (standard output)")] = None,
    runs_dir: RunsDir = None,
) -> None:
    """Write a saved run for a spreadsheet, a program, a pull request or a reader."""
    from evals.cli.commands.export import export

    export(run_id, form=form, output=output, runs_dir=runs_dir)


@app.command("serve")
def serve_command(
    host: Annotated[str, typer.Option(help="Address to listen on")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port; 0 for any free one")] = 8001,
    corpus: Annotated[str, typer.Option(help="golden, none, or a folder of .md and .txt files")] = "golden",
) -> None:
    """Start the reference server."""
    from evals.cli.commands.serve import serve

    serve(host, port, corpus)


def main() -> None:
    """Run the command line; exit codes are those of `evals.errors`."""
    from evals.cli.terminal.exits import end_like_ctrl_c, run
    from evals.cli.terminal.streams import prepare_streams

    prepare_streams()
    end_like_ctrl_c()
    raise SystemExit(run(app))
