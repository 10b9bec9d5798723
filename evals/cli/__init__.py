"""The command line: it parses, calls the library and prints. Commands are imported when they run."""

import gc
from pathlib import Path
from typing import Annotated

import typer

from evals.cli.flags import (
    AllowUncalibrated,
    CalibrateFlags,
    CiFlags,
    Columns,
    Comment,
    DataDir,
    DatasetFile,
    EvalFlags,
    Lenient,
    NoCi,
    ReportFlags,
    RescoreFlags,
    RunArgument,
    RunAsJson,
    RunsDir,
    ScoreFlags,
    takes_flags,
)
from evals.cli.saved import (
    GateFlags,
    add_server_commands,
    export_command,
    report_command,
    review_command,
    track_command,
    view_command,
)

_SELDOM = (20_000, 20, 100)
"""Thresholds of the cyclic collector: imports make many objects that stay, which it goes over again and again."""


app = typer.Typer(
    name="evals",
    help="Measure a live RAG server over HTTP, with error bars.",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        from evals import __version__

        typer.echo(f"rag-evals {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version")
    ] = False,
) -> None:
    """Measure a live RAG server over HTTP, with error bars."""
    gc.enable()


@app.command("eval")
@takes_flags()
def eval_command(flags: EvalFlags) -> None:
    """Evaluate a RAG server and save the run."""
    from evals.cli.commands.eval import evaluate

    evaluate(flags)


add_server_commands(app)


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
    from evals.cli.commands.catalogue import show_stats

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
def profiles_command(
    name: Annotated[str | None, typer.Argument(help="A profile, to print its file")] = None,
) -> None:
    """List the kinds of servers with what can be measured of each, or print the profile of one."""
    from evals.cli.commands.catalogue import show_profiles

    show_profiles(name)


@app.command("runs")
def runs_command(
    calibrations: Annotated[bool, typer.Option("--all", help="List the runs of calibrate too")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the list as JSON and nothing else")] = False,
    runs_dir: RunsDir = None,
) -> None:
    """List the saved runs."""
    from evals.cli.commands.show import list_runs

    list_runs(runs_dir, calibrations=calibrations, as_json=as_json)


@app.command("show")
def show_command(
    run: RunArgument,
    failures: Annotated[int | None, typer.Option(min=0, help="How many failures to show (5)")] = None,
    question: Annotated[str | None, typer.Option(help="Id of a question to show whole")] = None,
    by: Annotated[str | None, typer.Option(help="Values by dataset, or by a key of the metadata")] = None,
    matching: Annotated[bool, typer.Option("--matching", help="How much depends on the overlap threshold")] = False,
    failed: Annotated[str | None, typer.Option(help="Only the questions with this broken link")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the run, or its slices, as JSON alone")] = False,
    runs_dir: RunsDir = None,
) -> None:
    """Show a saved run: the scorecard, then failures."""
    from evals.cli.commands.show import show

    show(
        run,
        failures=failures,
        question=question,
        by=by,
        matching=matching,
        failed=failed,
        as_json=as_json,
        runs_dir=runs_dir,
    )


@app.command("rescore")
@takes_flags(
    suite="Suites of metrics, with commas",
    metrics="Metrics, with commas",
    match="How chunks are recognised as gold",
    judge="Use the LLM judge",
    judge_repeats="How often each decision is made",
    name="Name of the new run",
    config="Configuration file laid over the run's own",
)
def rescore_command(run: RunArgument, flags: RescoreFlags) -> None:
    """Measure a saved run again: other metrics, another judge or mapping; no server."""
    from evals.cli.commands.score import rescore_run

    rescore_run(run, flags)


@app.command("score")
@takes_flags(
    dataset_file="Answers: their questions, .csv, .json and others",
    columns="Answers: columns of the questions, question=Frage",
    suite="Answers: suites of metrics, with commas (core)",
    metrics="Answers: metrics, with commas",
    match="Answers: how chunks are recognised as gold (auto)",
    judge="Answers: use the LLM judge (yes)",
    judge_model="Answers: model of the judge",
    judge_base_url="Answers: address of the judge's API",
    judge_effort="Answers: how hard the judge thinks",
    judge_repeats="Answers: how often each decision is made (1)",
    judge_cache="Answers: keep replies (yes)",
    max_cost="Answers: dollars after which no judge call starts",
    name="Answers: name of the run",
    config="Answers: configuration file; flags override it",
    dry_run="Answers: say what would be done; ask nothing",
    gate="Answers: fail unless: 'mrr>=0.8', 'mrr@low>=0.8'; repeatable",
    lenient="Answers: a gate without enough evidence is no failure",
    allow_uncalibrated="Answers: gate on a judge that was never calibrated",
    as_json="Print the means, or the run, as JSON",
)
def score_command(
    predictions: Annotated[Path, typer.Argument(help="Retrieved passages (.json), or saved answers (.jsonl)")],
    gold: Annotated[Path | None, typer.Argument(help="Gold passages, for retrieved passages")] = None,
    k: Annotated[int | None, typer.Option("--k", help="Passages: cut-off of recall and nDCG (10)")] = None,
    output: Annotated[Path | None, typer.Option(help="Passages: write the means to this JSON file")] = None,
    *,
    flags: ScoreFlags,
) -> None:
    """Score files, without a server: PREDICTIONS GOLD, or saved answers with --dataset-file."""
    if gold is not None:
        from evals.cli.commands.score import score_passages

        score_passages(predictions, gold, flags, k=k, output=output)
    else:
        from evals.cli.commands.score import score_saved_answers

        score_saved_answers(predictions, flags, k=k, output=output)


@app.command("merge")
@takes_flags()
def merge_command(
    runs: Annotated[list[str], typer.Argument(help="Runs of all shards: ids or their starts, names, or files")],
    name: Annotated[str | None, typer.Option(help="Name of the merged run")] = None,
    gate: Annotated[
        list[str] | None,
        typer.Option(help="Fail unless: 'mrr>=0.8', 'mrr@low>=0.8'; repeatable (those of the shards)"),
    ] = None,
    lenient: Lenient = False,
    allow_uncalibrated: AllowUncalibrated = False,
    allow_partial: Annotated[
        bool, typer.Option("--allow-partial", help="Take shards that are partial; not those that failed")
    ] = False,
    as_json: RunAsJson = False,
    runs_dir: RunsDir = None,
    *,
    flags: ReportFlags,
) -> None:
    """Make one run of all shards of eval --shard; asks nothing of anybody."""
    from evals.cli.commands.score import merge_runs

    merge_runs(
        runs,
        name=name,
        gates=gate or [],
        lenient=lenient,
        allow_uncalibrated=allow_uncalibrated,
        allow_partial=allow_partial,
        as_json=as_json,
        runs_dir=runs_dir,
        flags=flags,
    )


@app.command("compare")
def compare_command(
    runs: Annotated[
        list[str], typer.Argument(help="Runs: ids or their starts, names, files, or last; each against the baseline")
    ],
    baseline: Annotated[
        str | None, typer.Option("--baseline", help="Run that the others are set against (the first)")
    ] = None,
    primary: Annotated[
        str | None, typer.Option("--primary", help="The one metric that the comparison is about: tested at 0.05")
    ] = None,
    pareto: Annotated[bool, typer.Option("--pareto", help="Say which runs no other beats on everything")] = False,
    fail_on_regression: Annotated[
        bool, typer.Option("--fail-on-regression", help="Exit 1 where a run is worse than the baseline")
    ] = False,
    comment: Comment = None,
    no_ci: NoCi = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the comparison as JSON and nothing else")] = False,
    runs_dir: RunsDir = None,
) -> None:
    """Compare saved runs, question by question."""
    from evals.cli.commands.compare import compare

    compare(
        runs,
        baseline=baseline,
        primary=primary,
        pareto=pareto,
        fail_on_regression=fail_on_regression,
        as_json=as_json,
        runs_dir=runs_dir,
        flags=CiFlags(comment=comment, no_ci=no_ci),
    )


@app.command("gate")
@takes_flags()
def gate_command(
    run: RunArgument,
    flags: GateFlags,
) -> None:
    """Check a saved run: conditions on metrics, and that it is not worse than another."""
    from evals.cli.commands.compare import check_run

    check_run(run, flags)


@app.command("calibrate")
@takes_flags()
def calibrate_command(
    labels: Annotated[list[Path], typer.Argument(help="Labels: a review sheet, .csv, .jsonl and others")],
    metric: Annotated[str | None, typer.Option(help="What they are about (answer_correctness)")] = None,
    run: Annotated[str | None, typer.Option(help="Run of the answers, where the labels name none")] = None,
    scale: Annotated[str | None, typer.Option(help="Worst and best label: 1,5 (by what they are)")] = None,
    label_cut: Annotated[float | None, typer.Option(help="Labels that count as good, from 0 to 1")] = None,
    score_cut: Annotated[float | None, typer.Option(help="Scores that count as good, from 0 to 1 (1)")] = None,
    *,
    flags: CalibrateFlags,
) -> None:
    """Hold the judge against people's labels; later reports show what came out."""
    from evals.cli.commands.calibrate import calibrate

    calibrate(labels, flags, metric=metric, run=run, scale=scale, label_cut=label_cut, score_cut=score_cut)


app.command("review")(review_command)

app.command("export")(export_command)

app.command("report")(report_command)

app.command("view")(view_command)

app.command("track")(track_command)


@app.command("serve")
def serve_command(
    host: Annotated[str, typer.Option(help="Address to listen on")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port; 0 for any free one")] = 8001,
    corpus: Annotated[str, typer.Option(help="golden, none, or a folder of .md and .txt files")] = "golden",
    allow_host: Annotated[
        list[str] | None, typer.Option(help="Answer to this name too (localhost, loopback addresses and --host alone)")
    ] = None,
) -> None:
    """Start the reference server."""
    from evals.cli.commands.server import serve

    serve(host, port, corpus, allow_host or ())


def main() -> None:
    """Run the command line; exit codes are those of `evals.errors`."""
    from evals.cli.terminal import end_like_ctrl_c, prepare_streams, run

    gc.set_threshold(*_SELDOM)
    gc.disable()  # until a command begins: what is made before it stays
    try:
        prepare_streams()
        end_like_ctrl_c()
        raise SystemExit(run(app))
    finally:
        gc.enable()
