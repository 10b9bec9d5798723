"""Foreign text inside Markdown: shown as it is, and nothing but text."""

import re

from evals.views.formatting import one_line

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


def code(text: str, limit: int = 300) -> str:
    """Text on one line as a code span: it is copied as it is, and nothing in it is Markdown, a link or a mention."""
    return f"`{one_line(text, limit).replace('`', _QUOTE)}`"


def _harmless(active: str) -> str:
    if active in {"@", "#"}:
        return f"{active}{_BREAK}"
    if len(active) > 1:
        return f"{active[0]}{_BREAK}{active[1:]}"
    return f"&#{ord(active)};"
