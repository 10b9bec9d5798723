"""`evals ingest`."""

import asyncio
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from shlex import quote

import typer

from evals.cli.ending import observer_for
from evals.cli.flags import IngestFlags, InitFlags, flag_name, given_flags
from evals.cli.overrides import config_layers
from evals.cli.terminal.console import console
from evals.client.ingest import Upload, uploads_in, uploads_of
from evals.client.profile import NO_PROFILE
from evals.config import EvalConfig
from evals.errors import ConfigError, RunInterruptedError
from evals.run.uploading import Uploaded, remarks_on, upload_documents
from evals.run.workload import load_workload
from evals.schemas import EvalQuestion
from evals.store.commands import command
from evals.text.counts import counted, share
from evals.text.sentences import sentences

_LONGEST_CHECK = 200


def ingest(folder: Path | None, flags: IngestFlags, *, check: str | None, no_check: bool) -> None:
    """Give documents to the server, ask it a question about them, and print what came out.

    Args:
        folder: Of the documents; None takes those of the datasets.
        flags: Of the command.
        check: The question to ask afterwards.
        no_check: Ask none.

    Raises:
        EvalsError: With the exit code of what went wrong.
    """
    if check is not None and (no_check or not check.strip()):
        raise ConfigError("--check and --no-check exclude each other" if no_check else "--check is empty")
    config = EvalConfig.build(*config_layers(flags))
    documents, question = _of_folder(folder) if folder else _of_datasets(config)
    question = None if no_check else check or question
    try:
        done = asyncio.run(upload_documents(config, documents, observer_for(as_json=flags.as_json), question))
    except KeyboardInterrupt as error:
        raise RunInterruptedError(
            "interrupted; what was uploaded is noted", "give the same command again: nothing is uploaded twice"
        ) from error
    _print(done, _next_steps(flags, config, folder), as_json=flags.as_json)


def _of_folder(folder: Path) -> tuple[list[Upload], str | None]:
    """The files of a folder, and the first sentence of the first of them that is a text."""
    if not folder.is_dir():
        raise ConfigError(f"{folder} is no folder", "name a folder of documents, or --dataset-file for questions")
    documents = uploads_in(folder)
    return documents, next(filter(None, map(_first_sentence, documents)), None)


def _first_sentence(document: Upload) -> str | None:
    if not document.media_type.startswith("text/"):
        return None
    lines = (line.strip("#*-= \t") for line in document.data().decode("utf-8", "ignore").splitlines())
    found = max((sentence for line in lines for sentence in sentences(line)[:1]), key=len, default="")
    return found[:_LONGEST_CHECK] or None


def _of_datasets(config: EvalConfig) -> tuple[list[Upload], str | None]:
    workload = load_workload(config)
    if not workload.documents:
        raise ConfigError(
            "there are no documents to ingest: these questions come without a corpus",
            "name a folder of documents, or put `documents` beside `questions` into a JSON file",
        )
    return uploads_of(workload.documents), _answerable(workload.questions)


def _answerable(questions: Sequence[EvalQuestion]) -> str | None:
    """The first question that names its gold."""
    return next((each.question for each in questions if each.gold_passages), None)


def _print(done: Uploaded, next_steps: Iterable[str], *, as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps({**asdict(done.report), "check": asdict(done.check) if done.check else None}, indent=2))
        return
    out, report = console(), done.report
    for remark in remarks_on(report):
        out.print(f"· {remark}", soft_wrap=True)
    total = report.uploaded + report.already_there + len(report.unconfirmed)
    out.print(f"uploaded {share(report.uploaded, total, 'document')}", soft_wrap=True)
    if done.check is None:
        out.print("no question was asked to see that they are found", soft_wrap=True)
    elif done.check.chunks is None:
        out.print(
            f"asked {done.check.question!r}: the server sends no chunks, so what it found is not known", soft_wrap=True
        )
    else:
        of_them = f"{done.check.of_these} of {counted(done.check.chunks, 'chunk')}"
        out.print(f"asked {done.check.question!r}: {of_them} are of these documents", soft_wrap=True)
    for step in next_steps:
        out.print(step, soft_wrap=True)


def _next_steps(flags: IngestFlags, config: EvalConfig, folder: Path | None) -> Iterator[str]:
    """The commands that evaluate the server: documents of a folder need questions about them first."""
    given = [
        f"{flag_name(name)} {quote(str(value))}" for name, value in given_flags(flags).items() if name != "runs_dir"
    ]
    words = ["eval", *([f"--config {quote(str(flags.config))}"] if flags.config else []), *given]
    if folder is not None and not {"dataset_file", "datasets"} & config.model_fields_set:
        server = config.server_spec()
        kind = [] if server.profile == NO_PROFILE else [f"--profile {quote(server.profile)}"]
        other = ["--output questions.yml"] if InitFlags.output.exists() else []
        init = " ".join(["evals init", f"--rag-url {quote(server.url)}", *kind, *other])
        yield f"questions about these documents: {init}    # writes questions.jsonl to fill in"
        words.append("--dataset-file questions.jsonl")
    yield f"evaluate: {command(' '.join([*words, *([] if flags.config else ['--no-judge'])]), config.runs_dir)}"
