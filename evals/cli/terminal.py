"""The terminal itself: streams, consoles, questions, and the way a command ends."""

import io
import json
import os
import re
import signal
import sys
import traceback
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from types import FrameType
from typing import IO, Any, TextIO

import typer
from rich.cells import cell_len
from rich.console import Console
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from evals import errors
from evals.cli.flags import Flags
from evals.errors import EvalsError, StoreError, UnwritableError
from evals.report.elements import ShownPart, TextLine, TextTable
from evals.text.foreign import one_line, plain

# How things are printed: results to stdout, progress to stderr, colour only on a terminal.


GOOD, DOUBTFUL, BAD = "cyan", "yellow", "red"
"""Colours that do not rely on telling red from green; no colour carries information alone."""

_PIPED_WIDTH, _NARROW = 110, 60
"""Columns of a line where there is no terminal, and of a terminal in which numbers are folded too."""


def console(stream: IO[str] | None = None) -> Console:
    """A console for the stream: as wide as the terminal, or as a log line where there is none."""
    stream = stream or sys.stdout or io.StringIO()  # a closed stdout is None
    width = None if stream.isatty() or "COLUMNS" in os.environ else _PIPED_WIDTH
    return Console(file=stream, width=width, highlight=False, emoji=False, markup=False)


_HEAD = re.compile(r" *(?:✓ gold| {6}) +\d+ | *(?:error: |[✓!✗·] [a-z]+ {2,}|[-!·] |(?:[^ \n]{1,12} {2,}){1,2}|.{0,2})")
"""The width of this is the indent of a continued line: ranks of chunks, marks, titles with two blanks behind them, else
two columns."""

_UNIT = re.compile(r"(?<=\d) (?=(?:ms|s|%)(?!\w))")

_GLUE = "\ue000"
"""Stands for a blank at which no line is broken."""


def hung(out: Console, text: str) -> str:
    """The text as wide as the console; what continues a line is indented, and no unit is parted from its number."""
    lines = []
    for line in text.split("\n"):
        head = _HEAD.match(line)[0]  # type: ignore[index]  # it always matches
        width = cell_len(head)
        parts = Text(_UNIT.sub(_GLUE, line[len(head) :])).wrap(out, max(1, out.width - width))
        lines.append(head + f"\n{' ' * width}".join(str(part).rstrip() for part in parts))
    return "\n".join(line.rstrip() for line in lines).replace(_GLUE, " ")


def clean(text: str, limit: int | None = None) -> Text:
    """Foreign text made harmless: no control or direction characters, no markup, cut at a limit."""
    indent = text[: len(text) - len(text.lstrip(" "))]
    return Text(plain(text) if limit is None else f"{indent}{one_line(text, limit)}")


def say(*lines: str) -> None:
    """Print lines on stdout, without a break in what may be copied."""
    show(console(), (TextLine(line, whole=True) for line in lines))


def tell(*lines: str, limit: int = 400) -> None:
    """Print lines on stderr, as progress, each cut at a limit."""
    show(console(sys.stderr), (TextLine(line, limit=limit) for line in lines))


def warn(message: str, out: Console | None = None) -> None:
    """Print what a reader of the numbers must know: on a console that shows progress, else on stderr."""
    show(out or console(sys.stderr), [TextLine(f"! {message}", "doubtful")])


_STYLES = {"good": GOOD, "doubtful": DOUBTFUL, "bad": BAD, "faint": "dim", "strong": "bold", "": ""}


def show(out: Console, parts: Iterable[ShownPart | str]) -> None:
    """Print lines and tables, foreign text made harmless."""
    for part in (TextLine(part) if isinstance(part, str) else part for part in parts):
        if isinstance(part, TextTable):
            _show_table(out, part)
        else:
            text = clean(part.text, part.limit).plain
            out.print(Text(text if part.whole else hung(out, text)), style=_STYLES[part.tone], soft_wrap=True)


def _show_table(out: Console, table: TextTable) -> None:
    """As rich draws it; a narrow terminal stacks two columns, then leaves spare ones out, the first one first."""
    if table.title:
        out.print(f"\n{table.title}", style="bold")
    unbounded = out.options.update(max_width=10_000)

    def is_too_wide(columns: Sequence[str]) -> bool:
        return Measurement.get(out, unbounded, _drawn(table, columns)).maximum > out.width

    if table.stacked and is_too_wide(table.columns):
        table = _stacked(table)
    columns, spare = list(table.columns), list(table.spare)
    while spare and is_too_wide(columns):
        columns.remove(spare.pop(0))
    out.print(_drawn(table, columns, folded=out.width < _NARROW))


def _stacked(table: TextTable) -> TextTable:
    place = table.columns.index(table.stacked)

    def stack(cells: Sequence[str]) -> list[str]:
        both = [cell for cell in cells[place : place + 2] if cell not in ("", "–")]
        return [*cells[:place], "\n".join(both), *cells[place + 2 :]]

    rows = [replace(row, cells=stack(row.cells)) for row in table.rows]
    return replace(table, columns=stack(table.columns), rows=rows)


def _drawn(table: TextTable, columns: Sequence[str], *, folded: bool = False) -> Table:
    """The table with these of its columns; words are folded where there is no room, numbers in a narrow terminal."""
    drawn = Table(box=None, pad_edge=False, header_style="dim")
    kept = [table.columns.index(title) for title in columns]
    for title in columns:
        words = title == table.columns[0] or title in table.words
        drawn.add_column(
            Text(title), justify="left" if words else "right", overflow="fold", no_wrap=not (words or folded)
        )
    for row in table.rows:
        cells = [clean(row.cells[place]) for place in kept if place < len(row.cells)]
        if row.remark:
            cells[0] = Text.assemble(cells[0], ("\n    " + clean(row.remark, 300).plain, "dim"))
        drawn.add_row(*cells, style=_STYLES[row.tone])
    return drawn


# The one question to whoever sits at a terminal, on stderr: stdout is for what comes out.


def ask_secret(text: str) -> str:
    """What somebody types at a terminal, not shown; empty without a terminal.

    Raises:
        Abort: The input ended.
    """
    if not all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stderr)):
        return ""
    prompt = f"{one_line(text, 300)} (not shown; Enter: none)"
    return str(typer.prompt(prompt, "", hide_input=True, show_default=False, err=True)).strip()


# Where GitHub Actions reads what is printed: a line may be a command to it.


_COMMAND = re.compile(r"^(\s*:)(?=:)|(#)(?=#\[)", re.MULTILINE)
"""`::name::` begins a line; the older `##[name]` may stand anywhere in it."""


def in_github_actions() -> bool:
    """Whether this is a job of GitHub Actions."""
    return os.environ.get("GITHUB_ACTIONS") == "true"


# From exceptions to exit codes: one clear message, and no traceback for what a user can cause.


# typer carries its own copy of the library that parses the command line, and publishes of its errors only this child
# of the one that stands for wrong usage.
_UsageError: type[typer.BadParameter] = typer.BadParameter.__mro__[1]


def run(app: typer.Typer) -> int:
    """Run the command line and return its exit code."""
    try:
        result = app(standalone_mode=False)
        if sys.stdout is not None:
            sys.stdout.flush()  # while an error in it can still be told
    except EvalsError as error:
        say_error(error)
        return error.exit_code
    except (typer.Abort, KeyboardInterrupt):
        result = errors.EXIT_INTERRUPTED  # as newer typers return where older ones raise Abort
    except _UsageError as error:
        if (gone := errors.withdrawn_word(sys.argv[1:])) is not None:
            say_error(gone)
        else:
            error.show()
        return error.exit_code
    except Exception as error:  # noqa: BLE001 - the one place where what nobody foresaw becomes an exit code
        from evals.secrets import masked  # noqa: PLC0415 - of no other message

        _say(masked("".join(traceback.format_exception(error))).removesuffix("\n"))
        _say("error: this is a bug in evals; please report it with the lines above")
        return errors.EXIT_INTERNAL
    if result == errors.EXIT_INTERRUPTED:
        _say("error: interrupted")
    return result if isinstance(result, int) else errors.EXIT_OK


def say_error(error: EvalsError) -> None:
    """Print what is wrong, and below it the way out; on a terminal in lines of its width."""
    text = f"error: {error.message}" + (f"\n  {error.hint}" if error.hint else "")
    _say(hung(console(sys.stderr), text) if sys.stderr is not None and sys.stderr.isatty() else text)


def _say(text: str) -> None:
    """Print on stderr, with a blank in what GitHub would take for a command, such as a server's answer in a message."""
    text = plain(text)
    print(_COMMAND.sub(r"\1\2 ", text) if in_github_actions() else text, file=sys.stderr)


def end_like_ctrl_c() -> None:
    """Let what else asks a command to end do so as Ctrl-C does: what was answered is saved, and said so.

    SIGTERM comes of a time limit, SIGHUP of a terminal that is closed, SIGQUIT of its quit key. What runs under nohup
    continues.
    """
    for name in ("SIGTERM", "SIGHUP", "SIGQUIT"):
        number = getattr(signal, name, None)  # not every system has them all
        if number is not None and (name == "SIGTERM" or signal.getsignal(number) is not signal.SIG_IGN):
            signal.signal(number, _interrupt)


def _interrupt(_: int, frame: FrameType | None) -> None:
    on_ctrl_c = signal.getsignal(signal.SIGINT)  # while asking, that of the event loop
    if not callable(on_ctrl_c):  # started in the background, where Ctrl-C is ignored
        on_ctrl_c = signal.default_int_handler
    on_ctrl_c(signal.SIGINT, frame)


# The file that a flag such as --output names.


def check_output(path: Path, flag: str = "--output", *, is_folder: bool = False) -> None:
    """See that a file can be written, before anything is computed for it.

    Args:
        path: The file.
        flag: What named it.
        is_folder: Whether it is a folder of files instead, which may exist.

    Raises:
        UnwritableError: It is a folder, its folder is missing, or one of them may not be written.
    """
    if not is_folder and (not path.name or path.is_dir()):
        raise UnwritableError(f"{flag} {path} is a folder", f"name a file, such as {path / 'output'}")
    target = Path(os.path.realpath(path))
    if not target.parent.is_dir():
        raise UnwritableError(f"cannot write {path}: there is no folder {target.parent}", f"make it, or change {flag}")
    written = target if target.exists() and not target.is_file() else target.parent  # a file is replaced, no device
    if not os.access(written, os.W_OK):
        hint = f"name a file in another folder with {flag}"
        raise UnwritableError(f"cannot write {path}: the folder is read-only", hint)


# Output on terminals and pipes that do not hold every character, that are full, or that nobody reads any more.


_NOT_ASCII = re.compile(r"[^\x00-\x7f]")


def prepare_streams() -> None:
    """Let stdout and stderr take whatever is printed, and end no command because its output is not read.

    For the command line's start only: the streams belong to the process.
    """
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:  # closed by the caller (2>&-): what is printed there goes nowhere
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115 - it lives as long as the process
        else:
            setattr(sys, name, _prepared(stream, quiet=name == "stderr"))


def print_result(data: object, parts: Iterable[ShownPart | str], flags: Flags) -> None:
    """Print what came out: lines and tables, or for a program a model or plain data as JSON, without a loss.

    What the encoding of stdout does not hold is escaped.
    """
    if not flags.as_json:
        show(console(), parts)
        return
    dump = getattr(data, "model_dump_json", None)  # pydantic is not imported for its type: --help needs none of it
    text = dump(indent=2) if dump else json.dumps(data, indent=2, ensure_ascii=False)
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        text = _NOT_ASCII.sub(lambda match: json.dumps(match[0])[1:-1], text)
    typer.echo(text)


class _Output(io.FileIO):
    """The bottom of a stream, on which a command continues as it would have when its reader has gone."""

    quiet = False
    """Whether a full disk is no error either, because there is nowhere left to say so."""

    def write(self, data: Any, /) -> int:
        try:
            return super().write(data)
        except OSError as error:
            os.dup2(os.open(os.devnull, os.O_WRONLY), self.fileno())  # what follows goes nowhere
            if not (self.quiet or isinstance(error, BrokenPipeError)):
                raise StoreError(f"cannot write the output: {error.strerror or error}") from error
            return memoryview(data).nbytes


def _prepared(stream: TextIO, *, quiet: bool) -> TextIO:
    """The same stream over an `_Output`, with a question mark for what its encoding does not hold.

    What is no file, as on some consoles, stays as it is.
    """
    if not isinstance(stream, io.TextIOWrapper):
        return stream
    if stream.errors in ("strict", "surrogateescape"):  # both fail for some character
        stream.reconfigure(errors="replace")
    raw = getattr(stream.buffer, "raw", stream.buffer)
    if type(raw) is not io.FileIO:
        return stream
    stream.flush()
    output = _Output(raw.fileno(), "w", closefd=False)
    output.quiet = quiet
    kept = {name: getattr(stream, name) for name in ("encoding", "errors", "line_buffering", "write_through")}
    return io.TextIOWrapper(io.BufferedWriter(output), **kept)
