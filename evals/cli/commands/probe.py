"""`evals probe`."""

import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import typer

from evals.cli.terminal.asking import ask_line, is_terminal
from evals.cli.terminal.console import DOUBTFUL, clean, console
from evals.cli.terminal.output import check_output
from evals.errors import ConfigError
from evals.inputs.json_body import parse_json
from evals.run.probing.assent import Candidates
from evals.run.probing.guess import Doubt
from evals.run.probing.probe import ask, survey
from evals.run.probing.reading import DEFAULT_QUESTION, Probed, Target
from evals.run.probing.requests import Plan
from evals.run.probing.secrets import read_headers
from evals.run.probing.section import section_text
from evals.schemas import Citation, EvalResponse
from evals.store.atomic import write_output

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
