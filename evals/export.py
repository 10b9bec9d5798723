"""A saved run as a file for something else: a spreadsheet, a program, a pull request, a reader.

A new format is one function from a measured run to the pieces of a text, and one line in `FORMATS`.
"""

import codecs
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path

from evals.errors import ConfigError, UnknownNameError
from evals.report import tables, trec
from evals.report.document import to_html
from evals.report.junit import to_junit
from evals.report.markdown import to_markdown
from evals.schemas.results import EvalRecord, EvalRun
from evals.scoring.conclusion import Measured, measured
from evals.store.atomic import write_error, write_output

__all__ = ["FORMATS", "export_files", "export_pieces", "export_run", "format_of", "known_format", "write_export"]


FORMATS: dict[str, tables.ExportFormat] = {
    "beir": tables.ExportFormat(
        {"corpus.jsonl": trec.to_corpus, "queries.jsonl": trec.to_queries, "qrels/test.tsv": trec.to_judgements},
        (".beir",),
        notes=trec.judgement_notes,
    ),
    "csv": tables.ExportFormat(tables.to_csv, (".csv",), has_mark=True),
    "deepeval": tables.ExportFormat(tables.to_deepeval, (".deepeval.json",)),
    "deepeval-csv": tables.ExportFormat(tables.to_deepeval_csv, (".deepeval.csv",)),
    "html": tables.ExportFormat(to_html, (".html", ".htm")),
    "json": tables.ExportFormat(tables.to_json, (".json",)),
    "junit": tables.ExportFormat(to_junit, (".xml",)),
    "markdown": tables.ExportFormat(to_markdown, (".md", ".markdown")),
    "parquet": tables.ExportFormat(tables.to_parquet, (".parquet",), is_binary=True),
    "parquet-metrics": tables.ExportFormat(tables.to_parquet_metrics, (".metrics.parquet",), is_binary=True),
    "ragas": tables.ExportFormat(tables.to_ragas, (".ragas.jsonl",)),
    "review": tables.ExportFormat(tables.to_review, (".review.csv",), has_mark=True),
    "trec-qrels": tables.ExportFormat(trec.to_qrels, (".qrels",), notes=trec.judgement_notes),
    "trec-run": tables.ExportFormat(trec.to_trec_run, (".run",), notes=trec.run_notes),
    "trec-topics": tables.ExportFormat(trec.to_topics, (".topics.tsv",), notes=trec.judgement_notes),
}
"""All formats by name; a line here is all that one needs."""


def known_format(form: str) -> tables.ExportFormat:
    """The format of a name.

    Raises:
        UnknownNameError: There is no such format; the message names the nearest.
    """
    if form not in FORMATS:
        raise UnknownNameError("format", form, FORMATS)
    return FORMATS[form]


def format_of(path: Path) -> str:
    """The name of the format that the name of a file says, by its ending.

    Raises:
        ConfigError: It says none; the message names all.
    """
    name = path.name.lower()
    said = [(len(ending), form) for form, one in FORMATS.items() for ending in one.endings if name.endswith(ending)]
    if not said:
        endings = ", ".join(f"{form} ({' '.join(one.endings)})" for form, one in FORMATS.items())
        raise ConfigError(
            f"the name {path.name!r} says no format", f"name the format, or take one of these names: {endings}"
        )
    return max(said)[1]


def export_run(run: EvalRun, records: Sequence[EvalRecord], form: str) -> str:
    """A run in a format that is one text.

    Args:
        run: The run.
        records: Its records.
        form: The name of the format.

    Raises:
        UnknownNameError: There is no such format.
        ConfigError: It is a folder, or no text.
    """
    if known_format(form).is_binary:
        raise ConfigError(f"{form} is no text", "take export_pieces")
    return "".join(piece if isinstance(piece, str) else piece.decode() for piece in export_pieces(run, records, form))


def export_pieces(run: EvalRun, records: Sequence[EvalRecord], form: str) -> Iterator[str | bytes]:
    """The same piece by piece; of records that are read from a file, none is held.

    Raises:
        UnknownNameError: There is no such format.
        ConfigError: It is a folder.
    """
    writer = known_format(form).files
    if isinstance(writer, Mapping):
        raise ConfigError(f"{form} is a folder of {', '.join(writer)}", "name one to write to")
    return iter(writer(measured(run, records)))


def export_files(found: Measured, form: str, path: Path) -> None:
    """Write a run to the file or folder of a name; each file whole or not at all, a device or pipe as it is.

    Raises:
        UnknownNameError: There is no such format.
        StoreError: It cannot be written; the old file, if any, is as it was.
    """
    writers = known_format(form).files
    if not isinstance(writers, Mapping):
        write_export(path, writers(found), form)
        return
    for inner, writer in writers.items():
        file = path / inner
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise write_error(file.parent, error, "name another folder") from error
        write_export(file, writer(found), form)


def write_export(path: Path, text: str | Iterable[str | bytes], form: str) -> None:
    """Write an export, or its pieces, to a file, whole or not at all; a device or pipe is written as it is.

    Raises:
        StoreError: It cannot be written; the old file, if any, is as it was.
    """
    pieces = [text] if isinstance(text, str) else text
    mark = [codecs.BOM_UTF8] if known_format(form).has_mark else []
    write_output(path, chain(mark, (piece.encode() if isinstance(piece, str) else piece for piece in pieces)))
