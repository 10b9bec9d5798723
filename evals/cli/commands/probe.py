"""`evals probe`."""

import asyncio
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

from evals.cli.terminal.asking import ask_line, is_terminal
from evals.cli.terminal.console import DOUBTFUL, clean, console
from evals.cli.terminal.output import check_output
from evals.errors import ConfigError
from evals.inputs.json_body import parse_json
from evals.run.probing.guess import Doubt
from evals.run.probing.probe import DEFAULT_QUESTION, Probed, Target, probe
from evals.run.probing.secrets import read_headers
from evals.run.probing.section import section_text
from evals.schemas import Citation, EvalResponse
from evals.store.atomic import write_output

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
    as_json: bool,
    output: Path | None,
) -> None:
    """Find out how a server is asked and read, and write the section that evaluates it.

    Raises:
        EvalsError: Nothing answers, or nothing is understood.
    """
    if output is not None:
        check_output(output)
    given = read_headers(headers)
    target = Target(url, given, question or DEFAULT_QUESTION, body_of(body), profiles)
    out = console(sys.stderr)
    probed = asyncio.run(probe(target, lambda line: out.print(clean(line, 400)))).read(choose)
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
    if not is_terminal():
        return None
    out = console(sys.stderr)
    out.print(f"{doubt.key}: {doubt.why}")
    choices = [doubt.chosen, *doubt.others]
    for number, choice in enumerate(choices, start=1):
        out.print(clean(f"  {number}  {choice}", 300))
    while True:
        picked = ask_line(f"which one (1 to {len(choices)})", "1")
        if picked.isdecimal() and 1 <= int(picked) <= len(choices):
            return choices[int(picked) - 1]


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
        "guesses": guesses,
        "computable": probed.metrics.names,
        "missing": probed.metrics.missing,
        "raw": probed.raw,
    }
