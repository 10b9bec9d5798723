"""The pages and what they load: those of the report, with scripts of our own that fetch."""

from collections.abc import Sequence
from functools import cache
from html import escape
from pathlib import Path
from string import Template

from evals.report import assets
from evals.viewer.blocks import RunsPage
from evals.views.formatting import one_line

_FOLDER = Path(__file__).resolve().parent / "assets"
_SHARED = ("dom.js", "format.js", "blocks.js", "pages.js", "theme.js", "charts.js")
"""Of the report's scripts, what both kinds of pages stand on; the first ones, in their order."""
_FETCHING = ("fetch.js", "live.js")
_OF_THE_FOLDER = ("keys.js", "trends.js", "list.js", "labelling.js")
JAVASCRIPT, CSS = "text/javascript; charset=utf-8", "text/css; charset=utf-8"


@cache
def asset(name: str) -> tuple[str, str] | None:
    """Text and type of a file that a page loads; None where there is none of this name."""
    if name == "style.css":
        return f"{assets.style()}\n{_own('view.css')}", CSS
    shared = [*map(assets.asset, _SHARED), *map(_own, _FETCHING)]
    if name == "folder.js":
        return _script([*shared, *map(_own, _OF_THE_FOLDER), assets.asset("main.js")])
    if name == "runs.js":
        return _script([*shared, *(assets.asset(one) for one in assets.SCRIPTS if one not in _SHARED)])
    library = next((one for one in assets.LIBRARIES if one.endswith(f"/{name}")), None)
    return None if library is None else (assets.asset(library), JAVASCRIPT)


def folder_page(*, labelling: bool) -> str:
    """The page of all runs; its parts have addresses of their own behind a #.

    Args:
        labelling: Whether answers can be labelled.
    """
    return _page("Runs – evals", root="./", script="folder.js", labelling=labelling)


def runs_page(page: RunsPage, *, labelling: bool) -> str:
    """The page of one run, or of several beside each other."""
    names = ", ".join(one_line(each.run.name, 120) for each in page.runs)
    ids = ",".join(each.run.id for each in page.runs)
    title = f"{names} – evals"
    return _page(title, root="../../", script="runs.js", labelling=labelling, head=page.head(), runs=ids)


def _page(title: str, *, root: str, script: str, labelling: bool, head: str = "", runs: str = "") -> str:
    return Template(_own("page.html")).substitute(
        title=escape(title),
        root=root,
        script=script,
        runs=escape(runs),
        labelling="yes" if labelling else "",
        head=head,
    )


def _script(texts: Sequence[str]) -> tuple[str, str]:
    return "\n".join(texts), JAVASCRIPT


@cache
def _own(name: str) -> str:
    return (_FOLDER / name).read_text(encoding="utf-8")
