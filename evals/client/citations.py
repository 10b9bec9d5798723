"""Citations that stand in the text of an answer as markers, such as `[1]`, `[1, 3]`, `[2-4]`, `[^1]` and `【1】`."""

import re

from evals.schemas.response import Citation

_RANGE = re.compile(r"(\d{1,9})\s*[–-]\s*(\d{1,9})")

_BETWEEN = re.compile(r",|\s*(?:;|&|\band\b)\s*(?=\d)")
"""What stands between numbers; inside an id a semicolon is the id's."""

_LONGEST_RANGE = 100

_CODE = r"(?s:```.*?```)|`(?!\\?[\[［【][^`\]］】]*\d[^`\]］】]*[\]］】]`)[^`\n]*+`"
"""A block, or a span that holds more than a marker."""

_HEADING = re.compile(
    r"[\s#*_>-]*(?:references?|sources?|citations?|footnotes|bibliography|quellen|r[ée]f[ée]rences|fuentes|referencias|"
    r"fonti|riferimenti|fontes|refer[êe]ncias)[\s*_:]*",
    re.IGNORECASE,
)
"""Of a list of what was cited."""

_FOOTNOTE = re.compile(r"\[\^?\d+\]:\s")

_BULLET = " \t-*>"

_FIRST_YEAR = 1000


class MarkerReader:
    """Reads the markers of answers.

    Numbers in brackets are other things too: what stands in code is no marker, nor is a number from 1000 on that is the
    place of no chunk, as in "the charter of [1998]". A pattern that does not read `[1]` is taken at its word.

    Args:
        pattern: Of a marker; its first group holds numbers or an id.
        base: Number of the first chunk.
        labels: Whether markers stand for what a list says, and not for places of chunks.
    """

    def __init__(self, pattern: str, base: int, *, labels: bool) -> None:
        own = re.compile(pattern)
        self._in_brackets = own.fullmatch("[1]") is not None
        self._pattern = re.compile(f"{pattern}|{_CODE}") if self._in_brackets else own
        self._group = 1 if own.groups else 0
        self._base, self._may_hold_years = base, self._in_brackets and not labels

    def read(self, answer: str, chunks: int) -> list[Citation]:
        """What an answer cites, in the order of its text; by a list of references behind it where the text cites none.

        Args:
            answer: Its text.
            chunks: How many chunks can be cited.
        """
        cited, has_cited = list[Citation](), False
        end = self._list_at_end(answer) if self._in_brackets and "\n" in answer else len(answer)
        for marker in self._pattern.finditer(answer):
            if self._in_brackets and marker[0].startswith("`"):
                continue
            if has_cited and marker.start() >= end:
                break
            has_cited = has_cited or marker.start() < end
            for part in _BETWEEN.split(marker[self._group] or ""):
                for number in _numbers(part.strip()):
                    is_year = isinstance(number, int) and number >= _FIRST_YEAR and number - self._base >= chunks
                    if not (is_year and self._may_hold_years):
                        name = "index" if isinstance(number, int) else "chunk_id"
                        cited.append(Citation(**{name: number}, start=marker.start(), end=marker.end()))
        return cited

    def _list_at_end(self, answer: str) -> int:
        """Where the list of references begins that ends the answer; its length without one."""
        at = begin = len(answer)
        for line in reversed(answer.splitlines(keepends=True)):
            at -= len(line)
            item = line.strip(_BULLET)
            if item.strip() and not self._pattern.match(item):
                return at if at + len(line) < len(answer) and _HEADING.fullmatch(line) else begin
            if _FOOTNOTE.match(item):
                begin = at
        return begin


def _numbers(part: str) -> list[int | str]:
    """What a part of a marker names: a number, those of a range such as 2-4, or an id."""
    if ranged := _RANGE.fullmatch(part):
        low, high = int(ranged[1]), int(ranged[2])
        return [*range(low, min(high, low + _LONGEST_RANGE) + 1)]
    if part.isdecimal() and part.isascii() and len(part) < 10:
        return [int(part)]
    return [part] if part else []
