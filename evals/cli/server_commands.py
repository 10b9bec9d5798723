"""The commands that look at a server, or prepare one, before it is evaluated."""

from pathlib import Path
from typing import Annotated

import typer

from evals.cli.flags import EvalFlags, IngestFlags, InitFlags, takes_flags


def add_server_commands(app: typer.Typer) -> None:
    """Give the command line these commands."""
    for name, command in _COMMANDS.items():
        app.command(name)(command)


@takes_flags()
def doctor_command(flags: EvalFlags) -> None:
    """See whether a run would work: configuration, disk, datasets, server, mapping, corpus, judge."""
    from evals.cli.commands.doctor import doctor

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
    from evals.cli.commands.probe import probe_server

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
    from evals.cli.commands.ingest import ingest

    ingest(folder, flags, check=check, no_check=no_check)


_COMMANDS = {
    "doctor": doctor_command,
    "init": init_command,
    "probe": probe_command,
    "ingest": ingest_command,
}
"""In the order of the help."""
