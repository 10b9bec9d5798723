"""The scripts and style sheets of a page, in the order in which they stand in it."""

from functools import cache
from pathlib import Path

_FOLDER = Path(__file__).resolve().parent / "assets"
LIBRARIES = ("vendor/d3.min.js", "vendor/plot.min.js", "vendor/diff.min.js")
"""The charts, and the difference between two answers word by word: 37 kB, where the differences themselves, made by
`difflib` when the page is written, would take longer and as much room as soon as there are a thousand questions."""
UNPACKER = "vendor/fzstd.min.js"
"""Unpacks Zstandard: browsers unpack gzip alone, which makes texts a fifth larger."""
SCRIPTS = (
    "dom.js",
    "format.js",
    "letters.js",
    "blocks.js",
    "pages.js",
    "theme.js",
    "charts.js",
    "scorecard.js",
    "overview.js",
    "distributions.js",
    "background.js",
    "filters.js",
    "virtual.js",
    "questions.js",
    "question.js",
    "words.js",
    "compare.js",
    "changes.js",
    "beside.js",
    "trend.js",
    "pareto.js",
    "shortcuts.js",
    "main.js",
)
"""Ours; `main.js` starts the page and stands last."""
STYLES = ("page.css", "scorecard.css", "questions.css", "several.css", "print.css")


@cache
def asset(name: str) -> str:
    """The text of a file."""
    return (_FOLDER / name).read_text(encoding="utf-8")


def libraries() -> list[str]:
    """What others wrote: the chart library, what it stands on, and what unpacks data."""
    return [asset(name) for name in (*LIBRARIES, UNPACKER)]


def script() -> str:
    """All scripts of ours in one."""
    return "\n".join(map(asset, SCRIPTS))


def style() -> str:
    """All style sheets in one."""
    return "\n".join(map(asset, STYLES))


def plot_style() -> str:
    """The style sheet that the chart library puts into each chart; the policy of the page must know it."""
    return asset("vendor/plot-style.css")
