"""Jinja templates of pages and comments, and what makes foreign text harmless in them."""

import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evals.report import parts
from evals.report.wording import one_line, place_of, plain

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
    return "".join(pieces(name, **context))


def pieces(name: str, **context: Any) -> Iterator[str]:
    """The same piece by piece; what is iterated over in the template is read as it is needed."""
    return _environment().get_template(name).generate(context)


def macros() -> Any:
    """The parts of a comment in Markdown, each of which is called as a function and makes a text."""
    return _environment().get_template("comment.md.j2").module


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
    shown = (parts.facts_of, parts.questions_of, parts.score_texts, parts.score_remarks, place_of)
    made.globals |= {one.__name__: one for one in shown}
    made.filters |= {"line": lambda text, limit: one_line(plain(text), limit), "md": escape, "code": code}
    return made
