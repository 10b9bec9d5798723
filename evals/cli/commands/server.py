"""`evals probe`."""

import asyncio
import json
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from shlex import quote
from textwrap import fill
from typing import Any

import typer

from evals.cli.ending import observer_for
from evals.cli.flags import EvalFlags, IngestFlags, InitFlags, flag_name, given_flags
from evals.cli.overrides import config_layers
from evals.cli.terminal import BAD, DOUBTFUL, GOOD, ask_line, check_output, clean, console, is_terminal
from evals.client.ingest import Upload, uploads_in, uploads_of
from evals.client.profile import NO_PROFILE
from evals.config import EvalConfig
from evals.errors import ConfigError, EvalsError, RunInterruptedError
from evals.run.corpus import Uploaded, remarks_on, upload_documents
from evals.run.doctor import Examined, Health, broken, examine
from evals.run.probing.fields import read_headers, section_text
from evals.run.probing.guess import Doubt
from evals.run.probing.openapi import Candidates, Plan
from evals.run.probing.probe import ask, survey
from evals.run.probing.reading import DEFAULT_QUESTION, Probed, Target
from evals.run.work import load_workload
from evals.schemas.dataset import EvalQuestion
from evals.schemas.response import Citation, EvalResponse
from evals.store.atomic import write_output
from evals.store.naming import command
from evals.text.decoding import parse_json
from evals.text.numbers import counted, share
from evals.text.sentences import sentences

# `evals doctor`.


_MARKS = {Health.WELL: "✓", Health.DOUBTFUL: "!", Health.BROKEN: "✗", Health.UNSEEN: "·"}

_STYLES = {Health.WELL: GOOD, Health.DOUBTFUL: DOUBTFUL, Health.BROKEN: BAD, Health.UNSEEN: "dim"}

_WIDTH = max(map(len, ("configuration", "datasets"))) + 1


def doctor(flags: EvalFlags) -> int:
    """Look at every part that a run needs, and say what to do about what is wrong.

    Returns:
        The exit code of the first part by which a run would end; 0 where none is.
    """
    try:
        config = EvalConfig.build(*config_layers(flags))
    except EvalsError as error:
        found = [broken("configuration", error)]
        _tell(found[0], as_json=flags.as_json)
    else:
        try:
            found = asyncio.run(
                examine(config, observer_for(as_json=True), lambda finding: _tell(finding, as_json=flags.as_json))
            )
        except KeyboardInterrupt as error:
            raise RunInterruptedError("interrupted; nothing was changed") from error
    if flags.as_json:
        typer.echo(json.dumps([asdict(finding) for finding in found], indent=2))
    return next((finding.exit_code for finding in found if finding.exit_code), 0)


def _tell(finding: Examined, *, as_json: bool) -> None:
    if as_json:
        return
    out = console()
    mark = f"{_MARKS[finding.health]} {finding.part:<{_WIDTH}}"
    out.print(mark, style=_STYLES[finding.health], end="")
    indent = " " * (_WIDTH + 2)
    width = max(60, out.width)
    out.print(fill(finding.said, width, initial_indent=indent, subsequent_indent=indent).lstrip(), soft_wrap=True)
    if finding.hint:
        out.print(fill(finding.hint, width, initial_indent=indent, subsequent_indent=indent), soft_wrap=True)


# `evals ingest`.


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


_OF_ASSENT = "no profile has these paths, and a request to them may change something on the server:"

_RAW_SHOWN = 2000

_CHUNKS_SHOWN = 3

_LINE = 400


def probe_server(
    url: str,
    headers: list[str],
    question: str | None,
    body: str | None,
    *,
    profiles: bool,
    yes: bool,
    dry_run: bool,
    as_json: bool,
    output: Path | None,
) -> None:
    """Find out how a server is asked and read, and write the section that evaluates it.

    Args:
        url: Of the server.
        headers: Sent with each request.
        question: To ask; None for a general one.
        body: The form of the request, as JSON.
        profiles: Try built-in profiles.
        yes: Call paths that neither profiles nor most servers have, too.
        dry_run: List the requests, and send none.
        as_json: Print JSON and nothing else.
        output: File for the section.

    Raises:
        EvalsError: Nothing answers, or nothing is understood.
    """
    if output is not None:
        check_output(output)
    given = read_headers(headers)
    target = Target(url, given, question or DEFAULT_QUESTION, body_of(body), profiles)
    out = console(sys.stderr)

    def tell(line: str) -> None:
        out.print(clean(line, _LINE))

    found = survey(target, tell)
    if dry_run:
        _list(found.candidates, yes=yes, as_json=as_json)
        return
    probed = ask(found, target, tell, list if yes else pick_allowed).read(choose)
    text = section_text(probed.server)
    if as_json:
        typer.echo(json.dumps(_as_json(probed), indent=2, ensure_ascii=False))
    else:
        _show(probed)
        if given.variables:
            out.print(f"export {', '.join(given.variables)} before `evals eval`: no value of a header is written")
    if output is not None:
        write_output(output, text.encode())
        out.print(f"wrote {output}: evals eval --config {output} --dataset-file questions.jsonl --no-judge")
    elif not as_json:
        sys.stdout.write(text)


def body_of(text: str | None) -> Any:
    """The form of a request that was given; None without one.

    Raises:
        ConfigError: It is no JSON.
    """
    if text is None:
        return None
    try:
        return parse_json(text.encode())
    except ValueError as error:
        raise ConfigError("--body is no JSON", 'write it as \'{"question": "{{question}}"}\'') from error


def choose(doubt: Doubt) -> str | None:
    """Ask on a terminal what is meant; without one, nobody is asked."""
    choices = [doubt.chosen, *doubt.others]
    picked = _picked(f"{doubt.key}: {doubt.why}", choices, "which one", "1")
    return None if picked is None else choices[picked]


def pick_allowed(plans: Sequence[Plan]) -> list[Plan]:
    """Ask on a terminal which request may be sent; without one, none may."""
    picked = _picked(_OF_ASSENT, [plan.told for plan in plans], "which one may be sent, or Enter for none", "")
    return [] if picked is None else [plans[picked]]


def _picked(about: str, choices: Sequence[str], question: str, default: str) -> int | None:
    """The place of what somebody picks on a terminal; None where nobody is there, or picks nothing."""
    if not is_terminal():
        return None
    out = console(sys.stderr)
    out.print(about)
    for number, choice in enumerate(choices, start=1):
        out.print(clean(f"  {number}  {choice}", 300))
    while picked := ask_line(f"{question} (1 to {len(choices)})", default):
        if picked.isdecimal() and 1 <= int(picked) <= len(choices):
            return int(picked) - 1
    return None


def _list(candidates: Candidates, *, yes: bool, as_json: bool) -> None:
    """The requests that would be sent, in their order."""
    sent = [plan.told for plan in (*candidates.free, *(candidates.others if yes else ()))]
    kept = [] if yes else [plan.told for plan in candidates.others]
    if as_json:
        told = {"sent": sent, "needs_yes": kept, "never": candidates.never}
        typer.echo(json.dumps(told, indent=2, ensure_ascii=False))
        return
    never = [f"never: {name} ({word})" for name, word in candidates.never.items()]
    lines = [*sent, *(f"needs --yes: {line}" for line in kept), *never]
    typer.echo("\n".join(lines) or "nothing was found that takes a question")


def _show(probed: Probed) -> None:
    """The body beside what was made of it, to stderr: stdout has the section alone."""
    out = console(sys.stderr)
    out.print("\nwhat came:")
    out.print(clean(probed.raw, _RAW_SHOWN))
    show_reading(probed)
    out.print()


def show_reading(probed: Probed) -> None:
    """What the section makes of the body, which metrics that lets be computed, and what is a guess; to stderr."""
    out = console(sys.stderr)
    out.print("\nwhat the section makes of it:")
    for line in _read_lines(probed.response):
        out.print(clean(line, _LINE))
    if probed.unread:
        out.print(clean(f"not read: {', '.join(probed.unread)}", _RAW_SHOWN))
    out.print(f"\ncomputable (suite core): {', '.join(probed.metrics.names) or 'nothing'}")
    for reason, names in probed.metrics.missing.items():
        out.print(clean(f"not {', '.join(names)}: {reason}", _LINE))
    for doubt in probed.doubts:
        chosen = f"{doubt.chosen} ({doubt.why})" if doubt.chosen else doubt.why
        out.print(clean(f"guess {doubt.key}: {chosen}", _LINE), style=DOUBTFUL)
        for other in doubt.others:
            out.print(clean(f"or {other}", _LINE))


def _read_lines(response: EvalResponse) -> Iterator[str]:
    if response.error is not None:
        yield f"nothing: {response.error.message}"
        return
    yield f"answer: {response.answer!r}"
    yield f"chunks: {'not said' if response.chunks is None else len(response.chunks)}"
    for chunk in (response.chunks or ())[:_CHUNKS_SHOWN]:
        source = chunk.document_name or chunk.document_id
        yield f"- {chunk.chunk_id} of {source}, score {chunk.score}: {chunk.text!r}"
    cited = response.citations
    yield f"citations: {'not said' if cited is None else ', '.join(map(_source, cited)) or 'none'}"
    yield f"usage: {'not said' if response.usage is None else response.usage.model_dump()}"


def _source(citation: Citation) -> str:
    number = None if citation.index is None else str(citation.index)
    return number or citation.chunk_id or citation.document_id or "?"


def _as_json(probed: Probed) -> dict[str, Any]:
    response = probed.response.model_dump(
        mode="json", include={"answer", "chunks", "citations", "usage", "model", "error"}
    )
    guesses = [{"key": d.key, "chosen": d.chosen, "others": list(d.others), "why": d.why} for d in probed.doubts]
    return {
        "server": probed.server,
        "section": section_text(probed.server),
        "read": response,
        "unread": probed.unread,
        "guesses": guesses,
        "computable": probed.metrics.names,
        "missing": probed.metrics.missing,
        "raw": probed.raw,
    }


# `evals serve`: the reference server in place of this process.


def serve(host: str, port: int, corpus: str, allow_hosts: Sequence[str] = ()) -> None:
    """Become the reference server; it is never imported by the rest, so it is started like any other program.

    It says where it listens when it does; where it cannot, it says why and ends with exit code 2.
    """
    arguments = ["--host", host, "--port", str(port), "--corpus", corpus, "--greet"]
    arguments += [f"--allow-host={name}" for name in allow_hosts]
    os.execv(sys.executable, [sys.executable, "-m", "evals.reference_server", *arguments])  # noqa: S606 - our own module
