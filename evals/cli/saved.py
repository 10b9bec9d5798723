"""The commands that show saved runs as pages or write them. What a command does is imported when it runs."""

from pathlib import Path
from typing import Annotated

import typer

from evals.cli.flags import OptionalRun, RunArgument, RunArguments, RunOption, RunsDir


def export_command(
    run: OptionalRun = None,
    run_id: RunOption = None,
    form: Annotated[
        str | None, typer.Option("--format", help="csv, parquet, beir, trec-run and others (by the file's name)")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="File; its name says the format (standard output)")
    ] = None,
    runs_dir: RunsDir = None,
) -> None:
    """Write a saved run for a spreadsheet, a program, a pull request or a reader."""
    from evals.cli.commands.export import export

    export(run, run_id=run_id, form=form, output=output, runs_dir=runs_dir)


def review_command(
    run: RunArgument,
    metric: Annotated[str | None, typer.Option(help="What to label (answer_correctness)")] = None,
    annotator: Annotated[str | None, typer.Option(help="Who labels, where several people do")] = None,
    output: Annotated[Path | None, typer.Option(help="Sheet of labels (reviews/RUN.csv beside the runs)")] = None,
    runs_dir: RunsDir = None,
) -> None:
    """Label the answers of a run, one at a time, for calibrate; goes on where you stopped."""
    from evals.cli.commands.review import review

    review(run, metric=metric, annotator=annotator, output=output, runs_dir=runs_dir)


def track_command(
    runs: RunArguments,
    to: Annotated[str, typer.Option(help="Tracker: mlflow")] = "mlflow",
    uri: Annotated[str | None, typer.Option(help="Of the tracker (MLFLOW_TRACKING_URI)")] = None,
    experiment: Annotated[str, typer.Option(help="Made where it does not exist")] = "rag-evals",
    runs_dir: RunsDir = None,
) -> None:
    """Log saved runs to a tracker of experiments."""
    from evals.cli.commands.track import track

    track(runs, to=to, uri=uri, experiment=experiment, runs_dir=runs_dir)


def report_command(
    runs: RunArguments,
    output: Annotated[Path, typer.Option("--output", "-o", help="HTML file to write")],
    runs_dir: RunsDir = None,
) -> None:
    """Write saved runs as one HTML page that needs no network."""
    from evals.cli.commands.report import report

    report(runs, output=output, runs_dir=runs_dir)


def view_command(
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port on 127.0.0.1 (any free one)")] = 0,
    label: Annotated[bool, typer.Option("--label", help="Let answers be labelled, in the sheets of review")] = False,
    annotator: Annotated[str | None, typer.Option(help="Who labels, where several people do")] = None,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Print the address and open nothing")] = False,
    runs_dir: RunsDir = None,
) -> None:
    """Look at saved runs in the browser: all of them, one, several beside each other, and one that goes on."""
    from evals.cli.commands.view import view

    view(runs_dir=runs_dir, port=port, label=label, annotator=annotator, browser=not no_browser)
