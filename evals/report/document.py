"""The page of saved runs: what is read without JavaScript, data blocks, and both with all they need in one file."""

import gzip
import json
from base64 import b64encode, b85encode
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from hashlib import sha256
from html import escape
from pathlib import Path
from typing import Any

from evals import __version__
from evals.errors import ConfigError
from evals.report.overview import head_of, overview_of
from evals.report.questions import detail_of, questions_of_run
from evals.report.runs import MOST_BASELINES, Several, names_of
from evals.report.templates import pieces, render
from evals.report.wording import one_line
from evals.scoring.conclusion import Measured
from evals.scoring.digest import BrokenLink
from evals.store.atomic import write_output

Blocks = Mapping[str, Callable[[], Any]]
"""Data blocks by name, each made when it is asked for."""

DETAILS = 100
"""Questions whose details one block holds."""

_TITLE = 120


class RunsPage:
    """The page of some runs.

    Of each run, `ID/overview` has what is said of it, `ID/questions` a column for each thing that is said of all
    questions, and `ID/details/N` all that is known of 100 questions. `report` says what the page is about.

    Args:
        runs: One or more, in the order in which they are shown; the first is the baseline at first.

    Attributes:
        title: The names of the runs.
        shared: The blocks about all runs together, which the page needs when it opens.
        overviews: Those about each run, which it needs then too.
        details: Those that it needs when a question is opened.

    Raises:
        ConfigError: There is no run, or one of them comes twice.
    """

    def __init__(self, runs: Sequence[Measured]) -> None:
        _check([each.run.id for each in runs])
        self._runs = runs
        self._several = Several(runs) if len(runs) > 1 else None
        self.title = ", ".join(one_line(each.run.name, _TITLE) for each in runs)
        self.shared: Blocks = {"report": self._manifest} | (self._several.blocks() if self._several else {})
        self.overviews: Blocks = {name: make for each in runs for name, make in _overviews(each).items()}
        self.details: Blocks = {name: make for each in runs for name, make in _details(each).items()}

    def head(self) -> str:
        """HTML that is read without JavaScript."""
        several = self._several.head() if self._several else None
        return render("heads.html.j2", several=several, runs=map(head_of, self._runs))

    def _manifest(self) -> dict[str, Any]:
        runs = [each.run for each in self._runs]
        named = [{"id": run.id, "label": name} for run, name in zip(runs, names_of(runs), strict=True)]
        return {"version": __version__, "runs": named, "mostBaselines": MOST_BASELINES}


def _check(ids: Sequence[str]) -> None:
    if not ids:
        raise ConfigError("a report needs a run", "`evals runs` lists them")
    twice = next((one for one in ids if ids.count(one) > 1), None)
    if twice is not None:
        raise ConfigError(f"run {twice} is named twice", "name each run once")


def _overviews(run: Measured) -> Blocks:
    """The blocks about a run, and about all its questions."""
    return {
        f"{run.run.id}/overview": partial(overview_of, run),
        f"{run.run.id}/questions": partial(questions_of_run, run, DETAILS),
    }


def _details(run: Measured) -> Blocks:
    """The blocks of the questions of a run."""

    @cache
    def broken() -> dict[int, BrokenLink]:
        return {} if run.run.is_unscored else {one.number: one for one in run.digest.found}

    def details(first: int) -> list[dict[str, Any]]:
        places = range(first, min(first + DETAILS, len(run.source)))
        return [detail_of(run.source[place], run, broken().get(place)) for place in places]

    firsts = range(0, len(run.source), DETAILS)
    return {f"{run.run.id}/details/{first // DETAILS}": partial(details, first) for first in firsts}


def write_report(path: Path, runs: Sequence[Measured]) -> None:
    """Write the page of some runs, whole or not at all; of their records, one block is held at a time.

    Args:
        path: The file.
        runs: One or more, in the order in which they are shown.

    Raises:
        ConfigError: There is no run, or one of them comes twice.
        StoreError: The file cannot be written, or the records of a run cannot be read.
    """
    write_output(path, (piece.encode(errors="replace") for piece in report_pieces(runs)))


def report_pieces(runs: Sequence[Measured]) -> Iterator[str]:
    """The same piece by piece.

    Raises:
        ConfigError: There is no run, or one of them comes twice.
    """
    page = RunsPage(runs)
    scripts, styles = [f"\n{text}\n" for text in (*libraries(), script())], f"\n{style()}\n"
    return pieces(
        "report.html.j2",
        title=page.title,
        policy=policy(map(source, scripts), map(source, (styles, plot_style()))),
        style=styles,
        scripts=scripts,
        head=page.head(),
        first=_elements({**page.shared, **page.overviews}),
        details=_elements(page.details),
    )


def to_html(measured: Measured) -> Iterator[str]:
    """The page of one run, as `evals report` writes it of several runs too."""
    return report_pieces([measured])


def _elements(blocks: Blocks) -> Iterator[str]:
    return (as_element(name, make()) for name, make in blocks.items())


# The scripts and style sheets of a page, in their order.


_FOLDER = Path(__file__).resolve().parent / "assets"


LIBRARIES = ("vendor/d3.min.js", "vendor/plot.min.js", "vendor/diff.min.js")
"""The charts, and the difference between two answers word by word: 37 kB, where the differences themselves, made by
`difflib` when the page is written, would take longer and as much room as soon as there are a thousand questions."""


UNPACKER = "vendor/fzstd.min.js"
"""Unpacks Zstandard: browsers unpack gzip alone, which makes texts a fifth larger."""


STYLES = ("page.css", "scorecard.css", "questions.css", "several.css", "print.css")


@cache
def asset(name: str) -> str:
    """The text of a file."""
    return (_FOLDER / name).read_text(encoding="utf-8")


def scripts() -> list[str]:
    """The names of our scripts in their order; `main.js`, the last one, starts the page."""
    return asset("scripts.txt").split()


def libraries() -> list[str]:
    """Libraries: charts with their dependency, and what unpacks data."""
    return [asset(name) for name in (*LIBRARIES, UNPACKER)]


def script() -> str:
    """All scripts of ours in one."""
    return "\n".join(map(asset, scripts()))


def style() -> str:
    """All style sheets in one."""
    return "\n".join(map(asset, STYLES))


def plot_style() -> str:
    """The style sheet that the chart library puts into each chart; the policy of the page must know it."""
    return asset("vendor/plot-style.css")


_GZIP_LEVEL = 9


_ZSTD_LEVEL = 9
"""Beyond it, it takes twice the memory and thrice the time for a fiftieth less."""

_PIECE = 1 << 14


_LETTERS = bytes.maketrans(b"<", b".")
"""Python's base85, but for the one letter that could begin an end of the element."""


def packed(data: Any) -> bytes:
    """A value as gzip of JSON, which a browser unpacks by itself; the same bytes for the same value."""
    return gzip.compress(_json(data), _GZIP_LEVEL, mtime=0)


def as_element(name: str, data: Any) -> str:
    """A named value as an HTML element: Zstandard of JSON in base85, a quarter smaller than gzip in base64.

    Args:
        name: By which the browser asks for it: letters, digits, `-` and `/`.
        data: What JSON can hold.
    """
    from pyarrow import Codec  # noqa: PLC0415 - 60 MB that only a page needs

    packed = Codec("zstd", _ZSTD_LEVEL).compress(_json(data), asbytes=True)
    return f'<script type="application/octet-stream" data-block="{escape(name)}">{_letters(packed)}</script>'


def _letters(data: bytes) -> str:
    """Piece by piece, since the encoder takes fifty times the memory of what it is given."""
    pieces = (data[start : start + _PIECE] for start in range(0, len(data), _PIECE))
    return b"".join(map(b85encode, pieces)).translate(_LETTERS).decode()


def _json(data: Any) -> bytes:
    dumped = partial(json.dumps, data, allow_nan=False, separators=(",", ":"))
    try:
        return dumped(ensure_ascii=False).encode()
    except UnicodeEncodeError:  # half of a surrogate pair, which JSON can hold as an escape and UTF-8 cannot
        return dumped().encode()


# What a page may load and run: nothing but the scripts and style sheets that were written into it.


def policy(scripts: Iterable[str], styles: Iterable[str], *more: str) -> str:
    """A Content-Security-Policy that allows these scripts and styles, images inside, and no more.

    Args:
        scripts: Where scripts come from, as a policy names it: by their hashes, for example.
        styles: The same of style sheets.
        more: Other parts of the policy.
    """
    allowed = [f"script-src {' '.join(scripts)}", f"style-src {' '.join(styles)}", "img-src data:"]
    return "; ".join(["default-src 'none'", *allowed, "base-uri 'none'", "form-action 'none'", *more])


def source(text: str) -> str:
    """A script or style sheet as a policy names it: by its hash."""
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"
