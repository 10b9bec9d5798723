"""Jinja templates of pages and comments, and what makes foreign text harmless in them."""

import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evals.report import compared, wording
from evals.report.wording import one_line, plain
from evals.scoring.config import percent

if TYPE_CHECKING:
    from jinja2 import Environment

_FOLDER = Path(__file__).resolve().parent / "templates"

_BREAK = "&#8203;"
"""A space of no width. GitHub looks for names and links after it has resolved entities, so an entity stops neither."""

_QUOTE = "\N{MODIFIER LETTER GRAVE ACCENT}"
"""Stands for a backtick inside a code span, which it would end."""

_ACTIVE = re.compile(r"[&<>|`*_~\[\]\\$]|@|#(?=\d)|://|\bGH-(?=\d)|\bwww\.", re.IGNORECASE)


def escape(text: str, limit: int = 300) -> str:
    """Text on one line, in which no Markdown, HTML, mention, reference or link is left.

    Args:
        text: Anything.
        limit: Longer text is cut; counted before escaping.
    """
    return _ACTIVE.sub(lambda found: _harmless(found.group()), one_line(text, limit))


def _harmless(active: str) -> str:
    if active in {"@", "#"}:
        return f"{active}{_BREAK}"
    if len(active) > 1:
        return f"{active[0]}{_BREAK}{active[1:]}"
    return f"&#{ord(active)};"


def code(text: str, limit: int = 300) -> str:
    """Text on one line as a code span: it is copied as it is, and nothing in it is Markdown, a link or a mention."""
    return f"`{one_line(text, limit).replace('`', _QUOTE)}`"


def amount(text: str) -> str:
    """An amount whose signs begin neither a formula nor an element."""
    return text.replace("$", "&#36;").replace("<", "&lt;")


def within(room: int, lines: Iterable[str], more: str) -> str:
    """Lines joined as long as there is room for them, whole ones only; then what says that there are more."""
    text = ""
    for line in lines:
        if len(text) + len(line) + len(more) > room:
            return text + more
        text += line
    return text


def render(name: str, **context: Any) -> str:
    """The text that a template makes."""
    return _environment().get_template(name).render(context)


def pieces(name: str, **context: Any) -> Iterator[str]:
    """The same piece by piece; what is iterated over in the template is read as it is needed."""
    return _environment().get_template(name).generate(context)


def macros(name: str) -> Any:
    """The macros of a template, each of which is called as a function and makes a text."""
    return _environment().get_template(name).module


@cache
def _environment() -> "Environment":
    from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape  # noqa: PLC0415 - what shows nothing needs none

    made = Environment(
        loader=FileSystemLoader(_FOLDER),
        autoescape=select_autoescape(["html.j2"]),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    for module in (wording, compared):
        made.globals |= {name: one for name, one in vars(module).items() if callable(one)}
    made.globals["percent"] = percent
    made.filters |= {
        "line": lambda text, limit: one_line(plain(text), limit),
        "md": escape,
        "code": code,
        "amount": amount,
    }
    return made
