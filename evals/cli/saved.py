"""The commands that show saved runs as pages or write them. What a command does is imported when it runs."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar

import typer
from typer import Option

from evals.cli.flags import (
    AllowUncalibrated,
    CiFlags,
    EvalFlags,
    IngestFlags,
    InitFlags,
    Lenient,
    OptionalRun,
    RunArgument,
    RunArguments,
    RunOption,
    RunsDir,
    takes_flags,
)

# The flags of `gate`.


@dataclass(init=False, eq=False, repr=False)
class ConditionFlags:
    """What a run must meet."""

    panel: ClassVar[str] = "Gates"
    gate: Annotated[
        list[str] | None, Option(help="Condition: 'mrr>=0.8' or 'mrr@low>=0.8'; repeatable (those of the run)")
    ] = None
    baseline: Annotated[str | None, Option(help="Run that this one must not be worse than")] = None
    baseline_dir: Annotated[
        Path | None, Option(help="The same, the newest complete run of a folder; it may be empty")
    ] = None
    margin: Annotated[float | None, Option(help="By how much it may be worse (0.03)")] = None
    metrics: Annotated[
        str | None, Option(help="What must not be worse, with commas (metrics of --gate, else score)")
    ] = None
    lenient: Lenient = False
    allow_uncalibrated: AllowUncalibrated = False
    as_json: Annotated[bool, Option("--json", help="Print the outcomes as JSON and nothing else")] = False
    runs_dir: RunsDir = None


# The fields of the last base come first.
@dataclass(eq=False, repr=False)
class GateFlags(CiFlags, ConditionFlags):
    """The flags of `gate`."""


# The commands that look at a server, or prepare one, before it is evaluated.


def add_server_commands(app: typer.Typer) -> None:
    """Give the command line these commands."""
    for name, command in _COMMANDS.items():
        app.command(name)(command)


@takes_flags()
def doctor_command(flags: EvalFlags) -> None:
    """See whether a run would work: configuration, disk, datasets, server, mapping, corpus, judge."""
    from evals.cli.commands.server import doctor

    raise typer.Exit(doctor(flags))


@takes_flags()
def init_command(flags: InitFlags) -> None:
    """Write a first configuration and a first file of questions, by a few questions or by flags."""
    from evals.cli.commands.init import init

    init(flags)


def probe_command(
    url: Annotated[str, typer.Argument(help="URL of the server; a path in it is the one that is asked")],
    header: Annotated[list[str] | None, typer.Option(help='Sent with each request: "Name: value"; repeatable')] = None,
    question: Annotated[str | None, typer.Option(help="The one that is asked (a general one)")] = None,
    body: Annotated[str | None, typer.Option(help="Form of the request: JSON with {{question}} in it")] = None,
    profiles: Annotated[bool, typer.Option(help="Try the built-in profiles")] = True,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Call paths that no profile has without a question")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="List the requests by looking with GET; ask none")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print what was found as JSON and nothing else")] = False,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="File for the section")] = None,
) -> None:
    """Find out how a server is asked and read, by one question, and write the YAML that evaluates it."""
    from evals.cli.commands.server import probe_server

    probe_server(
        url, header or [], question, body, profiles=profiles, yes=yes, dry_run=dry_run, as_json=as_json, output=output
    )


@takes_flags()
def ingest_command(
    folder: Annotated[Path | None, typer.Argument(help="Folder of documents (those of the datasets)")] = None,
    check: Annotated[str | None, typer.Option(help="Question that must find one of them (made from them)")] = None,
    no_check: Annotated[bool, typer.Option("--no-check", help="Ask nothing afterwards")] = False,
    *,
    flags: IngestFlags,
) -> None:
    """Give documents to a server, each once, and see that they are found."""
    from evals.cli.commands.server import ingest

    ingest(folder, flags, check=check, no_check=no_check)


_COMMANDS = {
    "doctor": doctor_command,
    "init": init_command,
    "probe": probe_command,
    "ingest": ingest_command,
}
"""In the order of the help."""


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
    from evals.cli.commands.show import export

    export(run, run_id=run_id, form=form, output=output, runs_dir=runs_dir)


def review_command(
    run: RunArgument,
    metric: Annotated[str | None, typer.Option(help="What to label (answer_correctness)")] = None,
    annotator: Annotated[str | None, typer.Option(help="Who labels, where several people do")] = None,
    output: Annotated[Path | None, typer.Option(help="Sheet of labels (reviews/RUN.csv beside the runs)")] = None,
    runs_dir: RunsDir = None,
) -> None:
    """Label the answers of a run, one at a time, for calibrate; goes on where you stopped."""
    from evals.cli.commands.calibrate import review

    review(run, metric=metric, annotator=annotator, output=output, runs_dir=runs_dir)


def track_command(
    runs: RunArguments,
    to: Annotated[str, typer.Option(help="Tracker: mlflow")] = "mlflow",
    uri: Annotated[str | None, typer.Option(help="Of the tracker (MLFLOW_TRACKING_URI)")] = None,
    experiment: Annotated[str, typer.Option(help="Made where it does not exist")] = "rag-evals",
    runs_dir: RunsDir = None,
) -> None:
    """Log saved runs to a tracker of experiments."""
    from evals.cli.commands.show import track

    track(runs, to=to, uri=uri, experiment=experiment, runs_dir=runs_dir)


def report_command(
    runs: RunArguments,
    output: Annotated[Path, typer.Option("--output", "-o", help="HTML file to write")],
    runs_dir: RunsDir = None,
) -> None:
    """Write saved runs as one HTML page that needs no network."""
    from evals.cli.commands.show import report

    report(runs, output=output, runs_dir=runs_dir)


def view_command(
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port on 127.0.0.1 (any free one)")] = 0,
    label: Annotated[bool, typer.Option("--label", help="Let answers be labelled, in the sheets of review")] = False,
    annotator: Annotated[str | None, typer.Option(help="Who labels, where several people do")] = None,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Print the address and open nothing")] = False,
    runs_dir: RunsDir = None,
) -> None:
    """Look at saved runs in the browser: all of them, one, several beside each other, and one that goes on."""
    from evals.cli.commands.show import view

    view(runs_dir=runs_dir, port=port, label=label, annotator=annotator, browser=not no_browser)
