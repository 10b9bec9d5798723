"""A saved run as a file for something else: a spreadsheet, a program, a pull request, a reader.

A new format is one function from a saved run to the pieces of a text, and one line in `FORMATS`.
"""

import codecs
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from evals.errors import ConfigError, UnknownNameError, withdrawn_format
from evals.report import sheets
from evals.report.junit import to_junit
from evals.report.markdown import to_markdown
from evals.report.page import to_html
from evals.schemas.results import EvalRun
from evals.scoring.saved import SavedRun, open_saved
from evals.store.atomic import write_output
from evals.store.runs import RunStore
from evals.text.numbers import counted

__all__ = ["FORMATS", "export_pieces", "export_run", "format_of", "known_format", "notes_on", "write_export"]


@dataclass(frozen=True, slots=True)
class ExportFormat:
    """A way to write a run.

    Attributes:
        write: Makes the pieces of the file.
        ending: Of file names that mean this format.
        has_mark: Whether the file begins with a byte order mark, by which spreadsheets know UTF-8.
        is_binary: Whether it is no text.
    """

    write: Callable[[SavedRun], Iterable[str | bytes]]
    ending: str
    has_mark: bool = False
    is_binary: bool = False


FORMATS: dict[str, ExportFormat] = {
    "csv": ExportFormat(sheets.to_csv, ".csv", has_mark=True),
    "html": ExportFormat(to_html, ".html"),
    "json": ExportFormat(sheets.to_json, ".json"),
    "junit": ExportFormat(to_junit, ".xml"),
    "markdown": ExportFormat(to_markdown, ".md"),
    "parquet": ExportFormat(sheets.to_parquet, ".parquet", is_binary=True),
    "ragas": ExportFormat(sheets.to_ragas, ".ragas.jsonl"),
    "trec-qrels": ExportFormat(sheets.to_qrels, ".qrels"),
    "trec-run": ExportFormat(sheets.to_trec_run, ".run"),
}
"""All formats by name; a line here is all that one needs."""


def known_format(form: str) -> ExportFormat:
    """The format of a name.

    Raises:
        UnknownNameError: There is no such format; the message names the nearest.
    """
    if form not in FORMATS:
        if (gone := withdrawn_format(form)) is not None:
            raise gone
        raise UnknownNameError("format", form, FORMATS)
    return FORMATS[form]


def format_of(path: Path, given: str | None = None) -> str:
    """The name of the format that a file's ending says, or that which is given where the ending says none.

    Raises:
        UnknownNameError: There is no such format.
        ConfigError: The ending says none, and none is given, or it says another one.
    """
    name = path.name.lower()
    fitting = [form for form, one in FORMATS.items() if name.endswith(one.ending)]
    if given is not None and fitting and given not in fitting:
        what, ending = f"the name {path.name!r} says {' or '.join(fitting)}, not {given}", known_format(given).ending
        raise ConfigError(what, f"leave out --format, or let the name end with {ending}")
    if given is not None:
        return given
    if not fitting:
        endings = ", ".join(f"{form} ({one.ending})" for form, one in FORMATS.items())
        raise ConfigError(f"the name {path.name!r} says no format", f"use --format, or one of these endings: {endings}")
    return max(fitting, key=lambda form: len(FORMATS[form].ending))


def export_run(run: EvalRun, form: str) -> str:
    """A saved run in a format that is one text.

    Raises:
        UnknownNameError: There is no such format.
        ConfigError: The run is in no folder, or the format is no text.
    """
    if known_format(form).is_binary:
        raise ConfigError(f"{form} is no text", "use export_pieces")
    if run.path is None:
        raise ConfigError(f"run {run.id} is in no folder", "load it with RunStore(folder).load(id)")
    saved = open_saved(RunStore(run.path.parent), run)
    return "".join(piece if isinstance(piece, str) else piece.decode() for piece in export_pieces(saved, form))


def export_pieces(saved: SavedRun, form: str) -> Iterator[str | bytes]:
    """A saved run in a format, piece by piece; none of its records is held.

    Raises:
        UnknownNameError: There is no such format.
    """
    return iter(known_format(form).write(saved))


def write_export(path: Path, saved: SavedRun, form: str) -> None:
    """Write an export to a file, whole or not at all; a device or pipe is written as it is.

    Raises:
        UnknownNameError: There is no such format.
        StoreError: It cannot be written; the old file, if any, is as it was.
    """
    mark = [codecs.BOM_UTF8] if known_format(form).has_mark else []
    pieces = (piece.encode() if isinstance(piece, str) else piece for piece in export_pieces(saved, form))
    write_output(path, chain(mark, pieces))


def notes_on(saved: SavedRun, form: str) -> list[str]:
    """Which questions a file for trec_eval leaves out, by reason; nothing for other formats."""
    if form == "trec-qrels":
        count = sum(not sheets.has_whole_grades(record.question) for record in saved.records())
        return [f"left out: {counted(count, 'question')} {sheets.NOT_WHOLE}"] if count else []
    if form != "trec-run":
        return []
    reasons = Counter(sheets.why_left_out(record, saved.settings.sample_of(record)) for record in saved.records())
    return [f"left out: {counted(count, 'question')} {reason}" for reason, count in reasons.items() if reason]
